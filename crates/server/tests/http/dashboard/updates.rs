//! Over-the-air updates in the dashboard: published, changed, rolled back, and who gets what.

use launchway_domain::report::{REPORT_DAYS, ReportKind};
use launchway_domain::tenancy::Role;
use launchway_domain::time::DAY;
use launchway_jobs::clean_up::clean_up;
use launchway_os::clock::Clock;
use launchway_store::Report;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{Visit, visit, visit_of};
use crate::support::{Answer, Fields, Says, TestApp, noise, package};
use crate::update_report::report;

/// Sends the form of the publish page with a file, as a browser does.
async fn publish(visit: &Visit<'_>, token: &str, fields: &[(&str, &str)], file: Option<&[u8]>) -> Answer {
    let file = file.map(|bytes| ("dist.zip", bytes));
    visit.send_parts("/updates/new", token, fields, file).await
}

const FIELDS: [(&str, &str); 5] = [
    ("bundleId", "com.example.app"),
    ("platform", "android"),
    ("version", "1.0.1"),
    ("configuration", ""),
    ("releaseNotes", "one\r\ntwo <b>"),
];

#[tokio::test]
async fn an_update_is_published_from_the_browser() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    assert!(visit.html("/updates").await.contains(&format!("launchway login --url {}", app.origin)));
    let zip = package("index.html", b"<h1>hello</h1>");
    let done = publish(&visit, &visit.token, &FIELDS, Some(&zip)).await;
    done.is(303);
    let path = done.header("location").strip_prefix(&format!("/o/{}", visit.org)).unwrap().to_owned();
    let page = visit.html(&path).await;
    page.says("The update is published.");
    page.says("one\ntwo &#60;b&#62;</textarea>");
    let answer = app.checked("com.example.app", "currentVersion=1.0.0&platform=android").await;
    answer.has(json!({"updateAvailable": true, "releaseNotes": "one\ntwo <b>"}));
    let bytes = app.request(Method::GET, answer.text("url")).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(bytes, zip);
}

/// A package is not bounded by what a form may hold in memory; its texts are.
#[tokio::test]
async fn a_package_of_mebibytes_is_published_from_the_browser() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    let zip = package("photo.jpg", &noise(3 << 20));
    assert!(zip.len() > 3 << 20);
    publish(&visit, &visit.token, &FIELDS, Some(&zip)).await.is(303);
    let list = app.get(&visit.cookie, "/update").await.ok();
    assert_eq!(list["items"][0]["size"], zip.len());

    let many: Vec<_> = (0..100_000).map(|_| ("locale", "en")).collect();
    let long = "x".repeat(3 << 20);
    for fields in [&many[..], &[("releaseNotes", long.as_str())]] {
        publish(&visit, &visit.token, fields, None).await.is(413);
    }
    // The number of fields without a file is limited too: each takes far more memory than its bytes.
    visit.send("/apps", &many).await.is(413);
}

