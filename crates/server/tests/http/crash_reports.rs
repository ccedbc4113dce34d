//! Crashes that devices report with their stack: equal ones are one group (`docs/reference/updates.md#crashes`).

use launchway_domain::crash::{CRASH_DAYS, MAX_STACK};
use launchway_domain::time::{DAY, SECOND, iso};
use launchway_jobs::clean_up::clean_up;
use serde_json::{Value, json};

use crate::stage::BUNDLE;
use crate::support::{Fields, START, Setup, TestApp};
use crate::update_report::{offer, report, send, shown};

const STACK: &str = "TypeError: undefined is not a function\n    at render (index.android.bundle:1:2345678)\n";

fn crash(update: &str, stack: &str) -> Value {
    json!({"type": "crash", "updateId": update, "at": "2026-11-20T09:59:59.000Z", "stack": stack})
}

/// Reports a crash as a device that was just offered the update; returns how many events counted.
async fn crashes(app: &TestApp, device: &str, stack: &str) -> Value {
    report(app, device, |id| json!([crash(id, stack)])).await
}

#[tokio::test]
async fn equal_crashes_are_one_group_of_devices() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let at = |address: &str| format!("\n{STACK}    at 0x{address} in libhermes.so");
    assert_eq!(crashes(&app, "d1", &at("7f00aa10")).await, 1);
    app.advance(SECOND);
    assert_eq!(crashes(&app, "d2", "Error: another").await, 1);
    app.advance(SECOND);
    assert_eq!(crashes(&app, "d2", &at("7f00bb20")).await, 1);
    assert_eq!(crashes(&app, "d1", &at("7f00cc30")).await, 0, "each device counts once in a group");
    let groups = json!([
        {
            "devices": 2, "firstSeenAt": iso(START), "lastSeenAt": iso(START + 2 * SECOND),
            "firstLine": "TypeError: undefined is not a function", "stack": at("7f00aa10"),
        },
        {
            "devices": 1, "firstSeenAt": iso(START + SECOND), "lastSeenAt": iso(START + SECOND),
            "firstLine": "Error: another", "stack": "Error: another",
        },
    ]);
    let reports = shown(&app, &key, &update).await;
    assert_eq!(reports["crashes"], groups);
    reports.has(json!({"installed": 0, "failed": 0, "rolledBack": 0, "reasons": []}));
}

#[tokio::test]
async fn a_crash_counts_beside_other_events_and_without_a_stack() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let at = "2026-11-20T09:59:59.000Z";
    let events = |id: &str| {
        json!([
            {"type": "installed", "updateId": id, "at": at, "stack": "of no crash"},
            {"type": "crash", "updateId": id, "at": at, "reason": "crashed"},
            {"type": "rolled_back", "updateId": id, "at": at, "reason": "crashed"},
        ])
    };
    assert_eq!(report(&app, "d1", events).await, 3);
    assert_eq!(report(&app, "d1", events).await, 0);
    let reports = shown(&app, &key, &update).await;
    reports.has(json!({"installed": 1, "rolledBack": 1}));
    assert_eq!(reports["reasons"].as_array().unwrap().len(), 1);
    assert_eq!(reports["crashes"].as_array().unwrap().len(), 1);
    reports["crashes"][0].has(json!({"devices": 1, "firstLine": "", "stack": ""}));
}

/// A request has room for many stacks, and a queue for many requests.
#[tokio::test]
async fn the_first_crash_of_a_report_counts() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let both = |id: &str| json!([crash(id, "Error: first"), crash(id, "Error: second")]);
    assert_eq!(report(&app, "d1", both).await, 1);
    let reports = shown(&app, &key, &update).await;
    assert_eq!(reports["crashes"].as_array().unwrap().len(), 1);
    assert_eq!(reports["crashes"][0]["stack"], "Error: first");
}

