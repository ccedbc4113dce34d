//! Refusals of Google Play, and their mapping to our error codes. Google has few codes of its own, so its messages
//! count.

use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use crate::answer::Fields;
use crate::failure::{self, AppStoreError, one_line, refusal_message};
use crate::transport::Response;

/// A response with status 400 to 499.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoreRefusal {
    /// The HTTP status.
    pub status: u16,
    /// Google's message.
    pub text: String,
}

/// Why a request failed.
pub(super) type CallError = failure::CallError<StoreRefusal>;

impl From<StoreRefusal> for AppStoreError {
    fn from(refusal: StoreRefusal) -> Self {
        refusal.into_failure()
    }
}

/// Parts of Google's messages in lower case, and their meaning.
const MEANINGS: [(&str, Code); 14] = [
    ("already been used", Code::BuildNumberUsed),
    ("cannot update a published apk", Code::BuildNumberUsed),
    ("lower version code", Code::VersionNotNewer),
    ("signed with the wrong key", Code::SignatureMismatch),
    ("signed with a different certificate", Code::SignatureMismatch),
    ("not signed", Code::Unsigned),
    ("debuggable", Code::Debuggable),
    ("must target at least api level", Code::TargetSdkTooLow),
    ("64-bit requirement", Code::ArchitectureMissing),
    ("releases with status draft", Code::DraftApp),
    ("changesnotsentforreview to true", Code::ReviewByHand),
    ("changesnotsentforreview must not be set", Code::ReviewAutomatic),
    ("package not found", Code::AppNotFound),
    ("package name", Code::BundleIdMismatch),
];

/// Parses a refusal. Without a valid body, the status remains.
pub(super) fn refusal(response: &Response) -> StoreRefusal {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    StoreRefusal {
        status: response.status,
        text: one_line(body.text("/error/message").unwrap_or_default()),
    }
}

impl StoreRefusal {
    /// Whether other changes of the app are in review, which must not be canceled.
    pub fn is_other_review(&self) -> bool {
        let text = self.text.to_lowercase();
        text.contains("in review") && !text.contains("changesnotsentforreview")
    }

    /// Whether the edit itself may be the reason.
    pub fn may_be_the_edit(&self) -> bool {
        matches!(self.status, 400 | 404 | 409 | 410 | 412)
    }

    /// Converts the refusal to an error.
    pub fn into_failure(self) -> AppStoreError {
        let status = self.status;
        let message = refusal_message("Google Play", status, &self.text);
        let text = self.text.to_lowercase();
        let known = MEANINGS.iter().find(|(part, _)| text.contains(part));
        match (status, known) {
            (401, _) => AppStoreError::doubtful(Code::CredentialInvalid, message),
            // A resource that was just created may not be visible yet.
            (404, Some((_, code))) => AppStoreError::doubtful(*code, message),
            (404 | 409, None) => AppStoreError::doubtful(Code::StoreRefused, message),
            (_, Some((_, code))) => AppStoreError::new(*code, message),
            (403, None) => AppStoreError::new(Code::CredentialForbidden, message),
            (_, None) => AppStoreError::new(Code::StoreRefused, message),
        }
    }
}
