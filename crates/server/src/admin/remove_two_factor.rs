//! Turns two-factor codes off for a user.

use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::two_factor;
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The user's email address
    #[arg(long)]
    email: String,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let Arguments { email } = arguments;
    let user = two_factor::remove_for(app, &email).await?;
    Ok((
        json!({"id": user, "email": email}),
        format!("{email} now signs in with only the password"),
    ))
}
