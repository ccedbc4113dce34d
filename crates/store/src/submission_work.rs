//! The work on submissions: due steps, claims that expire, one change at a time for an app of Google Play, and files.

/// The condition of the index `submissions_urgent`.
macro_rules! is_urgent {
    () => {
        "(s.change IS NOT NULL OR s.cancel_requested = 1 OR s.urgent = 1)"
    };
}

mod due;

use std::collections::BTreeMap;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, SubmissionId};
use launchway_domain::platform::Platform;
use launchway_domain::submission::record::Change;
use launchway_domain::submission::{Store, SubmissionFile, SubmissionStatus};

use crate::sql::typed;
use crate::submissions::submission_pair;
use crate::{Org, StoreError, System};

/// A binary that was submitted before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmittedBinary {
    /// The version stated in the binary.
    pub version: Option<String>,
    /// The build number stated in the binary.
    pub build_number: Option<String>,
    /// Lower-case hex SHA-256.
    pub sha256: String,
    /// Its destination.
    pub destination: String,
    /// Whether it arrived there.
    pub is_there: bool,
}

/// The kind of work that is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Everything that can wait for its turn.
    Usual,
    /// Changes of a release, and cancellations.
    Urgent,
}

/// A change requested for a submission while a node works on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingChange {
    /// The submission.
    pub id: SubmissionId,
    /// The requested change of its rollout.
    pub change: Option<Change>,
    /// Whether cancellation is requested.
    pub cancel: bool,
}

/// The number of newest binaries of an app that are compared with another one.
const COMPARED: i64 = 500;
/// The number of submissions in progress that are read together.
const LOOKED_AT: i64 = 200;

row! {
    struct FileRow {
        kind: String,
        blob_key: String,
        file_name: String,
        size: i64,
        sha256: String,
    }
}

impl Org<'_> {
    /// The submissions to an app store that are in progress, newest first, each with its sealed progress.
    pub async fn submissions_under_way(&mut self, store: Store) -> Result<Vec<(SubmissionId, String)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT id, progress FROM submissions WHERE org_id = $1 AND store = $2 AND due_at IS NOT NULL \
             AND progress IS NOT NULL ORDER BY id DESC LIMIT $3",
            &self.id,
            store.as_str(),
            LOOKED_AT
        )?;
        rows.into_iter()
            .map(|(id, progress)| Ok((typed("submissions.id", &id)?, progress)))
            .collect()
    }

    /// Makes the next step of a submission due at `now`, unless it is due earlier.
    pub async fn make_submission_due(&mut self, id: SubmissionId, now: i64) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE submissions SET due_at = $3 WHERE org_id = $1 AND id = $2 AND due_at > $3",
            &self.id,
            id.to_string(),
            now
        )?;
        Ok(())
    }

    /// Sets until when the claim of a locked submission is valid; `None` releases it, with the lock of the app.
    pub async fn hold_submission(&mut self, id: SubmissionId, until: Option<i64>) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE submissions SET claimed_until = $3 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            until
        )?;
        execute!(
            self.tx,
            "UPDATE package_locks SET locked_until = $3 WHERE submission_id = $2 \
             AND EXISTS (SELECT 1 FROM submissions WHERE org_id = $1 AND id = $2)",
            &self.id,
            id.to_string(),
            until.unwrap_or(0)
        )?;
        Ok(())
    }

    /// Adds a file of a submission; `number` is its position.
    pub async fn add_submission_file(
        &mut self,
        id: SubmissionId,
        number: i64,
        file: &SubmissionFile,
    ) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO submission_files (blob_key, submission_id, org_id, number, kind, file_name, size, sha256) \
             SELECT $3, id, org_id, $4, $5, $6, $7, $8 FROM submissions WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            &file.blob_key,
            number,
            file.kind.as_str(),
            &file.file_name,
            file.size,
            &file.sha256
        )?;
        Ok(())
    }

    /// The files of a submission, in their order.
    pub async fn submission_files(&mut self, id: SubmissionId) -> Result<Vec<SubmissionFile>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            FileRow,
            "SELECT f.kind, f.blob_key, f.file_name, f.size, f.sha256 FROM submission_files f \
             JOIN submissions s ON s.id = f.submission_id WHERE s.org_id = $1 AND s.id = $2 ORDER BY f.number",
            &self.id,
            id.to_string()
        )?;
        rows.into_iter()
            .map(|row| {
                Ok(SubmissionFile {
                    kind: typed("submission_files.kind", &row.kind)?,
                    blob_key: row.blob_key,
                    file_name: row.file_name,
                    size: row.size,
                    sha256: row.sha256,
                })
            })
            .collect()
    }

    /// Deletes the files of a submission, which stays.
    pub async fn forget_submission_files(&mut self, id: SubmissionId) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "DELETE FROM submission_files WHERE submission_id IN \
             (SELECT id FROM submissions WHERE org_id = $1 AND id = $2)",
            &self.id,
            id.to_string()
        )?;
        Ok(())
    }

    /// The newest submissions of a binary: the status of each, and the app store's ids by name.
    pub async fn submissions_of_binary(
        &mut self,
        bundle: &BundleId,
        platform: Platform,
        sha256: &str,
    ) -> Result<Vec<(SubmissionStatus, BTreeMap<String, String>)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT status, external FROM submissions WHERE org_id = $1 AND bundle_key = $2 AND platform = $3 \
             AND sha256 = $4 ORDER BY id DESC LIMIT $5",
            &self.id,
            bundle.key(),
            platform.as_str(),
            sha256,
            COMPARED
        )?;
        rows.into_iter()
            .map(|(status, external)| {
                let external = serde_json::from_str(&external);
                Ok((
                    typed("submissions.status", &status)?,
                    external.map_err(|_| StoreError::Corrupt("submissions.external"))?,
                ))
            })
            .collect()
    }

    /// The newest binaries of an app that were submitted to an app store, except those of one submission.
    pub async fn submitted_binaries(
        &mut self,
        bundle: &BundleId,
        platform: Platform,
        but: SubmissionId,
    ) -> Result<Vec<SubmittedBinary>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (Option<String>, Option<String>, String, String, String),
            "SELECT version, build_number, sha256, destination, status FROM submissions \
             WHERE org_id = $1 AND bundle_key = $2 AND platform = $3 AND id <> $4 \
             AND status IN ('processing', 'in_review', 'rolling_out', 'halted', 'success', 'rejected') \
             ORDER BY id DESC LIMIT $5",
            &self.id,
            bundle.key(),
            platform.as_str(),
            but.to_string(),
            COMPARED
        )?;
        use SubmissionStatus::{Halted, RollingOut, Success};
        let read = |(version, build_number, sha256, destination, status): (_, _, _, _, String)| SubmittedBinary {
            version,
            build_number,
            sha256,
            destination,
            is_there: matches!(status.parse(), Ok(RollingOut | Halted | Success)),
        };
        Ok(rows.into_iter().map(read).collect())
    }
}

