//! `build <platform>`: packs and uploads the source, requests a build and follows it.

use indicatif::HumanBytes;
use launchway_api::builds::{BuildView, CreateBuild};
use launchway_client::{Answer, Client, Source};
use launchway_domain::platform::Platform;
use launchway_project::workspace::ProjectSource;
use tempfile::TempPath;

use crate::args::start::StartArgs;
#[cfg(unix)]
use crate::commands::build::local;
use crate::commands::build::{follow, plan, wanted};
use crate::commands::{app, fingerprint, run_blocking};
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupts::unless_interrupted;
use crate::printer::fields::count_files;
use crate::sealing::Sealed;
use crate::size_limit::{limits_for, note_if_tight};
use crate::source::{self, Kind, SourceError};

pub async fn run(platform: Platform, arguments: StartArgs, context: &Context) -> Result<(), Failure> {
    if arguments.plan_only {
        return plan::print_local(platform, &arguments.profile, context);
    }
    if arguments.local {
        #[cfg(unix)]
        return local::run(platform, &arguments, context).await;
        #[cfg(not(unix))]
        return Err(Failure::failed("builds run only on Linux and macOS"));
    }
    let client = context.client()?;
    let asked = unless_interrupted(ask(platform, &arguments, &client, context)).await?;
    follow::wait(asked, &arguments.follow, &client, context).await
}

/// Requests the build. Every problem of the arguments and the project is reported before anything is packed or sent.
async fn ask(
    platform: Platform,
    arguments: &StartArgs,
    client: &Client,
    context: &Context,
) -> Result<Answer<BuildView>, Failure> {
    let profile = &arguments.profile.profile;
    // A git repository is read by the runner.
    let source = match arguments.git {
        Some(_) => None,
        None => Some(app::source(platform, profile.as_deref(), context)),
    };
    let mut create: CreateBuild = wanted::from(platform, arguments, source.as_ref(), context)?;
    let mut lwfp2 = None;
    if let Some(source) = &source {
        let sent = fingerprint::build_fingerprint(platform, profile, context).await?;
        (create.fingerprint, lwfp2) = sent.map(|sent| (sent.input, sent.lwfp2)).unzip();
        create.source.upload_id = Some(upload(source, client, context).await?);
    }
    let printer = &context.printer;
    printer.set_interrupt_note("the build may have been created: launchway build list");
    let asked = client.create_build(&create, lwfp2.as_deref()).await?;
    // From here on, following the build covers an interruption.
    printer.set_interrupt_note("");
    Ok(asked)
}

/// Packs and uploads the source of the project; returns the id of the upload.
async fn upload(source: &ProjectSource, client: &Client, context: &Context) -> Result<String, Failure> {
    let packed = pack(source, Some(client), context).await?;
    context
        .printer
        .set_interrupt_note("no build was created; uploaded data is deleted within a day");
    let progress = context.printer.progress("Uploading", packed.sealed.size);
    let source = Source {
        path: &packed.path,
        file_name: "source.tar.zst",
        size: packed.sealed.size,
        sha256: &packed.sealed.sha256,
    };
    Ok(client.upload(source, progress.callback()).await?.id)
}

/// A packed source. Its file is deleted when this is dropped.
pub struct PackedSource {
    pub path: TempPath,
    /// Its size and SHA-256.
    pub sealed: Sealed,
}

/// Packs the source of the project and reports its size. Stops when it is more than the server takes.
pub async fn pack(source: &ProjectSource, server: Option<&Client>, context: &Context) -> Result<PackedSource, Failure> {
    if source.is_workspace() {
        let root = source.root.display();
        context.printer.note(&format!(
            "The app belongs to the workspace in {root}, which is the source of the build"
        ));
    }
    let directory = source.root.clone();
    let entries = run_blocking(move || source::walk(&directory)).await?.map_err(unfit)?;
    let bytes = entries
        .iter()
        .map(|entry| match entry.kind {
            Kind::File { size, .. } => size,
            Kind::Link { .. } => 0,
        })
        .sum();
    let limits = match server {
        Some(client) => limits_for(bytes, client).await?,
        None => None,
    };
    let limit = limits.map(|limits| limits.source);
    note_if_tight(bytes, limit, "sources", context);
    let count = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    let unwritable = |error| Failure::failed(format!("cannot write a temporary file: {error}"));
    // Owned by this function and not by the thread that writes it, so that an interruption removes it.
    let file = tempfile::Builder::new()
        .suffix(".tar.zst")
        .tempfile()
        .map_err(unwritable)?;
    let (file, path) = file.into_parts();
    let sealed = {
        let progress = context.printer.progress("Packing", bytes);
        let mover = progress.callback();
        run_blocking(move || source::pack(&entries, file, limit, &*mover))
            .await?
            .map_err(unfit)?
    };
    context.printer.note(&format!(
        "Packed {} ({}) into {}",
        count_files(count),
        HumanBytes(bytes),
        HumanBytes(sealed.size)
    ));
    Ok(PackedSource { path, sealed })
}

fn unfit(error: SourceError) -> Failure {
    let failure = Failure::failed(error.to_string());
    match error {
        SourceError::TooLarge(_) => failure.hint("add what the build does not need to .launchwayignore"),
        error if error.can_be_ignored() => failure.hint("add it to .launchwayignore if the build does not need it"),
        _ => failure,
    }
}
