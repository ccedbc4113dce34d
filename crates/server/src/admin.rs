//! The operator's commands (`docs/reference/operation.md#operator-commands`), one file each. They use the same settings as the
//! server, and work while it runs.

mod backup;
mod create_key;
mod create_org;
mod create_runner_token;
mod create_user;
mod remove_member;
mod remove_two_factor;
mod reset_password;
mod rotate_master_key;
mod set_tier;
mod transfer_app;
mod verify_audit;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use launchway_config::Config;
use launchway_domain::id::OrgId;
use launchway_domain::org::Org;
use launchway_domain::tenancy::Tier;
use launchway_inspection::Inspector;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::{App, Dependencies, StartError};
use launchway_os::clock::SystemClock;
use launchway_os::random::SystemRandom;
use launchway_outbound::resolver::SystemResolver;
use serde_json::Value;

use crate::command_error::CommandError;

/// The operator's commands.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Create an organization
    CreateOrg(create_org::Arguments),
    /// Create a user in an organization, with the password from standard input. An existing user joins with their account
    CreateUser(create_user::Arguments),
    /// Create an API key and print it, only this once
    CreateKey(create_key::Arguments),
    /// Create a token that enrolls one runner within an hour, and print it, only this once
    CreateRunnerToken(create_runner_token::Arguments),
    /// Change the tier of an organization
    SetTier(set_tier::Arguments),
    /// Print a link with which a user sets a new password within a day
    ResetPassword(reset_password::Arguments),
    /// Turn off two-factor codes for a user who lost the authenticator app and the recovery codes
    RemoveTwoFactor(remove_two_factor::Arguments),
    /// Remove a user from an organization, and end the access that the user created there
    RemoveMember(remove_member::Arguments),
    /// Move an app with its updates to another organization
    TransferApp(transfer_app::Arguments),
    /// Create a new master key, reseal every secret's key with it while the server runs, and replace the key file
    RotateMasterKey,
    /// Verify that no entry of the audit logs was changed, removed or added outside the service
    VerifyAudit,
    /// Save the database and the packages to a new directory while the server runs, without the master key
    Backup {
        /// The directory
        dir: PathBuf,
    },
    /// Restore a backup into an empty database and object storage, of the same kind or another
    Restore {
        /// The directory
        dir: PathBuf,
    },
}

/// Opens the service's parts for a command.
pub async fn open(mut config: Config) -> Result<Arc<App>, StartError> {
    // The snapshot is the server's, which may run beside.
    config.snapshot = None;
    let url = format!("http://{}", config.listen);
    let dependencies = Dependencies {
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        resolver: Arc::new(SystemResolver),
        app_stores: None,
        inspector: Inspector::this_program().map_err(StartError::io("this program"))?,
    };
    App::open(config, url, dependencies).await
}

/// Runs a command and prints its result: as sentences, or as one object with `--json`.
pub async fn run(config: Config, command: AdminCommand, json: bool) -> Result<(), CommandError> {
    let (object, words) = match command {
        // A restore requires an empty database, and opening the app would write to it.
        AdminCommand::Restore { dir } => backup::restore(config, &dir).await?,
        command => {
            let app = open(config).await?;
            let done = execute(&app, command).await;
            app.db.close().await;
            done?
        }
    };
    let mut out = std::io::stdout();
    if json {
        writeln!(out, "{object}")?;
    } else {
        writeln!(out, "{words}")?;
    }
    Ok(())
}

async fn execute(app: &App, command: AdminCommand) -> Result<(Value, String), CommandError> {
    match command {
        AdminCommand::CreateOrg(arguments) => Ok(create_org::run(app, arguments).await?),
        AdminCommand::CreateUser(arguments) => create_user::run(app, arguments).await,
        AdminCommand::CreateKey(arguments) => Ok(create_key::run(app, arguments).await?),
        AdminCommand::CreateRunnerToken(arguments) => Ok(create_runner_token::run(app, arguments).await?),
        AdminCommand::SetTier(arguments) => Ok(set_tier::run(app, arguments).await?),
        AdminCommand::ResetPassword(arguments) => Ok(reset_password::run(app, arguments).await?),
        AdminCommand::RemoveTwoFactor(arguments) => Ok(remove_two_factor::run(app, arguments).await?),
        AdminCommand::RemoveMember(arguments) => Ok(remove_member::run(app, arguments).await?),
        AdminCommand::TransferApp(arguments) => Ok(transfer_app::run(app, arguments).await?),
        AdminCommand::RotateMasterKey => Ok(rotate_master_key::run(app).await?),
        AdminCommand::VerifyAudit => verify_audit::run(app).await,
        AdminCommand::Backup { dir } => backup::backup(app, &dir).await,
        AdminCommand::Restore { .. } => {
            Err(ApiError::Internal("a restore opens its database itself".to_owned()).into())
        }
    }
}

fn read_tier(text: &str) -> Result<Tier, ApiError> {
    text.parse()
        .map_err(|_| ApiError::bad("--tier must be free, pro or enterprise"))
}

async fn find_org(app: &App, id: &str) -> Result<Org, ApiError> {
    let none = || ApiError::bad(format!("--org: there is no organization {id}"));
    let id: OrgId = id.parse().map_err(|_| none())?;
    app.db.read().await?.org(id).record().await?.ok_or_else(none)
}
