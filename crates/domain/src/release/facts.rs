//! What an update is to the clients of other services, beside what it is to our own check, and the keys by which CodePush's clients
//! find the releases of an app (`docs/reference/foreign-clients.md`).

use super::{BinaryRange, Format, RuntimeVersion, Sequence, UpdateKind};
use crate::configuration::Configuration;
use crate::id::{DeploymentKeyId, OrgId};
use crate::platform::Platform;
use crate::time::EpochMs;

/// The maximum number of deployment keys of an app.
pub const MAX_DEPLOYMENT_KEYS: i64 = 100;

/// What an update is to the clients of other services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseFacts {
    /// Content, or the return to the built-in content.
    pub kind: UpdateKind,
    /// The form of its package.
    pub format: Format,
    /// Its place; `None` until an update of an older release is numbered.
    pub sequence: Option<Sequence>,
    /// The runtime that the installed app must have; `None`: any.
    pub runtime_version: Option<RuntimeVersion>,
    /// The versions of the installed app that run it; `None`: all.
    pub binary_range: Option<BinaryRange>,
    /// How clients of its format identify the content of its package: CodePush's package hash, or hot-updater's bundle id.
    pub content_id: Option<String>,
}

impl ReleaseFacts {
    /// Those of an update for our own check.
    pub const ARCHIVE: ReleaseFacts = ReleaseFacts {
        kind: UpdateKind::Update,
        format: Format::Archive,
        sequence: None,
        runtime_version: None,
        binary_range: None,
        content_id: None,
    };

    /// Whether our own check offers it: it is an archive for every version of the app.
    pub fn is_for_check(&self) -> bool {
        self.kind == UpdateKind::Update
            && self.format == Format::Archive
            && self.runtime_version.is_none()
            && self.binary_range.is_none()
    }
}

/// A key that CodePush's clients send. It is public, because every copy of the app contains it, and stands for a platform and a
/// configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentKey {
    /// Its id.
    pub id: DeploymentKeyId,
    /// The organization of the app.
    pub org_id: OrgId,
    /// The app, in the spelling of its record.
    pub bundle_id: String,
    /// The platform whose updates it finds.
    pub platform: Platform,
    /// The configuration whose updates it finds; `None`: only updates for every configuration.
    pub configuration: Option<Configuration>,
    /// The key itself.
    pub key: String,
    /// The actor that created it, as text.
    pub created_by: String,
    /// When it was created.
    pub created_at: EpochMs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_check_offers_archives_for_every_app_only() {
        let archive = ReleaseFacts::ARCHIVE;
        assert!(archive.is_for_check());
        for apart in [
            ReleaseFacts {
                kind: UpdateKind::Embedded,
                ..archive.clone()
            },
            ReleaseFacts {
                format: Format::Codepush,
                ..archive.clone()
            },
            ReleaseFacts {
                binary_range: BinaryRange::parse("^1.0.0").ok(),
                ..archive.clone()
            },
            ReleaseFacts {
                runtime_version: RuntimeVersion::parse("1").ok(),
                ..archive.clone()
            },
        ] {
            assert!(!apart.is_for_check(), "{apart:?}");
        }
    }
}