impl System<'_> {
    /// The requested changes of submissions that are claimed at `now`.
    pub async fn changes_for_claimed(&mut self, now: i64) -> Result<Vec<PendingChange>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, Option<String>, i64),
            "SELECT id, change, cancel_requested FROM submissions WHERE due_at <= $1 AND claimed_until > $1 \
             AND (change IS NOT NULL OR cancel_requested = 1) ORDER BY due_at LIMIT $2",
            now,
            LOOKED_AT
        )?;
        rows.into_iter()
            .map(|(id, change, cancel)| {
                let change = change.map(|change| serde_json::from_str(&change)).transpose();
                Ok(PendingChange {
                    id: typed("submissions.id", &id)?,
                    change: change.map_err(|_| StoreError::Corrupt("submissions.change"))?,
                    cancel: cancel != 0,
                })
            })
            .collect()
    }

    /// The submissions that hold the lock of an app of Google Play for which urgent work is due at `now`.
    pub async fn blocking_submissions(&mut self, now: i64) -> Result<Vec<SubmissionId>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            concat!(
                "SELECT DISTINCT l.submission_id FROM submissions s JOIN package_locks l ON l.package = s.bundle_key \
                 WHERE s.due_at <= $1 AND s.store = 'google_play' \
                 AND (s.claimed_until IS NULL OR s.claimed_until <= $1) AND ",
                is_urgent!(),
                " AND l.locked_until > $1 AND l.submission_id <> s.id LIMIT $2"
            ),
            now,
            LOOKED_AT
        )?;
        rows.into_iter()
            .map(|(id,)| typed("package_locks.submission_id", &id))
            .collect()
    }

    /// Locks an app of Google Play for a submission until `until`; returns false if another submission has the lock.
    pub async fn lock_package(
        &mut self,
        bundle: &BundleId,
        id: SubmissionId,
        now: i64,
        until: i64,
    ) -> Result<bool, StoreError> {
        let locked = execute!(
            self.tx,
            "INSERT INTO package_locks (package, submission_id, locked_until) VALUES ($1, $2, $4) \
             ON CONFLICT (package) DO UPDATE SET submission_id = $2, locked_until = $4 \
             WHERE package_locks.submission_id = $2 OR package_locks.locked_until <= $3",
            bundle.key(),
            id.to_string(),
            now,
            until
        )?;
        Ok(locked == 1)
    }

    /// Extends a claim, and the lock of the app with it, until `until`; returns false if the claim is outdated.
    pub async fn renew_submission(&mut self, id: SubmissionId, claim: i64, until: i64) -> Result<bool, StoreError> {
        let renewed = execute!(
            self.tx,
            "UPDATE submissions SET claimed_until = $3 WHERE id = $1 AND claim = $2 AND claimed_until IS NOT NULL",
            id.to_string(),
            claim,
            until
        )?;
        if renewed == 1 {
            execute!(
                self.tx,
                "UPDATE package_locks SET locked_until = $2 WHERE submission_id = $1",
                id.to_string(),
                until
            )?;
        }
        Ok(renewed == 1)
    }

    /// Whether a file of a submission has this key.
    pub async fn has_submission_blob(&mut self, blob_key: &str) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT submission_id FROM submission_files WHERE blob_key = $1",
            blob_key
        )?;
        Ok(row.is_some())
    }

    /// Submissions that ended before `time` and still have files, oldest first.
    pub async fn submissions_ended_before(
        &mut self,
        time: i64,
        limit: i64,
    ) -> Result<Vec<(OrgId, SubmissionId)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT s.org_id, s.id FROM submissions s WHERE s.finished_at < $1 \
             AND EXISTS (SELECT 1 FROM submission_files f WHERE f.submission_id = s.id) ORDER BY s.finished_at LIMIT $2",
            time,
            limit
        )?;
        rows.into_iter().map(|(org, id)| submission_pair(&org, &id)).collect()
    }
}
