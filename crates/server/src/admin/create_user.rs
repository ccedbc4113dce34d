//! Makes a user in an organization, or adds an existing user to it.

use std::io::{IsTerminal, Read, Write as _};

use launchway_domain::actor::Actor;
use launchway_domain::tenancy::Role;
use launchway_ops::accounts;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::write::Write;
use serde_json::{Value, json};

use super::find_org;
use crate::command_error::CommandError;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The email address to sign in with
    #[arg(long)]
    email: String,
    /// The organization's id
    #[arg(long)]
    org: String,
    /// The role: owner, admin or member
    #[arg(long, default_value = "member")]
    role: String,
}

pub async fn run(app: &App, arguments: Arguments) -> Result<(Value, String), CommandError> {
    let password = read_password()?;
    Ok(create(app, arguments, &password).await?)
}

async fn create(app: &App, arguments: Arguments, password: &str) -> Result<(Value, String), ApiError> {
    let Arguments { email, org, role } = arguments;
    let email = accounts::valid_email(&email)?;
    let role: Role = role
        .parse()
        .map_err(|_| ApiError::bad("--role must be owner, admin or member"))?;
    let org = find_org(app, &org).await?;
    let known = app
        .db
        .read()
        .await?
        .system("an account belongs to no tenant")
        .user_by_email(&email)
        .await?;
    let hash = if known.is_none() {
        app.passwords.hash(password).await?
    } else {
        String::new()
    };
    let mut write = Write::open(app, org.id, Actor::Operator, None).await?;
    let (user, made) = match known {
        Some((user, _)) => (user, false),
        None => (accounts::create_user(&mut write, &email, &hash).await?, true),
    };
    accounts::join(&mut write, org.id, &user, role).await?;
    write.commit().await?;
    let how = if made {
        "Created the user"
    } else {
        "The user already has an account with its own password, and is added"
    };
    Ok((
        json!({"id": user.id, "email": email, "role": role}),
        format!("{how} {email} ({}) as {role} of {}", user.id, org.name),
    ))
}

/// The password from standard input, without its line ending.
fn read_password() -> Result<String, std::io::Error> {
    let input = std::io::stdin();
    if input.is_terminal() {
        write!(
            std::io::stderr(),
            "Password (visible while you type; pipe it in to avoid this): "
        )?;
        let mut line = String::new();
        input.read_line(&mut line)?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let mut text = String::new();
    input.lock().take(4096).read_to_string(&mut text)?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
