//! `/auth/device`: a browser signs a command line in. On the page `/device` the user decides.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::response::Response;
use launchway_api::device_logins::{ClaimDeviceLogin, DeviceLoginOutcome, DeviceLoginView, StartDeviceLogin};
use launchway_api::error::ErrorBody;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Origin;
use launchway_ops::device_logins;

use crate::extract::{Body, SMALL_BODY};
use crate::http::answers::{created, found};

/// Starts the sign-in of a command line. It gets a code that a signed-in user confirms within 10 minutes.
#[utoipa::path(
    post,
    path = "/auth/device",
    tag = "Sessions",
    request_body = StartDeviceLogin,
    responses(
        (status = 201, description = "The two codes, and the page where a user confirms one of them", body = DeviceLoginView),
        (status = 429, description = "Too many logins were started from this address", body = ErrorBody),
    )
)]
pub async fn begin(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    body: Body<StartDeviceLogin, SMALL_BODY>,
) -> Result<Response, ApiError> {
    let plan = device_logins::plan(&body.0)?;
    let begun = device_logins::begin(&app, plan, &origin).await?;
    let view = DeviceLoginView::of(&begun.login, begun.device_code, begun.user_code, &app.public_url);
    Ok(created(&view))
}

/// Polls a login. The first response after a user approved it contains the API key; no later response does.
#[utoipa::path(
    post,
    path = "/auth/device/key",
    tag = "Sessions",
    request_body = ClaimDeviceLogin,
    responses(
        (status = 200, description = "`pending`, `denied`, `expired`, or `approved` with the key", body = DeviceLoginOutcome),
        (status = 401, description = "The login is unknown, or its key was already fetched", body = ErrorBody),
        (status = 429, description = "Too many polls from this address", body = ErrorBody),
    )
)]
pub async fn claim(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    body: Body<ClaimDeviceLogin, SMALL_BODY>,
) -> Result<Response, ApiError> {
    let outcome = device_logins::claim(&app, body.0.device_code.reveal(), &origin).await?;
    Ok(found(&DeviceLoginOutcome {
        id: outcome.login.id.to_string(),
        status: outcome.status.into(),
        key: outcome.key.map(|key| key.reveal().to_owned()),
    }))
}
