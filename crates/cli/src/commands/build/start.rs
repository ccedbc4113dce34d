//! `build <platform>`: packs, uploads, asks for a build and follows it.

use std::path::Path;

use indicatif::HumanBytes;
use launchway_api::builds::{BuildView, CreateBuild};
use launchway_client::{Answer, Client, Source};
use launchway_domain::platform::Platform;
use tempfile::TempPath;

use crate::args::start::StartArgs;
#[cfg(unix)]
use crate::commands::build::local;
use crate::commands::build::{follow, plan, wanted};
use crate::commands::{apart, fingerprint};
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;
use crate::pack::{Sealed, seal};
use crate::printer::fields::in_files;
use crate::source::{self, Kind, SourceError};

pub async fn run(platform: Platform, arguments: StartArgs, context: &Context) -> Result<(), Failure> {
    if arguments.plan_only {
        return plan::print(&plan::of_project(platform, &arguments.profile, context)?, context);
    }
    if arguments.local {
        #[cfg(unix)]
        return local::run(platform, &arguments, context).await;
        #[cfg(not(unix))]
        return Err(Failure::failed("builds run on Linux and macOS only"));
    }
    let client = context.client()?;
    let asked = unless_interrupted(ask(platform, &arguments, &client, context)).await?;
    follow::to_the_end(asked, &arguments.follow, &client, context).await
}

/// Asks the server for the build. Everything that can be wrong here is found before anything is packed or sent.
async fn ask(
    platform: Platform,
    arguments: &StartArgs,
    client: &Client,
    context: &Context,
) -> Result<Answer<BuildView>, Failure> {
    let resolved = match arguments.git {
        Some(_) => None,
        None => Some(plan::of_project(platform, &arguments.profile, context)?),
    };
    let mut create: CreateBuild = wanted::from(platform, arguments, resolved, context)?;
    let mut lwfp2 = None;
    if arguments.git.is_none() {
        let sent = fingerprint::of_build(platform, &arguments.profile.profile, context).await?;
        (create.fingerprint, lwfp2) = sent.map(|sent| (sent.input, sent.lwfp2)).unzip();
        create.source.upload_id = Some(upload(client, context).await?);
    }
    let printer = &context.printer;
    printer.interrupted_leaves("the build may have been made: launchway build list");
    let asked = client.create_build(&create, lwfp2.as_deref()).await?;
    // From here on what follows the build says it.
    printer.interrupted_leaves("");
    Ok(asked)
}

/// Packs the project and uploads it; gives the id of the upload.
async fn upload(client: &Client, context: &Context) -> Result<String, Failure> {
    let packed = pack(&context.settings.root, context).await?;
    context
        .printer
        .interrupted_leaves("no build was made, and what was uploaded so far is removed within a day");
    let progress = context.printer.progress("Uploading", packed.sealed.size);
    let source = Source {
        path: &packed.path,
        file_name: "source.tar.zst",
        size: packed.sealed.size,
        sha256: &packed.sealed.sha256,
    };
    Ok(client.upload(source, progress.mover()).await?.id)
}

/// A source that is packed. Its file goes away with it.
pub struct Packed {
    /// Where it is.
    pub path: TempPath,
    /// Its size and SHA-256.
    pub sealed: Sealed,
}

/// Packs the source in `root` and says what it came to.
pub async fn pack(root: &Path, context: &Context) -> Result<Packed, Failure> {
    let directory = root.to_owned();
    let entries = apart(move || source::walk(&directory)).await?.map_err(unfit)?;
    let bytes = entries
        .iter()
        .map(|entry| match entry.kind {
            Kind::File { size, .. } => size,
            Kind::Link { .. } => 0,
        })
        .sum();
    let count = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    let unwritable = |error| Failure::failed(format!("no temporary file can be written: {error}"));
    // It belongs to this function and not to the thread that writes it, so that an interruption removes it.
    let file = tempfile::Builder::new()
        .suffix(".tar.zst")
        .tempfile()
        .map_err(unwritable)?;
    let (file, path) = file.into_parts();
    {
        let progress = context.printer.progress("Packing", bytes);
        let mover = progress.mover();
        apart(move || source::pack(&entries, file, &*mover))
            .await?
            .map_err(unfit)?;
    }
    let written = path.to_path_buf();
    let sealed = apart(move || seal(&written, &|_| ())).await?.map_err(unwritable)?;
    context.printer.note(&format!(
        "Packed {} ({}) into {}",
        in_files(count),
        HumanBytes(bytes),
        HumanBytes(sealed.size)
    ));
    Ok(Packed { path, sealed })
}

fn unfit(error: SourceError) -> Failure {
    let failure = Failure::failed(error.to_string());
    match error.can_be_ignored() {
        true => failure.hint("name it in .launchwayignore if the build does not need it"),
        false => failure,
    }
}
