//! The record of an over-the-air update and the transitions between its states (`docs/reference/updates.md#transitions`).

use crate::build_number::BuildNumber;
use crate::configuration::Configuration;
use crate::fingerprint::Fingerprint;
use crate::id::{OrgId, PackageId, UpdateId};
use crate::platform::Platform;
use crate::release::ReleaseFacts;
use crate::rollout::Rollout;
use crate::time::{DAY, EpochMs};
use crate::version::Version;

/// How long an update awaits its signature before it is withdrawn.
pub const AWAITING_LIFE: EpochMs = 30 * DAY;
/// The maximum number of updates of an app that await a signature of one role.
pub const MAX_AWAITING: usize = 100;
/// The maximum size of release notes in bytes.
pub const MAX_RELEASE_NOTES: usize = 4096;

words! {
    /// Whether an update is offered.
    UpdateStatus, error = "status must be published, paused, withdrawn or awaiting_signature",
    /// Offered to checks.
    Published = "published",
    /// Not offered; can be published again.
    Paused = "paused",
    /// Withdrawn for good: its bytes can be published as a new update, the record stays unchanged.
    Withdrawn = "withdrawn",
    /// Not offered until enough keys of its role have signed it, which publishes it.
    AwaitingSignature = "awaiting_signature",
}

impl UpdateStatus {
    /// Whether a request may change this status to `next`. Staying is always allowed. Withdrawn is final, and only signatures
    /// or time end the wait for a signature (`docs/reference/updates.md#transitions`).
    pub fn may_become(self, next: UpdateStatus) -> bool {
        let is_open = |status| matches!(status, UpdateStatus::Published | UpdateStatus::Paused);
        self == next || (is_open(self) && next != UpdateStatus::AwaitingSignature)
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
    /// The bundle id, in the spelling of the app's record.
    pub bundle_id: String,
    /// The target platform.
    pub platform: Platform,
    /// The version, parsed.
    pub version: Version,
    /// The version as written.
    pub version_text: String,
    /// The build number, kept as written.
    pub build_number: BuildNumber,
    /// The configuration a check must name; `None` serves every check.
    pub configuration: Option<Configuration>,
    /// The fingerprint that the installed app must have; `None` matches any.
    pub fingerprint: Option<Fingerprint>,
    /// The build it belongs to.
    pub build_id: Option<String>,
    /// The update whose bytes it republishes.
    pub source_update_id: Option<UpdateId>,
    /// The package with its bytes.
    pub package_id: PackageId,
    /// The release notes.
    pub release_notes: String,
    /// Whether the app is asked to install it at once.
    pub mandatory: bool,
    /// The share of devices it is offered to.
    pub rollout: Rollout,
    /// Size of the package in bytes.
    pub size: i64,
    /// SHA-256 of the package.
    pub sha256: String,
    /// Number of files in the package.
    pub file_count: i64,
    /// The package's key in object storage.
    pub blob_key: String,
    /// SHA-256 of the package's list of files; `None` if nobody has computed it.
    pub manifest: Option<String>,
    /// The role that signs it; `None` if the app had no root when it was published.
    pub trust_role: Option<String>,
    /// What it is to the clients of other services.
    pub release: ReleaseFacts,
    /// The actor that published it, as text.
    pub created_by: String,
    /// When it was created: for one without `published_at`, when it was published.
    pub created_at: EpochMs,
    /// When its signature was complete, if it awaited one.
    pub published_at: Option<EpochMs>,
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

    #[test]
    fn no_request_begins_or_ends_the_wait_for_a_signature() {
        use UpdateStatus::AwaitingSignature;
        for other in UpdateStatus::ALL
            .into_iter()
            .filter(|other| *other != AwaitingSignature)
        {
            assert!(!AwaitingSignature.may_become(other), "{other}");
            assert!(!other.may_become(AwaitingSignature), "{other}");
        }
        assert!(AwaitingSignature.may_become(AwaitingSignature));
    }
}
