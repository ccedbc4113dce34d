//! Metrics for Prometheus, on a separate listener that is off by default (`docs/operating.md#metrics`).

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use launchway_domain::time::SECOND;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;

/// The OpenMetrics text format. Prometheus reads it since 2.5.
const FORMAT: HeaderValue = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Serves only `/metrics` on the given listener, until the process ends.
pub async fn serve(app: Arc<App>, listener: TcpListener) {
    let router = Router::new().route("/metrics", get(move || answer(app.clone())));
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!(%error, "the metrics listener stopped");
    }
}

async fn answer(app: Arc<App>) -> Response {
    ([(header::CONTENT_TYPE, FORMAT)], text(&app).await).into_response()
}

/// The metrics as they are now. If the database does not answer, those that it knows are missing.
pub async fn text(app: &App) -> String {
    let mut gauges = Registry::default();
    let revision = ConstGauge::new(app.index.revision().await);
    let help = "Revision of the last change in the index of checks";
    gauges.register("launchway_index_revision", help, revision);
    register_snapshot(app, &mut gauges);
    match queued_builds(app).await {
        Ok(queued) => {
            let help = "Builds of all organizations waiting for a runner";
            gauges.register("launchway_build_queue_length", help, ConstGauge::new(queued));
        }
        Err(error) => tracing::warn!(%error, "cannot read the length of the queue for the metrics"),
    }
    let started = ConstGauge::new(app.counters.started / SECOND);
    let help = "Start time of the process in seconds since the epoch";
    gauges.register("process_start_time_seconds", help, started);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = encode_registry(&mut text, &app.counters.registry());
    let _ = encode_registry(&mut text, &gauges);
    let _ = encode_eof(&mut text);
    text
}

/// The age of the local snapshot, and whether checks are answered from it.
fn register_snapshot(app: &App, gauges: &mut Registry) {
    let local = app.local_snapshot.as_ref();
    if let Some(age) = local.and_then(|local| local.age(&app.index, app.clock.now())) {
        let help = "Seconds since the last moment of which the local snapshot of the index knows the database";
        gauges.register("launchway_snapshot_age_seconds", help, ConstGauge::new(age.seconds));
        let help = "Whether checks are answered from the local snapshot: 1 or 0";
        gauges.register(
            "launchway_snapshot_in_use",
            help,
            ConstGauge::new(i64::from(age.is_in_use)),
        );
    }
}

async fn queued_builds(app: &App) -> Result<i64, ApiError> {
    let mut tx = app.db.read().await?;
    Ok(tx.system("metrics count every tenant's builds").count_queued().await?)
}
