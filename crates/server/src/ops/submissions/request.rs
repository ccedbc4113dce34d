//! Submitting as a whole, for the API and the dashboard: from the request to the durable submission.

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

/// The result of a request to submit.
#[expect(clippy::large_enum_variant, reason = "it lives for one match; a box would only cost")]
pub enum Submitted {
    /// The stored answer to the same request.
    Kept(KeptAnswer),
    /// The new submission.
    Fresh(SubmissionView),
}

/// Creates the submission that a request asks for.
///
/// # Errors
/// Errors of the request, of the app, and conflicts with existing submissions.
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
    let prepared = match files::prepare(app, caller.org_id()?, &new, id).await {
        Ok(prepared) => prepared,
        // A concurrent identical request may have used the upload: then its answer also answers this one.
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
        // After a failed commit it is unknown whether the submission exists: the bytes stay, and clean-up decides.
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
