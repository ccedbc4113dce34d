//! Confirmations: they state the facts, and what they state is what happens.

mod things;
mod twice;

use launchway_domain::report::ReportKind;
use launchway_domain::tenancy::Role;
use launchway_os::clock::Clock;
use launchway_store::Report;
use launchway_web::dashboard;
use reqwest::StatusCode;
use serde_json::json;

use super::{Visit, hidden, visit, visit_of};
use crate::foreign_updates::codepush;
use crate::pages::submit;
use crate::support::{Answer, Fields, Says, TestApp};
use things::{Other, Things, id, patch};

/// The form of a confirmation, as the browser would send it.
async fn form_of(visit: &Visit<'_>, path: &str, query: &str) -> Vec<(String, String)> {
    visit.hidden(&format!("{path}{query}")).await
}

async fn send(visit: &Visit<'_>, path: &str, form: &[(String, String)]) -> Answer {
    let fields: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    submit(visit.app, &format!("/o/{}{path}", visit.org), &visit.cookie, &fields).await
}

/// A mandatory update at 10 % of staging once became one at 100 % of production with one click.
#[tokio::test]
async fn a_promotion_states_and_keeps_to_its_facts() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let old = json!({"version": "1.0.0", "buildNumber": "7", "configuration": "production"});
    let old = id(&app.published(&key, old).await);
    let staged =
        json!({"version": "1.0.1", "buildNumber": "1", "configuration": "staging", "rollout": 30, "mandatory": true});
    let staged = id(&app.published(&key, staged).await);
    let report = |update: &str, kind, device| Report {
        update_id: update.parse().unwrap(),
        kind,
        device,
        unkeyed: device,
        at: app.clock.now(),
        reason: None,
    };
    let mut reports: Vec<_> = (0..40).map(|device| report(&old, ReportKind::Downloaded, device)).collect();
    reports.extend((0..3).map(|device| report(&staged, ReportKind::Installed, device)));
    reports.push(report(&staged, ReportKind::RolledBack, 0));
    let mut tx = app.app.db.write().await.unwrap();
    tx.system("a test").count_reports(&reports).await.unwrap();
    tx.commit().await.unwrap();

    let page = visit.html(&format!("/updates/{staged}")).await;
    page.says(r#"name="rollout" type="number" min="0" max="100" step="1" value="10""#);
    let path = format!("/updates/{staged}/promote");
    let asked = visit.html(&format!("{path}?configuration=production")).await;
    for part in [
        "Promote 1.0.1 (1) to production?",
        r#"<td data-label="Now">30 % in staging</td><td data-label="Then"><b>10 % in production</b>"#,
        r#"<td data-label="Now">yes in staging</td><td data-label="Then"><b>no in production</b>"#,
        r#"<td data-label="Now">1.0.0 (7), 100 %</td><td data-label="Then"><b>1.0.1 (1), 10 %</b>"#,
        "<dt>Platform</dt><dd>Android</dd>",
        "at least 40 for production: this many reported 1.0.0, published 20 Nov 2026",
        "about 4 of these at 10 %",
        "<dt>Reported since</dt><dd>20 Nov 2026",
        "<dt>Installed</dt><dd>3 devices</dd>",
        "<dt>Rolled back</dt><dd>1 device</dd>",
        "<dt>Failed</dt><dd>0 devices</dd>",
    ] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
    // Viewing it changed nothing.
    let list = app.get(&key, "/update").await.ok();
    assert_eq!(list["total"], 2);
    let next = visit.confirmed(&path, &[("configuration", "production")]).await;
    let made = next.split(['/', '?']).nth(2).unwrap();
    let made = app.get(&key, &format!("/update?id={made}")).await.ok();
    made.has(json!({"rollout": 10, "mandatory": false, "configuration": "production"}));
    // The chosen action is what happens.
    let chosen = [("configuration", "beta"), ("rollout", "55"), ("mandatory", "yes")];
    let next = visit.confirmed(&path, &chosen).await;
    let made = next.split(['/', '?']).nth(2).unwrap();
    let made = app.get(&key, &format!("/update?id={made}")).await.ok();
    made.has(json!({"rollout": 55, "mandatory": true}));
}

