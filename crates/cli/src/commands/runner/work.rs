//! `runner`: claims and executes builds until a signal stops it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use launchway_api::runner::Enroll;
use launchway_client::{BaseUrl, Timeouts};
use launchway_runner::executor::ProcessExecutor;
use launchway_runner::machine::SystemMachine;
use launchway_runner::plan::ProjectResolver;
use launchway_runner::protocol::Server;
use launchway_runner::settings::Settings;
use launchway_runner::{Runner, RunnerError, Stage, labels};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::args::runner::WorkArgs;
use crate::commands::runner::enrollment::{Enrollment, enrollment, token_file};
use crate::context::Context;
use crate::failure::{Exit, Failure};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub async fn run(arguments: WorkArgs, context: &Context) -> Result<(), Failure> {
    // Before anything slow: an earlier signal would end the process at once.
    let (stage, stages) = watch::channel(Stage::Working);
    let signals = handle_signals(stage.clone()).map_err(|error| Failure::failed(error.to_string()))?;
    context.printer.begin_log();
    let settings = settings(&arguments, context).await?;
    settings.check().map_err(Failure::usage)?;
    let (work_dir, slots) = (settings.work_dir.clone(), settings.slots);
    let wanted = Enroll {
        name: arguments.name.unwrap_or_else(machine_name),
        labels: settings.labels.clone(),
        slots,
        version: VERSION.to_owned(),
    };
    let Enrollment { known, token } = tokio::select! {
        enrolled = enrollment(&work_dir, wanted, context) => enrolled?,
        () = ending(stages.clone()) => return Err(Failure::interrupted()),
    };
    let url: BaseUrl = known.url.parse().map_err(|why| {
        Failure::failed(format!(
            "the address in {}: {why}",
            work_dir.join("runner.json").display()
        ))
    })?;
    let server = Server::new(url, token, &Timeouts::default(), Arc::new(SystemMachine))?;
    let executor = ProcessExecutor::new().map_err(|error| Failure::failed(format!("cannot run builds: {error}")))?;
    let labels = settings.labels.join(" ");
    let runner = Runner::new(
        settings,
        server,
        Arc::new(executor),
        Arc::new(ProjectResolver),
        VERSION.to_owned(),
    )
    .map_err(|error| failure(error, &work_dir))?;
    info!(
        id = known.id,
        name = known.name,
        server = known.url,
        slots,
        labels,
        "the runner is working"
    );
    let worked = runner.run(stages).await;
    signals.abort();
    worked.map_err(|error| failure(error, &work_dir))?;
    info!("the runner has ended");
    match *stage.borrow() {
        Stage::Halting => Err(Failure::interrupted()),
        Stage::Working | Stage::Draining => Ok(()),
    }
}

async fn settings(arguments: &WorkArgs, context: &Context) -> Result<Settings, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::failed(format!("cannot read the current directory: {error}")))?;
    let work_dir = match &arguments.work_dir {
        Some(path) => here.join(path),
        None => usual_work_dir(context)?,
    };
    let mut settings = Settings::new(work_dir);
    if let Some(path) = &arguments.path {
        settings.path.clone_from(path);
    }
    settings.slots = arguments.slots;
    settings.labels = labels::detect(&settings.path).await;
    for label in &arguments.labels {
        if !settings.labels.contains(label) {
            settings.labels.push(label.clone());
        }
    }
    let absolute = |paths: &[PathBuf]| paths.iter().map(|path| here.join(path)).collect();
    settings.sandbox.readable = absolute(&arguments.readable);
    settings.sandbox.writable = absolute(&arguments.writable);
    settings.sandbox.open_ports.clone_from(&arguments.open_ports);
    Ok(settings)
}

fn usual_work_dir(context: &Context) -> Result<PathBuf, Failure> {
    if rustix::process::geteuid().is_root() {
        // Builds of other users traverse it, so that it cannot be in root's home directory.
        let place = if cfg!(target_os = "macos") {
            "/usr/local/var"
        } else {
            "/var/lib"
        };
        return Ok(PathBuf::from(place).join("launchway-runner"));
    }
    let environment = &context.environment;
    let data_home = environment.path("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let data = data_home.or_else(|| Some(environment.path("HOME")?.join(".local/share")));
    let data = data.ok_or_else(|| Failure::usage("no directory for builds").hint("give --work-dir, or set HOME"))?;
    Ok(data.join("launchway/runner"))
}

fn machine_name() -> String {
    let system = rustix::system::uname();
    let name: String = system.nodename().to_string_lossy().chars().take(100).collect();
    if name.is_empty() { "runner".to_owned() } else { name }
}

/// The first signal lets running builds finish; the second stops them.
fn handle_signals(stage: watch::Sender<Stage>) -> io::Result<tokio::task::JoinHandle<()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(tokio::spawn(async move {
        for next in [Stage::Draining, Stage::Halting] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            match next {
                Stage::Halting => warn!("stopping the running builds"),
                _ => {
                    info!("taking no more builds and waiting for running builds to end; the next signal stops them")
                }
            }
            stage.send_replace(next);
        }
    }))
}

async fn ending(mut stages: watch::Receiver<Stage>) {
    let _ = stages.wait_for(|stage| *stage > Stage::Working).await;
}

fn failure(error: RunnerError, work_dir: &std::path::Path) -> Failure {
    let message = error.to_string();
    match error {
        RunnerError::Settings(_) => Failure::usage(message),
        RunnerError::WorkDirectory(_) | RunnerError::Sandbox(_) => Failure::failed(message),
        RunnerError::Refused(error) if error.is_unauthorized() => Failure::new(Exit::Auth, message).hint(format!(
            "it may have been revoked: delete {} and enroll again with a new token",
            token_file(work_dir).display()
        )),
        RunnerError::Refused(_) => Failure::failed(message),
    }
}
