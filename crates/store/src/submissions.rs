//! Submissions: the record, and the progress from which their work resumes (`docs/reference/submissions.md#submission-record`).
//! Lock a submission before changing it.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{BuildId, OrgId, SubmissionId};
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::error::{SubmissionError, SubmissionErrorCode};
use launchway_domain::submission::record::Work;
use launchway_domain::submission::{Submission, SubmissionState, SubmissionStatus};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::lists::{Column, Filter, List, contains};
use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System};

/// Filters for a list of submissions. An absent filter matches every submission.
#[derive(Clone, Debug, Default)]
pub struct SubmissionFilter {
    /// The status.
    pub status: Option<SubmissionStatus>,
    /// The platform.
    pub platform: Option<Platform>,
    /// The app.
    pub bundle: Option<BundleId>,
    /// The build that produced the app.
    pub build: Option<BuildId>,
    /// A part of the bundle identifier.
    pub bundle_part: Option<String>,
    /// A part of the build's id.
    pub build_part: Option<String>,
}

row! {
    pub(crate) struct SubmissionRow {
        id: String,
        org_id: String,
        status: String,
        cancel_requested: i64,
        build_id: String,
        bundle_id: String,
        platform: String,
        destination: String,
        version: Option<String>,
        build_number: Option<String>,
        sha256: String,
        rollout: i64,
        spec: String,
        credential_id: Option<String>,
        external: String,
        change: Option<String>,
        error_code: Option<String>,
        error_message: Option<String>,
        error_word: Option<String>,
        events: String,
        progress: Option<String>,
        due_at: Option<i64>,
        claim: i64,
        failures: i64,
        failing_since: i64,
        since: i64,
        deleted: i64,
        urgent: i64,
        created_by: String,
        created_at: i64,
        finished_at: Option<i64>,
    }
}

impl SubmissionRow {
    pub(crate) fn read(self) -> Result<Submission, StoreError> {
        let platform = typed("submissions.platform", &self.platform)?;
        let error = match (self.error_code, self.error_message) {
            (Some(code), Some(message)) => {
                let code: SubmissionErrorCode = typed("submissions.error_code", &code)?;
                // A word that does not belong to the code is of an error that an older node has replaced since.
                let word = self
                    .error_word
                    .and_then(|word| word.parse::<SubmissionErrorCode>().ok());
                let word = word.filter(|word| word.for_older_nodes() == code);
                Some(SubmissionError::new(word.unwrap_or(code), message))
            }
            _ => None,
        };
        let build_id = Some(self.build_id).filter(|id| !id.is_empty());
        Ok(Submission {
            id: typed("submissions.id", &self.id)?,
            org_id: typed("submissions.org_id", &self.org_id)?,
            state: SubmissionState {
                status: typed("submissions.status", &self.status)?,
                cancel_requested: self.cancel_requested != 0,
            },
            build_id: build_id.map(|id| typed("submissions.build_id", &id)).transpose()?,
            bundle_id: self.bundle_id,
            platform,
            destination: Destination::parse(platform, &self.destination)
                .map_err(|_| StoreError::Corrupt("submissions.destination"))?,
            version: self.version,
            build_number: self.build_number,
            sha256: self.sha256,
            rollout: u8::try_from(self.rollout).map_err(|_| StoreError::Corrupt("submissions.rollout"))?,
            spec: json("submissions.spec", &self.spec)?,
            credential_id: self
                .credential_id
                .map(|id| typed("submissions.credential_id", &id))
                .transpose()?,
            external: json("submissions.external", &self.external)?,
            change: self
                .change
                .map(|change| json("submissions.change", &change))
                .transpose()?,
            error,
            events: json("submissions.events", &self.events)?,
            work: Work {
                sealed_progress: self.progress,
                due_at: self.due_at,
                claim: self.claim,
                failures: u32::try_from(self.failures).map_err(|_| StoreError::Corrupt("submissions.failures"))?,
                failing_since: self.failing_since,
                since: self.since,
                is_deleted: self.deleted != 0,
                is_urgent: self.urgent != 0,
            },
            created_by: self.created_by,
            created_at: self.created_at,
            finished_at: self.finished_at,
        })
    }
}

fn json<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Corrupt(column))
}

fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::Corrupt("a value for submissions"))
}

/// The columns of [`SubmissionRow`].
macro_rules! submission_columns {
    () => {
        "id, org_id, status, cancel_requested, build_id, bundle_id, platform, destination, version, build_number, \
         sha256, rollout, spec, credential_id, external, change, error_code, error_message, error_word, events, \
         progress, due_at, claim, failures, failing_since, since, deleted, urgent, created_by, created_at, finished_at"
    };
}

/// The submissions of an organization.
const SUBMISSIONS: List = List {
    name: "submissions",
    select: concat!(
        "SELECT ",
        submission_columns!(),
        " FROM submissions WHERE org_id = $1 AND deleted = 0"
    ),
    order: "ORDER BY id DESC",
};

