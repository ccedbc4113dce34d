//! Everything that can go wrong with a call, told apart by what its caller does about it.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server, or the object storage it pointed at, could not be reached or the connection broke.
    #[error("cannot reach {origin}: {reason}")]
    Network {
        /// Scheme, host and port that were called.
        origin: String,
        /// What the network said.
        reason: String,
    },
    /// The server refused the call with an error body (`docs/reference/conventions.md#error-body`).
    #[error("{message}")]
    Api {
        /// The status of HTTP, 400 to 599.
        status: u16,
        /// The status in words, such as `Bad Request`.
        error: String,
        /// What is wrong.
        message: String,
        /// The `X-Request-Id`, by which the operator finds the call in the log.
        request_id: Option<String>,
    },
    /// The answer is JSON, but not what this client knows: the server is of another version.
    #[error("{origin} answered what this version does not understand: {problem}")]
    OtherVersion {
        /// Scheme, host and port that answered.
        origin: String,
        /// What is wrong with the answer.
        problem: String,
        /// The `X-Request-Id`, when there was one.
        request_id: Option<String>,
    },
    /// The answer is not one of this API: a wrong address, or something in between.
    #[error("{origin} answered {status}: {problem}")]
    Unexpected {
        /// Scheme, host and port that answered.
        origin: String,
        /// The status of HTTP.
        status: u16,
        /// What is wrong with the answer.
        problem: String,
        /// The `X-Request-Id`, when there was one.
        request_id: Option<String>,
    },
    /// The server answers under another address. It is not followed, so that no key goes where nobody sent it.
    #[error("{origin} redirects to {location}")]
    Redirected {
        /// Scheme, host and port that answered.
        origin: String,
        /// Where it points.
        location: String,
    },
    /// Object storage did not take or give the bytes of a file.
    #[error("{origin} refused the transfer: status {status}")]
    Refused {
        /// Scheme, host and port of the object storage.
        origin: String,
        /// The status of HTTP.
        status: u16,
    },
    /// A transfer did not move on for as long as [`crate::Timeouts::stall`].
    #[error("the transfer with {origin} stood still for {} s", .after.as_secs_f32())]
    Stalled {
        /// Scheme, host and port of the object storage.
        origin: String,
        /// How long nothing happened.
        after: Duration,
    },
    /// The file to upload cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file to download to cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// What came is not what the server says it is.
    #[error("the bytes of {name} came damaged: their SHA-256 is not the one of the build")]
    Corrupt {
        /// The artifact.
        name: String,
    },
    /// The call cannot even be made, as with a path that is none.
    #[error("{0}")]
    Invalid(String),
}

impl Error {
    /// Tells what the network said without the URL, which may hold a signature.
    pub(crate) fn network(origin: String, error: &reqwest::Error) -> Self {
        let reason = match (error.is_timeout(), deepest(error)) {
            (true, _) => "it did not answer in time".to_owned(),
            (false, Some(cause)) => cause,
            (false, None) => "the connection broke".to_owned(),
        };
        Self::Network { origin, reason }
    }
}

/// The innermost cause, which is the one that names the matter.
fn deepest(error: &reqwest::Error) -> Option<String> {
    let mut cause = error.source()?;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Some(cause.to_string())
}
