//! Why a step failed: whether to retry it, and the app store's message.

use launchway_domain::submission::error::{SubmissionError, SubmissionErrorCode as Code};
use launchway_domain::time::EpochMs;

use crate::transport::TransportError;

/// The maximum length of an app store's message, in characters.
const MAX_MESSAGE_CHARS: usize = 500;
/// How many times a step is tried when the app store cannot find a new resource, or says that its state does not allow
/// the step: it may be changing, for as long as the store needs.
const MAX_DOUBTFUL_TRIES: u32 = 8;
/// How many times a step is tried when the app store refuses a token. A key that was just created is known to all of the
/// store's servers within seconds; a wrong one never is.
const MAX_TOKEN_TRIES: u32 = 3;

/// Why a step failed. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppStoreError {
    /// The app store does not answer, or not correctly: the step is retried, for a day.
    #[error("The store is not available: {why}")]
    Unavailable {
        /// What happened.
        why: String,
        /// The HTTP status, if there was a response.
        status: Option<u16>,
        /// The pause that the app store requests.
        retry_after: Option<EpochMs>,
    },
    /// The app store refuses, but may accept soon: the step is retried a few times.
    #[error("{error}")]
    Doubtful {
        /// The error if the retries fail.
        error: SubmissionError,
        /// How many times the step is tried.
        tries: u32,
    },
    /// The app store refuses: the submission fails.
    #[error("{error}")]
    Final {
        /// The error of the submission.
        error: SubmissionError,
    },
}

impl AppStoreError {
    /// An error that fails the submission.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        AppStoreError::Final {
            error: SubmissionError::new(code, message),
        }
    }

    /// An error that is retried a few times before it is final.
    pub(crate) fn doubtful(code: Code, message: impl Into<String>) -> Self {
        AppStoreError::Doubtful {
            error: SubmissionError::new(code, message),
            tries: MAX_DOUBTFUL_TRIES,
        }
    }

    /// The error for a token that the app store refuses.
    pub(crate) fn refused_token(message: impl Into<String>) -> Self {
        AppStoreError::Doubtful {
            error: SubmissionError::new(Code::CredentialInvalid, message),
            tries: MAX_TOKEN_TRIES,
        }
    }

    /// The error for a response that contradicts the app store's documentation.
    pub(crate) fn invalid_response(what: &str) -> Self {
        AppStoreError::Unavailable {
            why: format!("its response has no {what}"),
            status: None,
            retry_after: None,
        }
    }

    /// Whether to retry the step after `failures` consecutive failures, including this one.
    pub fn is_worth_another_try(&self, failures: u32) -> bool {
        match self {
            AppStoreError::Unavailable { .. } => true,
            AppStoreError::Doubtful { tries, .. } => failures < *tries,
            AppStoreError::Final { .. } => false,
        }
    }

    /// Whether the app store answered, and refused.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, AppStoreError::Unavailable { .. })
    }

    /// The pause that the app store requests.
    pub fn retry_after(&self) -> Option<EpochMs> {
        match self {
            AppStoreError::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The error for the record when the step is not retried.
    pub fn into_error(self) -> SubmissionError {
        match self {
            AppStoreError::Unavailable { status: Some(429), .. } => {
                SubmissionError::new(Code::RateLimited, "The store's rate limit is reached")
            }
            AppStoreError::Unavailable { .. } => SubmissionError::new(Code::StoreUnavailable, self.to_string()),
            AppStoreError::Doubtful { error, .. } | AppStoreError::Final { error } => error,
        }
    }
}

impl From<TransportError> for AppStoreError {
    fn from(none: TransportError) -> Self {
        match none {
            TransportError::Unreadable => Self::doubtful(Code::BinaryUnreadable, "Cannot read the binary"),
            _ => AppStoreError::Unavailable {
                why: none.to_string(),
                status: None,
                retry_after: None,
            },
        }
    }
}

/// Why a request failed. `R` is a refusal of the app store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallError<R> {
    /// The app store refused the request.
    Refused(R),
    /// Any other error.
    Other(AppStoreError),
}

impl<R> From<AppStoreError> for CallError<R> {
    fn from(failure: AppStoreError) -> Self {
        CallError::Other(failure)
    }
}

impl<R> From<TransportError> for CallError<R> {
    fn from(none: TransportError) -> Self {
        CallError::Other(none.into())
    }
}

impl<R: Into<AppStoreError>> From<CallError<R>> for AppStoreError {
    fn from(error: CallError<R>) -> Self {
        match error {
            CallError::Refused(refused) => refused.into(),
            CallError::Other(failure) => failure,
        }
    }
}

/// The message of a refusal: who answered what, in its own words.
pub(crate) fn refusal_message(store: &str, status: u16, text: &str) -> String {
    let said = if text.is_empty() { "no further details" } else { text };
    format!("{store} responded with status {status}: {said}")
}

/// A message of an app store, on one line of bounded length.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split(|letter: char| letter.is_control() || letter.is_whitespace());
    let words: Vec<&str> = line.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MAX_MESSAGE_CHARS).collect()
}
