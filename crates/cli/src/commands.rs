//! The commands, one file each.

mod api;
mod app;
mod apps;
mod build;
pub mod completion;
mod credential;
mod deployment_key;
mod device;
pub mod doctor;
mod embed;
mod env;
mod fingerprint;
mod import;
mod init;
mod key;
mod login;
mod logout;
pub mod man;
mod org;
mod runner;
mod submit;
mod trust;
mod update;
mod usage;
mod webhook;
mod whoami;

use crate::args::Command;
use crate::args::project::{DoctorArgs, DoctorCommand};
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(command: Command, context: &Context) -> Result<(), Failure> {
    match command {
        Command::Login(arguments) => login::run(arguments, context).await,
        Command::Logout => logout::run(context),
        Command::Whoami => whoami::run(context).await,
        Command::Build(arguments) => build::run(*arguments, context).await,
        Command::Submit(arguments) => submit::run(*arguments, context).await,
        Command::Update(arguments) => update::run(*arguments, context).await,
        Command::Trust(command) => trust::run(*command, context).await,
        Command::Runner(arguments) => runner::run(*arguments, context).await,
        Command::Fingerprint(arguments) => fingerprint::run(arguments, context).await,
        Command::Embed(arguments) => embed::run(arguments, context).await,
        Command::NativeNeeded(arguments) => fingerprint::native_needed::run(arguments, context).await,
        Command::Device(arguments) => device::run(*arguments, context).await,
        Command::App(command) => apps::run(command, context).await,
        Command::DeploymentKey(command) => deployment_key::run(command, context).await,
        Command::Import(arguments) => import::run(*arguments, context).await,
        Command::Env(command) => env::run(command, context).await,
        Command::Key(command) => key::run(command, context).await,
        Command::Webhook(command) => webhook::run(command, context).await,
        Command::Credential(command) => credential::run(command, context).await,
        Command::Org(command) => org::run(command, context).await,
        Command::Audit(command) => org::audit(command, context).await,
        Command::Usage(arguments) => usage::run(arguments, context).await,
        Command::Api(arguments) => api::run(arguments, context).await,
        Command::Init(arguments) => init::run(arguments, context).await,
        Command::Doctor(DoctorArgs {
            command: Some(DoctorCommand::Stores(arguments)),
            ..
        }) => doctor::stores::run(arguments, context).await,
        // Commands that need no settings, or tolerate invalid ones, have returned above.
        Command::Doctor(_) | Command::Completion { .. } | Command::Man { .. } => Ok(()),
    }
}

/// The text of an argument: the argument itself, or with `@FILE` the content of the file.
fn text_or_file(argument: String) -> Result<String, Failure> {
    let Some(path) = argument.strip_prefix('@') else {
        return Ok(argument);
    };
    std::fs::read_to_string(path).map_err(|error| Failure::usage(format!("cannot read {path}: {error}")))
}

/// Runs on a separate thread, so that an interruption does not wait for the work to end.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Failure::failed(format!("the command stopped unexpectedly: {error}")))
}
