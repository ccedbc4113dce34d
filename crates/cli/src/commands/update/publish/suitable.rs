//! Refuses a folder that no app could run as an update.

use launchway_domain::platform::Platform;
use launchway_project::fingerprint;
use launchway_project::framework::Framework;

use crate::args::publish::PublishArgs;
use crate::commands::app;
use crate::context::Context;
use crate::failure::Failure;

/// Fails for a Flutter app, whose code is compiled. A ZIP file is accepted: an app may read data from updates by itself.
pub fn check(platform: Platform, arguments: &PublishArgs, context: &Context) -> Result<(), Failure> {
    if arguments.file.is_some() {
        return Ok(());
    }
    let place = app::place(platform, arguments.profile.as_deref(), context)?;
    let framework = match place.framework {
        Some(framework) => Some(framework),
        None => fingerprint::framework(&context.settings.root.join(&place.directory), platform).ok(),
    };
    if framework != Some(Framework::Flutter) {
        return Ok(());
    }
    let message = "this is a Flutter app, which cannot run a folder as an update: its code is compiled into the app";
    Err(Failure::failed(message).hint(format!(
        "send a new build to the store: `launchway build {platform}`, then `launchway submit {platform}`;\n      \
         data that the app itself reads from an update is published with --file ZIP"
    )))
}
