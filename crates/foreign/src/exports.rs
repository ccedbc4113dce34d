//! What the tools of other services print about their releases, read into one form, and the plan that brings it to a server of
//! ours (`docs/reference/foreign-clients.md#imports`). The files are untrusted: what cannot be used is left out with its reason.

pub mod capgo;
pub mod codepush;
pub mod expo;
mod fields;
pub mod hot_updater;
pub mod plan;

use launchway_domain::platform::Platform;
use launchway_domain::release::{Protocol, UpdateKind};
use launchway_domain::time::EpochMs;

/// Bytes of a file that is read.
pub const MAX_EXPORT_BYTES: usize = 16 << 20;
/// Releases that are read from one file.
pub const MAX_RELEASES: usize = 10_000;

/// The file is not what the tool prints. The text follows the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// It is too large.
    #[error("is larger than 16 MiB")]
    TooLarge,
    /// It is not JSON.
    #[error("is not JSON")]
    NotJson,
    /// It is JSON of another form.
    #[error("is not what {0} prints")]
    OtherForm(&'static str),
}

/// A release of another service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedRelease {
    /// Whose it is.
    pub protocol: Protocol,
    /// The deployment, channel or branch.
    pub configuration: String,
    /// Its only platform; `None` where the service keeps an app for each.
    pub platform: Option<Platform>,
    /// How clients name it: a label, a UUID, the name of a version or a bundle id.
    pub name: String,
    /// The releases that were published together with it, of which one package has the content of all; only Expo has such groups.
    pub group: Option<String>,
    /// Content, or the return to what the app was installed with.
    pub kind: UpdateKind,
    /// The hash of its content, as the service computes it.
    pub content_hash: Option<String>,
    /// When it was released.
    pub created_at: Option<EpochMs>,
    /// Percent of the devices, from 1 to 100.
    pub rollout: u8,
    /// Whether clients install it at once.
    pub is_mandatory: bool,
    /// The range of the versions of the app that run it.
    pub range: Option<String>,
    /// The runtime version of the apps that run it.
    pub runtime_version: Option<String>,
    /// The fingerprint of the apps that run it, as the service computes it.
    pub fingerprint: Option<String>,
    /// What it says to people.
    pub notes: String,
}

/// A deployment of CodePush with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedDeployment {
    /// Its name, which becomes the configuration.
    pub configuration: String,
    /// The key that apps contain.
    pub key: String,
}

/// Something that is not taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// What it is, such as `v3 of Production`.
    pub what: String,
    /// Why, as a sentence without its end.
    pub why: String,
}

/// What files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// Releases, the oldest of each configuration first.
    pub releases: Vec<ExportedRelease>,
    /// Deployments of CodePush.
    pub deployments: Vec<ExportedDeployment>,
    /// The rest.
    pub left_out: Vec<LeftOut>,
}

impl Export {
    /// Adds what another file says.
    pub fn add(&mut self, other: Export) {
        self.releases.extend(other.releases);
        self.deployments.extend(other.deployments);
        self.left_out.extend(other.left_out);
    }

    fn leave_out(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.left_out.push(LeftOut {
            what: what.into(),
            why: why.into(),
        });
    }
}
