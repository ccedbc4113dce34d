//! Submitting as a whole, for the API and for the dashboard: from the request to the durable submission.

use launchway_api::submissions::{CreateSubmission, SubmissionView};
use launchway_domain::id::SubmissionId;
use launchway_store::{KeptAnswer, RequestKey};

use super::files::{self, Prepared};
use super::form::{self, NewSubmission};
use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::ops::uploads;
use crate::ops::write::{Creation, Write, kept_answer};

/// What came of a request to submit.
#[expect(clippy::large_enum_variant, reason = "it lives for one match; a box would only cost")]
pub enum Submitted {
    /// It was answered before: this is the answer.
    Kept(KeptAnswer),
    /// The new submission.
    Fresh(SubmissionView),
}

/// Makes the submission that a request asks for.
///
/// # Errors
/// Those of the form, of the app, and of what there is already.
pub async fn run(
    app: &App,
    caller: &Caller,
    body: CreateSubmission,
    request: Option<RequestKey>,
) -> Result<Submitted, ApiError> {
    let new = form::check(body)?;
    if let Some(kept) = kept_answer(app, caller, &request).await? {
        return Ok(Submitted::Kept(kept));
    }
    let id = app.random.id(app.clock.now());
    let prepared = match files::prepare(app, caller.home()?, &new, id).await {
        Ok(prepared) => prepared,
        // A simultaneous twin may have used the upload meanwhile: then its answer is this one's too.
        Err(failure) => {
            let kept = kept_answer(app, caller, &request).await?;
            return kept.map(Submitted::Kept).ok_or(failure);
        }
    };
    let result = submit_prepared(app, caller, request, id, new, &prepared).await;
    match &result {
        Ok(Submitted::Fresh(_)) => {
            for upload in &prepared.uploads {
                uploads::drop_staged(app, *upload).await;
            }
        }
        // When a commit failed nobody knows whether it happened: then the bytes stay, and clean-up decides.
        Err(failure) if failure.status().0.is_server_error() => {}
        _ => files::discard(app, &prepared).await,
    }
    result
}

async fn submit_prepared(
    app: &App,
    caller: &Caller,
    request: Option<RequestKey>,
    id: SubmissionId,
    new: NewSubmission,
    prepared: &Prepared,
) -> Result<Submitted, ApiError> {
    let mut write = match Write::begin_create(app, caller, request).await? {
        Creation::Replay(kept) => return Ok(Submitted::Kept(kept)),
        Creation::New(write) => write,
    };
    let view = SubmissionView::of(&super::create(&mut write, id, new, prepared).await?);
    write.commit_created(&view).await?;
    Ok(Submitted::Fresh(view))
}
