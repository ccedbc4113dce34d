//! Runs the bundler of the project's framework, whose output is the content of an update.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use launchway_domain::platform::Platform;
use launchway_project::bundle::{self, Bundler, OUTPUT};
use launchway_project::packages::join;
use tempfile::TempDir;
use tokio::process::Command;

use crate::args::publish::PublishArgs;
use crate::commands::app;
use crate::context::Context;
use crate::failure::Failure;

/// Variables of this program that the scripts of a project and of its packages have no use for.
const OUR_SECRETS: [&str; 6] = [
    "LAUNCHWAY_API_KEY",
    "LAUNCHWAY_RUNNER_TOKEN",
    "LAUNCHWAY_SIGNING_KEY",
    "LAUNCHWAY_KEY_PASSPHRASE",
    "LAUNCHWAY_CREDENTIAL_PASSWORD",
    "LAUNCHWAY_CREDENTIAL_KEY_PASSWORD",
];

/// The content that a bundler made.
pub struct BundledContent {
    /// Its directory.
    pub directory: PathBuf,
    /// Deletes what the bundler wrote elsewhere than into the project.
    _output: TempDir,
}

/// The bundler of the project's app; `None` if its framework has none that this program knows.
pub fn find(platform: Platform, arguments: &PublishArgs, context: &Context) -> Result<Option<Bundler>, Failure> {
    let profile = arguments.profile.as_deref();
    let place = app::place(platform, profile, context)?;
    let source = app::source(platform, profile, context);
    let directory = join(&source.base, &place.directory);
    let found = bundle::bundler(&absolute(&source.root)?, &directory, place.framework, platform);
    found.map_err(|error| Failure::failed(error.to_string()).hint("build the content yourself, and give --dir DIR"))
}

/// Runs a bundler. It has no terminal, and what it prints goes to standard error.
pub async fn run(
    bundler: &Bundler,
    platform: Platform,
    arguments: &PublishArgs,
    context: &Context,
) -> Result<BundledContent, Failure> {
    let root = absolute(&app::source(platform, arguments.profile.as_deref(), context).root)?;
    let framework = bundler.framework.title();
    context
        .printer
        .note(&format!("Running the bundler of {framework} for {platform}"));
    let output = tempfile::Builder::new().prefix("launchway-bundle").tempdir();
    let output = output.map_err(|error| Failure::failed(format!("cannot create a temporary directory: {error}")))?;
    let mut command = Command::new("sh");
    command
        .args(["-eu", "-c", &bundler.script])
        .current_dir(&root)
        .env(OUTPUT, output.path())
        .stdin(Stdio::null())
        .stdout(match context.printer.is_quiet() {
            true => Stdio::null(),
            false => Stdio::from(io::stderr()),
        })
        .kill_on_drop(true);
    for name in OUR_SECRETS {
        command.env_remove(name);
    }
    let status = command.status().await;
    let status = status.map_err(|error| Failure::failed(format!("cannot run the bundler of {framework}: {error}")))?;
    if !status.success() {
        let message = format!("the bundler of {framework} failed ({status})");
        return Err(
            Failure::failed(message).hint("fix what it reports, or build the content yourself and give --dir DIR")
        );
    }
    let directory = bundler.content.find(&root, output.path());
    Ok(BundledContent {
        directory: directory.map_err(|error| Failure::failed(error.to_string()))?,
        _output: output,
    })
}

/// The absolute path of the source, because the bundler starts there.
fn absolute(root: &Path) -> Result<PathBuf, Failure> {
    let root = match root.as_os_str().is_empty() {
        true => Path::new("."),
        false => root,
    };
    std::path::absolute(root).map_err(|error| Failure::failed(format!("cannot read the current directory: {error}")))
}
