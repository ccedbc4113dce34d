//! The record of an over-the-air update and the transitions between its states (`docs/reference/updates.md#transitions`).

use crate::build_number::BuildNumber;
use crate::configuration::Configuration;
use crate::fingerprint::Fingerprint;
use crate::id::{OrgId, PackageId, UpdateId};
use crate::platform::Platform;
use crate::rollout::Rollout;
use crate::time::EpochMs;
use crate::version::Version;

/// Release notes hold at most this many bytes.
pub const MAX_RELEASE_NOTES: usize = 4096;

words! {
    /// Whether an update is offered.
    UpdateStatus, error = "status must be published, paused or withdrawn",
    /// Offered to checks.
    Published = "published",
    /// Kept back; can be published again.
    Paused = "paused",
    /// Taken back for good: its bytes can be published anew, the record stays as it is.
    Withdrawn = "withdrawn",
}

impl UpdateStatus {
    /// Whether an update may go from this status to that one. Staying is always allowed; withdrawn is the end.
    pub fn may_become(self, next: UpdateStatus) -> bool {
        self == next || self != UpdateStatus::Withdrawn
    }
}

/// An over-the-air update.
#[derive(Clone, Debug)]
pub struct Update {
    /// Its id.
    pub id: UpdateId,
    /// The organization that published it.
    pub org_id: OrgId,
    /// Whether it is offered.
    pub status: UpdateStatus,
    /// The app, as the app's record writes it.
    pub bundle_id: String,
    /// What it is for.
    pub platform: Platform,
    /// The version, parsed.
    pub version: Version,
    /// The version as written.
    pub version_text: String,
    /// The build number, kept as written.
    pub build_number: BuildNumber,
    /// The configuration a check must name; `None` serves every check.
    pub configuration: Option<Configuration>,
    /// What the installed app must be; `None` fits any.
    pub fingerprint: Option<Fingerprint>,
    /// The build it belongs to.
    pub build_id: Option<String>,
    /// The update whose bytes it publishes anew.
    pub source_update_id: Option<UpdateId>,
    /// The bytes.
    pub package_id: PackageId,
    /// What is new.
    pub release_notes: String,
    /// Whether the app is asked to install it at once.
    pub mandatory: bool,
    /// Who is offered it.
    pub rollout: Rollout,
    /// Bytes of the package.
    pub size: i64,
    /// SHA-256 of the package.
    pub sha256: String,
    /// Files in the package.
    pub file_count: i64,
    /// Where the package lies in object storage.
    pub blob_key: String,
    /// The actor that published it, as text.
    pub created_by: String,
    /// When it was published.
    pub created_at: EpochMs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn withdrawn_is_the_end() {
        use UpdateStatus::{Paused, Published, Withdrawn};
        let moves = [
            (Published, Paused),
            (Paused, Published),
            (Published, Withdrawn),
            (Paused, Withdrawn),
            (Withdrawn, Withdrawn),
        ];
        assert!(moves.iter().all(|(from, to)| from.may_become(*to)));
        assert!(!Withdrawn.may_become(Published) && !Withdrawn.may_become(Paused));
    }
}
