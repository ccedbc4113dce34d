//! `/healthz` and `/readyz` (`docs/reference/operation.md#health-endpoints`).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launchway_api::error::ErrorBody;
use launchway_api::open::{self, Open};
use launchway_api::words::HealthStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use serde::Serialize;
use utoipa::ToSchema;

/// The health of the service.
#[derive(Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    status: open::HealthStatus,
    /// The version of the server.
    version: &'static str,
}

const HEALTH: Health = Health {
    status: Open::Known(HealthStatus::Ok),
    version: env!("CARGO_PKG_VERSION"),
};

/// Whether the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "Service", responses((status = 200, description = "It is alive", body = Health)))]
pub async fn alive() -> Json<Health> {
    Json(HEALTH)
}

/// What is ready.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// `ok`.
    status: open::HealthStatus,
    /// The version of the server.
    version: &'static str,
    /// The local snapshot of the index, if the server keeps one.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<Snapshot>,
}

/// Why the service is not ready: the one error body and, with a local snapshot, what it is.
#[derive(Serialize)]
struct Unreadiness {
    #[serde(flatten)]
    error: ErrorBody,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<Snapshot>,
}

/// The local snapshot of the index of checks.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Seconds since the last moment of which it knows the database.
    age_seconds: i64,
    /// Whether checks are answered from it, because the database has not answered since the start.
    in_use: bool,
}

/// Whether the service is ready: its database and object storage respond. Checks are answered even if they do not.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "Service",
    responses(
        (status = 200, description = "It is ready", body = Readiness),
        (status = 503, description = "The database or the object storage does not respond; with a local snapshot, the body has `snapshot`, too", body = ErrorBody),
    )
)]
pub async fn ready(State(app): State<Arc<App>>) -> Response {
    let checked = check(&app).await;
    let local = app.local_snapshot.as_ref();
    let age = local.and_then(|local| local.age(&app.index, app.clock.now()));
    let snapshot = age.map(|age| Snapshot {
        age_seconds: age.seconds,
        in_use: age.is_in_use,
    });
    match checked {
        Ok(()) => {
            let Health { status, version } = HEALTH;
            let ready = Readiness {
                status,
                version,
                snapshot,
            };
            Json(ready).into_response()
        }
        Err(failure) => {
            let unready = Unreadiness {
                error: failure.body(),
                snapshot,
            };
            let (head, _) = failure.into_response().into_parts();
            Response::from_parts(head, Json(unready).into_response().into_body())
        }
    }
}

async fn check(app: &App) -> Result<(), ApiError> {
    app.db.read().await?.system("a sign of life").revision().await?;
    Ok(app.blob.check().await?)
}
