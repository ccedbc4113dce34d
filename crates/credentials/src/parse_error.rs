//! The errors of the low-level readers. Each kind of credential converts them into its own errors.

use crate::Kind;
use crate::error::CredentialError;

/// The bytes do not have the required format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The bytes are truncated or damaged")]
pub struct MalformedError;

/// Why something cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParseError {
    /// The bytes do not have the required format.
    MalformedError,
    /// Well formed, but with an unsupported algorithm: its name.
    Unsupported(String),
    /// The file requests more rounds of key derivation than allowed.
    TooManyIterations,
}

impl ParseError {
    /// The error for a credential of this kind.
    pub(crate) fn refuse(self, kind: Kind) -> CredentialError {
        match self {
            ParseError::MalformedError => CredentialError::Damaged { kind },
            ParseError::Unsupported(algorithm) => CredentialError::Unsupported { kind, algorithm },
            ParseError::TooManyIterations => CredentialError::TooManyIterations { kind },
        }
    }
}

impl From<MalformedError> for ParseError {
    fn from(MalformedError: MalformedError) -> Self {
        ParseError::MalformedError
    }
}