/// A configuration is chosen from the list, or typed beside it.
#[tokio::test]
async fn a_configuration_beside_the_list_is_published() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    let zip = package("index.html", b"<h1>hello</h1>");
    let form = visit.html("/updates/new").await;
    form.says(r#"<option value="production" selected>production</option>"#);
    form.says(r#"<option value="">Every configuration</option>"#);
    let fields = [FIELDS[0], FIELDS[1], FIELDS[2], ("configuration", "+other"), ("configurationOther", "beta")];
    publish(&visit, &visit.token, &fields, Some(&zip)).await.is(303);
    let list = app.get(&visit.cookie, "/update").await.ok();
    assert_eq!(list["items"][0]["configuration"], "beta");
    visit.html("/updates/new").await.says(r#"<option value="beta">beta</option>"#);
    // What was typed is still there after a refusal.
    let refused =
        publish(&visit, &visit.token, &[("configuration", "+other"), ("configurationOther", "a b")], Some(&zip));
    let refused = refused.await.text();
    refused.says(r#"<option value="+other" selected>"#);
    refused.says(r#"name="configurationOther" value="a b""#);
}

#[tokio::test]
async fn a_refused_package_leaves_the_form_as_it_was() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    let zip = package("index.html", b"hello");
    for (fields, file, status, words) in [
        (&FIELDS[..], None, 400, "file is missing: choose the package, a ZIP file"),
        (&FIELDS[..], Some(&b""[..]), 400, "file is missing: choose the package, a ZIP file"),
        (&FIELDS[..], Some(&b"no zip"[..]), 400, "ZIP"),
        (&FIELDS[1..], Some(&zip[..]), 400, "bundleId "),
        (&[FIELDS[0], FIELDS[1], ("version", "one")], Some(&zip[..]), 400, "version must be a semantic version"),
    ] {
        let answer = publish(&visit, &visit.token, fields, file).await;
        assert_eq!(answer.status.as_u16(), status, "{words}: {}", answer.text());
        assert!(answer.text().contains(words) && answer.text().contains("<form"), "{words}: {}", answer.text());
    }
    for token in ["", "wrong"] {
        publish(&visit, token, &FIELDS, Some(&zip)).await.is(403);
    }
    assert!(visit.html("/updates").await.contains("No update yet"));
}

#[tokio::test]
async fn an_update_is_changed_promoted_rolled_back_and_deleted() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let of = |update: serde_json::Value| update.id().to_owned();
    let first = of(app.published(&key, json!({"version": "1.0.1", "configuration": "staging"})).await);
    app.advance(1000);
    let second = of(app.published(&key, json!({"version": "1.0.2", "configuration": "staging"})).await);
    let path = format!("/updates/{second}");
    let read = async |id: &str| app.get(&key, &format!("/update?id={id}")).await.ok();

    let change = format!("{path}/change");
    visit.confirmed(&change, &[("status", "paused")]).await;
    assert_eq!(read(&second).await["status"], "paused");
    visit.confirmed(&change, &[("status", "published")]).await;
    visit.confirmed(&change, &[("rollout", "25")]).await;
    visit.confirmed(&change, &[("mandatory", "yes")]).await;
    let noted = visit.revised(&path, &path, &[("releaseNotes", "new")]).await;
    assert_eq!(visit.leads(&noted, &path), format!("{path}?done=update-changed"));
    read(&second).await.has(json!({"status": "published", "rollout": 25, "releaseNotes": "new", "mandatory": true}));
    let wrong = visit.page(&format!("{change}?rollout=101")).await;
    assert!(wrong.status == StatusCode::BAD_REQUEST && wrong.text().contains("rollout must be"), "{}", wrong.text());

    let promoted = visit.confirmed(&format!("{path}/promote"), &[("configuration", "production")]).await;
    let promoted = promoted.split(['/', '?']).nth(2).unwrap().to_owned();
    read(&promoted).await.has(json!({"configuration": "production", "sourceUpdateId": second}));

    assert!(visit.html(&path).await.contains(&format!(r#"<option value="{first}">1.0.1"#)));
    let back = visit.confirmed(&format!("{path}/rollback"), &[("to", &first)]).await;
    read(back.split(['/', '?']).nth(2).unwrap()).await.has(json!({"version": "1.0.2", "sourceUpdateId": first}));

    visit.confirmed(&change, &[("status", "withdrawn")]).await;
    let page = visit.html(&path).await;
    page.says("Withdrawn");
    page.lacks("Change rollout");
    visit.page(&format!("{change}?status=published")).await.says("A withdrawn update stays withdrawn");
    assert_eq!(visit.confirmed(&format!("{path}/delete"), &[]).await, "/updates?done=update-deleted");
    visit.page(&path).await.is(404);
}

#[tokio::test]
async fn reports_are_shown_by_day_for_as_long_as_they_are_kept() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let update = app.published(&key, json!({"version": "1.0.1"})).await;
    let path = format!("/updates/{}", update.id());
    assert!(!visit.html(&path).await.contains("How it ended, by day"));
    let report = |kind, device| Report {
        update_id: update.id().parse().unwrap(),
        kind,
        device,
        unkeyed: device,
        at: app.clock.now(),
        reason: None,
    };
    let reports = [
        report(ReportKind::Confirmed, 1),
        report(ReportKind::Confirmed, 2),
        report(ReportKind::Confirmed, 3),
        report(ReportKind::Failed, 4),
    ];
    let mut tx = app.app.db.write().await.unwrap();
    tx.system("a test").count_reports(&reports).await.unwrap();
    tx.commit().await.unwrap();
    let page = visit.html(&path).await;
    for part in [
        "How it ended, by day",
        "At most 4 a day",
        r#"<rect class="good" x="131" y="25" width="8" height="75"/>"#,
        r#"<rect class="bad" x="131" y="0" width="8" height="25"/>"#,
        r#"data-label="Confirmed">3</td>"#,
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    app.advance((REPORT_DAYS + 1) * DAY);
    clean_up(&app.app).await.unwrap();
    // The session has ended long ago, too.
    let visit = visit_of(&app, org, Role::Admin).await;
    let page = visit.html(&path).await;
    page.lacks("How it ended, by day");
    page.says(r#"<th scope="row">Confirmed</th><td class="num" data-label="Devices">3</td>"#);
    let mut tx = app.app.db.read().await.unwrap();
    let id = update.id().parse().unwrap();
    assert_eq!(tx.org(org).report_days(id).await.unwrap(), []);
}

#[tokio::test]
async fn the_crashes_of_the_most_devices_are_shown_as_text() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    let update = app.published(&key, json!({"version": "1.0.1"})).await;
    let path = format!("/updates/{}", update.id());
    visit.html(&path).await.lacks(r#"id="crashes""#);
    let crash = async |device: &str, stack: &str| {
        let event = |id: &str| json!([{"type": "crash", "updateId": id, "at": "2026-11-20T10:00:00Z", "stack": stack}]);
        assert_eq!(report(&app, device, event).await, 1);
    };
    let hostile = "<script>alert(1)</script>\n  at \"f\" </pre><img src=x onerror=alert(2)>";
    for device in ["d1", "d2"] {
        crash(device, hostile).await;
    }
    crash("d1", "").await;
    let page = visit.html(&path).await;
    page.says(r#"<b class="num">2 devices</b> <bdi>&#60;script&#62;alert(1)&#60;/script&#62;</bdi>"#);
    page.says("&#60;/pre&#62;&#60;img src=x onerror=alert(2)&#62;</pre>");
    page.says(r#"<b class="num">1 device</b> <bdi>No stack</bdi>"#);
    page.lacks("<script>alert");
    page.lacks("<img");
    page.lacks("more with");

    for number in 0..11 {
        crash("d3", &format!("at f{number}")).await;
    }
    let page = visit.html(&path).await;
    page.says("<bdi>&#60;script&#62;");
    assert_eq!(page.matches("<b class=\"num\">1 device</b>").count(), 9);
    page.says("3 more with <code>launchway update show");
}

/// For each query the page shows what the check responds.
#[tokio::test]
async fn who_gets_what_is_what_the_check_answers() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Member).await;
    for fields in [
        json!({"version": "1.0.1"}),
        json!({"version": "1.1.0", "rollout": 0}),
        json!({"version": "1.2.0", "platform": "ios"}),
        json!({"version": "1.3.0", "configuration": "staging"}),
        json!({"version": "2.0.0", "fingerprint": "new-native"}),
    ] {
        let mut fields: serde_json::Value = fields;
        fields["buildNumber"] = json!("1");
        app.published(&key, fields).await;
    }
    for (query, sentence, whys) in [
        ("currentVersion=3.0.0", "No update available", vec!["The device has this version or a newer one"]),
        (
            "currentVersion=1.0.0&platform=android&fingerprint=old",
            "It gets 1.0.1 (build 1)",
            vec![
                "It requires native code that differs from the device&#39;s",
                "It is for a configuration, but the device sends none",
                "It is for another platform",
                "Its rollout reaches only some devices, but this one sends no device id",
                "This update is offered",
            ],
        ),
        (
            "currentVersion=1.0.0&platform=android&deviceId=d&configuration=x",
            "It gets 2.0.0 (build 1)",
            vec![
                "It is for another configuration",
                "Its rollout does not reach this device yet",
                "It matches, but a newer update matches as well",
            ],
        ),
        (
            "currentVersion=1.5.0&fingerprint=old",
            "2.0.0 (build 1) requires a store release first",
            vec!["It requires native code that differs from the device&#39;s"],
        ),
    ] {
        let page = visit.html(&format!("/updates/audience?bundleId=com.example.app&{query}")).await;
        assert!(page.contains(sentence), "{query}: {page}");
        for why in whys {
            assert!(page.contains(why), "{query}: {why} in {page}");
        }
        let check = app.checked("com.example.app", query).await;
        let expected = match (&check["updateAvailable"], &check["requiresStoreUpdate"]) {
            (serde_json::Value::Bool(true), serde_json::Value::Bool(true)) => "requires a store release first",
            (serde_json::Value::Bool(true), _) => "It gets",
            _ => "No update available",
        };
        assert!(sentence.contains(expected), "{query}: {check}");
    }
    let wrong = visit.page("/updates/audience?bundleId=com.example.app&currentVersion=x").await;
    assert!(
        wrong.status == StatusCode::BAD_REQUEST && wrong.text().contains("currentVersion must be"),
        "{}",
        wrong.text()
    );
}

/// Another organization's updates are not shown, although every phone may ask for them.
#[tokio::test]
async fn who_gets_what_is_told_of_own_apps_only() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({"version": "1.0.1"})).await;
    let visit = visit(&app, Role::Owner).await;
    let query = "currentVersion=1.0.0";
    let foreign = visit.page(&format!("/updates/audience?bundleId=com.example.app&{query}")).await;
    let missing = visit.page(&format!("/updates/audience?bundleId=com.example.none&{query}")).await;
    assert_eq!((foreign.status, missing.status), (StatusCode::BAD_REQUEST, StatusCode::BAD_REQUEST));
    foreign.says("bundleId is not an app of this organization");
    assert_eq!(foreign.text().replace("example.app", "example.none"), missing.text());
}
