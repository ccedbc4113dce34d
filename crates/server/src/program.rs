//! The commands of `launchway-server`: serve, check-config, migrate, doctor, admin, openapi, store-simulator.

mod args;
mod check_config;
mod demo;
mod doctor;
mod exposed;
mod free_memory;
mod serve;
mod store_simulator;
mod work;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use launchway_config::{Config, LogFormat, credentials_from_environment};

use crate::admin;
use crate::command_error::CommandError;
use args::{Args, Command};

/// Runs the program. The exit code is 0 on success, 1 on failure, 2 for a wrong command line.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == store_simulator::NAME) {
        return store_simulator::main(arguments);
    }
    let args = Args::parse();
    if let Some(Command::StoreSimulator) = args.command {
        return fail(
            &"store-simulator accepts none of the settings before it; see launchway-server store-simulator --help",
        );
    }
    let config = match Config::load(args.settings.clone(), credentials_from_environment()) {
        Ok(config) => config,
        Err(error) => return fail(&error),
    };
    if let Some(Command::Openapi) = args.command {
        return print_openapi();
    }
    for flag in exposed::passwords(std::env::args_os().skip(1)) {
        let _ = writeln!(
            std::io::stderr(),
            "warning: {flag} has a password, which every user of this machine can read on the command line; set it \
             in the environment, or in a settings file that only the server's user can read"
        );
    }
    start_log(
        config.log_format,
        matches!(args.command, None | Some(Command::Serve { .. })),
    );
    // S3 over https and webhooks need a provider for the whole process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    let done = runtime.block_on(async {
        match args.command.unwrap_or(Command::Serve { demo: false }) {
            Command::Serve { demo } => serve::serve(config, demo).await,
            Command::CheckConfig => check_config::run(&config).await,
            Command::Migrate => migrate(config).await,
            Command::Doctor => doctor::run(&config).await,
            Command::Admin { command, json } => admin::run(config, command, json).await,
            Command::Openapi | Command::StoreSimulator => Ok(()),
        }
    });
    // Does not wait for work on other threads whose request is gone, such as inspecting a large package.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

async fn migrate(config: Config) -> Result<(), CommandError> {
    let app = admin::open(config).await?;
    app.db.close().await;
    writeln!(std::io::stdout(), "The database is up to date")?;
    Ok(())
}

fn print_openapi() -> ExitCode {
    let document = launchway_web::router::openapi_document();
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    // Without standard error there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "error: {error}");
    ExitCode::FAILURE
}

/// Starts logging to standard error. A command other than `serve` logs only errors.
fn start_log(format: LogFormat, serving: bool) {
    use tracing_subscriber::EnvFilter;
    // PostgreSQL sends a notice for every table that already exists.
    let default = if serving { "info,sqlx=warn" } else { "error" };
    let filter = EnvFilter::builder()
        .with_env_var("LAUNCHWAY_LOG")
        .try_from_env()
        .unwrap_or_else(|_| EnvFilter::new(default));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match format {
        LogFormat::Json => log.json().flatten_event(true).init(),
        LogFormat::Text => log.with_target(false).init(),
    }
}
