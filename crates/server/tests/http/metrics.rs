//! `/metrics` (`docs/operating.md#metrics`): the output after the service has worked, and the page that lists the
//! metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use launchway_domain::build::BuildStatus;
use launchway_domain::platform::Platform;
use launchway_domain::submission::{Store, SubmissionStatus};
use launchway_domain::time::SECOND;
use launchway_ops::counters::{Observation, WebhookStage};
use launchway_testing::receiver::Receiver;
use launchway_web::metrics;
use reqwest::Method;
use serde_json::json;

use crate::local_snapshot::keep;
use crate::stage::app_stores::IPA;
use crate::stage::{BUNDLE, Stage};
use crate::support::{Answer, NOBODY, Says, Setup, TestApp};

const PAGE: &str = include_str!("../../../../docs/operating.md");

/// The value lines, by name and labels.
async fn values(app: &TestApp) -> BTreeMap<String, f64> {
    let text = metrics::text(&app.app).await;
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    let all: Vec<_> = samples.map(read).collect();
    let values: BTreeMap<_, _> = all.iter().cloned().collect();
    assert_eq!(all.len(), values.len(), "a value stands once in {text}");
    values
}

/// The value of a metric; labels in the order of the output.
async fn value(app: &TestApp, name: &str) -> f64 {
    let values = values(app).await;
    *values.get(name).unwrap_or_else(|| panic!("{name} is not in {values:#?}"))
}

