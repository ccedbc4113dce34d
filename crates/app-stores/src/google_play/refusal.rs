//! Refusals of Google Play, and their mapping to our error codes. Google has few codes of its own, so its messages
//! count where it sends none.

use launchway_domain::submission::error::SubmissionErrorCode as Code;
use launchway_domain::time::{EpochMs, MINUTE};
use serde_json::Value;

use crate::answer::Fields;
use crate::failure::{self, AppStoreError, one_line, refusal_message};
use crate::transport::Response;

/// A response with status 400 to 499.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoreRefusal {
    /// The HTTP status.
    pub status: u16,
    /// The precise reason, such as `CHANGES_ALREADY_IN_REVIEW`; empty if there is none.
    pub reason: String,
    /// Google's general reasons, such as `badRequest`: many refusals share one.
    pub kinds: Vec<String>,
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
const MEANINGS: [(&str, Code); 20] = [
    ("already been used", Code::BuildNumberUsed),
    ("cannot update a published apk", Code::BuildNumberUsed),
    ("lower version code", Code::VersionNotNewer),
    ("does not allow any existing users to upgrade", Code::VersionNotNewer),
    ("signed with the wrong key", Code::SignatureMismatch),
    ("signed with a different certificate", Code::SignatureMismatch),
    ("signed in debug mode", Code::SignatureMismatch),
    ("not signed", Code::Unsigned),
    ("debuggable", Code::Debuggable),
    ("must target at least api level", Code::TargetSdkTooLow),
    ("64-bit requirement", Code::ArchitectureMissing),
    ("releases with status draft", Code::DraftApp),
    ("changesnotsentforreview to true", Code::ReviewByHand),
    ("changesnotsentforreview must not be set", Code::ReviewAutomatic),
    ("package not found", Code::AppNotFound),
    ("package name", Code::BundleIdMismatch),
    ("privacy policy", Code::MetadataMissing),
    ("declaration", Code::MetadataMissing),
    ("distribution agreement", Code::AgreementMissing),
    ("terms of service", Code::AgreementMissing),
];

/// The precise reason of a commit while other changes of the app are in review.
const IN_REVIEW: &str = "CHANGES_ALREADY_IN_REVIEW";
/// Reasons of a refusal that passes by itself.
const LIMITS: [&str; 5] = [
    "rateLimitExceeded",
    "userRateLimitExceeded",
    "quotaExceeded",
    "dailyLimitExceeded",
    "RATE_LIMIT_EXCEEDED",
];
/// Parts of the messages about permissions of the account, in lower case. Google answers 403 to many other things.
const PERMISSIONS: [&str; 4] = [
    "not have permission",
    "insufficient permission",
    "insufficient authentication scopes",
    "permission denied",
];
/// The pause after a refusal whose limit names none.
const PAUSE: EpochMs = MINUTE;

/// Parses a refusal. Without a valid body, the status remains.
pub(super) fn refusal(response: &Response) -> StoreRefusal {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let reasons = |list: &str| -> Vec<String> {
        let errors = body.list(list).iter();
        errors.filter_map(|error| error.text("/reason")).map(one_line).collect()
    };
    StoreRefusal {
        status: response.status,
        reason: reasons("/error/details").into_iter().next().unwrap_or_default(),
        kinds: reasons("/error/errors"),
        text: one_line(body.text("/error/message").unwrap_or_default()),
    }
}

impl StoreRefusal {
    /// Whether other changes of the app are in review, which must not be canceled. The message counts only where Google
    /// names no reason.
    pub fn is_other_review(&self) -> bool {
        let text = self.text.to_lowercase();
        let says_so = text.contains("in review") && !text.contains("changesnotsentforreview");
        self.reason == IN_REVIEW || (self.reason.is_empty() && says_so)
    }

    /// Whether the edit itself may be the reason.
    pub fn may_be_the_edit(&self) -> bool {
        matches!(self.status, 400 | 404 | 409 | 410 | 412) && self.reason != IN_REVIEW
    }

