//! Over-the-air updates (`docs/reference/updates.md#update-record`).

use launchway_domain::release::Sequence;
use launchway_domain::time::iso;
use launchway_domain::update::Update;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::expo::SignedExpo;
use crate::open;
use crate::reports::ReportCounts;
use crate::trust::SignedRole;

/// `POST /update`. Names either `uploadId` or `sourceUpdateId`, or neither for `kind` `embedded`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateUpdate {
    /// The uploaded package, a ZIP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    /// An earlier update whose package is published again: a promotion or a rollback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_update_id: Option<String>,
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// `ios`, `android` or `visionos`.
    #[schema(example = "android")]
    pub platform: open::Platform,
    /// The semantic version of the update; `1` and `1.2` mean `1.0.0` and `1.2.0`.
    #[schema(example = "1.0.1")]
    pub version: String,
    /// 1 to 18 digits as text or number. `"auto"`, the default, takes the next free one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_number: Option<TextOrNumber>,
    /// Serves only checks that name this configuration. Without it, the update serves every check.
    #[schema(example = "production")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// The fingerprint that the installed app must have: a hash (1 to 128 visible ASCII characters) or the `lwfp-1` or `lwfp-2` document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<FingerprintInput>,
    /// The build this update belongs to. The update gets its fingerprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The release notes, up to 4 KiB.
    #[schema(max_length = 4096)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_notes: Option<String>,
    /// The percentage of devices that are offered the update, 0 to 100. Defaults to 100.
    #[schema(minimum = 0, maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<i64>,
    /// Whether the app should install the update immediately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandatory: Option<bool>,
    /// The signed next version of the update's role, for an app with signed updates. Without it, or with too few
    /// signatures, the update waits for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed: Option<SignedRole>,
    /// Whether to replace a draft of the role that already has signatures, which are lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// `update`, the default, or `embedded`: clients of other services return to the content that their app was installed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<open::UpdateKind>,
    /// The form of the package. `archive`, the default, is for our SDK, and for Capgo if `foreignIds` says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<open::Format>,
    /// The runtime that the installed app must have, for an update of format `expo`.
    #[schema(max_length = 128, example = "1.0.0")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_version: Option<String>,
    /// The versions of the installed app that run the update, as a range in the syntax of npm's `semver`. Only for clients of
    /// other services: our own check offers no update with a range.
    #[schema(max_length = 256, example = "^1.2.0")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary_range: Option<String>,
    /// How hot-updater's clients verify the package: `sig:` and the signature that its tools made, in base64. Without it, by the
    /// SHA-256.
    #[schema(max_length = 1400)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_hash: Option<String>,
    /// How clients of other services name the update. CodePush's label defaults to `v` and the sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_ids: Option<Vec<NewForeignId>>,
    /// What was signed with the app's key, for clients of Expo that expect a signature. The server keeps and serves it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expo: Option<SignedExpo>,
}

/// How clients of a protocol name a new update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewForeignId {
    /// `codepush`, `capgo`, or `expo` for an update that devices know already. Clients of hot-updater name one by what is in its package.
    pub protocol: open::Protocol,
    /// CodePush's label, such as `v3`, Capgo's version name, or Expo's UUID, which is required. Without it, the server chooses.
    #[schema(max_length = 255, example = "v3")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When clients of Expo take it as created; the server chooses a later time if it has to follow another update. Default: now.
    #[schema(example = "2026-11-20T10:00:00.000Z")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
}

/// How clients of a protocol name an update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForeignIdView {
    /// The protocol.
    pub protocol: open::Protocol,
    /// The id. One of CodePush begins with the configuration and a slash: `production/v3`.
    pub id: String,
}

/// `PATCH /update?id=`. Absent fields do not change.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangeUpdate {
    /// `published`, `paused` or `withdrawn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<open::UpdateStatus>,
    /// The percentage of devices that are offered the update, 0 to 100.
    #[schema(minimum = 0, maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<i64>,
    /// Whether the app should install the update immediately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandatory: Option<bool>,
    /// The release notes, up to 4 KiB.
    #[schema(max_length = 4096)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_notes: Option<String>,
}

/// A build number as a number or a text: `7` or `"7"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected text or a whole number")]
pub enum TextOrNumber {
    /// As text, kept as written.
    Text(String),
    /// As a number.
    Number(u64),
}

