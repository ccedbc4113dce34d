//! Submissions to the App Store and Google Play (`docs/reference/submissions.md#submission-record`).

use std::collections::BTreeMap;

use launchway_domain::submission::Submission;
use launchway_domain::submission::destination::MAX_TRACK_LENGTH;
use launchway_domain::submission::error::SubmissionError as DomainError;
use launchway_domain::time::iso;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::open;

/// `POST /submit`. Names either `buildId` or `uploadId`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSubmission {
    /// The build whose app is submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// An uploaded app: an .ipa, .aab or .apk. The server reads its bundle id, platform, version and build number from the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    /// `testflight` or `app_store`, or a track of Google Play: `internal`, `alpha`, `beta`, `production` or a custom one.
    #[schema(schema_with = destination)]
    pub destination: open::KnownDestination,
    /// The percentage of users who get it initially, 1 to 100. Defaults to 100. In the App Store any value below 100 means its
    /// seven-day phased release; `testflight` does not support it.
    #[schema(minimum = 1, maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<i64>,
    /// The release notes (in TestFlight: what to test), one entry per language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_notes: Option<Vec<ReleaseNote>>,
    /// The app store credential. Defaults to the only one that fits the app and the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential_id: Option<String>,
    /// Further options of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<SubmissionOptions>,
}

/// `PATCH /submit?id=`. Absent fields do not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangeSubmission {
    /// The percentage of users who get it, 1 to 100. An App Store phased release accepts only 100, which ends it.
    #[schema(minimum = 1, maximum = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<i64>,
    /// `halted` stops the rollout; `rolling_out` resumes it, or releases an approved version that waits for a manual release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<open::RolloutState>,
}

/// The release notes in one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseNote {
    /// The language code of the store.
    #[schema(example = "en-US")]
    pub locale: String,
    /// The text.
    pub text: String,
}

/// Further options of the stores. An option of another store than the destination's is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubmissionOptions {
    /// TestFlight: the names of the tester groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// App Store Connect: whether the app uses non-exempt encryption, if its Info.plist does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses_non_exempt_encryption: Option<bool>,
    /// App Store: an approved version waits until a `PATCH` with `rolling_out` releases it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manual_release: Option<bool>,
    /// Google Play: create the release as a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<bool>,
    /// Google Play: the in-app update priority, 0 to 5.
    #[schema(minimum = 0, maximum = 5)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Google Play: the countries of a staged release in `production`, as two-letter codes in capitals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub countries: Option<Vec<String>>,
    /// Google Play: the name of the release. Defaults to a name that the store generates.
    #[schema(max_length = 50)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_name: Option<String>,
    /// Google Play: the changes wait in the Play Console until someone sends them for review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes_not_sent_for_review: Option<bool>,
    /// Google Play: symbol files that make crash reports readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbols: Option<Vec<SymbolFile>>,
}

/// A symbol file that makes crash reports readable. Names either `artifactId`, of the same build, or `uploadId`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SymbolFile {
    /// `mapping` (ProGuard or R8) or `native`.
    #[schema(example = "mapping")]
    pub kind: open::SymbolKind,
    /// An artifact of the build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<String>,
    /// An upload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
}

/// A submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Submission)]
pub struct SubmissionView {
    /// `submission_…`.
    pub id: String,
    /// `queued`, `validating`, `uploading`, `processing`, `in_review`, `rolling_out`, `halted`, `success`, `rejected`,
    /// `failed` or `canceled`.
    pub status: open::SubmissionStatus,
    /// The build whose app is submitted; null if the app was uploaded.
    pub build_id: Option<String>,
    /// The app.
    pub bundle_id: String,
    /// `ios`, `android` or `visionos`.
    pub platform: open::Platform,
    /// `app_store` or `google_play`.
    pub store: open::Store,
    /// `testflight`, `app_store` or a track of Google Play.
    #[schema(schema_with = destination)]
    pub destination: open::KnownDestination,
    /// The version in the app's metadata.
    pub version: Option<String>,
    /// The build number in the app's metadata.
    pub build_number: Option<String>,
    /// The percentage of users who get it.
    pub rollout: u8,
    /// The release notes, one entry per language.
    pub release_notes: Vec<ReleaseNote>,
    /// The app store credential.
    pub credential_id: Option<String>,
    /// Further options of the store.
    pub options: SubmissionOptions,
    /// The store's own ids by name, such as `appId`, `buildId` or `editId`, as far as known.
    pub external: BTreeMap<String, String>,
    /// Whether cancellation was requested and has not finished.
    pub cancel_requested: bool,
    /// What is wrong: why the submission failed or was rejected, or, while `retryAt` is set, why its step failed. Null
    /// otherwise.
    pub error: Option<SubmissionError>,
    /// When a step that failed is tried again; null unless one has failed and the submission goes on.
    pub retry_at: Option<String>,
    /// The events so far, oldest first.
    pub events: Vec<SubmissionEvent>,
    /// Who created it: a user id or a key id.
    pub created_by: String,
    /// When it was created.
    pub created_at: String,
    /// When it ended.
    pub finished_at: Option<String>,
}

