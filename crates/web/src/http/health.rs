//! `/healthz` and `/readyz` (`docs/reference/operation.md#health-endpoints`).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
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

/// Whether the service is ready: its database and object storage respond. Checks are answered even if they do not.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "Service",
    responses(
        (status = 200, description = "It is ready", body = Health),
        (status = 503, description = "The database or the object storage does not respond", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn ready(State(app): State<Arc<App>>) -> Result<Json<Health>, ApiError> {
    app.db.read().await?.system("a sign of life").revision().await?;
    app.blob.check().await?;
    Ok(Json(HEALTH))
}
