//! `update <platform>`: packs, uploads and publishes, for one platform or for all of the project.

mod bundler;
mod compatible;
mod dry_run;
pub mod expo;
pub mod expo_content;
pub mod expo_signing;
pub mod package;
mod prepared;
mod suitable;
mod wanted;

use launchway_domain::platform::Platform;
use launchway_domain::release::Format;

use self::prepared::{Desks, PreparedUpdate, Wanted};
use crate::args::fingerprint::AppArgs;
use crate::args::publish::{PublishArgs, Target};
use crate::commands::fingerprint;
use crate::context::Context;
use crate::failure::Failure;

pub async fn run(arguments: PublishArgs, context: &Context) -> Result<(), Failure> {
    // Every problem of the arguments and the project is reported before anything is packed or sent.
    let mut wanted = Vec::new();
    for platform in platforms(&arguments, context)? {
        suitable::check(platform, &arguments, context)?;
        let (mut create, native) = wanted::from(platform, &arguments, context)?;
        let expo = expo::find(platform, &arguments, context)?;
        let signer = expo.as_ref().map(|app| app.signer(&arguments)).transpose()?.flatten();
        if let Some(app) = expo {
            create.format = Some(Format::Expo.into());
            create.runtime_version = Some(app.runtime_version);
        }
        wanted.push((platform, create, native, signer));
    }
    let client = context.client()?;
    let mut desks = Desks::new(&client, context);
    let is_one = wanted.len() == 1;
    let mut ready = Vec::new();
    for (platform, create, native, signer) in wanted {
        if !is_one {
            context.printer.note(&format!("Preparing the update for {platform}"));
        }
        let wanted = Wanted { create, native, signer };
        ready.push(PreparedUpdate::of(platform, wanted, &arguments, &mut desks).await?);
    }
    if arguments.dry_run {
        return dry_run::print(&ready, context);
    }
    // Nothing is published for one platform unless it could be for all.
    for (published, update) in ready.into_iter().enumerate() {
        update.publish(published > 0, &mut desks).await?;
    }
    Ok(())
}

/// The platforms to publish for. Fails if the project has none, or if what is given fits only one.
fn platforms(arguments: &PublishArgs, context: &Context) -> Result<Vec<Platform>, Failure> {
    match arguments.target() {
        Target::One(platform) => Ok(vec![platform]),
        Target::All if arguments.fingerprint.is_some() => {
            let failure = Failure::usage("--fingerprint is that of one platform");
            Err(failure.hint("give the platform instead of all, or omit --fingerprint to use the project's"))
        }
        Target::All => {
            let profile = arguments.profile.clone();
            fingerprint::platforms(&AppArgs { profile }, context)
        }
    }
}
