//! Ordering a build as a whole: from the request to the durable build in the queue.

use super::form::{self, NewBuild, Source};
use super::source::{self, Prepared};
use super::view::view;

use launchway_api::builds::{BuildView, CreateBuild};
use launchway_domain::fingerprint::Fingerprint;
use launchway_domain::id::BuildId;
use launchway_store::RequestKey;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::create::{Created, Order, create};
use crate::uploads;
use crate::write::Write;

/// Queues the build that a request asks for. `lwfp2` is the `lwfp-2` hash of the native code that it describes.
///
/// # Errors
/// Errors of the request and of the source.
pub async fn run(
    app: &App,
    caller: &Caller,
    body: CreateBuild,
    lwfp2: Option<Fingerprint>,
    request: Option<RequestKey>,
) -> Result<Created<BuildView>, ApiError> {
    let order = BuildOrder {
        new: NewBuild {
            lwfp2,
            ..form::check(body)?
        },
        id: app.random.id(app.clock.now()),
    };
    create(app, caller, order, request).await
}

struct BuildOrder {
    id: BuildId,
    new: NewBuild,
}

impl Order for BuildOrder {
    /// `None` if the source is a git repository.
    type Prepared = Option<Prepared>;
    type View = BuildView;

    async fn prepare(&self, app: &App, caller: &Caller) -> Result<Option<Prepared>, ApiError> {
        match self.new.source {
            Source::Upload(Some(upload)) => source::prepare(app, caller.org_id()?, upload, self.id).await.map(Some),
            Source::Upload(None) => Err(ApiError::NoSuch("upload")),
            Source::Git { .. } => Ok(None),
        }
    }

    async fn insert(self, write: &mut Write<'_>, prepared: &Option<Prepared>) -> Result<BuildView, ApiError> {
        let build = super::create(write, self.id, self.new, prepared.as_ref()).await?;
        view(write.app(), &mut write.org(), &build).await
    }

    async fn drop_originals(app: &App, prepared: &Option<Prepared>) {
        if let Some(prepared) = prepared {
            uploads::drop_staged(app, prepared.upload).await;
        }
    }

    async fn discard(app: &App, prepared: &Option<Prepared>) {
        if let Some(prepared) = prepared {
            source::discard(app, prepared).await;
        }
    }
}
