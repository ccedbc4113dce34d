//! The progress of a submission in its app store, stored between steps. It is sealed: the URL of an upload to Google
//! Play is a secret.

use std::collections::BTreeMap;

use launchway_app_stores::google_play::{self, Stage, Target, TargetStatus};
use launchway_app_stores::{Release, app_store};
use launchway_domain::id::{OrgId, SubmissionId};
use launchway_domain::submission::Store;
use launchway_store::Tx;
use launchway_vault::Place;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::api_error::ApiError;
use crate::app::App;
use crate::write::Write;

/// The progress of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// In App Store Connect.
    AppStore(app_store::Progress),
    /// In Google Play.
    GooglePlay {
        /// The state from which the next step continues.
        steps: google_play::Progress,
        /// The current target of the track while a change of it is under way.
        before: Option<Target>,
    },
}

impl Progress {
    /// The initial progress.
    pub fn none(store: Store) -> Progress {
        match store {
            Store::AppStore => Progress::AppStore(app_store::Progress::default()),
            Store::GooglePlay => Progress::GooglePlay {
                steps: google_play::Progress::default(),
                before: None,
            },
        }
    }

    /// The app store's own ids by name.
    pub fn external(&self) -> BTreeMap<String, String> {
        let ids = match self {
            Progress::AppStore(steps) => steps.external(),
            Progress::GooglePlay { steps, .. } => steps.external(),
        };
        ids.into_iter()
            .map(|(name, id)| (name.to_owned(), id.to_owned()))
            .collect()
    }

    /// The progress with which a retry begins.
    pub fn for_retry(&self, release: &Release) -> Progress {
        match self {
            Progress::AppStore(steps) => Progress::AppStore(steps.for_retry(release)),
            Progress::GooglePlay { steps, .. } => Progress::GooglePlay {
                steps: steps.for_retry(),
                before: None,
            },
        }
    }

    /// Whether the next step checks if the app store already has the binary.
    pub fn looks_for_binary(&self) -> bool {
        match self {
            Progress::AppStore(steps) => steps.stage == app_store::Stage::CreateUpload,
            Progress::GooglePlay { steps, .. } => steps.stage == Stage::Look,
        }
    }

    /// Whether a change of a release is under way: users have the previous release until it is committed.
    pub fn is_changing(&self) -> bool {
        matches!(self, Progress::GooglePlay { before: Some(_), .. })
    }

    /// Whether a further step may submit something for review, or release it.
    pub fn may_submit(&self) -> bool {
        match self {
            Progress::AppStore(steps) => steps.stage < app_store::Stage::AwaitReview,
            Progress::GooglePlay { steps, .. } => steps.stage <= Stage::Commit,
        }
    }

    /// The current rollout in percent of the users, if one was sent to the app store.
    pub fn rollout(&self) -> Option<u8> {
        match self {
            Progress::GooglePlay { steps, .. } if steps.stage > Stage::Commit => {
                let target = steps.target?;
                let whole = (target.status == TargetStatus::Completed).then_some(100);
                target.percent.or(whole)
            }
            _ => None,
        }
    }
}

fn place(id: SubmissionId) -> Place<'static> {
    Place::new(id, "progress")
}

/// Seals a submission's progress.
pub async fn seal(write: &mut Write<'_>, id: SubmissionId, progress: &Progress) -> Result<String, ApiError> {
    let text = serde_json::to_string(progress).map_err(|error| ApiError::Internal(error.to_string()))?;
    let text = Zeroizing::new(text);
    write.seal(&place(id), text.as_bytes()).await
}

/// Opens a submission's progress.
pub async fn open(app: &App, tx: &mut Tx, org: OrgId, id: SubmissionId, sealed: &str) -> Result<Progress, ApiError> {
    read(&app.vault.unseal(tx, org, &place(id), sealed).await?)
}

/// Opens a submission's progress within a change of it.
pub async fn open_within(write: &mut Write<'_>, id: SubmissionId, sealed: &str) -> Result<Progress, ApiError> {
    read(&write.open_plain(&place(id), sealed).await?)
}

fn read(text: &[u8]) -> Result<Progress, ApiError> {
    // Without serde's own message, which could quote a secret.
    serde_json::from_slice(text).map_err(|_| ApiError::Internal("the progress of a submission is invalid".to_owned()))
}
