//! Submitting as a whole, for the API and the dashboard: from the request to the durable submission.

use super::files::{self, Prepared};
use super::form::{self, NewSubmission};

use launchway_api::submissions::{CreateSubmission, SubmissionView};
use launchway_domain::id::SubmissionId;
use launchway_store::RequestKey;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::create::{Created, Order, create};
use crate::uploads;
use crate::write::Write;

/// Creates the submission that a request asks for.
///
/// # Errors
/// Errors of the request, of the app, and conflicts with existing submissions.
pub async fn run(
    app: &App,
    caller: &Caller,
    body: CreateSubmission,
    request: Option<RequestKey>,
) -> Result<Created<SubmissionView>, ApiError> {
    let order = SubmissionOrder {
        new: form::check(body)?,
        id: app.random.id(app.clock.now()),
    };
    create(app, caller, order, request).await
}

struct SubmissionOrder {
    id: SubmissionId,
    new: NewSubmission,
}

impl Order for SubmissionOrder {
    type Prepared = Prepared;
    type View = SubmissionView;

    async fn prepare(&self, app: &App, caller: &Caller) -> Result<Prepared, ApiError> {
        files::prepare(app, caller.org_id()?, &self.new, self.id).await
    }

    async fn insert(self, write: &mut Write<'_>, prepared: &Prepared) -> Result<SubmissionView, ApiError> {
        let submission = super::create(write, self.id, self.new, prepared).await?;
        Ok(SubmissionView::of(&submission))
    }

    async fn drop_originals(app: &App, prepared: &Prepared) {
        for upload in &prepared.uploads {
            uploads::drop_staged(app, *upload).await;
        }
    }

    async fn discard(app: &App, prepared: &Prepared) {
        files::discard(app, prepared).await;
    }
}