/// Asserts what a scraper requires: each value belongs to the family declared before it, with a suffix of its type; the
/// buckets of a histogram increase up to infinity, which equals its count.
fn assert_is_open_metrics(text: &str) {
    let (mut family, mut suffixes, mut families) = ("", &[""][..], BTreeSet::new());
    let (mut bucket, mut count) = (0.0, 0.0);
    for line in text.strip_suffix("# EOF\n").expect("an end").lines() {
        if let Some(described) = line.strip_prefix("# TYPE ") {
            let (name, kind) = described.split_once(' ').unwrap();
            assert!(families.insert(name), "{name} stands twice");
            family = name;
            suffixes = match kind {
                "counter" => &["_total"],
                "gauge" => &[""],
                "histogram" => &["_sum", "_count", "_bucket"],
                other => panic!("{name} is a {other}"),
            };
        } else if !line.starts_with("# HELP ") {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let suffix = series.split('{').next().unwrap().strip_prefix(family);
            assert!(suffix.is_some_and(|suffix| suffixes.contains(&suffix)), "{line} in {family}");
            let value: f64 = value.parse().unwrap();
            match suffix {
                Some("_count") => (bucket, count) = (0.0, value),
                Some("_bucket") => {
                    assert!(value >= bucket, "{line}");
                    assert!(!series.contains("+Inf") || value == count, "{line}");
                    bucket = value;
                }
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn the_page_lists_exactly_the_metrics_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Setup::on_postgres();
    setup.settings.snapshot_dir = Some(folder.path().join("snapshot").display().to_string());
    let app = TestApp::with(setup).await;
    keep(&app).await;
    app.get(NOBODY, "/healthz").await;
    let counters = &app.app.counters;
    counters.observe(Observation::BuildTaken(Platform::Ios, SECOND));
    counters.observe(Observation::BuildEnded(Platform::Ios, BuildStatus::Success, SECOND));
    let ended = Observation::SubmissionEnded(Store::GooglePlay, SubmissionStatus::Success, SECOND);
    counters.observe(ended);
    counters.webhook(WebhookStage::FanOut, SECOND);

    let text = metrics::text(&app.app).await;
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let served: BTreeSet<String> = families
        .map(|family| match family.split_once(' ').unwrap() {
            (name, "counter") => format!("{name}_total"),
            (name, _) => name.to_owned(),
        })
        .collect();
    let (_, section) = PAGE.split_once("\n## Metrics\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: BTreeSet<String> = rows.map(|row| row.split('`').next().unwrap().to_owned()).collect();
    assert_eq!(listed, served);
    assert_is_open_metrics(&text);
}

#[tokio::test]
async fn the_listener_serves_metrics_and_nothing_else() {
    let app = TestApp::start().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(metrics::serve(Arc::clone(&app.app), listener));
    let get = async |path: &str| Answer::to(app.request(Method::GET, &format!("{origin}{path}"))).await;
    let answer = get("/metrics").await;
    answer.is(200);
    let format = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(answer.header("content-type"), format);
    answer.says("\nlaunchway_checks_total{status=\"2xx\"} 0\n");
    for path in ["/", "/api/healthz", "/healthz"] {
        assert_eq!(get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn requests_count_by_the_template_of_their_route() {
    let (app, _, key) = TestApp::with_org().await;
    let calls = async |path: &str, method: &str, status: &str| {
        let labels = format!("route=\"{path}\",method=\"{method}\",status=\"{status}\"");
        value(&app, &format!("launchway_http_request_seconds_count{{{labels}}}")).await
    };
    app.get(&key, "/build?limit=1").await.ok();
    app.get(&key, "/build?limit=2").await.ok();
    app.get(NOBODY, "/build").await.expect(401);
    assert_eq!(calls("/api/build", "GET", "2xx").await, 2.0);
    assert_eq!(calls("/api/build", "GET", "4xx").await, 1.0);
    let options = Method::OPTIONS;
    app.send(NOBODY, options, "/update/check/com.example.a", ()).await;
    assert_eq!(calls("/api/update/check/{bundleId}", "OPTIONS", "2xx").await, 1.0);
    app.send(&key, Method::PUT, "/build", ()).await;
    assert_eq!(calls("/api/build", "other", "4xx").await, 1.0);
    app.get(NOBODY, &format!("{}/files/some-key", app.origin)).await;
    assert_eq!(calls("/files/{*key}", "GET", "4xx").await, 1.0);
    for path in ["/no/such/path", "/nor/this"] {
        app.get(NOBODY, path).await;
    }
    assert_eq!(calls("none", "other", "4xx").await, 2.0);
}

#[tokio::test]
async fn checks_count_and_some_are_timed() {
    let app = TestApp::start().await;
    // Every thread times its first.
    app.get(NOBODY, "/update/check/com.example.a?currentVersion=1.0.0").await;
    app.get(NOBODY, "/update/check/com.example.a").await;
    assert_eq!(value(&app, "launchway_checks_total{status=\"2xx\"}").await, 1.0);
    assert_eq!(value(&app, "launchway_checks_total{status=\"4xx\"}").await, 1.0);
    assert!(value(&app, "launchway_check_seconds_count").await <= 2.0);
}

#[tokio::test]
async fn requests_for_signed_metadata_are_counted_apart() {
    let app = TestApp::start().await;
    let url = format!("{}/tuf/com.example.app/timestamp.json", app.origin);
    app.get(NOBODY, &url).await.is(404);
    assert_eq!(value(&app, "launchway_trust_requests_total{status=\"4xx\"}").await, 1.0);
    for other in ["checks", "requests"] {
        assert_eq!(value(&app, &format!("launchway_{other}_total{{status=\"4xx\"}}")).await, 0.0);
    }
}

#[tokio::test]
async fn a_build_counts_its_wait_and_its_duration_once() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    app.queue(org, |_| ()).await;
    app.queue(org, |_| ()).await;
    assert_eq!(value(&app, "launchway_build_queue_length").await, 2.0);
    app.advance(40 * SECOND);
    let held = app.take(&runner).await;
    assert_eq!(value(&app, "launchway_build_queue_length").await, 1.0);
    app.advance(90 * SECOND);
    app.post(&key, &format!("/build/cancel?id={}", held.id), ()).await.ok();
    let end = json!({"status": "canceled"});
    held.finish(end.clone()).await.ok();
    held.finish(end).await.ok();
    let values = values(&app).await;
    let platform = app.build(held.id.parse().unwrap()).await.platform;
    for (name, expected) in [
        (format!("wait_seconds_count{{platform=\"{platform}\"}}"), 1.0),
        (format!("wait_seconds_sum{{platform=\"{platform}\"}}"), 40.0),
        (format!("seconds_count{{platform=\"{platform}\",status=\"canceled\"}}"), 1.0),
        (format!("seconds_sum{{platform=\"{platform}\",status=\"canceled\"}}"), 90.0),
    ] {
        assert_eq!(values.get(&format!("launchway_build_{name}")), Some(&expected), "{name}");
    }
}

#[tokio::test]
async fn the_lag_of_webhooks_is_that_of_their_first_attempt() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_for(BUNDLE).await;
    stage.deliver_after(3 * SECOND).await;
    let values = values(&stage).await;
    for (name, expected) in [
        ("count{stage=\"fan_out\"}", 1.0),
        ("sum{stage=\"fan_out\"}", 3.0),
        ("count{stage=\"first_attempt\"}", 1.0),
        ("sum{stage=\"first_attempt\"}", 0.0),
    ] {
        let name = format!("launchway_webhook_lag_seconds_{name}");
        assert_eq!(values.get(&name), Some(&expected), "{name}");
    }
}

#[tokio::test]
async fn a_submission_counts_at_its_end() {
    let mut stage = Stage::new().app_stores().await;
    let fields = json!({"destination": "testflight", "options": {"usesNonExemptEncryption": false}});
    let id = stage.submitted("App.ipa", IPA, fields).await;
    let before = values(&stage).await;
    assert!(!before.keys().any(|name| name.contains("submission_seconds")), "{before:#?}");
    stage.succeeded(id).await;
    let labels = "store=\"app_store\",status=\"success\"";
    let name = format!("launchway_submission_seconds_count{{{labels}}}");
    assert_eq!(value(&stage, &name).await, 1.0);
}
