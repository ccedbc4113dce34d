//! The overview: the first steps, what needs attention, and the organization that it shows.

use launchway_domain::report::ReportKind;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::DAY;
use launchway_os::clock::Clock;
use launchway_store::Report;
use serde_json::json;

use super::{visit, visit_of};
use crate::pages::page;
use crate::support::{Fields, Says, TestApp};

#[tokio::test]
async fn the_first_steps_go_away_when_they_are_done() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Owner).await;
    let new = visit.html("").await;
    new.says("First steps");
    new.says(&format!("launchway login --url {}", app.origin));
    app.published(&key, json!({"version": "1.0.1"})).await;
    let html = visit.html("").await;
    html.lacks("First steps");
    html.says("com.example.app");
}

#[tokio::test]
async fn what_failed_lately_needs_attention() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let runner = app.runner(&key, &["os=linux"]).await;
    for message in ["long ago", "lately <b>\nand more"] {
        app.advance(8 * DAY);
        app.queue(org, |_| {}).await;
        let held = app.take(&runner).await;
        let error = json!({"code": "STEP_FAILED", "phase": "build", "message": message});
        held.finish(json!({"status": "failed", "error": error})).await.ok();
    }
    let html = visit.html("").await;
    assert_eq!(html.matches("Look at it").count(), 1, "{html}");
    html.says("A build of com.example.app for Android failed. lately &#60;b&#62; <a");
}

/// What devices reported of an update: so many installed it, and so many failed.
async fn reported(app: &TestApp, update: &str, installed: i64, failed: i64) {
    let report = |kind, device| Report {
        update_id: update.parse().unwrap(),
        kind,
        device,
        unkeyed: device,
        at: app.clock.now(),
        reason: None,
    };
    let installed = (0..installed).map(|device| report(ReportKind::Installed, device));
    let failed = (0..failed).map(|device| report(ReportKind::Failed, 1000 + device));
    let reports: Vec<_> = installed.chain(failed).collect();
    let mut tx = app.app.db.write().await.unwrap();
    tx.system("a test").count_reports(&reports).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn an_update_that_fails_on_devices_needs_attention() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let failing = app.published(&key, json!({"version": "1.0.1", "configuration": "production"})).await;
    let healthy = app.published(&key, json!({"version": "1.0.2", "configuration": "staging"})).await;
    app.published(&key, json!({"version": "1.0.3", "configuration": "beta"})).await;
    reported(&app, failing.id(), 35, 5).await;
    reported(&app, healthy.id(), 99, 1).await;
    let words = "for Android failed on 12.5 % of the 40 devices that tried it. Pause it, or roll it back.";
    let html = visit.html("").await;
    html.says(words);
    assert_eq!(html.matches("Look at it").count(), 1, "{html}");
    let list = visit.html("/updates").await;
    for (badge, extent) in [("Failing", "12.5 % of 40 devices failed"), ("Healthy", "1.0 % of 100 devices failed")] {
        list.says(&format!("{badge}</span><span class=\"sub\">{extent}</span>"));
    }
    list.says("No result</span></td>");
    visit.html(&format!("/updates/{}", failing.id())).await.says("Failing</span> Failure rate: <b>12.5 %</b>");
    // One that devices no longer get is not urgent: a newer one took its place, or it is paused.
    let newer = json!({"version": "1.0.4", "configuration": "production", "rollout": 50});
    let newer = app.published(&key, newer).await;
    visit.html("").await.says(words);
    app.patch(&key, &format!("/update?id={}", newer.id()), json!({"rollout": 100})).await.ok();
    visit.html("").await.lacks("Look at it");
    app.patch(&key, &format!("/update?id={}", newer.id()), json!({"status": "withdrawn"})).await.ok();
    visit.html("").await.says(words);
    app.patch(&key, &format!("/update?id={}", failing.id()), json!({"status": "paused"})).await.ok();
    visit.html("").await.lacks("Look at it");
}

/// The first page redirects to the last viewed organization, as long as the visitor is a member of it.
#[tokio::test]
async fn the_first_page_leads_where_one_was_last() {
    let app = TestApp::start().await;
    let ours = visit(&app, Role::Member).await;
    // Later: the visitor's first organization is the oldest.
    app.advance(1000);
    let second = app.org(Tier::Free).await;
    let email = format!("member@{}.example", ours.org);
    app.join(second, &email, Role::Admin).await;

    let looked = page(&app, &format!("/o/{second}"), &ours.cookie).await;
    looked.is(200);
    // Another tab may show another organization, in which the visitor has another role.
    looked.says(&format!("{email}, admin"));
    looked.says(&format!(r#"<a href="/o/{}">"#, ours.org));
    let last = looked.cookie();
    assert_eq!(last, format!("launchway-org={second}"));
    let cookies = format!("{}; {last}", ours.cookie);
    assert_eq!(page(&app, "/", &cookies).await.header("location"), format!("/o/{second}"));
    assert_eq!(page(&app, "/", &ours.cookie).await.header("location"), format!("/o/{}", ours.org));
    let foreign = format!("{}; launchway-org=org_{:0>26}", ours.cookie, "7");
    assert_eq!(page(&app, "/", &foreign).await.header("location"), format!("/o/{}", ours.org));
}
