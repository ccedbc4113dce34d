//! Prints a link that lets a user set a new password.

use launchway_ops::accounts;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The user's email address
    #[arg(long)]
    email: String,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let Arguments { email } = arguments;
    let token = accounts::offer_reset(app, &email).await?;
    let link = format!("{}/reset?token={token}", app.public_url);
    Ok((
        json!({"link": link}),
        format!("Give this link to {email}. It works once, within a day.\n\n  {link}"),
    ))
}