#[tokio::test]
async fn a_rollout_states_the_value_before_and_after() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let update = id(&app.published(&key, json!({"version": "1.0.1", "rollout": 20})).await);
    let path = format!("/updates/{update}/change");
    for (query, parts) in [
        ("?rollout=60", ["Raise the rollout of 1.0.1", r#"Now">20 %</td><td data-label="Then"><b>60 %<"#]),
        ("?rollout=5", ["Lower the rollout of 1.0.1", r#"Now">20 %</td><td data-label="Then"><b>5 %<"#]),
        ("?status=paused", ["Pause 1.0.1", r#"Now">published</td><td data-label="Then"><b>paused<"#]),
        ("?mandatory=yes", ["Make mandatory: 1.0.1", r#"Now">no</td><td data-label="Then"><b>yes<"#]),
        ("?status=withdrawn", ["Withdraw 1.0.1", "unknown: no device has reported it since"]),
    ] {
        let asked = visit.html(&format!("{path}{query}")).await;
        for part in parts {
            assert!(asked.contains(part), "{query}: {part} in {asked}");
        }
    }
    let leaves = "Devices with the client of another service leave it";
    visit.html(&format!("{path}?status=withdrawn")).await.lacks(leaves);
    let foreign = codepush(&app, &key, "script", json!({"version": "1.0.2"})).await;
    visit.html(&format!("/updates/{}/change?status=withdrawn", foreign.id())).await.says(leaves);
    for query in ["", "?rollout=101", "?rollout=half", "?status=nonsense"] {
        assert_eq!(visit.page(&format!("{path}{query}")).await.status, StatusCode::BAD_REQUEST, "{query}");
    }
}

/// No form does anything unless the confirmation showed the current state.
#[tokio::test]
async fn nothing_is_done_without_the_revision_of_what_there_is() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Owner).await;
    let things = Things::make(&app, &visit, &key).await;
    let before = app.audit(org).await.len();
    let mut tried = 0;
    for (path, query, _) in things.actions() {
        let form = form_of(&visit, &path, query).await;
        for revision in ["", "AAAAAAAAAAAAAAAAAAAAAA"] {
            let mut form = form.clone();
            form.iter_mut().find(|(name, _)| name == "revision").unwrap().1 = revision.to_owned();
            let refused = send(&visit, &path, &form).await;
            assert_eq!(refused.status, StatusCode::CONFLICT, "{path}{query}: {}", refused.text());
            let text = refused.text();
            assert!(
                text.contains("so nothing was done")
                    && text.contains("When you looked") == form.iter().any(|field| field.0 == "seen"),
                "{text}"
            );
        }
        tried += 1;
    }
    assert_eq!(app.audit(org).await.len(), before);
    // The list of pages is complete: every page with a confirmation was tried.
    let confirmed = dashboard::pages().iter().filter(|page| page.confirms).count();
    let paths: std::collections::BTreeSet<_> = things.actions().into_iter().map(|(path, ..)| path).collect();
    assert_eq!((paths.len(), tried >= confirmed), (confirmed, true));
}

/// A concurrent change is not overwritten: the page shows both values, and the form can be sent again.
#[tokio::test]
async fn a_stale_confirmation_changes_nothing_and_tells_both_values() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Owner).await;
    let things = Things::make(&app, &visit, &key).await;
    for (path, query, other) in things.actions() {
        let Some(other) = other else { continue };
        let form = form_of(&visit, &path, query).await;
        app.advance(1000);
        things.change(&app, &visit, &key, other).await;
        let before = app.audit(org).await.len();
        let refused = send(&visit, &path, &form).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{path}{query}: {}", refused.text());
        assert_eq!(app.audit(org).await.len(), before, "{path}{query}");
        refused.says("so nothing was done");
        // The refusal page contains the new revision, so confirming it does what it says.
        let again = hidden(&refused.text());
        assert_ne!(again, form);
        assert!(again.iter().any(|(name, value)| name == "revision" && value.len() == 22), "{again:?}");
    }
    let update = &things.update;
    let path = format!("/updates/{update}/change");
    let form = form_of(&visit, &path, "?rollout=44").await;
    patch(&app, &key, update, json!({"rollout": 71})).await;
    let refused = send(&visit, &path, &form).await.text();
    refused.says(r#"Now">71 %</td><td data-label="Then"><b>44 %<"#);
    send(&visit, &path, &hidden(&refused)).await.is(303);
}

/// A variable that exists, or was set meanwhile, is replaced only after a confirmation.
#[tokio::test]
async fn a_variable_is_replaced_only_by_who_was_asked() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    let set = |value: &'static str| [("name", "TOKEN"), ("value", value), ("visibility", "secret")];
    visit.done("/env", &set("the first secret")).await;
    let changed = async || {
        let list = app.get(&visit.cookie, "/env").await.ok();
        assert_eq!(list["total"], 1);
        list["items"][0]["updatedAt"].clone()
    };
    let first = changed().await;
    app.advance(1000);
    let asked = visit.send("/env", &set("the second secret")).await;
    asked.is(409);
    let text = asked.text();
    text.says("set 20 Nov 2026");
    text.says("TOKEN is already set for these builds, so nothing was saved");
    // Nothing changed meanwhile, and equal values do not count as different.
    text.lacks("Somebody changed this");
    text.lacks(r#"<th scope="row">How builds get it"#);
    text.says("Replace variable");
    text.says("Your entry is kept");
    text.lacks("second secret");
    text.lacks("first secret");
    assert_eq!(changed().await, first);
    // The typed value travels along, sealed, and need not be typed again.
    let form = hidden(&text);
    let of = |name: &str| form.iter().find(|(known, _)| known == name).unwrap().1.as_str();
    let again = [
        ("name", "TOKEN"),
        ("value", ""),
        ("visibility", "secret"),
        ("replaces", of("replaces")),
        ("sealedValue", of("sealedValue")),
    ];
    // No other browser can send it.
    let colleague = visit_of(&app, visit.org, Role::Owner).await;
    colleague.send("/env", &again).await.says("value was not kept");
    visit.done("/env", &again).await;
    let second = changed().await;
    assert_ne!(second, first);
    // A refusal for another reason carries the value along, too.
    let refused = visit.send("/env", &[("name", "1x"), ("value", "the third secret")]).await;
    let form = hidden(&refused.text());
    assert!(form.iter().any(|(name, value)| name == "sealedValue" && value.len() > 40), "{form:?}");
    refused.lacks("third secret");
    // A confirmation of an older state asks again.
    app.advance(1000);
    let late = visit.send("/env", &again).await;
    late.is(409);
    late.says("Somebody changed this");
    assert_eq!(changed().await, second);
    // A value that the form shows is not also carried along hidden.
    let shown = [("name", "TOKEN"), ("value", "read me"), ("visibility", "plain")];
    let text = visit.send("/env", &shown).await.text();
    text.says(">read me</textarea>");
    text.lacks("sealedValue");
    text.says("admins, too");
    text.lacks("Your entry is kept");
}

/// Forms that are saved without a confirmation carry the revision of their page.
#[tokio::test]
async fn a_stale_form_is_shown_again_with_both_values() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Owner).await;
    let things = Things::make(&app, &visit, &key).await;
    let webhook = [("name", "Mine"), ("url", "https://93.184.216.34/hook"), ("events", "*"), ("type", "generic")];
    for (page, path, fields, other, mine) in [
        (
            format!("/updates/{}", things.update),
            format!("/updates/{}", things.update),
            &[("releaseNotes", "Mine")][..],
            Other::Update,
            ">Mine</textarea>",
        ),
        (
            format!("/webhooks/{}", things.webhook),
            format!("/webhooks/{}", things.webhook),
            &webhook[..],
            Other::Webhook,
            r#"value="Mine""#,
        ),
        ("/members".to_owned(), "/name".to_owned(), &[("name", "Mine")], Other::Name, r#"value="Mine""#),
    ] {
        let shown = visit.hidden(&page).await;
        let revision = &shown.iter().find(|(name, _)| name == "revision").unwrap().1;
        things.change(&app, &visit, &key, other).await;
        let mut all = vec![("revision", revision.as_str())];
        all.extend_from_slice(fields);
        let refused = visit.send(&path, &all).await;
        let text = refused.text();
        assert_eq!(refused.status, StatusCode::CONFLICT, "{path}: {text}");
        for part in
            ["nothing was saved", mine, r#"<td data-label="Yours"><span class="value">Mine</span></td>"#, "Theirs"]
        {
            assert!(text.contains(part), "{path}: {part} in {text}");
        }
        // The page that refuses holds the new revision.
        let again = visit.revised(&page, &path, fields).await;
        assert_eq!(again.status, StatusCode::SEE_OTHER, "{path}: {}", again.text());
    }
}

/// A member who confirms leaving no longer sees the organization; a member cannot remove an admin.
#[tokio::test]
async fn members_leave_and_remove_nobody_else() {
    let app = TestApp::start().await;
    let owner = visit(&app, Role::Owner).await;
    let member = visit_of(&app, owner.org, Role::Member).await;
    let (boss, me) = (owner.caller().await, member.caller().await);
    member.page(&format!("/members/{boss}/remove")).await.is(403);
    let left = member.confirm(&format!("/members/{me}/remove"), &[]).await;
    assert_eq!((left.status.as_u16(), left.header("location")), (303, "/"));
    member.page("").await.is(404);
}
