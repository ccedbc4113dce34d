//! Errors of calls, distinguished by what the caller does about them.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server, or the object storage it named, could not be reached, or the connection broke.
    #[error("cannot reach {origin}: {reason}")]
    Network {
        /// Scheme, host and port that were called.
        origin: String,
        /// The error of the network.
        reason: String,
    },
    /// The server refused the call with an error body (`docs/reference/conventions.md#error-body`).
    #[error("{message}")]
    Api {
        /// The HTTP status, 400 to 599.
        status: u16,
        /// The status in words, such as `Bad Request`.
        error: String,
        /// What is wrong.
        message: String,
        /// The `X-Request-Id`, by which the operator finds the call in the log.
        request_id: Option<String>,
    },
    /// The answer is JSON, but unknown to this client: the server has another version.
    #[error("{origin} sent a response that this version does not understand: {problem}")]
    OtherVersion {
        /// Scheme, host and port that answered.
        origin: String,
        /// What is wrong with the answer.
        problem: String,
        /// The `X-Request-Id`, if there was one.
        request_id: Option<String>,
    },
    /// The answer is not from this API: a wrong address, or a proxy in between.
    #[error("{origin} responded with status {status}: {problem}")]
    Unexpected {
        /// Scheme, host and port that answered.
        origin: String,
        /// The HTTP status.
        status: u16,
        /// What is wrong with the answer.
        problem: String,
        /// The `X-Request-Id`, if there was one.
        request_id: Option<String>,
    },
    /// The server redirects to another address. The client does not follow, so that the key is sent only where the user
    /// chose.
    #[error("{origin} redirects to {location}")]
    Redirected {
        /// Scheme, host and port that answered.
        origin: String,
        /// The target of the redirect.
        location: String,
    },
    /// Object storage refused to accept or return the bytes of a file.
    #[error("{origin} refused the transfer with status {status}")]
    Refused {
        /// Scheme, host and port of the object storage.
        origin: String,
        /// The HTTP status.
        status: u16,
    },
    /// A transfer made no progress for [`crate::Timeouts::stall`].
    #[error("the transfer with {origin} made no progress for {} s", .after.as_secs_f32())]
    Stalled {
        /// Scheme, host and port of the object storage.
        origin: String,
        /// The duration without progress.
        after: Duration,
    },
    /// The file to upload cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file to download to cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The bytes do not match what the server announced.
    #[error("{name} is damaged: its SHA-256 is not the one that the server announced")]
    Corrupt {
        /// The artifact.
        name: String,
    },
    /// The call cannot be sent, for example because of an invalid path.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// Describes a network error without the URL, which may contain a signature.
    pub(crate) fn network(origin: String, error: &reqwest::Error) -> Self {
        let reason = match (error.is_timeout(), deepest(error)) {
            (true, _) => "the server did not respond in time".to_owned(),
            (false, Some(cause)) => cause,
            (false, None) => "the connection broke".to_owned(),
        };
        Self::Network { origin, reason }
    }
}

/// The innermost cause, which is the most specific.
fn deepest(error: &reqwest::Error) -> Option<String> {
    let mut cause = error.source()?;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Some(cause.to_string())
}
