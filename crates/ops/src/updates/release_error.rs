//! Why what a request to publish says for the clients of other services is refused.

use crate::api_error::ApiError;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// The return to the built-in content has a package.
    #[error(
        "An update of kind embedded has no package. Leave out uploadId, sourceUpdateId, format, and foreignIds except that of expo."
    )]
    EmbeddedContent,
    /// A runtime where nobody asks for it.
    #[error("runtimeVersion is only for updates of format expo")]
    Runtime,
    /// A range that no client of the format could be in.
    #[error("Clients of format expo send no version of the app. Use runtimeVersion instead of binaryRange.")]
    RangeOfExpo,
    /// A range that only our own check would meet.
    #[error(
        "Our own check offers no update with a binaryRange. Use fingerprint, or add capgo to foreignIds if Capgo's client installs it."
    )]
    RangeOfArchive,
    /// An id of a protocol that cannot install the format.
    #[error(
        "foreignIds names codepush only for updates of format codepush, capgo only for format archive, and expo only for format expo and kind embedded"
    )]
    OtherProtocol,
    /// Too many ids.
    #[error("foreignIds must name each protocol at most once")]
    Ids,
    /// An id has another form.
    #[error("foreignIds: id must be 1 to 200 visible ASCII characters")]
    Id,
    /// An id of Expo is not a UUID.
    #[error("foreignIds: id of expo must be a UUID in lower case")]
    ExpoId,
    /// The time of an id has another form.
    #[error("foreignIds: createdAt must be a time such as 2026-11-20T10:00:00.000Z")]
    IdTime,
    /// Only clients of Expo compare times.
    #[error("foreignIds: createdAt is only for expo")]
    OtherIdTime,
    /// The time of an id is too far ahead.
    #[error("foreignIds: createdAt must be at most 5 minutes ahead of the server's clock")]
    IdAhead,
    /// What was signed says it already.
    #[error(
        "What was signed for clients of Expo has its time, and a manifest also its id. Leave these out of foreignIds."
    )]
    SignedId,
    /// Only our own SDK verifies roles.
    #[error("Only updates for our own SDK are signed by a role. Leave out signed.")]
    Signed,
    /// The id is inside the package.
    #[error(
        "The id of a hot-updater bundle is inside its archive, so it can be published once. Build the bundle again."
    )]
    Republished,
    /// A hash that only hot-updater's clients would read.
    #[error("fileHash is only for updates of format hot-updater")]
    FileHash,
    /// A hash of another package.
    #[error("fileHash is the SHA-256 of another package. Leave it out, or give the signature that hot-updater made.")]
    OtherFileHash,
    /// What was signed is for no client of the format.
    #[error("expo is only for updates of format expo, and for kind embedded")]
    SignedFormat,
    /// Clients of Expo name their runtime.
    #[error("runtimeVersion is required for updates of format expo. It is that of the installed app.")]
    NoRuntime,
}

impl From<ReleaseError> for ApiError {
    fn from(error: ReleaseError) -> Self {
        ApiError::bad(error.to_string())
    }
}