/// Why a submission failed or was rejected, or why its step is tried again. docs/submissions.md lists all codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmissionError {
    /// The error code.
    #[schema(example = "BUILD_NUMBER_USED")]
    pub code: open::SubmissionErrorCode,
    /// What is wrong, including the store's own message if there is one.
    pub message: String,
    /// What to do.
    pub fix: String,
    /// Whether `POST /submit/retry` can continue this submission, at once or after an outside problem was fixed.
    pub retryable: bool,
}

/// An event of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SubmissionEvent {
    /// When it happened.
    pub at: String,
    /// The submission's status at that time.
    pub status: open::SubmissionStatus,
    /// What happened, as a sentence.
    pub message: String,
}

/// Tracks of Google Play have arbitrary names, so the list of words is not complete.
fn destination() -> Schema {
    let known = open::KnownDestination::schema();
    let other = ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(MAX_TRACK_LENGTH))
        .description(Some("Another track of Google Play."));
    AnyOfBuilder::new()
        .item(known)
        .item(other)
        .description(Some(
            "Where the app goes: `testflight`, `app_store`, or a track of Google Play.",
        ))
        .into()
}

impl From<&DomainError> for SubmissionError {
    fn from(error: &DomainError) -> Self {
        Self {
            code: error.code.into(),
            message: error.message.clone(),
            fix: error.fix.clone(),
            retryable: error.retryable,
        }
    }
}

impl SubmissionView {
    /// A submission.
    pub fn of(submission: &Submission) -> Self {
        let (state, spec) = (&submission.state, &submission.spec);
        let options = &spec.options;
        Self {
            id: submission.id.to_string(),
            status: state.status.into(),
            build_id: submission.build_id.map(|id| id.to_string()),
            bundle_id: submission.bundle_id.clone(),
            platform: submission.platform.into(),
            store: submission.store().into(),
            destination: open::KnownDestination::of(submission.destination.as_str()),
            version: submission.version.clone(),
            build_number: submission.build_number.clone(),
            rollout: submission.rollout,
            release_notes: spec
                .notes
                .iter()
                .map(|note| ReleaseNote {
                    locale: note.locale.clone(),
                    text: note.text.clone(),
                })
                .collect(),
            credential_id: submission.credential_id.map(|id| id.to_string()),
            options: SubmissionOptions {
                groups: options.groups.clone(),
                uses_non_exempt_encryption: options.uses_non_exempt_encryption,
                manual_release: options.manual_release,
                draft: options.draft,
                priority: options.priority.map(i64::from),
                countries: options.countries.clone(),
                release_name: options.release_name.clone(),
                changes_not_sent_for_review: options.changes_not_sent_for_review,
                symbols: None,
            },
            external: submission.external.clone(),
            cancel_requested: state.cancel_requested,
            error: submission.present_error().map(SubmissionError::from),
            retry_at: submission.retry_at().map(iso),
            events: submission
                .events
                .iter()
                .map(|event| SubmissionEvent {
                    at: iso(event.at),
                    status: open::SubmissionStatus::of(&event.status),
                    message: event.message.clone(),
                })
                .collect(),
            created_by: submission.created_by.clone(),
            created_at: iso(submission.created_at),
            finished_at: submission.finished_at.map(iso),
        }
    }
}
