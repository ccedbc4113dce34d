//! Filters of lists: they match parts, and the page says what they match.

use launchway_domain::build::GitFacts;
use launchway_domain::tenancy::Role;
use serde_json::json;

use super::{visit, visit_of};
use crate::support::{Fields, Says, TestApp};

#[tokio::test]
async fn a_typed_filter_matches_parts_and_says_so() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Owner).await;
    let branch = |branch: &str| Some(GitFacts { branch: Some(branch.to_owned()), ..GitFacts::default() });
    app.queue(org, |build| build.spec.git = branch("fix/checkout")).await;
    app.queue(org, |build| build.spec.git = branch("main")).await;
    app.published(&key, json!({"bundleId": "com.example.app", "version": "1.0.1"})).await;
    app.published(&key, json!({"bundleId": "com.example.app.beta", "version": "1.0.1"})).await;
    for (path, rows, words) in [
        ("/builds?branch=CHECK", 1, "Only where the branch contains “CHECK”."),
        ("/builds?branch=100%25", 0, "Only where the branch contains “100%”."),
        ("/builds?branch=%00", 0, "Only where the branch contains “\u{fffd}”."),
        ("/builds?bundleId=xample.a&status=queued", 2, "the status is queued and the app contains “xample.a”."),
        ("/updates?bundleId=EXAMPLE", 2, "Only where the app contains “EXAMPLE”."),
        // An app of the organization is meant as a whole.
        ("/updates?bundleId=com.example.app", 1, "Only where the app is com.example.app."),
        ("/updates?bundleId=no+app", 0, "Only where the app contains “no app”."),
        ("/updates?configuration=%3Cb%3E", 0, "Only where the configuration contains “&#60;b&#62;”."),
        ("/submissions?buildId=none", 0, "Only where the build contains “none”."),
    ] {
        let html = visit.html(path).await;
        assert_eq!(html.matches("<th scope=\"row\">").count(), rows, "{path}: {html}");
        html.says(words);
    }
    visit.html("/builds").await.lacks("Only where");
}

/// Every name that the page prints for an actor finds the lines of that actor.
#[tokio::test]
async fn the_audit_log_is_filtered_by_the_names_it_shows() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Owner).await;
    let email = format!("owner@{org}.example");
    visit.send("/apps", &[("bundleId", "com.example.first")]).await.is(303);
    let made = app.post(&key, "/api-keys", json!({"name": "Laptop", "scopes": ["update"]})).await.created();
    app.published(made.text("key"), json!({"version": "1.0.1"})).await;
    for (typed, action) in [
        (email.as_str(), "app.create"),
        (&email[..8], "app.create"),
        ("key Laptop", "update.publish"),
        ("LAPTOP", "update.publish"),
        (made.id(), "update.publish"),
    ] {
        let html = visit.html(&format!("/audit?actor={}", typed.replace(' ', "+"))).await;
        html.says(&format!("<a href=\"?action={action}\">"));
        let is_of_key = action == "update.publish";
        assert_eq!(html.contains(">key Laptop</a>"), is_of_key, "{typed}: {html}");
        assert_eq!(html.contains(&format!(">{email}</a>")), !is_of_key, "{typed}: {html}");
        html.says(&format!("Only where the actor contains “{typed}”."));
    }
    visit.html("/audit?actor=nobody%40example.com").await.says("No line to show.");
    visit.html("/audit?action=UPDATE.").await.lacks("?action=app.create");
}

/// For paper: no pages of 25, and what changed is unfolded.
#[tokio::test]
async fn the_audit_log_prints_as_one_page() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Owner).await;
    for number in 0..30 {
        visit.send("/apps", &[("bundleId", &format!("com.example.a{number}"))]).await.is(303);
    }
    let html = visit.html("/audit/print?action=app.create").await;
    assert_eq!(html.matches("<th scope=\"row\">").count(), 30);
    assert_eq!(html.matches("<details class=\"fold-plain\" open>").count(), 30);
    html.says("<span>30 lines</span>");
    html.says("Only where the action contains “app.create”.");
    html.lacks("class=\"pager\"");
    let listed = visit.html("/audit?action=app.create").await;
    assert_eq!(listed.matches("<th scope=\"row\">").count(), 25);
    listed.says("/audit/print?action=app.create&#38;\">Print view</a>");
}
