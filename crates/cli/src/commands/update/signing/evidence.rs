//! Which package a person means: a file, a hash that the packing CI printed, or what they see here. The server's word is
//! none (`docs/reference/trust.md#before-signing`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use launchway_api::updates::UpdateView;
use launchway_client::{Paging, UpdateFilter};
use launchway_trust::metadata::Target;
use launchway_trust::{Sha256, Update, UpdateRole};

use super::{PAGE, PackageFacts, SigningDesk, configuration, path_of};
use crate::commands::run_blocking;
use crate::failure::Failure;
use crate::trust::package::{MeasuredPackage, differences};
use crate::trust::publication::WantedTarget;
use crate::trust::repository::VerifiedRepository;

/// The most differing files that are shown.
const MAX_SHOWN: usize = 40;

/// The packages that somebody vouches for.
#[derive(Debug, Default)]
pub struct Evidence {
    hashes: BTreeSet<Sha256>,
    packages: Vec<MeasuredPackage>,
}

impl Evidence {
    /// Reads the files and hashes that were given.
    pub async fn read(files: &[PathBuf], hashes: &[Sha256], list: Option<&Path>) -> Result<Self, Failure> {
        let mut evidence = Self {
            hashes: hashes.iter().copied().collect(),
            packages: Vec::new(),
        };
        if let Some(path) = list {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
            evidence.hashes.extend(parse_hashes(&text, path)?);
        }
        for path in files {
            let path = path.clone();
            evidence
                .packages
                .push(run_blocking(move || MeasuredPackage::read(&path)).await??);
        }
        Ok(evidence)
    }

    fn is_empty(&self) -> bool {
        self.hashes.is_empty() && self.packages.is_empty()
    }

    /// Whether a package with this hash is vouched for.
    pub fn covers(&self, sha256: &str) -> bool {
        let mut known = self
            .hashes
            .iter()
            .chain(self.packages.iter().map(|package| &package.sha256));
        known.any(|hash| hash.to_string() == sha256)
    }
}

