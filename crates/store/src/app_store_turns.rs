//! Turns in App Store Connect: work that only one submission of an app and platform may do at a time.
//!
//! A turn is a row that names its submission, and counts only while that submission is in progress: a submission that ends,
//! fails or is deleted frees its turn, whatever happens to the row. Nodes of a release without this table take no turns; their
//! submissions in progress are found by the ids they have stored.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, SubmissionId};
use launchway_domain::platform::Platform;

use crate::submissions::submission_pair;
use crate::{StoreError, System};

/// The right that a submission acquires.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The app.
    pub bundle: &'a BundleId,
    /// Its platform.
    pub platform: Platform,
    /// The part of the work.
    pub part: &'a str,
    /// Whether submissions in progress without a turn take precedence. Those have a version in the App Store.
    pub after_others: bool,
}

/// The submission that has a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnHolder {
    /// The organization of the submission.
    pub org_id: OrgId,
    /// The submission.
    pub id: SubmissionId,
    /// Its version.
    pub version: Option<String>,
    /// Its build number.
    pub build_number: Option<String>,
}

impl System<'_> {
    /// Takes a turn for a submission. If another submission has it, returns that one, and records that this one waits.
    /// `claim` is the claim under which the submission is processed.
    pub async fn take_app_store_turn(
        &mut self,
        turn: Turn<'_>,
        id: SubmissionId,
        claim: i64,
    ) -> Result<Option<TurnHolder>, StoreError> {
        let (app, platform) = (turn.bundle.key(), turn.platform.as_str());
        let (mut holder,) = fetch_one!(
            self.tx,
            (String,),
            "INSERT INTO app_store_turns (app, platform, part, submission_id) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (app, platform, part) DO UPDATE SET submission_id = CASE WHEN EXISTS (SELECT 1 FROM submissions s \
             WHERE s.id = app_store_turns.submission_id \
             AND s.status IN ('queued', 'validating', 'uploading', 'processing', 'in_review')) \
             THEN app_store_turns.submission_id ELSE excluded.submission_id END RETURNING submission_id",
            &app,
            platform,
            turn.part,
            id.to_string()
        )?;
        if turn.after_others
            && holder == id.to_string()
            && let Some(other) = self.version_under_way(turn, id).await?
        {
            execute!(
                self.tx,
                "UPDATE app_store_turns SET submission_id = $4 WHERE app = $1 AND platform = $2 AND part = $3",
                &app,
                platform,
                turn.part,
                &other
            )?;
            holder = other;
        }
        let waits = holder != id.to_string();
        execute!(
            self.tx,
            "UPDATE submissions SET waits_for = $3, waits_claim = $4 WHERE id = $1 AND claim = $2",
            id.to_string(),
            claim,
            waits.then_some(turn.part),
            waits.then_some(claim)
        )?;
        if !waits {
            return Ok(None);
        }
        let row = fetch_optional!(
            self.tx,
            (String, String, Option<String>, Option<String>),
            "SELECT org_id, id, version, build_number FROM submissions WHERE id = $1",
            &holder
        )?;
        // The row was there a moment ago, under the same lock.
        let (org, holder, version, build_number) = row.ok_or(StoreError::Corrupt("app_store_turns.submission_id"))?;
        let (org_id, id) = submission_pair(&org, &holder)?;
        Ok(Some(TurnHolder {
            org_id,
            id,
            version,
            build_number,
        }))
    }

    /// Another submission of the app that has a version in App Store Connect in progress without waiting for a turn.
    async fn version_under_way(&mut self, turn: Turn<'_>, id: SubmissionId) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT id FROM submissions WHERE bundle_key = $1 AND platform = $2 AND due_at IS NOT NULL AND id <> $3 \
             AND destination = 'app_store' AND status IN ('processing', 'in_review') \
             AND external LIKE '%\"appStoreVersionId\"%' AND (waits_claim IS NULL OR waits_claim <> claim) \
             ORDER BY id LIMIT 1",
            turn.bundle.key(),
            turn.platform.as_str(),
            id.to_string()
        )?;
        Ok(row.map(|(id,)| id))
    }

    /// Whether a submission has this turn.
    pub async fn has_app_store_turn(&mut self, turn: Turn<'_>, id: SubmissionId) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT submission_id FROM app_store_turns WHERE app = $1 AND platform = $2 AND part = $3",
            turn.bundle.key(),
            turn.platform.as_str(),
            turn.part
        )?;
        Ok(row.is_some_and(|(holder,)| holder == id.to_string()))
    }

    /// Ends the turns of a submission, except the one named `kept`. Each passes to the oldest submission that waits for it,
    /// whose step becomes due at `now`. Returns whether any was waiting.
    pub async fn end_app_store_turns(
        &mut self,
        id: SubmissionId,
        kept: Option<&str>,
        now: i64,
    ) -> Result<bool, StoreError> {
        let ended = fetch_all!(
            self.tx,
            (String, String, String),
            "DELETE FROM app_store_turns WHERE submission_id = $1 AND part <> $2 RETURNING app, platform, part",
            id.to_string(),
            kept.unwrap_or_default()
        )?;
        let mut is_awaited = false;
        for (app, platform, part) in ended {
            let next = fetch_optional!(
                self.tx,
                (String,),
                "UPDATE submissions SET due_at = CASE WHEN due_at > $5 THEN $5 ELSE due_at END WHERE id = \
                 (SELECT id FROM submissions WHERE bundle_key = $1 AND platform = $2 AND due_at IS NOT NULL \
                 AND waits_for = $3 AND waits_claim = claim AND id <> $4 ORDER BY id LIMIT 1) RETURNING id",
                &app,
                &platform,
                &part,
                id.to_string(),
                now
            )?;
            if let Some((next,)) = next {
                is_awaited = true;
                execute!(
                    self.tx,
                    "INSERT INTO app_store_turns (app, platform, part, submission_id) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (app, platform, part) DO NOTHING",
                    &app,
                    &platform,
                    &part,
                    &next
                )?;
            }
        }
        Ok(is_awaited)
    }
}
