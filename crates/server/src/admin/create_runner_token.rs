//! Makes a token for a runner of one organization, or of all.

use launchway_domain::actor::Actor;
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::runners;
use launchway_ops::write::Write;
use serde_json::{Value, json};

use super::find_org;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The id of the organization whose builds the runner executes
    #[arg(long, required_unless_present = "shared")]
    org: Option<String>,
    /// Let the runner execute builds of every organization
    #[arg(long, conflicts_with = "org")]
    shared: bool,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let (made, whose) = match arguments.org.filter(|_| !arguments.shared) {
        Some(org) => {
            let org = find_org(app, &org).await?;
            let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
            let made = runners::create_token(&mut write).await?;
            write.commit().await?;
            (made, format!("builds of {}", org.name))
        }
        None => (
            runners::create_shared_token(app).await?,
            "builds of every organization".to_owned(),
        ),
    };
    let object = json!({"token": made.token, "expiresAt": iso(made.expires_at)});
    let words = format!(
        "This token enrolls one runner for {whose}, within an hour. It is not shown again.\n\n  {}",
        made.token
    );
    Ok((object, words))
}
