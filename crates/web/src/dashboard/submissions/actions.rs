//! Confirmed changes of a submission: its rollout, its release, cancel, retry and delete.

use axum::response::Response;
use launchway_api::submissions::{ChangeSubmission, SubmissionView};
use launchway_domain::id::SubmissionId;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::record::Change as Wanted;
use launchway_domain::submission::{Submission, SubmissionStatus};
use launchway_ops::api_error::ApiError;
use launchway_ops::submissions::{self, form};
use launchway_ops::write::Write;
use launchway_store::Org;

use crate::dashboard::confirm::{Action, Done, Facts, Requester};
use crate::dashboard::form_data::{Form, FormData};
use crate::dashboard::frame::Notice;
use crate::dashboard::page_error::PageError;
use crate::dashboard::revision::Revision;
use crate::dashboard::show;
use crate::dashboard::submissions::detail;
use crate::dashboard::visit::Visit;

/// Changes the rollout, halts it, resumes it, or releases a version that was held back.
pub struct Change(Wanted);
/// Cancels a submission.
pub struct Cancel;
/// Lets a submission continue where it stopped.
pub struct Retry;
/// Removes a submission.
pub struct Delete;

async fn read(org: &mut Org<'_>, id: SubmissionId) -> Result<Submission, ApiError> {
    org.submission(id).await?.ok_or(ApiError::NoSuch("submission"))
}

async fn lock(write: &mut Write<'_>, id: SubmissionId) -> Result<(), ApiError> {
    let found = write.org().lock_submission(id).await?;
    found.map(drop).ok_or(ApiError::NoSuch("submission"))
}

fn path(id: SubmissionId) -> String {
    format!("/submissions/{id}")
}

/// The facts that decide whether a confirmation is still valid; not the events that its work adds meanwhile.
fn revision(submission: &Submission) -> Result<Revision, ApiError> {
    let view = SubmissionView::of(submission);
    let change = submission.change.map(|change| (change.rollout, change.halted));
    Revision::of(&(
        view.id,
        view.status,
        view.rollout,
        change,
        view.cancel_requested,
        // The error of a step that is retried comes and goes.
        view.error.filter(|_| submission.state.status.is_final()),
    ))
}

/// A question about a submission, with its details.
fn question(submission: &Submission, question: impl Into<String>, button: &'static str) -> Result<Facts, ApiError> {
    let view = SubmissionView::of(submission);
    let version = match (&view.version, &view.build_number) {
        (Some(version), Some(number)) => format!("{version} ({number})"),
        (Some(version), None) => version.clone(),
        _ => "not known yet".to_owned(),
    };
    Ok(Facts::new(question, button, revision(submission)?)
        .on("submissions", path(submission.id), "The submission")
        .known("App", view.bundle_id)
        .known("Platform", show::platform(&view.platform))
        .known("Version", version)
        .known("Destination", show::destination(&view.destination))
        .known(
            "Users and health",
            "not known here: see the store's console for users and crashes",
        ))
}

/// A rollout, and a requested change that the store was not told yet.
fn rollout(submission: &Submission) -> String {
    match submission.change.and_then(|change| change.rollout) {
        Some(wanted) if wanted != submission.rollout => format!("{} %, {wanted} % soon", submission.rollout),
        _ => format!("{} %", submission.rollout),
    }
}

/// The question about a change, its button, and its consequences.
fn words(wanted: Wanted, submission: &Submission) -> (&'static str, &'static str, &'static str) {
    let is_apple = submission.destination == Destination::AppStore;
    match wanted {
        Wanted { halted: Some(true), .. } => (
            "Halt the rollout?",
            "Halt rollout",
            "No more users get this version until the rollout is resumed. Users who have it keep it.",
        ),
        Wanted {
            halted: Some(false), ..
        } if submission.may_be_released() => (
            "Release the version?",
            "Release version",
            "Releases the version to users as soon as review has approved it. This cannot be undone. Only another \
             version replaces it.",
        ),
        Wanted {
            halted: Some(false), ..
        } => (
            "Resume the rollout?",
            "Resume rollout",
            "More users get this version again",
        ),
        Wanted { rollout: Some(100), .. } if is_apple => (
            "Release to everybody?",
            "Release to everybody",
            "Ends the phased release: every user gets the version now. This cannot be undone.",
        ),
        Wanted { rollout: Some(100), .. } => (
            "Complete the rollout?",
            "Complete rollout",
            "Every user gets the version. The release is then complete, and can no longer be halted.",
        ),
        Wanted {
            rollout: Some(percent), ..
        } if percent < submission.rollout => (
            "Lower the rollout?",
            "Lower rollout",
            "Fewer users are offered the version from now on. Users who have it keep it.",
        ),
        _ => (
            "Raise the rollout?",
            "Raise rollout",
            "More users get the version. The change is sent to the store immediately.",
        ),
    }
}

