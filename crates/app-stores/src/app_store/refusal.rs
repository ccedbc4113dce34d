//! What App Store Connect says no with, and which of our codes that is.

use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use crate::answer::Fields;
use crate::failure::{AppStoreError, one_line};
use crate::transport::{Response, TransportError};

/// An answer of 400 to 499.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoreRefusal {
    /// The status of HTTP.
    pub status: u16,
    /// Apple's codes, such as `ENTITY_ERROR.ATTRIBUTE.INVALID`, with those of the associated errors.
    pub codes: Vec<String>,
    /// Apple's sentences.
    pub text: String,
}

/// Why a call came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallError {
    /// The store says no.
    Refused(StoreRefusal),
    /// Something else.
    Other(AppStoreError),
}

impl From<AppStoreError> for CallError {
    fn from(failure: AppStoreError) -> Self {
        CallError::Other(failure)
    }
}

impl From<TransportError> for CallError {
    fn from(none: TransportError) -> Self {
        CallError::Other(none.into())
    }
}

impl From<CallError> for AppStoreError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(refused) => refused.into_failure(Code::StoreRefused),
            CallError::Other(failure) => failure,
        }
    }
}

/// Reads a refusal. A body that is none of Apple's is no reason to lose the status.
pub(super) fn refusal(response: &Response) -> StoreRefusal {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let (mut codes, mut sentences) = (Vec::new(), Vec::new());
    for error in body.list("/errors") {
        add(error, &mut codes, &mut sentences);
        let associated = error.pointer("/meta/associatedErrors").and_then(Value::as_object);
        for error in associated.into_iter().flat_map(|by_path| by_path.values()) {
            for error in error.as_array().into_iter().flatten() {
                add(error, &mut codes, &mut sentences);
            }
        }
    }
    StoreRefusal {
        status: response.status,
        codes,
        text: one_line(&sentences.join(" ")),
    }
}

fn add(error: &Value, codes: &mut Vec<String>, sentences: &mut Vec<String>) {
    codes.extend(error.text("/code").map(str::to_owned));
    sentences.extend(
        error
            .text("/detail")
            .or_else(|| error.text("/title"))
            .map(str::to_owned),
    );
}

impl StoreRefusal {
    /// Whether one of Apple's codes begins so.
    pub fn is(&self, start: &str) -> bool {
        self.codes.iter().any(|code| code.starts_with(start))
    }

    /// What it comes to, where the call suggests the code of a refusal that is not known by itself.
    pub fn into_failure(self, suggested: Code) -> AppStoreError {
        let status = self.status;
        let said = if self.text.is_empty() {
            "nothing more"
        } else {
            &self.text
        };
        let message = format!("App Store Connect answered {status}: {said}");
        match status {
            401 => AppStoreError::doubtful(Code::CredentialInvalid, message),
            403 if self.is("FORBIDDEN.REQUIRED_AGREEMENTS") => AppStoreError::new(Code::AgreementMissing, message),
            403 => AppStoreError::new(Code::CredentialForbidden, message),
            // What was made a moment ago may not be seen yet.
            404 => AppStoreError::doubtful(suggested, message),
            409 if self.is("ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE") => {
                AppStoreError::doubtful(Code::BuildNumberUsed, message)
            }
            // The state may just be changing, or the same was done by a call whose answer was lost.
            409 if self.is("STATE_ERROR") || self.is("CONFLICT") => AppStoreError::doubtful(suggested, message),
            _ => AppStoreError::new(suggested, message),
        }
    }
}