#[tokio::test]
async fn a_stack_is_kept_as_written_up_to_8_kib() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let longest = "ü".repeat(MAX_STACK / 2);
    let odd = "\"quotes\" <script>alert(1)</script>\n\u{1}\u{202e}\u{2028} 日本語 🚀\r\n\t";
    for (device, stack) in [("d1", longest.as_str()), ("d2", odd)] {
        assert_eq!(crashes(&app, device, stack).await, 1);
        app.advance(SECOND);
    }
    let reports = shown(&app, &key, &update).await;
    let stacks: Vec<_> = reports["crashes"].as_array().unwrap().iter().map(|group| &group["stack"]).collect();
    assert_eq!(stacks, [odd, &longest]);

    let (id, token) = offer(&app, "d3").await;
    for (stack, problem) in [
        (json!(format!("{longest}x")), "events[0].stack must have at most 8192 bytes"),
        (json!("a\0b"), "events[0].stack must not contain a NUL character"),
    ] {
        // The rule holds for every type, as that of the reason does.
        for kind in ["crash", "installed"] {
            let mut event = crash(&id, "");
            (event["stack"], event["type"]) = (stack.clone(), json!(kind));
            let body = json!({"reportToken": token, "events": [event]});
            send(&app, BUNDLE, body).await.refused(400, problem);
        }
    }
    let mut event = crash(&id, "");
    event["stack"] = json!(["at f"]);
    send(&app, BUNDLE, json!({"reportToken": token, "events": [event]})).await.is(400);
    assert_eq!(shown(&app, &key, &update).await, reports);
}

#[tokio::test]
async fn only_the_owner_of_an_update_sees_its_crashes() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    crashes(&app, "d1", STACK).await;
    let (_, stranger) = app.org_with_key().await;
    let path = format!("/update?id={}", update.id());
    app.get(&stranger, &path).await.refused(404, "No update has this id");
    let list = app.get(&stranger, "/update").await;
    assert!(!list.text().contains("TypeError"));

    // Whoever has no token of the update adds none either.
    let theirs = app.published(&stranger, json!({"bundleId": "com.example.stranger"})).await;
    let answer = app.checked("com.example.stranger", "currentVersion=1.0.0&deviceId=d1").await;
    let token = answer.text("reportToken");
    let body = |id: &str| json!({"reportToken": token, "events": [crash(id, "Error: forged")]});
    let problem = "events[0].updateId is not the update of the token";
    send(&app, "com.example.stranger", body(update.id())).await.refused(400, problem);
    send(&app, BUNDLE, body(theirs.id())).await.refused(401, "Invalid or expired report token");
    let reports = shown(&app, &key, &update).await;
    assert_eq!(reports["crashes"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn simultaneous_crashes_count_each_device_once() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let devices: Vec<String> = (0..30).map(|number| format!("d{}", number % 10)).collect();
    let counted = devices.iter().map(|device| crashes(&app, device, STACK));
    let counted = futures::future::join_all(counted).await;
    assert_eq!(counted.iter().filter_map(Value::as_u64).sum::<u64>(), 10);
    let reports = shown(&app, &key, &update).await;
    assert_eq!((&reports["crashes"][0]["devices"], reports["crashes"].as_array().unwrap().len()), (&json!(10), 1));
}

#[tokio::test]
async fn two_nodes_count_a_crash_of_a_device_once() {
    let node = TestApp::with(Setup::on_postgres()).await;
    let (_, key) = node.org_with_key().await;
    let update = node.published(&key, json!({})).await;
    let other = node.another_node().await;
    for (app, counted) in [(&node, 1), (&other, 0), (&node, 0)] {
        assert_eq!(crashes(app, "d1", STACK).await, counted);
    }
    assert_eq!(shown(&other, &key, &update).await["crashes"][0]["devices"], 1);
}

#[tokio::test]
async fn crashes_are_forgotten_90_days_after_the_last_one() {
    let (app, key) = TestApp::with_key().await;
    let update = app.published(&key, json!({})).await;
    let groups = async || {
        clean_up(&app.app).await.unwrap();
        shown(&app, &key, &update).await["crashes"].as_array().unwrap().len()
    };
    crashes(&app, "d1", STACK).await;
    crashes(&app, "d1", "Error: rare").await;
    app.advance(DAY);
    crashes(&app, "d1", STACK).await;
    app.advance((CRASH_DAYS - 1) * DAY);
    assert_eq!(groups().await, 2);
    app.advance(SECOND);
    assert_eq!(groups().await, 1);
    app.advance(DAY);
    assert_eq!(groups().await, 0);
}