impl Org<'_> {
    /// Stores a new submission.
    pub async fn create_submission(&mut self, new: &Submission, bundle: &BundleId) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO submissions (id, org_id, status, cancel_requested, build_id, bundle_key, bundle_id, platform, \
             store, destination, version, build_number, sha256, rollout, spec, credential_id, external, events, due_at, \
             claim, failures, failing_since, since, deleted, created_by, created_at) VALUES ($1, $2, $3, 0, $4, $5, $6, \
             $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 0, 0, 0, $19, 0, $20, $21)",
            new.id.to_string(),
            &self.id,
            new.state.status.as_str(),
            new.build_id.map(|id| id.to_string()).unwrap_or_default(),
            bundle.key(),
            &new.bundle_id,
            new.platform.as_str(),
            new.store().as_str(),
            new.destination.as_str(),
            new.version.as_deref(),
            new.build_number.as_deref(),
            &new.sha256,
            i64::from(new.rollout),
            to_json(&new.spec)?,
            new.credential_id.map(|id| id.to_string()),
            to_json(&new.external)?,
            to_json(&new.events)?,
            new.work.due_at,
            new.work.since,
            &new.created_by,
            new.created_at
        )?;
        Ok(())
    }

    /// One submission that is not deleted.
    pub async fn submission(&mut self, id: SubmissionId) -> Result<Option<Submission>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            SubmissionRow,
            concat!(
                "SELECT ",
                submission_columns!(),
                " FROM submissions WHERE org_id = $1 AND id = $2 AND deleted = 0"
            ),
            &self.id,
            id.to_string()
        )?;
        row.map(SubmissionRow::read).transpose()
    }

    /// One submission, including one that is to be deleted once it is canceled. Locked until this transaction ends.
    pub async fn lock_submission(&mut self, id: SubmissionId) -> Result<Option<Submission>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            SubmissionRow,
            concat!(
                "UPDATE submissions SET status = status WHERE org_id = $1 AND id = $2 RETURNING ",
                submission_columns!()
            ),
            &self.id,
            id.to_string()
        )?;
        row.map(SubmissionRow::read).transpose()
    }

    /// The submissions, newest first.
    pub async fn submissions(
        &mut self,
        filter: &SubmissionFilter,
        paging: Paging,
    ) -> Result<Rows<Submission>, StoreError> {
        let bundle = filter.bundle.as_ref().map(BundleId::key);
        let build = filter.build.map(|id| id.to_string());
        let conditions = Filter::default()
            .equal(Column::named("status"), filter.status.map(SubmissionStatus::as_str))
            .equal(Column::named("platform"), filter.platform.map(Platform::as_str))
            .equal(Column::named("bundle_key"), bundle.as_deref())
            .part(Column::named("bundle_key"), filter.bundle_part.as_deref())
            .rare(|number| format!("build_id = ${number}"), build.as_deref())
            .uncounted(|number| contains("build_id", number), filter.build_part.as_deref());
        let (rows, total) = fetch_page!(self.tx, SubmissionRow, &self.id, &SUBMISSIONS, &conditions, paging);
        Rows::read(rows, total, SubmissionRow::read)
    }

    /// Stores all changeable fields of a locked submission, except its claim.
    pub async fn change_submission(&mut self, new: &Submission) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE submissions SET status = $3, cancel_requested = $4, rollout = $5, credential_id = $6, external = $7, \
             change = $8, error_code = $9, error_message = $10, events = $11, progress = $12, due_at = $13, \
             failures = $14, failing_since = $15, since = $16, deleted = $17, finished_at = $18, urgent = $19, \
             error_word = $20 \
             WHERE org_id = $1 AND id = $2",
            &self.id,
            new.id.to_string(),
            new.state.status.as_str(),
            i64::from(new.state.cancel_requested),
            i64::from(new.rollout),
            new.credential_id.map(|id| id.to_string()),
            to_json(&new.external)?,
            new.change.as_ref().map(to_json).transpose()?,
            new.error.as_ref().map(|error| error.code.for_older_nodes().as_str()),
            new.error.as_ref().map(|error| error.message.as_str()),
            to_json(&new.events)?,
            new.work.sealed_progress.as_deref(),
            new.work.due_at,
            i64::from(new.work.failures),
            new.work.failing_since,
            new.work.since,
            i64::from(new.work.is_deleted),
            new.finished_at,
            i64::from(new.work.is_urgent),
            new.error.as_ref().map(|error| error.code.as_str())
        )?;
        Ok(())
    }

    /// Deletes a submission with the names of its files; returns false if there is none.
    pub async fn delete_submission(&mut self, id: SubmissionId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM submissions WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(deleted == 1)
    }
}

impl System<'_> {
    /// Claims the work on a submission that is due at `now`, until `until`; after that, any node may claim it again.
    /// Returns `None` if another node has it, or it is no longer due. A submission that waits for a turn continues to wait
    /// until that is changed explicitly.
    pub async fn claim_submission(
        &mut self,
        id: SubmissionId,
        now: i64,
        until: i64,
    ) -> Result<Option<Submission>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            SubmissionRow,
            concat!(
                "UPDATE submissions SET claim = claim + 1, claimed_until = $3, \
                 waits_claim = CASE WHEN waits_claim = claim THEN claim + 1 ELSE NULL END \
                 WHERE id = $1 AND due_at <= $2 AND (claimed_until IS NULL OR claimed_until <= $2) RETURNING ",
                submission_columns!()
            ),
            id.to_string(),
            now,
            until
        )?;
        row.map(SubmissionRow::read).transpose()
    }
}

pub(crate) fn submission_pair(org: &str, id: &str) -> Result<(OrgId, SubmissionId), StoreError> {
    Ok((typed("submissions.org_id", org)?, typed("submissions.id", id)?))
}