/// A fingerprint: its hash, or the whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected a hash as text or a fingerprint document")]
pub enum FingerprintInput {
    /// An opaque hash, compared byte by byte.
    Hash(String),
    /// A `lwfp-1` or `lwfp-2` document; the server computes the hash.
    #[schema(value_type = Object)]
    Document(serde_json::Map<String, serde_json::Value>),
}

/// An over-the-air update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Update)]
pub struct UpdateView {
    /// `update_…`.
    pub id: String,
    /// `published`, `paused`, `withdrawn` or `awaiting_signature`.
    pub status: open::UpdateStatus,
    /// The app.
    pub bundle_id: String,
    /// `ios`, `android` or `visionos`.
    pub platform: open::Platform,
    /// The semantic version, as written.
    pub version: String,
    /// The build number as numeric text, as written.
    pub build_number: String,
    /// The configuration that checks must name; null if it serves every check.
    pub configuration: Option<String>,
    /// The fingerprint hash that the installed app must have; null if the update does not require one.
    pub fingerprint: Option<String>,
    /// The build it belongs to.
    pub build_id: Option<String>,
    /// The update whose package it publishes again.
    pub source_update_id: Option<String>,
    /// The release notes; empty if there are none.
    pub release_notes: String,
    /// Whether the app should install it immediately.
    pub mandatory: bool,
    /// The percentage of devices that are offered it.
    pub rollout: u8,
    /// The size of the package in bytes.
    pub size: i64,
    /// The SHA-256 of the package in lower-case hex.
    pub sha256: String,
    /// The number of files in the package.
    pub file_count: i64,
    /// The SHA-256 of the list of files in the package, which a signature covers; null for a package that was published
    /// before servers computed it.
    pub manifest: Option<String>,
    /// The role that signs the update: `c-<configuration>` or `any`; null if the app had no signed updates when it was
    /// published.
    pub trust_role: Option<String>,
    /// `update`, or `embedded` for the return to the content that apps were installed with.
    #[serde(default)]
    pub kind: open::UpdateKind,
    /// The form of the package, which decides what clients can install it.
    #[serde(default)]
    pub format: open::Format,
    /// The place in the order of releases that clients of other services follow; null for an update of an older release that
    /// was not numbered yet.
    #[serde(default)]
    pub sequence: Option<u64>,
    /// The runtime that the installed app must have; null if it does not matter.
    #[serde(default)]
    pub runtime_version: Option<String>,
    /// The versions of the installed app that run it; null for all.
    #[serde(default)]
    pub binary_range: Option<String>,
    /// How clients of other services name it; only in the response for a single update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_ids: Option<Vec<ForeignIdView>>,
    /// Who published it: a user id or a key id.
    pub created_by: String,
    /// When it was published, or created to wait for its signature.
    pub created_at: String,
    /// What devices reported; only in the response for a single update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<ReportCounts>,
    /// The app's checks; only in the response for a single update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callers: Option<UpdateCallers>,
}

/// The checks of an app that the responding server received since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateCallers {
    /// All checks.
    pub checks: u64,
    /// The checks without `currentBuild` and `currentUpdateId`. Such callers cannot see a rollback.
    pub without_build: u64,
}

impl UpdateView {
    /// The view of an update, without device reports.
    pub fn of(update: &Update) -> Self {
        Self {
            id: update.id.to_string(),
            status: update.status.into(),
            bundle_id: update.bundle_id.clone(),
            platform: update.platform.into(),
            version: update.version_text.clone(),
            build_number: update.build_number.as_str().to_owned(),
            configuration: update.configuration.as_ref().map(|label| label.as_str().to_owned()),
            fingerprint: update.fingerprint.as_ref().map(|hash| hash.as_str().to_owned()),
            build_id: update.build_id.clone(),
            source_update_id: update.source_update_id.map(|id| id.to_string()),
            release_notes: update.release_notes.clone(),
            mandatory: update.mandatory,
            rollout: update.rollout.percent(),
            size: update.size,
            sha256: update.sha256.clone(),
            file_count: update.file_count,
            manifest: update.manifest.clone(),
            trust_role: update.trust_role.clone(),
            kind: update.release.kind.into(),
            format: update.release.format.into(),
            sequence: update.release.sequence.map(Sequence::number),
            runtime_version: update.release.runtime_version.as_ref().map(ToString::to_string),
            binary_range: update.release.binary_range.as_ref().map(ToString::to_string),
            foreign_ids: None,
            created_by: update.created_by.clone(),
            created_at: iso(update.created_at),
            reports: None,
            callers: None,
        }
    }
}
