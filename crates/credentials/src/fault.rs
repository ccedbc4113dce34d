//! What the lower readers say when they cannot go on. Each kind turns it into its own error.

use crate::Kind;
use crate::error::CredentialError;

/// The bytes do not have the form that they must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The bytes are truncated or damaged.")]
pub struct MalformedError;

/// Why something cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Other bytes than the form asks for.
    MalformedError,
    /// Well formed, but made with something that is not known here; its name.
    Unsupported(String),
    /// The file asks for more rounds of password derivation than it may.
    TooManyIterations,
}

impl Fault {
    /// The error of a credential of this kind.
    pub(crate) fn refuse(self, kind: Kind) -> CredentialError {
        match self {
            Fault::MalformedError => CredentialError::Damaged { kind },
            Fault::Unsupported(algorithm) => CredentialError::Unsupported { kind, algorithm },
            Fault::TooManyIterations => CredentialError::TooManyIterations { kind },
        }
    }
}

impl From<MalformedError> for Fault {
    fn from(MalformedError: MalformedError) -> Self {
        Fault::MalformedError
    }
}
