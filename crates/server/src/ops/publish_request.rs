//! Publishing as a whole, for the API and the dashboard: from the request to the durable update.

use launchway_api::updates::{CreateUpdate, UpdateView};
use launchway_domain::fingerprint::Fingerprint;
use launchway_store::{KeptAnswer, RequestKey};

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::ops::packages::{self, Prepared};
use crate::ops::publish::{self, Source, UpdatePlan};
use crate::ops::uploads;
use crate::ops::write::{Creation, Write, kept_answer};

/// The result of a request to publish.
#[expect(clippy::large_enum_variant, reason = "it lives for one match; a box would only cost")]
pub enum Published {
    /// The stored answer to the same request.
    Kept(KeptAnswer),
    /// The new update.
    Fresh(UpdateView),
}

/// Publishes what a request asks for.
///
/// # Errors
/// Errors of the request, of the package, and conflicts with existing updates.
pub async fn run(
    app: &App,
    caller: &Caller,
    body: &CreateUpdate,
    request: Option<RequestKey>,
) -> Result<Published, ApiError> {
    run_with(app, caller, body, None, request).await
}

/// Like [`run`], with the `lwfp-2` hash of the native code that the request describes.
///
/// # Errors
/// As [`run`].
pub async fn run_with(
    app: &App,
    caller: &Caller,
    body: &CreateUpdate,
    lwfp2: Option<Fingerprint>,
    request: Option<RequestKey>,
) -> Result<Published, ApiError> {
    let plan = publish::plan(body)?.with_lwfp2(lwfp2);
    if let Some(kept) = kept_answer(app, caller, &request).await? {
        return Ok(Published::Kept(kept));
    }
    let prepared = match prepare(app, caller, &plan).await {
        Ok(prepared) => prepared,
        // A concurrent identical request may have used the upload: then its answer also answers this one.
        Err(failure) => {
            let kept = kept_answer(app, caller, &request).await?;
            return kept.map(Published::Kept).ok_or(failure);
        }
    };
    let result = publish_prepared(app, caller, request, plan, prepared.as_ref()).await;
    match (&result, &prepared) {
        (Ok(Published::Fresh(_)), Some(prepared)) => uploads::drop_staged(app, prepared.upload.id).await,
        // After a failed commit it is unknown whether the update exists: the bytes stay, and clean-up decides.
        (Err(failure), Some(_)) if failure.status().0.is_server_error() => {}
        (_, Some(prepared)) => packages::discard(app, prepared).await,
        _ => {}
    }
    result
}

async fn prepare(app: &App, caller: &Caller, plan: &UpdatePlan) -> Result<Option<Prepared>, ApiError> {
    // Checked before the expensive inspection of the package; the binding check is that of the transaction.
    publish::build(&mut app.db.read().await?.org(caller.org_id()?), plan).await?;
    match plan.source {
        Source::Upload(Some(id)) => packages::prepare(app, caller.org_id()?, id).await.map(Some),
        Source::Upload(None) => Err(ApiError::NoSuch("upload")),
        Source::Update(_) => Ok(None),
    }
}

async fn publish_prepared(
    app: &App,
    caller: &Caller,
    request: Option<RequestKey>,
    plan: UpdatePlan,
    prepared: Option<&Prepared>,
) -> Result<Published, ApiError> {
    let mut write = match Write::begin_create(app, caller, request).await? {
        Creation::Replay(kept) => return Ok(Published::Kept(kept)),
        Creation::New(write) => write,
    };
    let view = UpdateView::of(&publish::publish(&mut write, plan, prepared).await?);
    write.commit_created(&view).await?;
    Ok(Published::Fresh(view))
}
