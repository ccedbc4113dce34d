//! Turns two-factor codes off for a user.

use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::app::App;
use crate::ops::two_factor;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The user's address
    #[arg(long)]
    email: String,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), ApiError> {
    let Arguments { email } = arguments;
    let user = two_factor::remove_for(app, &email).await?;
    Ok((
        json!({"id": user, "email": email}),
        format!("{email} signs in with the password alone now"),
    ))
}
