//! Removes a user from an organization.

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::members;
use serde_json::Value;

use super::find_org;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The user's email address
    #[arg(long)]
    email: String,
    /// The organization's id
    #[arg(long)]
    org: String,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let Arguments { email, org } = arguments;
    let org = find_org(app, &org).await?;
    let removed = members::remove_by_operator(app, &email, &org).await?;
    let mut words = format!("{email} is no longer a member of {}", org.name);
    for key in &removed.departure.keys_to_review {
        words.push_str(&format!(
            "\nReview the key {} ({}), which is still valid",
            key.name, key.id
        ));
    }
    for runner in &removed.departure.runners_to_review {
        words.push_str(&format!(
            "\nReview the runner {} ({}), which still accepts builds",
            runner.name, runner.id
        ));
    }
    let object = serde_json::to_value(&removed).map_err(|error| ApiError::Internal(error.to_string()))?;
    Ok((object, words))
}
