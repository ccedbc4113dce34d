//! The package to publish: a directory packed into a temporary file, or an existing ZIP.

use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use tempfile::TempPath;

use crate::args::publish::PublishArgs;
use crate::commands::run_blocking;
use crate::context::Context;
use crate::failure::Failure;
use crate::pack::{Sealed, pack, seal, walk};
use crate::printer::fields::count_files;

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

/// Packs or reads the path that the arguments or the project name. Fails when neither names one, or when it is
/// unsuitable.
pub async fn prepare(arguments: &PublishArgs, context: &Context) -> Result<Package, Failure> {
    let in_project = context
        .settings
        .update()
        .dir
        .as_ref()
        .map(|dir| context.settings.root.join(dir));
    match (&arguments.file, arguments.dir.clone().or(in_project)) {
        (Some(file), _) => given(file.clone(), context).await,
        (None, Some(directory)) => packed(directory, context).await,
        (None, None) => Err(Failure::usage("nothing to publish specified")
            .hint("give --dir DIR with the built app, or set dir under [update] in launchway.toml")),
    }
}

async fn packed(directory: PathBuf, context: &Context) -> Result<Package, Failure> {
    let listed = directory.clone();
    let entries = run_blocking(move || walk(&listed))
        .await?
        .map_err(|problem| Failure::failed(problem.to_string()))?;
    let files = i64::try_from(entries.len()).unwrap_or(i64::MAX);
    let bytes = entries.iter().map(|entry| entry.size).sum();
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
        let outcome = run_blocking(move || pack(&entries, file, &*mover)).await?;
        outcome.map_err(|problem| Failure::failed(problem.to_string()))?;
    }
    let written = path.to_path_buf();
    let sealed = run_blocking(move || seal(&written, &|_| ()))
        .await?
        .map_err(unwritable)?;
    context.printer.note(&format!(
        "Packed {} of {} ({}) into {}",
        count_files(files),
        directory.display(),
        HumanBytes(bytes),
        HumanBytes(sealed.size),
    ));
    Ok(Package {
        sealed,
        place: Place::Temporary(path),
    })
}

async fn given(file: PathBuf, context: &Context) -> Result<Package, Failure> {
    let unreadable = |error| Failure::failed(format!("cannot read {}: {error}", file.display()));
    let size = std::fs::metadata(&file).map_err(unreadable)?.len();
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
