//! Of two concurrent confirmations or forms exactly one succeeds, and a form that is sent twice is one change.

use launchway_domain::tenancy::Role;
use serde_json::json;

use super::super::{visit, visit_of};
use super::things::id;
use super::{form_of, send};
use crate::support::{Answer, TestApp};

/// The statuses of two responses, the lower first.
fn statuses(first: &Answer, second: &Answer) -> [u16; 2] {
    let mut statuses = [first.status.as_u16(), second.status.as_u16()];
    statuses.sort_unstable();
    statuses
}

/// Of two concurrent confirmations of the same page exactly one succeeds, on both databases.
#[tokio::test]
async fn of_two_at_once_exactly_one_is_done() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let (one, other) = (visit_of(&app, org, Role::Owner).await, visit_of(&app, org, Role::Admin).await);
        let update = id(&app.published(&key, json!({"version": "1.0.1", "rollout": 20})).await);
        let hook = json!({"name": "CI", "url": "https://93.184.216.34/hook", "events": ["*"]});
        let hook = id(&app.post(&key, "/webhooks", hook).await.created());
        let member = visit_of(&app, org, Role::Member).await.caller().await;
        for (path, queries) in [
            (format!("/updates/{update}/change"), ["?rollout=30", "?rollout=40"]),
            (format!("/webhooks/{hook}/status"), ["?status=disabled", "?status=disabled"]),
            (format!("/members/{member}/role"), ["?role=admin", "?role=admin"]),
        ] {
            let first = form_of(&one, &path, queries[0]).await;
            let second = form_of(&other, &path, queries[1]).await;
            let (first, second) = tokio::join!(send(&one, &path, &first), send(&other, &path, &second));
            assert_eq!(statuses(&first, &second), [303, 409], "{path}: {} {}", first.text(), second.text());
        }
        // The same for forms without a confirmation.
        let page = format!("/updates/{update}");
        let shown = one.hidden(&page).await;
        let revision = &shown.iter().find(|(name, _)| name == "revision").unwrap().1;
        let notes = |notes| [("revision", revision.as_str()), ("releaseNotes", notes)];
        let (fields, others) = (notes("one"), notes("other"));
        let (first, second) = tokio::join!(one.send(&page, &fields), other.send(&page, &others));
        assert_eq!(statuses(&first, &second), [303, 409], "{} {}", first.text(), second.text());
    }
}

/// A double click is one change: the second response equals the first.
#[tokio::test]
async fn a_form_that_is_sent_twice_is_one_change() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let visit = visit_of(&app, org, Role::Member).await;
        let good = id(&app.published(&key, json!({"version": "1.0.1"})).await);
        app.advance(1000);
        let bad = id(&app.published(&key, json!({"version": "1.0.2"})).await);
        let path = format!("/updates/{bad}/rollback");
        let form = form_of(&visit, &path, &format!("?to={good}")).await;
        let (first, second) = tokio::join!(send(&visit, &path, &form), send(&visit, &path, &form));
        let third = send(&visit, &path, &form).await;
        first.is(303);
        assert_eq!(first.header("location"), second.header("location"));
        assert_eq!(first.header("location"), third.header("location"));
        let list = app.get(&key, "/update").await.ok();
        assert_eq!(list["total"], 3);
    }
}

/// The same for forms that create something: the second creates nothing, and links to what the first created.
#[tokio::test]
async fn a_double_click_makes_one_of_each() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Owner).await;
    let key = [("name", "CI"), ("scopes", "build")];
    let hook = [("name", "CI"), ("url", "https://93.184.216.34/hook"), ("events", "*")];
    let guest = [("email", "bob@example.com"), ("role", "member")];
    for (page, path, fields, list) in [
        ("/api-keys", "/api-keys", &key[..], "/api-keys"),
        ("/webhooks", "/webhooks", &hook[..], "/webhooks"),
        ("/members", "/invitations", &guest[..], "/orgs/invitations"),
    ] {
        let shown = visit.hidden(page).await;
        let mut all = vec![("once", shown.iter().find(|(name, _)| name == "once").unwrap().1.as_str())];
        all.extend_from_slice(fields);
        let (first, second) = tokio::join!(visit.send(path, &all), visit.send(path, &all));
        assert_eq!(statuses(&first, &second), [201, 400], "{path}: {} {}", first.text(), second.text());
        assert!(format!("{}{}", first.text(), second.text()).contains("This form was sent twice"));
        let made = app.get(&visit.cookie, list).await.ok();
        assert_eq!(made["total"], 1, "{path}");
    }
}
