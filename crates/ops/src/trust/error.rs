//! Why metadata that developers signed is not accepted: a sentence for the caller, with what to do.

use launchway_domain::time::{EpochMs, iso};
use launchway_trust::draft::SignError;
use launchway_trust::metadata::MetadataError;
use launchway_trust::next_role::PublicationError;
use launchway_trust::profile::ProfileError;

use crate::api_error::ApiError;

/// Why the server does not accept metadata. The role is the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// The request has more files than are read at once.
    #[error("A request may have at most {limit} {what}. Send the others in a second request.")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many are read.
        limit: usize,
    },
    /// A name that no role of developers has.
    #[error("`{0}` is not a role that developers sign: name `targets`, `any`, or `c-` and a configuration")]
    Name(String),
    /// The text is no metadata.
    #[error("The metadata of `{role}` {error}")]
    Metadata {
        /// The role.
        role: String,
        /// What is wrong.
        error: MetadataError,
    },
    /// Each signature costs a verification.
    #[error("The metadata of `{role}` may have at most {limit} signatures")]
    TooManySignatures {
        /// The role.
        role: String,
        /// How many are verified.
        limit: usize,
    },
    /// `x-launchway` is missing or names another repository or app.
    #[error("`{0}` is for another repository or app. Fetch GET /trust and sign metadata for this app.")]
    Identity(String),
    /// `basedOn` is missing.
    #[error("basedOn is required: send the `snapshot` of GET /trust")]
    NoBasis,
    /// Somebody was faster.
    #[error("The metadata changed: the snapshot has version {snapshot} now. Fetch GET /trust and try again.")]
    Basis {
        /// The version of the snapshot now.
        snapshot: u64,
    },
    /// There is nothing in the request.
    #[error("Send roots, roles or both")]
    Nothing,
    /// The app has no root, and none was sent.
    #[error("This app has no root. Run launchway trust init first.")]
    NoRoot,
    /// The first root comes with `targets`.
    #[error("The first root must be sent together with `targets`")]
    NoTargets,
    /// The first root of an app cannot be a draft.
    #[error("The first root of a repository needs all its signatures, and is signed by {valid} of {threshold} keys")]
    FirstRoot {
        /// How many keys signed.
        valid: u64,
        /// How many must.
        threshold: u64,
    },
    /// A file that begins a repository cannot be a draft.
    #[error("`{0}` needs all its signatures in the first request of a repository")]
    FirstFile(String),
    /// A root is not the one after the present one.
    #[error(
        "The root has version {found}, but the next version is {expected}. Fetch GET /trust and sign version {expected}."
    )]
    RootVersion {
        /// The next version.
        expected: u64,
        /// The version of the file.
        found: u64,
    },
    /// Every root is kept and served for as long as the app exists.
    #[error("The root has version {found}, but an app may have at most {limit} roots")]
    TooManyRoots {
        /// The most.
        limit: u64,
        /// The version of the file.
        found: u64,
    },
    /// A role's version is there already.
    #[error(
        "`{role}` has version {found}, but version {present} is in use. Fetch version {present} and sign a higher one."
    )]
    Version {
        /// The role.
        role: String,
        /// The version that is served.
        present: u64,
        /// The version of the file.
        found: u64,
    },
    /// A caller without the admin scope skips versions.
    #[error("`{role}` has version {found}. Only an admin may skip versions: the next one is {expected}.")]
    Skipped {
        /// The role.
        role: String,
        /// The next version.
        expected: u64,
        /// The version of the file.
        found: u64,
    },
    /// Fewer keys signed than must, where that is not a draft.
    #[error("`{role}` is signed by {valid} of the {threshold} keys that must sign. Sign it with more of its keys.")]
    Signatures {
        /// The role.
        role: String,
        /// How many keys signed.
        valid: u64,
        /// How many must.
        threshold: u64,
    },
    /// A draft needs a signature to begin with.
    #[error("`{0}` has no valid signature by one of its keys")]
    Unsigned(String),
    /// A file that stays does not fit the new ones.
    #[error("`{role}` is no longer signed by enough of its keys. Send its next version in the same request.")]
    NoLongerSigned {
        /// The role.
        role: String,
    },
    /// `targets` does not name the role.
    #[error("`targets` does not delegate to `{0}`. Add a key for it with launchway trust add-key.")]
    NotDelegated(String),
    /// A phone cannot tell a missing file from one that is withheld.
    #[error("`targets` delegates to `any`, which has no file. Send its first version in the same request.")]
    AnyMissing,
    /// The snapshot lists every role that there ever was.
    #[error("A repository may have at most {limit} delegated roles, including removed ones")]
    TooManyRoles {
        /// The most.
        limit: usize,
    },
    /// The file is not valid now.
    #[error("`{role}` expired {}. Sign it with a later date.", iso(*.expires))]
    Expired {
        /// The role.
        role: String,
        /// When it expired.
        expires: EpochMs,
    },
    /// The root does not name a key of this server.
    #[error(
        "The root must name this server's key alone for `snapshot` and `timestamp`: the one of POST /trust/online-key, or \
         the present one of GET /trust"
    )]
    OnlineKey,
    /// It breaks a rule of Launchway's own metadata.
    #[error("The metadata is not accepted: {0}")]
    Profile(#[from] ProfileError),
    /// A target is no update of this app, or says something else about it.
    #[error("`{path}` {problem}")]
    Target {
        /// The path of the target.
        path: String,
        /// What is wrong, and what to do.
        problem: &'static str,
    },
    /// The role is not the publication of one update.
    #[error("`{role}` {error}. Fetch the role, add the update, and sign it again.")]
    Publication {
        /// The role.
        role: String,
        /// What is wrong.
        error: PublicationError,
    },
    /// A draft with signatures is in the way.
    #[error(
        "`{role}` has a draft of version {version} with signatures, which would be lost. Complete it, or delete it first."
    )]
    SignedDraft {
        /// The role.
        role: String,
        /// Its version.
        version: u64,
    },
    /// A signature that somebody added to a draft.
    #[error("The signature of key {key_id} is not accepted for `{role}`: {error}")]
    Signature {
        /// The role.
        role: String,
        /// The id of the key.
        key_id: String,
        /// What is wrong.
        error: SignError,
    },
    /// The draft is of another version than the one that was signed.
    #[error("The draft of `{role}` has version {found}, not {given}. Fetch it and sign version {found}.")]
    DraftVersion {
        /// The role.
        role: String,
        /// The version of the draft.
        found: u64,
        /// The version that was signed.
        given: u64,
    },
    /// There is nothing to make a draft of.
    #[error("No update waits for a signature of `{0}`")]
    NothingWaits(String),
    /// An update that does not wait for this role.
    #[error("{update} does not wait for a signature of `{role}`")]
    NotWaiting {
        /// The id of the update.
        update: String,
        /// The role.
        role: String,
    },
    /// Nothing is known of the files in the package of an update.
    #[error(
        "The list of files in the package is not known, so nobody can sign it: it may have at most 20,000 files and 2 GiB \
         unpacked"
    )]
    NoFileList,
    /// The signature covers the build number.
    #[error("buildNumber must be a number in a signed update: the signature covers it")]
    NoBuildNumber,
    /// The app has a root, and the update's role is not one of its roles.
    #[error("This app signs its updates, and no key signs for `{0}`. Add one with launchway trust add-key.")]
    NoSuchRole(String),
    /// `signed` names another role than the update's.
    #[error("signed.role must be `{expected}`, the role of this update")]
    OtherRole {
        /// The role of the update.
        expected: String,
    },
    /// `signed` for an app that signs nothing.
    #[error("This app has no root, so its updates are not signed. Leave out signed, or run launchway trust init.")]
    Unneeded,
    /// The package is revoked by the update's role.
    #[error("The package of this update is revoked by `{0}`: phones would never start it")]
    Revoked(String),
    /// A role signs all that wait together.
    #[error(
        "{limit} updates already await a signature of `{role}`. Sign them with launchway update sign, or delete some."
    )]
    TooManyWaiting {
        /// The role.
        role: String,
        /// The most.
        limit: usize,
    },
    /// The typed bundle id is another.
    #[error("confirm must be the bundle id of the app")]
    NotConfirmed,
    /// The new repository is the old one.
    #[error("The new root must name a new repository: generate another random id")]
    SameRepository,
}

impl From<TrustError> for ApiError {
    fn from(refusal: TrustError) -> Self {
        ApiError::BadRequest(refusal.to_string())
    }
}
