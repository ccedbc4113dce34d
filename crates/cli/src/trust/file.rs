//! `launchway.trust.json`: the file that developers commit, from which everything is verified
//! (`docs/reference/trust.md#the-trust-file`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use launchway_domain::bundle_id::BundleId;
use launchway_project::trust_file::{NAME, name_of};
use launchway_trust::TrustFile;
use launchway_trust::metadata::{Metadata, Root};

use crate::failure::Failure;

/// The file of one app in a project.
#[derive(Clone, Debug)]
pub struct ProjectTrust {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// The app.
    pub bundle_id: BundleId,
    /// The content; `None` if the app has no root here.
    pub content: Option<TrustFile>,
}

impl ProjectTrust {
    /// The file of this app: `launchway.trust.json`, or `launchway.trust.<bundle id>.json` in a project of several apps.
    pub fn of(root: &Path, bundle_id: &BundleId) -> Result<Self, Failure> {
        let mut path = root.join(NAME);
        let mut content = read(&path)?;
        let is_own = |(owner, _): &(BundleId, TrustFile)| owner == bundle_id;
        if !content.as_ref().is_some_and(is_own) {
            let of_app = root.join(name_of(bundle_id));
            let own = read(&of_app)?.filter(is_own);
            // A new file takes the common name, unless another app has it.
            if content.is_some() || own.is_some() {
                (path, content) = (of_app, own);
            }
        }
        Ok(Self {
            path,
            bundle_id: bundle_id.clone(),
            content: content.map(|(_, file)| file),
        })
    }

    /// The app of `launchway.trust.json`, if there is one.
    pub fn only_app(root: &Path) -> Result<Option<BundleId>, Failure> {
        Ok(read(&root.join(NAME))?.map(|(owner, _)| owner))
    }

    /// The content. Fails without a file.
    pub fn required(&self) -> Result<&TrustFile, Failure> {
        self.content.as_ref().ok_or_else(|| {
            Failure::usage(format!("{} does not exist", self.path.display()))
                .hint("get it from the source repository of the app; `launchway trust init` makes it for a new app")
        })
    }

    /// Writes the file.
    pub fn write(&mut self, content: TrustFile) -> Result<(), Failure> {
        let shown = self.path.display();
        let unwritable = |error: io::Error| Failure::failed(format!("cannot write {shown}: {error}"));
        // A file beside it, so that no reader sees half of it. Its mode is that of other source files.
        let new = self.path.with_extension("json.new");
        fs::write(&new, content.to_json()).map_err(unwritable)?;
        fs::rename(&new, &self.path).map_err(unwritable)?;
        self.content = Some(content);
        Ok(())
    }
}

/// The file and the app that its root names; `None` if there is no file.
fn read(path: &Path) -> Result<Option<(BundleId, TrustFile)>, Failure> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::failed(format!("cannot read {}: {error}", path.display()))),
    };
    let file = TrustFile::parse(&bytes).map_err(|error| invalid(path, &error.to_string()))?;
    let root: Metadata<Root> =
        Metadata::parse(file.root.as_bytes()).map_err(|error| invalid(path, &format!("its root {error}")))?;
    match &root.header().identity {
        Some(identity) => Ok(Some((identity.bundle_id.clone(), file))),
        None => Err(invalid(path, "its root names no app")),
    }
}

fn invalid(path: &Path, problem: &str) -> Failure {
    Failure::usage(format!("{} is invalid: {problem}", path.display()))
        .hint("restore it from the source repository of the app")
}
