//! Signed updates: the state of an app's trust, its metadata on the way in, drafts and signatures
//! (`docs/reference/trust.md#publishing`). Metadata travels as text, so that its bytes stay as they were signed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `GET /trust?bundleId=`. An app without a root has no repository, no roles and no drafts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Trust)]
pub struct TrustView {
    /// The app.
    pub bundle_id: String,
    /// The id of its repository, 32 hexadecimal digits; null without a root.
    pub repository: Option<String>,
    /// The version of the snapshot that is served now; null without a root. Send it as `basedOn`.
    pub snapshot: Option<u64>,
    /// The server's key for snapshot and timestamp that the current root names.
    pub online_key: Option<OnlineKeyView>,
    /// A new key of the server, which no root names yet.
    pub pending_online_key: Option<OnlineKeyView>,
    /// `root`, `timestamp`, `snapshot`, `targets` and each delegated role, in this order.
    pub roles: Vec<TrustRoleView>,
    /// Versions of roles that have too few signatures.
    pub drafts: Vec<TrustDraftView>,
    /// Whether an owner allowed updates of other formats, which nothing here protects.
    pub other_formats_allowed: bool,
}

/// A key of the server, which signs snapshot and timestamp of one app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OnlineKey)]
pub struct OnlineKeyView {
    /// The id under which metadata of Launchway lists it: a SHA-256 in hexadecimal digits.
    pub key_id: String,
    /// The public key, PEM of a SubjectPublicKeyInfo.
    pub public_key: String,
    /// When it was made.
    pub created_at: String,
}

/// The version of a role that is served now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TrustRole)]
pub struct TrustRoleView {
    /// `root`, `timestamp`, `snapshot`, `targets`, `c-<configuration>` or `any`.
    pub role: String,
    /// Its version; null for a delegated role of which nothing was signed yet.
    pub version: Option<u64>,
    /// How many distinct keys must sign.
    pub threshold: u64,
    /// The keys that may sign.
    pub keys: Vec<TrustKeyView>,
    /// When this version expires.
    pub expires_at: Option<String>,
    /// Whether phones refuse it now because it expired.
    pub expired: bool,
    /// When it was accepted.
    pub accepted_at: Option<String>,
    /// How many updates it lists.
    pub targets: u64,
    /// How many packages it revokes.
    pub revoked: u64,
}

/// A key that may sign a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TrustKey)]
pub struct TrustKeyView {
    /// The id under which the metadata lists it.
    pub key_id: String,
    /// The name that `x-launchway-name` of the key says, if any.
    pub name: Option<String>,
    /// Whether this version of the role, or the draft, has its signature.
    pub signed: bool,
}

/// `POST /trust`: a chain of roots and new versions of roles, taken together or not at all.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PostTrust {
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// New roots, the next version first, each the text that was signed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// New versions of `targets`, `c-<configuration>` and `any` by name, each the text that was signed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, String>,
    /// The `snapshot` of `GET /trust` from which they were made; absent for the first root. Refused if it has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub based_on: Option<u64>,
    /// Whether roles may list updates that this server does not have, because it was restored from a backup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore: Option<bool>,
}

/// `POST /trust/online-key`: makes a key of the server that the next root may name.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateOnlineKey {
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
}

/// `POST /trust/drafts`: makes the next version of a role out of updates that wait, for signing.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateTrustDraft {
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// `c-<configuration>` or `any`.
    #[schema(example = "c-production")]
    pub role: String,
    /// The updates that it publishes; absent for all that wait for this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_ids: Option<Vec<String>>,
    /// Whether to replace a draft that already has signatures, which are lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
}

/// The next version of a role, on its way to its threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TrustDraft)]
pub struct TrustDraftView {
    /// The app.
    pub bundle_id: String,
    /// `root`, `targets`, `c-<configuration>` or `any`.
    pub role: String,
    /// Its version.
    pub version: u64,
    /// How many distinct keys must sign. For a root: those that are missing are the ones of the old root and of the new one.
    pub threshold: u64,
    /// The keys that may sign, with those that did.
    pub keys: Vec<TrustKeyView>,
    /// The updates that it publishes.
    pub update_ids: Vec<String>,
    /// The file with its signatures so far, as text; only in the response for one draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// Who made it: a user id or a key id.
    pub created_by: String,
}

/// `POST /trust/signatures`: adds signatures to the draft of a role. With the last one that is missing it is published.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddTrustSignatures {
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// The role.
    #[schema(example = "c-production")]
    pub role: String,
    /// The version of the draft that was signed.
    pub version: u64,
    /// The signatures.
    pub signatures: Vec<TrustSignature>,
}

/// A signature over the canonical form of `signed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustSignature {
    /// The id under which the role lists the key.
    pub keyid: String,
    /// The DER of the signature in lower-case hexadecimal digits.
    pub sig: String,
}

/// The result of `POST /trust`, `POST /trust/signatures` and `POST /trust/reset`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustChange {
    /// The state now.
    pub trust: TrustView,
    /// The roles with a new version that is served from now on.
    pub accepted: Vec<String>,
    /// The roles that still lack signatures.
    pub drafts: Vec<String>,
    /// The updates that were published by this.
    pub published_update_ids: Vec<String>,
}

/// `POST /trust/reset`: ends the trust of an app whose keys are all lost, and begins a new repository.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResetTrust {
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// The bundle id again, typed by a person.
    pub confirm: String,
    /// The first root of the new repository, at the version above the present root's.
    pub root: String,
    /// The new `targets` and roles by name, as in `POST /trust`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, String>,
}

/// `POST /trust/other-formats`: whether the app takes updates of formats that its root does not protect.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowOtherFormats {
    /// The app.
    #[schema(example = "com.example.app")]
    pub bundle_id: String,
    /// Whether it takes them.
    pub allowed: bool,
}

/// `signed` of `POST /update`: the next version of the role, which publishes this update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedRole {
    /// `c-<configuration>` of the update, or `any` for one without configuration.
    #[schema(example = "c-production")]
    pub role: String,
    /// The role's file as the text that was signed.
    pub metadata: String,
}

/// The event `trust.expiring`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrustExpiring {
    /// The app.
    pub bundle_id: String,
    /// `root`, `targets`, `c-<configuration>` or `any`.
    pub role: String,
    /// Its current version.
    pub version: u64,
    /// When that version expires.
    pub expires_at: String,
}