    /// Converts the refusal to an error.
    pub fn into_failure(self) -> AppStoreError {
        let status = self.status;
        let message = refusal_message("Google Play", status, &self.text);
        let text = self.text.to_lowercase();
        let known = MEANINGS.iter().find(|(part, _)| text.contains(part));
        let is_about_permissions = self.text.is_empty() || PERMISSIONS.iter().any(|part| text.contains(part));
        match (status, known) {
            (403, _) if self.is_limit() => AppStoreError::Unavailable {
                why: message,
                status: Some(429),
                retry_after: Some(PAUSE),
            },
            (401, _) if !self.text.is_empty() && is_about_permissions => {
                AppStoreError::new(Code::CredentialForbidden, message)
            }
            (401, _) => AppStoreError::refused_token(message),
            // A resource that was just created may not be visible yet.
            (404 | 409, None) => AppStoreError::doubtful(Code::StoreRefused, message),
            (_, Some((_, code))) => AppStoreError::new(*code, message),
            (403, None) if is_about_permissions => AppStoreError::new(Code::CredentialForbidden, message),
            (_, None) => AppStoreError::new(Code::StoreRefused, message),
        }
    }

    fn is_limit(&self) -> bool {
        let mut all = self.kinds.iter().chain([&self.reason]);
        all.any(|reason| LIMITS.contains(&reason.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use serde_json::json;

    fn refused(status: u16, error: Value) -> StoreRefusal {
        let body = Bytes::from(json!({"error": error}).to_string());
        refusal(&Response {
            status,
            body,
            ..Response::default()
        })
    }

    fn code(refusal: StoreRefusal) -> Code {
        refusal.into_failure().into_error().code
    }

    #[test]
    fn a_403_is_about_the_account_only_if_it_says_so() {
        for (text, wanted) in [
            ("The caller does not have permission", Code::CredentialForbidden),
            (
                "Request had insufficient authentication scopes.",
                Code::CredentialForbidden,
            ),
            ("", Code::CredentialForbidden),
            (
                "APK specifies a version code that has already been used.",
                Code::BuildNumberUsed,
            ),
            (
                "You cannot rollout this release because it does not allow any existing users to upgrade to the newly \
                 added app bundles.",
                Code::VersionNotNewer,
            ),
            (
                "You uploaded an APK or Android App Bundle that was signed in debug mode.",
                Code::SignatureMismatch,
            ),
            (
                "Your APK or Android App Bundle is using permissions that require a privacy policy: \
                 (android.permission.CAMERA).",
                Code::MetadataMissing,
            ),
            (
                "Google Play Android Developer API has not been used in project 1 before or it is disabled.",
                Code::StoreRefused,
            ),
            ("This app has been suspended.", Code::StoreRefused),
        ] {
            let error = json!({"code": 403, "message": text, "status": "PERMISSION_DENIED",
                "errors": [{"domain": "global", "reason": "forbidden", "message": text}]});
            let refusal = refused(403, error);
            let shown = refusal.clone().into_failure().into_error().message;
            assert!(shown.contains(text), "{shown}");
            assert_eq!(code(refusal), wanted, "{text}");
        }
        assert_eq!(
            code(super::refusal(&Response {
                status: 403,
                ..Response::default()
            })),
            Code::CredentialForbidden
        );
        let old = "The current user has insufficient permissions to perform the requested operation.";
        assert_eq!(code(refused(401, json!({"message": old}))), Code::CredentialForbidden);
    }

    #[test]
    fn a_403_of_a_limit_is_tried_again() {
        let error = json!({"message": "Quota exceeded for quota metric 'Publishing'.",
            "errors": [{"domain": "usageLimits", "reason": "rateLimitExceeded"}]});
        let failure = refused(403, error).into_failure();
        assert!(
            failure.is_worth_another_try(100) && failure.retry_after().is_some(),
            "{failure:?}"
        );
        assert_eq!(failure.into_error().code, Code::RateLimited);
    }

    #[test]
    fn a_review_in_progress_has_a_reason_of_its_own() {
        let of = |text: &str, reason: Option<&str>| {
            let details =
                reason.map(|reason| json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]));
            refused(
                400,
                json!({"message": text, "status": "FAILED_PRECONDITION", "details": details}),
            )
        };
        for (text, reason, wanted) in [
            ("Cambios en curso.", Some(IN_REVIEW), true),
            ("Changes are already in review.", Some(IN_REVIEW), true),
            ("Changes are already in review.", None, true),
            (
                "An app in review needs a content rating.",
                Some("CONTENT_RATING_MISSING"),
                false,
            ),
            ("Please set changesNotSentForReview: an item is in review.", None, false),
            ("This Edit has been deleted.", None, false),
        ] {
            let refusal = of(text, reason);
            assert_eq!(refusal.is_other_review(), wanted, "{text}");
        }
        assert!(!of("Changes.", Some(IN_REVIEW)).may_be_the_edit());
    }
}