impl SigningDesk<'_> {
    /// What is signed about an update that waits: of the package that is vouched for, or that a person looks at here.
    pub async fn examine(
        &self,
        update: &UpdateView,
        role: &UpdateRole,
        repository: &VerifiedRepository,
        evidence: &Evidence,
    ) -> Result<WantedTarget, Failure> {
        let named = (&update.platform, update.version.as_str(), update.build_number.as_str());
        let wanted = |package: &MeasuredPackage| PackageFacts::of(package, update.fingerprint.clone()).wanted(named);
        let (id, sha256) = (&update.id, &update.sha256);
        let given = evidence
            .packages
            .iter()
            .find(|package| package.sha256.to_string() == *sha256);
        let wanted = match given {
            Some(package) => wanted(package)?,
            None if evidence.covers(sha256) => wanted(&self.download(update).await?)?,
            None if !evidence.is_empty() => {
                let message = format!("{id} is not a package that you vouch for: its SHA-256 is {sha256}");
                return Err(Failure::failed(message).hint("do not sign it, unless you know where this package is from"));
            }
            None if !self.context.terminal.is_interactive() => {
                return Err(Failure::usage(format!("nothing says which package {id} must have"))
                    .hint("give --package FILE, or --sha256 HEX as the CI that packed it printed"));
            }
            None => {
                let package = self.download(update).await?;
                let wanted = wanted(&package)?;
                self.ask(&package, &wanted, role, repository).await?;
                return Ok(wanted);
            }
        };
        for line in wanted.describe(role) {
            self.context.printer.note(&line);
        }
        Ok(wanted)
    }

    /// Downloads and reads the package of an update.
    async fn download(&self, update: &UpdateView) -> Result<MeasuredPackage, Failure> {
        let unusable = |error| Failure::failed(format!("cannot write a temporary file: {error}"));
        let directory = tempfile::tempdir().map_err(unusable)?;
        let path = directory.path().join("update.zip");
        let size = u64::try_from(update.size).unwrap_or(0);
        {
            let progress = self.context.printer.progress("Downloading", size);
            self.service
                .download_package(update, &path, progress.callback())
                .await?;
        }
        // The directory goes along, and is deleted afterwards.
        let package = run_blocking(move || {
            let package = MeasuredPackage::read(&path);
            drop(directory);
            package
        });
        let package = package.await??;
        if package.sha256.to_string() != update.sha256 {
            return Err(Failure::failed(format!(
                "the server sent another package than that of {}",
                update.id
            )));
        }
        Ok(package)
    }

    /// Shows an update beside the newest one that was signed, and asks.
    async fn ask(
        &self,
        package: &MeasuredPackage,
        wanted: &WantedTarget,
        role: &UpdateRole,
        repository: &VerifiedRepository,
    ) -> Result<(), Failure> {
        let printer = &self.context.printer;
        for line in wanted.describe(role) {
            printer.note(&line);
        }
        match newest_signed(repository, role, wanted) {
            None => printer.note(&format!(
                "It has {} files. No update was signed before.",
                package.files.files().len()
            )),
            Some((path, target)) => match self.signed_package(&path, &target, role).await? {
                None => printer.warn(&format!(
                    "cannot compare it with {path}, whose package the server does not send"
                )),
                Some(before) => {
                    let lines = differences(&before.files, &package.files);
                    printer.note(&format!("Files that differ from {path}: {}", lines.len()));
                    lines
                        .iter()
                        .take(MAX_SHOWN)
                        .for_each(|line| printer.note(&format!("  {line}")));
                    if lines.len() > MAX_SHOWN {
                        printer.note(&format!("  … and {} more", lines.len() - MAX_SHOWN));
                    }
                }
            },
        }
        let question = format!("Sign {}?", wanted.path(role));
        match self.context.terminal.confirm(&question).await? {
            true => Ok(()),
            false => Err(Failure::failed("nothing was signed")),
        }
    }

    /// The package of a target that was signed; `None` if the server does not have it.
    async fn signed_package(
        &self,
        path: &str,
        target: &Target,
        role: &UpdateRole,
    ) -> Result<Option<MeasuredPackage>, Failure> {
        let filter = UpdateFilter {
            bundle_id: Some(self.project.bundle_id.to_string()),
            configuration: configuration(role),
            ..UpdateFilter::default()
        };
        let newest = Paging { limit: PAGE, offset: 0 };
        let page = self.service.updates(&filter, newest).await?.value;
        let same = |update: &&UpdateView| path_of(update, role).as_deref() == Some(path);
        let Some(update) = page.items.iter().find(same) else {
            return Ok(None);
        };
        let package = self.download(update).await?;
        Ok(Some(package).filter(|package| target.sha256() == Some(package.sha256)))
    }
}

/// The newest target of the platform that a role lists.
fn newest_signed(
    repository: &VerifiedRepository,
    role: &UpdateRole,
    wanted: &WantedTarget,
) -> Option<(String, Target)> {
    let listed = repository.role(role)?.body().targets.iter();
    let of_platform = listed.filter_map(|(path, target)| {
        let update = Update::of(target).ok()?;
        (update.path(role, wanted.platform) == *path).then_some((update, path, target))
    });
    let newest = of_platform.max_by(|(one, ..), (other, ..)| {
        let order = |update: &Update| (update.version().clone(), update.build());
        order(one).cmp(&order(other))
    });
    newest.map(|(_, path, target)| (path.clone(), target.clone()))
}

/// A hash in each line, as `sha256sum` writes them; text after the hash is ignored.
fn parse_hashes(text: &str, path: &Path) -> Result<Vec<Sha256>, Failure> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let hashes = lines.map(|line| {
        let word = line.split_whitespace().next().unwrap_or_default();
        word.parse::<Sha256>()
            .map_err(|error| Failure::usage(format!("{}: {word} {error}", path.display())))
    });
    hashes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_hashes_is_read_line_by_line() {
        let hash = "ab".repeat(32);
        let text = format!("# packed by CI\n\n{hash}  update.zip\n{hash}\n");
        let read = parse_hashes(&text, Path::new("hashes.txt")).expect("hashes");
        assert_eq!(
            read.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [hash.clone(), hash]
        );
        for bad in ["abc", "AB", "update.zip"] {
            parse_hashes(bad, Path::new("hashes.txt")).expect_err(bad);
        }
    }
}
