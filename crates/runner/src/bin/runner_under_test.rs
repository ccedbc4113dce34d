//! The process that the runner's tests start: a step, or a whole runner.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use launchway_api::secret::SecretText;
use launchway_client::Timeouts;
use launchway_runner::executor::{Executor, ProcessExecutor, RunningStep, StepOrder, step_entry};
use launchway_runner::machine::SystemMachine;
use launchway_runner::plan::RequestOnly;
use launchway_runner::protocol::Server;
use launchway_runner::sandbox::BuildUser;
use launchway_runner::settings::Settings;
use launchway_runner::{Runner, Stage};
use tokio::io::AsyncReadExt;

fn main() -> ExitCode {
    if let Some(end) = step_entry(std::env::args_os()) {
        return end;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["step", order] => run_step(order),
        ["work", url, directory] => work(url, directory),
        ["connect", name] => connect(name),
        _ => Err("usage: step FILE | work URL DIRECTORY | connect NAME".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the order from a file. Prints the output of the step, then how it ended.
#[tokio::main(flavor = "current_thread")]
async fn run_step(order: &str) -> Result<(), Box<dyn std::error::Error>> {
    launchway_runner::sandbox::hide_this_process()?;
    let order: StepOrder = serde_json::from_slice(&std::fs::read(order)?)?;
    let RunningStep { mut output, stop, end } = ProcessExecutor::new()?.start(order).await?;
    let read = async {
        let mut printed = Vec::new();
        output.read_to_end(&mut printed).await.map(|_| printed)
    };
    let (printed, ended) = tokio::join!(read, end);
    drop(stop);
    let mut out = std::io::stdout().lock();
    out.write_all(&printed?)?;
    writeln!(out, "\n{:?}", ended?)?;
    Ok(())
}

/// Works for a server until it is killed.
#[tokio::main]
async fn work(url: &str, directory: &str) -> Result<(), Box<dyn std::error::Error>> {
    let (token, machine) = (SecretText::new("token".to_owned()), Arc::new(SystemMachine));
    let server = Server::new(url.parse()?, token, &Timeouts::default(), machine)?;
    let mut settings = Settings::new(directory.into());
    settings.sandbox.user = BuildUser::Own;
    settings.limits.min_free_bytes = 0;
    let executor = Arc::new(ProcessExecutor::new()?);
    let runner = Runner::new(settings, server, executor, Arc::new(RequestOnly), "test".to_owned())?;
    let (_working, stage) = tokio::sync::watch::channel(Stage::Working);
    Ok(runner.run(stage).await?)
}

/// Connects to an abstract socket.
#[cfg(target_os = "linux")]
fn connect(name: &str) -> Result<(), Box<dyn std::error::Error>> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};
    UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn connect(_name: &str) -> Result<(), Box<dyn std::error::Error>> {
    Err("there are no abstract sockets here".into())
}
