//! What a submission has reached in its store, kept between steps. It is sealed: the address of an upload to Google Play
//! is a secret.

use std::collections::BTreeMap;

use launchway_app_stores::google_play::{Stage, Target, TargetStatus};
use launchway_app_stores::{Release, app_store, google_play};
use launchway_domain::id::{OrgId, SubmissionId};
use launchway_domain::submission::Store;
use launchway_store::Tx;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::api_error::ApiError;
use crate::app::App;
use crate::ops::write::Write;
use crate::vault::Place;

/// What a submission has reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// In App Store Connect.
    AppStore(app_store::Progress),
    /// In Google Play.
    GooglePlay {
        /// What its steps go on from.
        steps: google_play::Progress,
        /// What the track holds while a change of it is under way.
        before: Option<Target>,
    },
}

impl Progress {
    /// Nothing is reached yet.
    pub fn none(store: Store) -> Progress {
        match store {
            Store::AppStore => Progress::AppStore(app_store::Progress::default()),
            Store::GooglePlay => Progress::GooglePlay {
                steps: google_play::Progress::default(),
                before: None,
            },
        }
    }

    /// The store's own ids by name.
    pub fn external(&self) -> BTreeMap<String, String> {
        let ids = match self {
            Progress::AppStore(steps) => steps.external(),
            Progress::GooglePlay { steps, .. } => steps.external(),
        };
        ids.into_iter()
            .map(|(name, id)| (name.to_owned(), id.to_owned()))
            .collect()
    }

    /// What a retry begins with.
    pub fn for_retry(&self, release: &Release) -> Progress {
        match self {
            Progress::AppStore(steps) => Progress::AppStore(steps.for_retry(release)),
            Progress::GooglePlay { steps, .. } => Progress::GooglePlay {
                steps: steps.for_retry(),
                before: None,
            },
        }
    }

    /// Whether the next step looks whether the store has the binary already.
    pub fn looks_for_binary(&self) -> bool {
        match self {
            Progress::AppStore(steps) => steps.stage == app_store::Stage::CreateUpload,
            Progress::GooglePlay { steps, .. } => steps.stage == Stage::Look,
        }
    }

    /// Whether a change of a release is under way: users have what they had before until it is committed.
    pub fn is_changing(&self) -> bool {
        matches!(self, Progress::GooglePlay { before: Some(_), .. })
    }

    /// Percent of the users who get it now, where the store was told.
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

/// Seals what a submission has reached.
pub async fn seal(write: &mut Write<'_>, id: SubmissionId, progress: &Progress) -> Result<String, ApiError> {
    let text = serde_json::to_string(progress).map_err(|error| ApiError::Internal(error.to_string()))?;
    let text = Zeroizing::new(text);
    write.seal(&place(id), text.as_bytes()).await
}

/// Opens what a submission has reached.
pub async fn open(app: &App, tx: &mut Tx, org: OrgId, id: SubmissionId, sealed: &str) -> Result<Progress, ApiError> {
    read(&app.vault.unseal(tx, org, &place(id), sealed).await?)
}

/// Opens what a submission has reached, within a change of it.
pub async fn open_within(write: &mut Write<'_>, id: SubmissionId, sealed: &str) -> Result<Progress, ApiError> {
    read(&write.open_plain(&place(id), sealed).await?)
}

fn read(text: &[u8]) -> Result<Progress, ApiError> {
    // Serde's own message could quote what is secret.
    serde_json::from_slice(text).map_err(|_| ApiError::Internal("the progress of a submission is none".to_owned()))
}
