//! The trust files of a project: the roots of signed updates that developers commit beside `launchway.toml`
//! (`docs/reference/trust.md#the-trust-file`).

use std::path::Path;

use launchway_domain::bundle_id::BundleId;
use launchway_trust::{SuccessionError, TrustFile, TrustFileError};

use crate::source::{FileError, Source};

/// The file of a project with one app.
pub const NAME: &str = "launchway.trust.json";

/// The name of the file of one app, in a project of several.
pub fn name_of(bundle_id: &BundleId) -> String {
    format!("launchway.trust.{bundle_id}.json")
}

/// Whether a file has the name of a trust file.
pub fn is_name(name: &str) -> bool {
    name.starts_with("launchway.trust.") && name.ends_with(".json")
}

/// Whether a project has a trust file.
pub fn exists(project: &Source) -> bool {
    project.names("").iter().any(|name| is_name(name))
}

/// The trust file of an app, with a valid root.
#[derive(Clone, Debug)]
pub struct AppTrust {
    /// Its path in the project.
    pub path: String,
    /// The version of its root.
    pub root_version: u64,
    /// The app that its root is for. Another app that contains it takes no updates.
    pub owner: BundleId,
    /// What it says.
    pub file: TrustFile,
}

/// Why a trust file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is no trust file.
    #[error("{0} is not a trust file: {1}")]
    Form(String, TrustFileError),
    /// Its root is not valid.
    #[error("{0} {1}")]
    Root(String, SuccessionError),
}

/// The trust file of an app in the project in `root`: its own, else `launchway.trust.json`. `bundle_id` is called only if
/// there is a trust file.
///
/// # Errors
/// The file cannot be read, or its root is not valid.
pub fn find(root: &Path, bundle_id: impl FnOnce() -> Option<BundleId>) -> Result<Option<AppTrust>, FindError> {
    let project = Source::new(root);
    if !exists(&project) {
        return Ok(None);
    }
    let own = bundle_id().map(|app| name_of(&app));
    for path in own.into_iter().chain([NAME.to_owned()]) {
        if let Some(text) = project.read(&path)? {
            return read(path, &text).map(Some);
        }
    }
    Ok(None)
}

fn read(path: String, text: &str) -> Result<AppTrust, FindError> {
    let file = match TrustFile::parse(text.as_bytes()) {
        Ok(file) => file,
        Err(error) => return Err(FindError::Form(path, error)),
    };
    let root = match file.read_root() {
        Ok(root) => root,
        Err(error) => return Err(FindError::Root(path, error)),
    };
    let Some(identity) = &root.header().identity else {
        return Err(FindError::Root(path, SuccessionError::Identity));
    };
    Ok(AppTrust {
        path,
        root_version: root.version(),
        owner: identity.bundle_id.clone(),
        file,
    })
}
