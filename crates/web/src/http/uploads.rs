//! `/uploads`, and the signed URLs of the local object storage (`docs/reference/uploads.md`).

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use launchway_api::uploads::{CreateUpload, UploadView};
use launchway_blob::{local, serve};
use launchway_domain::id::{ArtifactId, UploadId};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::uploads;
use launchway_ops::write::{Creation, Write};

use crate::extract::Create;
use crate::http::answers::{created, replay};

/// Announces a file, and returns a pre-signed URL for its upload. The bytes go straight to object storage.
#[utoipa::path(
    post,
    path = "/uploads",
    tag = "Uploads",
    request_body = CreateUpload,
    responses((status = 201, description = "The upload request, valid for an hour", body = UploadView))
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateUpload>,
) -> Result<Response, ApiError> {
    let plan = uploads::plan(&app, &new.body)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let view = uploads::create(&mut write, plan).await?;
    write.commit_created(&view).await?;
    Ok(created(&view))
}

/// Serves the signed URLs of the local object directory; a PUT of an upload that was used or removed is refused.
pub fn signed_urls(app: &Arc<App>, directory: &Arc<local::Directory>) -> Router {
    let clock = app.clock.clone();
    let router = serve::router(directory.clone(), Arc::new(move || clock.now()))
        .fallback(|| async { ApiError::NoSuchPath.into_response() });
    router.layer(from_fn_with_state(app.clone(), only_open_uploads))
}

async fn only_open_uploads(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if request.method() == Method::PUT {
        let name = request.uri().path().rsplit('/').next().unwrap_or_default();
        let open = is_open(&app, name).await;
        match open {
            Ok(true) => {}
            Ok(false) => {
                return ApiError::Forbidden("This upload was used or deleted. Create a new one.".to_owned())
                    .into_response();
            }
            Err(failure) => return failure.into_response(),
        }
    }
    next.run(request).await
}

/// Whether bytes are expected under a name: the id of an upload, or of an artifact of a running build.
async fn is_open(app: &App, name: &str) -> Result<bool, ApiError> {
    let mut tx = app.db.read().await?;
    let mut system = tx.system("the signed URL names the upload");
    match (name.parse::<UploadId>(), name.parse::<ArtifactId>()) {
        (Ok(id), _) => Ok(system.is_open_upload(id).await?),
        (_, Ok(id)) => Ok(system.is_open_artifact(id).await?),
        _ => Ok(false),
    }
}
