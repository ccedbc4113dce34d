//! The programs under measurement: our server, built like this program, and the twin, which is this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The packages of the server and of the command line, and their programs.
const SERVER: &str = "launchway-server";
const CLI: &str = "launchway";

/// The profile of the packaged programs. Cargo names their directory after it.
const PROFILE: &str = "dist";

/// The server to measure: the specified one, or the workspace's, built now with the profile of packages into the
/// directory of this program.
///
/// # Errors
/// When the build fails, or this program is not built with that profile.
pub fn server(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    program(SERVER, named)
}

/// The command line to measure, found like [`server`].
///
/// # Errors
/// As [`server`].
pub fn cli(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    program(CLI, named)
}

fn program(package: &str, named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let directory = own.parent().context("a program lies in a directory")?;
    ensure!(
        directory.ends_with(PROFILE),
        "only programs that are optimized as packaged ones are can be compared: use `cargo run --profile {PROFILE}`"
    );
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let target = directory.parent().context("a program lies two directories deep")?;
    let built = Command::new(env!("CARGO"))
        .args(["build", "--profile", PROFILE, "--package", package, "--target-dir"])
        .arg(target)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()
        .context("cargo cannot be started")?;
    ensure!(built.success(), "{package} could not be built");
    Ok(directory.join(package))
}

/// Our server on the database and objects in `data`, without a limit of checks per address.
pub fn serve(server: &Path, data: &Path) -> Command {
    let mut command = Command::new(server);
    // Settings of the shell must not affect the measurement.
    command
        .env_clear()
        .current_dir(data)
        .env("LAUNCHWAY_LOG", "error")
        .args(["--listen", "127.0.0.1:0", "--check-limit", "0", "--data-dir"])
        .arg(data);
    command
}

/// The twin, with responses of this many bytes.
///
/// # Errors
/// When the system does not report the path of this program.
pub fn twin(body_bytes: u64) -> anyhow::Result<Command> {
    peer("twin", body_bytes)
}

/// The loop of system calls, with responses of this many bytes.
///
/// # Errors
/// When the system does not report the path of this program.
pub fn bare(body_bytes: u64) -> anyhow::Result<Command> {
    peer("bare", body_bytes)
}

fn peer(name: &str, body_bytes: u64) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .env_clear()
        .args([name, "--body-bytes", &body_bytes.to_string()]);
    Ok(command)
}
