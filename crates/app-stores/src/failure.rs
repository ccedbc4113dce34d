//! Why a step came to nothing: whether it is to be tried again, and what the store said.

use launchway_domain::submission::error::{SubmissionError, SubmissionErrorCode as Code};
use launchway_domain::time::EpochMs;

use crate::transport::TransportError;

/// So much of a store's text is kept.
const SHOWN: usize = 500;
/// A step is tried so often when the store says that what was made is not there, or that a fresh token is no good: both
/// pass by themselves soon, or never.
const FEW: u32 = 8;

/// Why a step came to nothing. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppStoreError {
    /// The store does not answer, or not as it should: the step is tried again, for a day.
    #[error("The store is not available: {why}")]
    Unavailable {
        /// What happened.
        why: String,
        /// The status of HTTP, if there was an answer.
        status: Option<u16>,
        /// The pause that the store asks for.
        retry_after: Option<EpochMs>,
    },
    /// The store says no, although it may say yes in a moment: the step is tried again a few times.
    #[error("{error}")]
    Doubtful {
        /// What is told when it stays so.
        error: SubmissionError,
    },
    /// The store says no: the submission fails.
    #[error("{error}")]
    Final {
        /// What is told.
        error: SubmissionError,
    },
}

impl AppStoreError {
    /// The submission fails with this.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        AppStoreError::Final {
            error: SubmissionError::new(code, message),
        }
    }

    /// Tried again a few times before it is final.
    pub(crate) fn doubtful(code: Code, message: impl Into<String>) -> Self {
        AppStoreError::Doubtful {
            error: SubmissionError::new(code, message),
        }
    }

    /// An answer that is not what the store's documents say.
    pub(crate) fn nonsense(what: &str) -> Self {
        AppStoreError::Unavailable {
            why: format!("its answer lacks {what}"),
            status: None,
            retry_after: None,
        }
    }

    /// Whether the step is worth another try, after `failures` in a row, this one included.
    pub fn is_worth_another_try(&self, failures: u32) -> bool {
        match self {
            AppStoreError::Unavailable { .. } => true,
            AppStoreError::Doubtful { .. } => failures < FEW,
            AppStoreError::Final { .. } => false,
        }
    }

    /// The pause that the store asks for.
    pub fn retry_after(&self) -> Option<EpochMs> {
        match self {
            AppStoreError::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What the record shows when the step is not tried again.
    pub fn into_error(self) -> SubmissionError {
        match self {
            AppStoreError::Unavailable { status: Some(429), .. } => {
                SubmissionError::new(Code::RateLimited, "The store takes no more calls for now.")
            }
            AppStoreError::Unavailable { .. } => SubmissionError::new(Code::StoreUnavailable, format!("{self}.")),
            AppStoreError::Doubtful { error } | AppStoreError::Final { error } => error,
        }
    }
}

impl From<TransportError> for AppStoreError {
    fn from(none: TransportError) -> Self {
        match none {
            TransportError::Unreadable => Self::doubtful(Code::BinaryUnreadable, "The binary cannot be read."),
            _ => AppStoreError::Unavailable {
                why: none.to_string(),
                status: None,
                retry_after: None,
            },
        }
    }
}

/// What a store says, in one line of bounded length.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split(|letter: char| letter.is_control() || letter.is_whitespace());
    let words: Vec<&str> = line.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(SHOWN).collect()
}