impl Change {
    fn facts_of(&self, submission: &Submission) -> Result<Facts, ApiError> {
        let wanted = self.0;
        let status = submission.state.status;
        let (asked, button, follows) = words(wanted, submission);
        let mut facts = question(submission, asked, button)?.says(follows);
        facts = match wanted.rollout {
            Some(percent) => facts
                .change("Rollout", rollout(submission), format!("{percent} %"))
                .field("rollout", percent),
            None => facts.known("Rollout", rollout(submission)),
        };
        facts = match wanted.halted {
            Some(halted) => {
                let then = if halted {
                    SubmissionStatus::Halted
                } else {
                    SubmissionStatus::RollingOut
                };
                facts.change("Status", status, then).field("status", then)
            }
            None => facts.known("Status", status),
        };
        facts.danger = wanted.halted == Some(true);
        Ok(facts)
    }
}

impl Action for Change {
    type Id = SubmissionId;

    fn read(form_data: &FormData) -> Result<Self, ApiError> {
        Ok(Change(form::change(&ChangeSubmission {
            rollout: form_data.percent("rollout")?,
            status: form_data.word("status")?,
        })?))
    }

    async fn lock(&self, write: &mut Write<'_>, id: SubmissionId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: SubmissionId) -> Result<Facts, ApiError> {
        let submission = read(org, id).await?;
        submissions::may_change(&submission, self.0, self.0.merge_into(submission.change))?;
        self.facts_of(&submission)
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: SubmissionId) -> Result<Done, ApiError> {
        submissions::change(write, id, self.0).await?;
        Ok(Done::new(path(id), Notice::SUBMISSION_CHANGED))
    }

    async fn refused(visit: &Visit<SubmissionId>, form: FormData, failure: ApiError) -> Result<Response, PageError> {
        detail::render_page(visit, Form::refused_if_bad(form, failure)?).await
    }
}

impl Action for Cancel {
    type Id = SubmissionId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Cancel)
    }

    async fn lock(&self, write: &mut Write<'_>, id: SubmissionId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: SubmissionId) -> Result<Facts, ApiError> {
        let submission = read(org, id).await?;
        let after = submissions::state_after_cancel(&submission)?;
        let then = if after.status == submission.state.status {
            "canceled soon"
        } else {
            after.status.as_str()
        };
        Ok(question(&submission, "Cancel the submission?", "Cancel submission")?
            .says("Stops the submission, and reverts its changes in the store where the store still allows it")
            .change("Status", submission.state.status, then)
            .known("Rollout", rollout(&submission))
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: SubmissionId) -> Result<Done, ApiError> {
        let (_, files) = submissions::cancel(write, id).await?;
        Ok(Done::new(path(id), Notice::SUBMISSION_CANCELED).without(files))
    }

    async fn refused(visit: &Visit<SubmissionId>, form: FormData, failure: ApiError) -> Result<Response, PageError> {
        detail::render_page(visit, Form::refused_if_bad(form, failure)?).await
    }
}

impl Action for Retry {
    type Id = SubmissionId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Retry)
    }

    async fn lock(&self, write: &mut Write<'_>, id: SubmissionId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: SubmissionId) -> Result<Facts, ApiError> {
        let submission = read(org, id).await?;
        let after = submissions::state_after_retry(&submission)?;
        let mut facts = question(&submission, "Retry the submission?", "Retry submission")?
            .says("The submission continues where it stopped, with the data that the store already has")
            .change("Status", submission.state.status, after.status)
            .known("Rollout", rollout(&submission));
        if let Some(error) = &submission.error {
            facts = facts
                .known("Reason of the failure", &error.message)
                .known("What to do first", &error.fix);
        }
        Ok(facts)
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: SubmissionId) -> Result<Done, ApiError> {
        submissions::retry(write, id).await?;
        Ok(Done::new(path(id), Notice::SUBMISSION_RETRIED))
    }

    async fn refused(visit: &Visit<SubmissionId>, form: FormData, failure: ApiError) -> Result<Response, PageError> {
        detail::render_page(visit, Form::refused_if_bad(form, failure)?).await
    }
}

impl Action for Delete {
    type Id = SubmissionId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Delete)
    }

    async fn lock(&self, write: &mut Write<'_>, id: SubmissionId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: SubmissionId) -> Result<Facts, ApiError> {
        let submission = read(org, id).await?;
        let mut facts = question(&submission, "Delete the submission?", "Delete submission")?
            .says("Deletes the record. Users keep the version that they have. This cannot be undone.")
            .change("Status", submission.state.status, "deleted")
            .known("Rollout", rollout(&submission))
            .danger();
        if submissions::state_after_cancel(&submission).is_ok() {
            facts = facts.says("The submission is canceled first");
        }
        Ok(facts)
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: SubmissionId) -> Result<Done, ApiError> {
        let files = submissions::delete(write, id).await?;
        Ok(Done::new("/submissions", Notice::SUBMISSION_DELETED).without(files))
    }
}
