//! The packages of the releases that an import publishes, found and checked before anything is sent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use launchway_client::Client;
use launchway_domain::platform::Platform;
use launchway_domain::release::{Protocol, UpdateKind};
use launchway_foreign::codepush::PackageHash;
use launchway_foreign::exports::ExportedRelease;

use super::platform_plan::PlatformPlan;
use crate::args::import::ImportArgs;
use crate::commands::run_blocking;
use crate::commands::update::publish::expo_content::ExpoContent;
use crate::commands::update::publish::package::{Package, given, packed};
use crate::context::Context;
use crate::failure::Failure;
use crate::trust::package::MeasuredPackage;

/// Missing packages that a message names.
const MAX_NAMED: usize = 10;

/// The packages by their paths.
pub struct Packages {
    directory: PathBuf,
    by_path: BTreeMap<PathBuf, Package>,
}

impl Packages {
    /// Finds the package of each release that is to be published.
    pub async fn find(
        arguments: &ImportArgs,
        plans: &[PlatformPlan<'_>],
        client: &Client,
        context: &Context,
    ) -> Result<Packages, Failure> {
        let wanted = || {
            plans
                .iter()
                .flat_map(PlatformPlan::releases)
                .filter(|(_, release)| release.kind == UpdateKind::Update)
        };
        let mut packages = Packages {
            directory: arguments.packages.clone().unwrap_or_default(),
            by_path: BTreeMap::new(),
        };
        if wanted().next().is_none() {
            return Ok(packages);
        }
        if arguments.packages.is_none() {
            let failure = Failure::usage("--packages is missing: releases are published with their packages");
            return Err(failure.hint("--dry-run shows which packages are needed"));
        }
        let missing: Vec<String> = wanted()
            .filter(|(platform, release)| packages.path(*platform, release).is_none())
            .map(|(_, release)| format!("{} of {}", release.name, release.configuration))
            .collect();
        if !missing.is_empty() {
            let (shown, more) = (missing.iter().take(MAX_NAMED), missing.len().saturating_sub(MAX_NAMED));
            let shown: Vec<&str> = shown.map(String::as_str).collect();
            let rest = if more == 0 {
                String::new()
            } else {
                format!(", and {more} more")
            };
            let directory = packages.directory.display();
            let message = format!("{directory} lacks the packages of {}{rest}", shown.join(", "));
            return Err(Failure::failed(message).hint(match arguments.service {
                Protocol::Expo => "a package is what `npx expo export` wrote, as the directory or ZIP file of the update's id or group",
                _ => "a package is NAME.zip, or the directory NAME",
            }));
        }
        for (platform, release) in wanted() {
            let Some(path) = packages.path(platform, release) else {
                continue;
            };
            // Several channels serve a bundle of Capgo, and an export of Expo has the content of both platforms.
            let package = match packages.by_path.remove(&path) {
                Some(package) => package,
                None if path.is_dir() => packed(path.clone(), &path.display().to_string(), client, context).await?,
                None => given(path.clone(), client, context).await?,
            };
            check(platform, release, &path, &package).await?;
            packages.by_path.insert(path, package);
        }
        Ok(packages)
    }

    /// The package of a release; none for a return to the built-in content.
    pub fn of(&self, platform: Platform, release: &ExportedRelease) -> Option<&Package> {
        match release.kind {
            UpdateKind::Update => self.by_path.get(&self.path(platform, release)?),
            UpdateKind::Embedded => None,
        }
    }

    fn path(&self, platform: Platform, release: &ExportedRelease) -> Option<PathBuf> {
        let configuration = file_name(&release.configuration);
        let names = [Some(&release.name), release.group.as_ref()];
        let names: Vec<String> = names.into_iter().flatten().map(|name| file_name(name)).collect();
        let folders = [
            self.directory.join(platform.as_str()).join(&configuration),
            self.directory.join(&configuration),
            self.directory.join(platform.as_str()),
            self.directory.clone(),
        ];
        let in_folder = |folder: &PathBuf| {
            names.iter().find_map(|name| {
                let (zip, directory) = (folder.join(format!("{name}.zip")), folder.join(name));
                if zip.is_file() {
                    Some(zip)
                } else {
                    directory.is_dir().then_some(directory)
                }
            })
        };
        folders.iter().find_map(in_folder)
    }
}

/// A name from a file of others as the name of a file: it leads into no other directory.
fn file_name(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | '+');
    let plain: String = name
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '_' })
        .collect();
    match plain.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => plain,
    }
}

/// Fails if a package is not that of the release: devices that run the release would not be recognized.
async fn check(platform: Platform, release: &ExportedRelease, path: &Path, package: &Package) -> Result<(), Failure> {
    if release.protocol == Protocol::Expo {
        let read = package.path().to_owned();
        let content = run_blocking(move || ExpoContent::of(&read, platform)).await?;
        return match content {
            Ok(_) => Ok(()),
            Err(failure) => {
                let message = format!(
                    "{} is not the package of {}: {}",
                    path.display(),
                    release.name,
                    failure.message
                );
                Err(Failure { message, ..failure })
            }
        };
    }
    let Some(expected) = &release.content_hash else {
        return Ok(());
    };
    let actual = match release.protocol {
        Protocol::Codepush => package_hash(package).await?,
        Protocol::HotUpdater if !expected.starts_with("sig:") => package.sealed.sha256.clone(),
        // A bundle of Capgo is packed anew, and a signature is checked by apps.
        Protocol::HotUpdater | Protocol::Capgo | Protocol::Expo => return Ok(()),
    };
    if actual.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let message = format!(
        "{} is not the package of {}: its hash is {actual}, not {expected}",
        path.display(),
        release.name
    );
    Err(Failure::failed(message).hint("download it again from the service"))
}

/// How CodePush's clients identify the content of a package.
async fn package_hash(package: &Package) -> Result<String, Failure> {
    let (path, sealed) = (package.path().to_owned(), package.sealed.clone());
    let measured = run_blocking(move || MeasuredPackage::of_sealed(&path, &sealed)).await??;
    let mut hash = PackageHash::default();
    for file in measured.files.files() {
        hash.add(&file.path, file.sha256.0);
    }
    Ok(hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_into_no_other_directory() {
        for (name, expected) in [
            ("v3", "v3"),
            ("1.0.2+5", "1.0.2+5"),
            ("../../etc/passwd", "_._.._etc_passwd"),
            ("..", "_."),
            ("/etc", "_etc"),
            ("a\\b:c", "a_b_c"),
        ] {
            assert_eq!(file_name(name), expected);
        }
    }
}
