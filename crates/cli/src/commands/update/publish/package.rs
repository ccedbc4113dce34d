//! The package to publish: a directory or the output of a bundler, packed into a temporary file, or an existing ZIP.

use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use launchway_client::Client;
use launchway_domain::platform::Platform;
use tempfile::TempPath;

use super::bundler;
use crate::args::publish::PublishArgs;
use crate::commands::run_blocking;
use crate::context::Context;
use crate::failure::Failure;
use crate::pack::{pack, walk};
use crate::printer::fields::count_files;
use crate::sealing::{Sealed, seal};
use crate::size_limit::{limits_for, note_if_tight, too_large};

/// A package to upload. The file of a packed directory is deleted when this is dropped.
pub struct Package {
    /// Its size and SHA-256.
    pub sealed: Sealed,
    place: Place,
}

enum Place {
    Temporary(TempPath),
    Given(PathBuf),
}

impl Package {
    /// The path of its bytes.
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::Temporary(path) => path,
            Place::Given(path) => path,
        }
    }
}

/// Packs or reads the path that the arguments or the project name, or else what the bundler of the project makes. Fails
/// when there is none of these, or when it is unsuitable.
pub async fn prepare(
    platform: Platform,
    arguments: &PublishArgs,
    client: &Client,
    context: &Context,
) -> Result<Package, Failure> {
    let in_project = || Some(context.settings.root.join(context.settings.update().dir.as_ref()?));
    if let Some(file) = &arguments.file {
        return given(file.clone(), client, context).await;
    }
    if let Some(directory) = &arguments.dir {
        return packed(directory.clone(), &directory.display().to_string(), client, context).await;
    }
    let bundler = bundler::find(platform, arguments, context);
    match (in_project(), bundler) {
        (Some(directory), Ok(Some(bundler))) if !directory.is_dir() => {
            let (shown, framework) = (directory.display(), bundler.framework.title());
            Err(Failure::failed(format!("{shown} is not a directory")).hint(format!(
                "write the content there, or remove dir under [update] in launchway.toml: then the bundler of {framework} runs"
            )))
        }
        (Some(directory), _) => packed(directory.clone(), &directory.display().to_string(), client, context).await,
        (None, bundler) => match bundler? {
            Some(bundler) => {
                let bundled = bundler::run(&bundler, platform, arguments, context).await?;
                packed(bundled.directory.clone(), "the bundle", client, context).await
            }
            None => Err(Failure::usage("nothing to publish specified")
                .hint("give --dir DIR with the built app, or set dir under [update] in launchway.toml")),
        },
    }
}

/// Packs a directory, which messages call `shown`.
pub async fn packed(directory: PathBuf, shown: &str, client: &Client, context: &Context) -> Result<Package, Failure> {
    let entries = run_blocking(move || walk(&directory))
        .await?
        .map_err(|problem| Failure::failed(problem.to_string()))?;
    let files = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    let bytes = entries.iter().map(|entry| entry.size).sum();
    let limits = limits_for(bytes, client).await?;
    if let Some(limits) = limits.filter(|limits| bytes > limits.unpacked_package) {
        return Err(too_large(shown, bytes, limits.unpacked_package));
    }
    let limit = limits.map(|limits| limits.package);
    note_if_tight(bytes, limit, "packages", context);
    let unwritable = |error| Failure::failed(format!("cannot write a temporary file: {error}"));
    // Owned by this function and not by the thread that writes it, so that an interruption removes it.
    let (file, path) = tempfile::Builder::new()
        .suffix(".zip")
        .tempfile()
        .map_err(unwritable)?
        .into_parts();
    {
        let progress = context.printer.progress("Packing", bytes);
        let mover = progress.callback();
        let outcome = run_blocking(move || pack(&entries, file, limit, &*mover)).await?;
        outcome.map_err(|problem| Failure::failed(problem.to_string()))?;
    }
    let written = path.to_path_buf();
    let sealed = run_blocking(move || seal(&written, &|_| ()))
        .await?
        .map_err(unwritable)?;
    if let Some(limit) = limit.filter(|limit| sealed.size > *limit) {
        return Err(too_large("the package", sealed.size, limit));
    }
    context.printer.note(&format!(
        "Packed {} of {shown} ({}) into {}",
        count_files(files),
        HumanBytes(bytes),
        HumanBytes(sealed.size),
    ));
    Ok(Package {
        sealed,
        place: Place::Temporary(path),
    })
}

/// Reads an existing ZIP.
pub async fn given(file: PathBuf, client: &Client, context: &Context) -> Result<Package, Failure> {
    let unreadable = |error| Failure::failed(format!("cannot read {}: {error}", file.display()));
    let size = std::fs::metadata(&file).map_err(unreadable)?.len();
    let limit = limits_for(size, client).await?.map(|limits| limits.package);
    if let Some(limit) = limit.filter(|limit| size > *limit) {
        return Err(too_large(&file.display().to_string(), size, limit));
    }
    let progress = context.printer.progress("Reading", size);
    let (path, mover) = (file.clone(), progress.callback());
    let sealed = run_blocking(move || seal(&path, &*mover)).await?.map_err(unreadable)?;
    if sealed.size == 0 {
        return Err(Failure::failed(format!("{} is empty", file.display())));
    }
    Ok(Package {
        sealed,
        place: Place::Given(file),
    })
}
