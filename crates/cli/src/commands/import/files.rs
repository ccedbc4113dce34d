//! Reads what the tools of another service printed.

use std::fs::File;
use std::io::Read;

use launchway_domain::configuration::Configuration;
use launchway_domain::release::Protocol;
use launchway_domain::version::Version;
use launchway_foreign::exports::{Export, ExportError, LeftOut, MAX_EXPORT_BYTES, capgo, codepush, expo, hot_updater};
use serde_json::Value;

use crate::failure::Failure;

/// A file of the arguments.
struct ExportFile {
    path: String,
    /// The deployment of CodePush whose history it is.
    deployment: Option<String>,
    bytes: Vec<u8>,
}

/// Reads all files of a service.
pub fn read(service: Protocol, arguments: &[String]) -> Result<Export, Failure> {
    let files = arguments.iter().map(|argument| open(service, argument));
    let files: Vec<ExportFile> = files.collect::<Result<_, _>>()?;
    match service {
        Protocol::Codepush => read_codepush(&files),
        Protocol::Expo => read_expo(&files),
        Protocol::Capgo => read_capgo(&files),
        Protocol::HotUpdater => {
            let mut export = Export::default();
            for file in &files {
                export.add(file.parsed(hot_updater::read_bundles(&file.bytes))?);
            }
            export.releases.sort_by(|this, that| this.name.cmp(&that.name));
            Ok(export)
        }
    }
}

fn open(service: Protocol, argument: &str) -> Result<ExportFile, Failure> {
    let named = argument
        .split_once('=')
        .filter(|(name, _)| service == Protocol::Codepush && Configuration::parse(name).is_ok());
    let (deployment, path) = match named {
        Some((name, path)) => (Some(name.to_owned()), path),
        None => (None, argument),
    };
    let unreadable = |error| Failure::failed(format!("cannot read {path}: {error}"));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_EXPORT_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(ExportFile {
        path: path.to_owned(),
        deployment,
        bytes,
    })
}

impl ExportFile {
    fn parsed<T>(&self, result: Result<T, ExportError>) -> Result<T, Failure> {
        result.map_err(|error| Failure::failed(format!("{} {error}", self.path)))
    }

    /// Whether the entries of the file have this field.
    fn has(&self, field: &str) -> bool {
        let bytes = self.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.bytes);
        let document: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let inner = || document.as_object()?.values().find_map(Value::as_array);
        let first = document.as_array().or_else(inner).and_then(|list| list.first());
        first.is_some_and(|entry| entry.get(field).is_some())
    }
}

fn read_codepush(files: &[ExportFile]) -> Result<Export, Failure> {
    let mut export = Export::default();
    for file in files {
        match &file.deployment {
            Some(name) => export.add(file.parsed(codepush::read_history(&file.bytes, name))?),
            None if file.has("label") => {
                let failure = Failure::usage(format!(
                    "{} is the history of a deployment, whose name is not in it",
                    file.path
                ));
                return Err(failure.hint(format!("name the deployment, as in Production={}", file.path)));
            }
            None => export.add(file.parsed(codepush::read_deployments(&file.bytes))?),
        }
    }
    Ok(export)
}

fn read_expo(files: &[ExportFile]) -> Result<Export, Failure> {
    let (mut export, mut channels) = (Export::default(), None);
    let (of_channels, of_updates): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.has("updateBranches"));
    for file in of_channels {
        let (more, left_out) = file.parsed(expo::read_channels(&file.bytes))?;
        channels.get_or_insert_with(expo::Channels::default).add(more);
        export.add(left_out);
    }
    for file in of_updates {
        export.add(file.parsed(expo::read_updates(&file.bytes, channels.as_ref()))?);
    }
    export.releases.sort_by_key(|release| release.created_at);
    Ok(export)
}

fn read_capgo(files: &[ExportFile]) -> Result<Export, Failure> {
    let (mut export, mut channels) = (Export::default(), capgo::Channels::default());
    let (of_channels, of_bundles): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.has("version"));
    for file in of_channels {
        let (more, left_out) = file.parsed(capgo::read_channels(&file.bytes))?;
        channels.add(more);
        export.add(left_out);
    }
    for file in of_bundles {
        export.add(file.parsed(capgo::read_bundles(&file.bytes, &channels))?);
    }
    export.releases.sort_by_key(|release| release.created_at);
    // The version of an update here is what its name says.
    let (kept, odd): (Vec<_>, Vec<_>) = export
        .releases
        .into_iter()
        .partition(|release| Version::parse(&release.name).is_ok());
    export.releases = kept;
    export.left_out.extend(odd.into_iter().map(|release| LeftOut {
        what: format!("bundle {}", release.name),
        why: "its name is not a version such as 1.2.3".to_owned(),
    }));
    Ok(export)
}
