//! What the lower readers say when they cannot go on. Each kind turns it into its own refusal.

use crate::Kind;
use crate::refusal::Refusal;

/// The bytes do not have the form that they must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The bytes are truncated or damaged.")]
pub struct Malformed;

/// Why something cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Other bytes than the form asks for.
    Malformed,
    /// Well formed, but made with something that is not known here; its name.
    Unsupported(String),
    /// The file asks for more rounds of password derivation than it may.
    TooManyIterations,
}

impl Fault {
    /// The refusal of a credential of this kind.
    pub(crate) fn refuse(self, kind: Kind) -> Refusal {
        match self {
            Fault::Malformed => Refusal::Damaged { kind },
            Fault::Unsupported(algorithm) => Refusal::Unsupported { kind, algorithm },
            Fault::TooManyIterations => Refusal::TooManyIterations { kind },
        }
    }
}

impl From<Malformed> for Fault {
    fn from(Malformed: Malformed) -> Self {
        Fault::Malformed
    }
}
