//! The edit: opens, inspects, validates, commits and discards it, and starts over if it is gone.

use launchway_domain::submission::SubmissionStatus::{Processing, Uploading};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::refusal::CallError;
use super::{GooglePlay, Place, Progress, Stage, Stepped, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::step::{Cancellation, NextStep, Step};
use crate::transport::Method;

/// How many times a submission may open another edit, or start another upload in it.
const MAX_REDONE: u32 = 8;

impl GooglePlay {
    pub(super) async fn open_edit(&self, place: Place<'_>, mut progress: Progress) -> Stepped {
        let path = format!("{}/edits", place.app());
        let made = self.call(Method::Post, &path, Some(&requests::edit())).await?;
        progress.edit_id = made.need("/id")?;
        progress.target = Some(progress.target(place.release));
        progress.symbols_done = 0;
        progress.session.0.clear();
        let status = progress.status(Uploading);
        Ok(Step::proceed_quietly(progress.at(Stage::Look), status))
    }

    /// Checks what already exists: the binary of an earlier submission, or everything, if only the response to the
    /// commit was lost.
    pub(super) async fn inspect(&self, place: Place<'_>, mut progress: Progress) -> Stepped {
        // Check that the track exists before a long upload.
        let track = match self.track(place, &progress).await {
            Ok(track) => track,
            Err(error) => return self.unless_gone(place, progress, error).await,
        };
        let list = if place.is_apk() { "/apks" } else { "/bundles" };
        let known = match self.call(Method::Get, &place.edit(&progress, list), None).await {
            Ok(known) => known,
            Err(error) => return self.unless_gone(place, progress, error).await,
        };
        let same = |binary: &&Value| binary.pointer("/versionCode").and_then(Value::as_i64) == Some(place.code);
        let Some(binary) = known.list(list).iter().find(same) else {
            let status = progress.status(Uploading);
            return Ok(Step::proceed_quietly(progress.at(Stage::StartUpload), status));
        };
        match sha256_of(binary) {
            Some(hash) if hash.eq_ignore_ascii_case(&place.release.sha256) => {}
            Some(_) => {
                return Err(AppStoreError::new(
                    Code::BuildNumberUsed,
                    format!(
                        "Google Play has another binary with the version code {}, so nothing was changed",
                        place.code
                    ),
                ));
            }
            // Google does not always return checksums. Then the binary must be one that this service sent.
            None => {
                let sent_here = progress.sent_into == progress.edit_id;
                if !sent_here && !progress.tried_to_commit && !place.release.earlier.is_committed {
                    return Err(AppStoreError::doubtful(
                        Code::BuildNumberUsed,
                        format!(
                            "Google Play already has a binary with the version code {}, without a checksum, which \
                             this service did not upload. It may be another binary, so nothing was changed.",
                            place.code
                        ),
                    ));
                }
            }
        }
        let status = progress.status(Processing);
        progress.take_percent(&track, place.code);
        let holds = progress.is_held_by(&track, place);
        // A commit resubmits a refused release, even if nothing has changed.
        let refused = holds && progress.resend && self.is_refused(place).await?;
        if holds && !refused {
            // An edit that stays open is harmless: it expires.
            let message = "Google Play already has the release";
            return Ok(Step::proceed(progress.at(Stage::AwaitReview), status, message));
        }
        Ok(Step::proceed_quietly(progress.at(Stage::StartSymbols), status))
    }

    pub(super) async fn validate(&self, place: Place<'_>, progress: Progress) -> Stepped {
        let path = place.edit(&progress, ":validate");
        match self.call(Method::Post, &path, None).await {
            Ok(_) => {
                let status = progress.status(Processing);
                let progress = Progress {
                    tried_to_commit: true,
                    ..progress
                };
                Ok(Step::proceed(
                    progress.at(Stage::Commit),
                    status,
                    "Google Play validated the release",
                ))
            }
            Err(error) => self.unless_gone(place, progress, error).await,
        }
    }

    pub(super) async fn commit(&self, place: Place<'_>, progress: Progress) -> Stepped {
        // A committed edit no longer exists: if only the response was lost, the next check finds the release.
        match self.call(Method::Get, &place.edit(&progress, ""), None).await {
            Ok(_) => {}
            Err(error) => return self.unless_gone(place, progress, error).await,
        }
        let mut path = place.edit(&progress, ":commit?changesInReviewBehavior=ERROR_IF_IN_REVIEW");
        if place.release.options.changes_not_sent_for_review {
            path.push_str("&changesNotSentForReview=true");
        }
        match self.call(Method::Post, &path, None).await {
            Ok(_) => {
                let status = progress.status(Processing);
                Ok(Step::proceed(
                    progress.at(Stage::AwaitReview),
                    status,
                    "The release is committed",
                ))
            }
            Err(CallError::Refused(refused)) if refused.is_other_review() => {
                let status = progress.status(Processing);
                // Whoever is next in review discards the edits of all that wait, any number of times.
                let progress = Progress { redone: 0, ..progress };
                Ok(Step {
                    next: NextStep::AfterOtherReview,
                    ..Step::proceed(
                        progress,
                        status,
                        "Other changes to this app are in review. This release waits for it to end.",
                    )
                })
            }
            Err(error) => self.unless_gone(place, progress, error).await,
        }
    }

    /// After a refusal: starts over if the edit is gone; otherwise returns the refusal.
    pub(super) async fn unless_gone(&self, place: Place<'_>, progress: Progress, error: CallError) -> Stepped {
        match &error {
            CallError::Refused(refused) if refused.may_be_the_edit() => {}
            _ => return Err(error.into()),
        }
        match self.call(Method::Get, &place.edit(&progress, ""), None).await {
            Ok(_) => Err(error.into()),
            Err(CallError::Refused(refused)) if refused.may_be_the_edit() => self.redo(
                progress,
                Stage::OpenEdit,
                "The edit no longer exists, so the release starts again in another one",
            ),
            Err(other) => Err(other.into()),
        }
    }

    /// Goes back to a stage, a limited number of times.
    pub(super) fn redo(&self, mut progress: Progress, stage: Stage, message: &str) -> Stepped {
        progress.redone += 1;
        if progress.redone > MAX_REDONE {
            return Err(AppStoreError::new(
                Code::Conflict,
                format!("{message}. The release was started again {MAX_REDONE} times."),
            ));
        }
        let status = progress.status(Uploading);
        Ok(Step::proceed(progress.at(stage), status, message))
    }

    /// Cancels a submission: discards the edit, and with it everything in it. Google Play cannot revert a commit.
    ///
    /// # Errors
    /// Why the result is unknown; the same cancellation may be repeated.
    pub async fn cancel(
        &self,
        release: &crate::Release,
        progress: &Progress,
    ) -> Result<Cancellation<Progress>, AppStoreError> {
        let committed = |stage| Cancellation::TooLate {
            why:
                "The release is committed, which Google Play cannot undo: halt it as soon as it rolls out, or discard \
                  it in the Play Console"
                    .to_owned(),
            progress: progress.clone().at(stage),
        };
        if progress.released || progress.stage > Stage::Commit {
            return Ok(committed(progress.stage));
        }
        let place = Place {
            release,
            code: super::version_code(release)?,
        };
        if progress.edit_id.is_empty() {
            return Ok(Cancellation::Undone(Vec::new()));
        }
        let was_open = self.throw_away(place, progress).await?;
        if !was_open && progress.stage == Stage::Commit {
            // It may have been committed: by a request whose response was lost, or that arrived before this one.
            let again = self.open_edit(place, progress.clone()).await?.progress;
            let track = self.track(place, &again).await?;
            self.throw_away(place, &again).await?;
            if progress.is_held_by(&track, place) {
                return Ok(committed(Stage::AwaitReview));
            }
        }
        Ok(Cancellation::Undone(Vec::new()))
    }

    /// Discards an edit. `false`: it does not exist any more.
    async fn throw_away(&self, place: Place<'_>, progress: &Progress) -> Result<bool, AppStoreError> {
        match self.call(Method::Delete, &place.edit(progress, ""), None).await {
            Ok(_) => Ok(true),
            Err(CallError::Refused(refused)) if refused.may_be_the_edit() => Ok(false),
            Err(other) => Err(other.into()),
        }
    }
}

/// The checksum of a bundle or an APK, if Google returns it.
pub(super) fn sha256_of(binary: &Value) -> Option<&str> {
    let hash = binary.text("/sha256").or_else(|| binary.text("/binary/sha256"));
    hash.filter(|hash| !hash.is_empty())
}
