//! Metrics of the service for Prometheus, on a separate listener that is off by default.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use launchway_domain::time::{EpochMs, SECOND};
use tokio::net::TcpListener;

use crate::app::App;

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The counters. They start at zero with the process.
#[derive(Default)]
pub struct Metrics {
    checks: [AtomicU64; CLASSES.len()],
    requests: [AtomicU64; CLASSES.len()],
    millis: AtomicU64,
    started: EpochMs,
}

impl Metrics {
    /// Counters for a process that starts now.
    pub fn new(now: EpochMs) -> Metrics {
        Metrics {
            started: now,
            ..Metrics::default()
        }
    }

    /// Counts a public check.
    pub fn check(&self, status: StatusCode) {
        self.checks[class(status)].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts any other request and the duration of its answer in milliseconds.
    pub fn request(&self, status: StatusCode, millis: u64) {
        self.requests[class(status)].fetch_add(1, Ordering::Relaxed);
        self.millis.fetch_add(millis, Ordering::Relaxed);
    }

    /// The metrics in the exposition format 0.0.4 of Prometheus. `revision` is the revision that the index of checks
    /// has reached.
    fn text(&self, revision: i64) -> String {
        let mut text = String::new();
        let family = |text: &mut String, name: &str, kind: &str, help: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        for (name, help, counts) in [
            ("launchway_checks_total", "Public checks by status class.", &self.checks),
            (
                "launchway_requests_total",
                "All other requests by status class.",
                &self.requests,
            ),
        ] {
            family(&mut text, name, "counter", help);
            for (class, count) in CLASSES.iter().zip(counts) {
                let _ = writeln!(text, "{name}{{status=\"{class}\"}} {}", count.load(Ordering::Relaxed));
            }
        }
        let seconds = self.millis.load(Ordering::Relaxed) as f64 / 1000.0;
        family(
            &mut text,
            "launchway_request_seconds_total",
            "counter",
            "Time that all other requests took together.",
        );
        let _ = writeln!(text, "launchway_request_seconds_total {seconds}");
        family(
            &mut text,
            "launchway_index_revision",
            "gauge",
            "The last change that the index of checks has followed.",
        );
        let _ = writeln!(text, "launchway_index_revision {revision}");
        family(
            &mut text,
            "process_start_time_seconds",
            "gauge",
            "When the process started, in epoch seconds.",
        );
        let _ = writeln!(text, "process_start_time_seconds {}", self.started / SECOND);
        text
    }
}

fn class(status: StatusCode) -> usize {
    usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1
}

/// Serves only `/metrics` on the given listener, until the process ends.
pub async fn serve(app: Arc<App>, listener: TcpListener) {
    let router = Router::new().route("/metrics", get(move || answer(app.clone())));
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!(%error, "metrics are not served any more");
    }
}

async fn answer(app: Arc<App>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    (
        [(header::CONTENT_TYPE, kind)],
        app.metrics.text(app.index.revision().await),
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_status_class() {
        let metrics = Metrics::new(5_000);
        metrics.check(StatusCode::OK);
        metrics.check(StatusCode::BAD_REQUEST);
        metrics.request(StatusCode::CREATED, 1500);
        let text = metrics.text(7);
        for line in [
            "launchway_checks_total{status=\"2xx\"} 1",
            "launchway_checks_total{status=\"4xx\"} 1",
            "launchway_requests_total{status=\"2xx\"} 1",
            "launchway_request_seconds_total 1.5",
            "launchway_index_revision 7",
            "process_start_time_seconds 5",
        ] {
            assert!(text.lines().any(|have| have == line), "{line} in {text}");
        }
    }
}
