//! Refusals of App Store Connect, and their mapping to our error codes.

use std::collections::HashSet;

use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use crate::answer::Fields;
use crate::failure::{self, AppStoreError, one_line, refusal_message};
use crate::transport::Response;

/// Apple's code for a version, or a build number, that exists already.
pub(super) const DUPLICATE: &str = "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE";

/// A response with status 400 to 499.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoreRefusal {
    /// The HTTP status.
    pub status: u16,
    /// Apple's codes, such as `ENTITY_ERROR.ATTRIBUTE.INVALID`, including those of associated errors.
    pub codes: Vec<String>,
    /// Whether associated errors say what a person has to fill in or change first.
    pub needs_a_person: bool,
    /// Apple's messages.
    pub text: String,
}

/// Why a request failed.
pub(super) type CallError = failure::CallError<StoreRefusal>;

impl From<StoreRefusal> for AppStoreError {
    fn from(refusal: StoreRefusal) -> Self {
        refusal.into_failure(Code::StoreRefused)
    }
}

/// Parses a refusal. Without a valid body, the status remains.
pub(super) fn refusal(response: &Response) -> StoreRefusal {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let (mut codes, mut sentences) = (Vec::new(), Vec::new());
    let mut causes = Vec::new();
    for error in body.list("/errors") {
        add(error, &mut codes, &mut sentences);
        let associated = error.pointer("/meta/associatedErrors").and_then(Value::as_object);
        for error in associated.into_iter().flat_map(|by_path| by_path.values()) {
            for error in error.as_array().into_iter().flatten() {
                add(error, &mut causes, &mut sentences);
            }
        }
    }
    let needs_a_person = !causes.is_empty() && !causes.iter().any(|code| passes(code));
    codes.extend(causes);
    // The same attribute may be missing in every language.
    let mut seen = HashSet::new();
    sentences.retain(|sentence| seen.insert(sentence.clone()));
    StoreRefusal {
        status: response.status,
        codes,
        needs_a_person,
        text: one_line(&sentences.join(" ")),
    }
}

/// Whether the cause passes without anybody's help: the store still works on something.
fn passes(code: &str) -> bool {
    ["IN_PROGRESS", "PROCESSING", "PENDING", "NOT_FOUND"]
        .iter()
        .any(|part| code.contains(part))
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
    /// Whether one of Apple's codes starts with `start`.
    pub fn is(&self, start: &str) -> bool {
        self.codes.iter().any(|code| code.starts_with(start))
    }

    /// The message of the refusal.
    pub fn message(&self) -> String {
        refusal_message("App Store Connect", self.status, &self.text)
    }

    /// Converts the refusal to an error. `suggested` is the code of a refusal without a specific mapping.
    pub fn into_failure(self, suggested: Code) -> AppStoreError {
        let status = self.status;
        let message = self.message();
        match status {
            401 => AppStoreError::refused_token(message),
            403 if self.is("FORBIDDEN.REQUIRED_AGREEMENTS") => AppStoreError::new(Code::AgreementMissing, message),
            403 => AppStoreError::new(Code::CredentialForbidden, message),
            // A resource that was just created may not be visible yet.
            404 => AppStoreError::doubtful(suggested, message),
            409 if self.is(DUPLICATE) => AppStoreError::doubtful(Code::BuildNumberUsed, message),
            // The causes are named, and stay until somebody removes them.
            409 | 422 if self.needs_a_person => {
                let missing =
                    suggested == Code::StoreRefused && self.codes.iter().any(|code| code.contains("REQUIRED"));
                AppStoreError::new(if missing { Code::MetadataMissing } else { suggested }, message)
            }
            // The state may just be changing, or a request whose response was lost has already done this.
            409 if self.is("STATE_ERROR") || self.is("CONFLICT") => AppStoreError::doubtful(suggested, message),
            _ => AppStoreError::new(suggested, message),
        }
    }
}
