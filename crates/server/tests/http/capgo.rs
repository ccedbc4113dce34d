//! A day of an app with Capgo's desktop client, unmodified from npm, against a running server, and what phones send
//! (`docs/reference/capgo.md`).

mod desktop;
mod files;
mod phone;

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use serde_json::{Value, json};

use crate::foreign_stage::{ForeignStage, device};
use crate::foreign_updates::publish;
use crate::npm_client::NpmClient;
use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, NOBODY, TestApp, package, with};
use desktop::Desktop;

/// Publishes web content for production, which Capgo's clients install.
async fn release(stage: &ForeignStage, html: &str, fields: Value) -> Value {
    let body = json!({"configuration": "production", "foreignIds": [{"protocol": "capgo"}]});
    let zip = package("index.html", html.as_bytes());
    publish(&stage.app, &stage.key, &zip, with(body, &fields)).await.created()
}

/// What a phone sends.
fn phone(fields: Value) -> Value {
    let phone = json!({
        "platform": "android", "device_id": "phone-1", "app_id": BUNDLE, "version_build": "1.0.0", "version_code": "1",
        "version_os": "15", "version_name": "builtin", "plugin_version": "8.51.23", "is_emulator": false, "is_prod": true,
        "defaultChannel": "production",
    });
    with(phone, &fields)
}

async fn call(app: &TestApp, path: &str, body: Value) -> Answer {
    app.post(NOBODY, &format!("{}/capgo/{path}", app.origin), body).await
}

/// What a phone is answered.
async fn answer(app: &TestApp, fields: Value) -> Value {
    call(app, "updates", phone(fields)).await.ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_with_capgo_lives_through_a_day() {
    let mut client = NpmClient::install("capgo");
    a_day(&ForeignStage::start().await, &mut client).await;
    a_day(&ForeignStage::on_postgres_and_s3().await, &mut client).await;
}

async fn a_day(stage: &ForeignStage, client: &mut NpmClient) {
    let origin = stage.app.origin.as_str();
    let app = Desktop::install(client, origin, "device-a");
    assert_eq!(app.sync(client), "1.0.0", "nothing is published");

    let first = release(stage, "one", json!({})).await;
    assert_eq!(app.sync(client), "1.0.1");
    assert_eq!(app.refusal(client), "no_new_version_available");
    let reports = stage.reports(&first).await;
    assert_eq!((&reports["downloaded"], &reports["confirmed"]), (&json!(1), &json!(1)));

    // A staged rollout, raised and lowered again: who has it keeps it.
    let second = release(stage, "two", json!({"version": "1.0.2", "rollout": 30})).await;
    let early = Desktop::install(client, origin, &device(&second, 30, true));
    let late = Desktop::install(client, origin, &device(&second, 90, false));
    assert_eq!((early.sync(client), late.sync(client)), ("1.0.2".to_owned(), "1.0.1".to_owned()));
    stage.change(&second, json!({"rollout": 100})).await;
    assert_eq!(late.check(client)["version"], "1.0.2");
    stage.change(&second, json!({"rollout": 1})).await;
    assert_eq!(early.refusal(client), "no_new_version_available");
    stage.change(&second, json!({"rollout": 100})).await;

    // A pause: holders keep it, others get the one below. A withdrawal: holders leave it.
    let third = release(stage, "three", json!({"version": "1.0.3"})).await;
    assert_eq!(app.sync(client), "1.0.3");
    stage.change(&third, json!({"status": "paused"})).await;
    assert_eq!(app.refusal(client), "no_new_version_available");
    assert_eq!(late.check(client)["version"], "1.0.2");
    stage.change(&third, json!({"status": "withdrawn"})).await;
    assert_eq!(app.sync(client), "1.0.2");
    assert_eq!(app.refusal(client), "no_new_version_available");

    // Back to the content of an earlier release, under a new name.
    let again = json!({"sourceUpdateId": first.id(), "bundleId": BUNDLE, "platform": "android", "version": "1.0.1",
                       "configuration": "production", "foreignIds": [{"protocol": "capgo"}]});
    stage.app.post(&stage.key, "/update", again).await.created();
    let name = app.sync(client);
    assert!(name.starts_with("1.0.1+"), "{name}");
    assert_eq!(app.refusal(client), "no_new_version_available");

    // A release that does not start: the client reports it.
    let fifth = release(stage, "five", json!({"version": "1.0.5"})).await;
    assert_eq!(app.sync_and_crash(client), "1.0.5");
    assert_eq!(stage.reports(&fifth).await["failed"], 1);
    stage.change(&fifth, json!({"status": "withdrawn"})).await;
    assert_eq!(app.sync(client), name);

    // The built-in content: the client tells the app, which returns to it.
    stage.back_to_built_in(json!({"configuration": "production"})).await;
    assert_eq!(app.check(client), json!({"version": "builtin"}));
    app.act(client, "reset", json!({}));
    assert_eq!(app.refusal(client), "no_new_version_available");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_desktop_app_chooses_its_channel() {
    let mut client = NpmClient::install("capgo");
    let stage = ForeignStage::start().await;
    release(&stage, "one", json!({})).await;
    let app = Desktop::install(&mut client, &stage.app.origin, "device-1");
    let beta = json!({"channel": "beta"});
    let refused = app.act(&mut client, "set_channel", beta.clone());
    assert_eq!((refused.text("status"), refused.text("error")), ("error", "channel_not_found"));
    assert_eq!(app.act(&mut client, "channel", json!({})).text("channel"), "production");

    release(&stage, "beta", json!({"version": "1.1.0", "configuration": "beta"})).await;
    assert_eq!(app.check(&mut client)["version"], "1.0.1");
    assert_eq!(app.act(&mut client, "set_channel", beta).text("status"), "ok");
    assert_eq!(app.act(&mut client, "channel", json!({})).text("channel"), "beta");
    assert_eq!(app.sync(&mut client), "1.1.0");
    // Names of configurations are told to nobody.
    assert_eq!(app.act(&mut client, "channels", json!({}))["channels"], json!([]));
    app.act(&mut client, "unset_channel", json!({}));
    assert_eq!(app.sync(&mut client), "1.0.1");
}

#[tokio::test]
async fn phones_get_what_fits_their_app() {
    let stage = ForeignStage::start().await;
    let app = &stage.app;
    assert_eq!(answer(app, json!({})).await["error"], "app_not_found");
    let back = json!({"version": "0.9.0", "configuration": "other"});
    stage.back_to_built_in(back).await;
    assert_eq!(answer(app, json!({})).await["error"], "no_new_version_available");
    let update = release(&stage, "one", json!({"version": "1.0.1", "binaryRange": "^1.0.0"})).await;
    let offered = answer(app, json!({})).await;
    assert_eq!((&offered["version"], &offered["checksum"]), (&json!("1.0.1"), &update["sha256"]));
    assert!(offered.get("error").is_none() && offered.get("kind").is_none());

    let newest = release(&stage, "two", json!({"version": "2.0.0", "binaryRange": "^2.0.0"})).await;
    for (fields, error, kind) in [
        (json!({"version_name": "1.0.1"}), "disable_auto_update_to_major", "blocked"),
        (json!({"version_build": "2.1.0"}), "disable_auto_update_under_native", "blocked"),
        (json!({"version_build": "3.0.0"}), "disable_auto_update_under_native", "blocked"),
        (json!({"version_build": "2.0.0", "version_name": "2.0.0"}), "no_new_version_available", "up_to_date"),
        (json!({"platform": "ios"}), "no_new_version_available", "up_to_date"),
        (json!({"defaultChannel": "beta"}), "no_new_version_available", "up_to_date"),
        (json!({"app_id": "com.example.none"}), "app_not_found", "failed"),
        (json!({"key_id": "MIIBCgKCAQEA"}), "encryption_not_supported", "blocked"),
    ] {
        let answer = answer(app, fields.clone()).await;
        assert_eq!((answer.text("error"), answer.text("kind")), (error, kind), "{fields}");
    }
    // What is unknown here is not taken away, and the newest that fits is offered.
    assert_eq!(answer(app, json!({"version_name": "7.7.7"})).await["version"], "1.0.1");
    // Whoever runs the last release that is withdrawn returns to the built-in content.
    stage.change(&newest, json!({"status": "withdrawn"})).await;
    let held = json!({"version_build": "2.0.0", "version_name": "2.0.0", "platform": "electron"});
    assert_eq!(answer(app, held).await, json!({"version": "builtin"}));
    let built_in = answer(app, json!({"version_build": "2.0.0"})).await;
    assert_eq!(built_in["error"], "disable_auto_update_under_native");
}

#[tokio::test]
async fn reports_of_phones_join_ours_once() {
    let stage = ForeignStage::start().await;
    let update = release(&stage, "one", json!({})).await;
    let event =
        |action: &str, device: &str| phone(json!({"version_name": "1.0.1", "action": action, "device_id": device}));
    let crash = event("app_crash", "a");
    for body in [
        json!([event("download_complete", "a"), event("set", "a"), event("app_launch_ready", "a")]),
        json!([crash, crash, event("app_anr", "b"), event("set_fail", "c"), event("update_fail", "c")]),
        crash.clone(),
        json!([event("app_moved_to_foreground", "d"), with(crash.clone(), &json!({"version_name": "9.9.9"})), 5, null]),
        with(crash.clone(), &json!({"app_id": "com.example.none", "device_id": "e"})),
        with(crash.clone(), &json!({"platform": "ios", "device_id": "e"})),
        with(crash, &json!({"device_id": null})),
        json!("nonsense"),
    ] {
        assert_eq!(call(&stage.app, "stats", body).await.ok(), json!({"status": "ok"}));
    }
    let flood: Vec<_> = (0..500).map(|number| event("app_crash", &format!("flood-{number}"))).collect();
    assert_eq!(call(&stage.app, "stats", json!(flood)).await.ok(), json!({"status": "ok"}));
    let reports = stage.reports(&update).await;
    assert_eq!((&reports["downloaded"], &reports["installed"]), (&json!(1), &json!(1)));
    assert_eq!((&reports["confirmed"], &reports["rolledBack"]), (&json!(1), &json!(1)));
    assert_eq!(reports["failed"], 103, "three, and the first hundred of a body");
}

#[tokio::test]
async fn hostile_bodies_are_answered_in_capgos_words() {
    let stage = ForeignStage::start().await;
    release(&stage, "one", json!({})).await;
    let app = &stage.app;
    let large = phone(json!({"custom_id": "x".repeat(20_000)}));
    for (body, error) in [
        (json!({}), "missing_app_id"),
        (json!([]), "invalid_json_body"),
        (json!("text"), "invalid_json_body"),
        (phone(json!({"platform": "web"})), "unsupported_platform"),
        (phone(json!({"app_id": "a".repeat(300)})), "missing_app_id"),
        (phone(json!({"app_id": "../../etc"})), "app_not_found"),
        (large, "body_too_large"),
    ] {
        let answer = call(app, "updates", body).await.ok();
        assert_eq!(answer.text("error"), error);
        assert!(!answer.text("message").is_empty() && !answer.text("kind").is_empty());
    }
    let huge = json!({"app_id": "x".repeat(2 << 20)});
    assert_eq!(call(app, "stats", huge).await.ok(), json!({"status": "ok"}));
    for method in ["GET", "PUT", "DELETE"] {
        let path = format!("{}/capgo/updates", app.origin);
        let sent = app.send(NOBODY, method.parse().unwrap(), &path, json!({})).await;
        assert_eq!(sent.status.as_u16(), 405, "{method}");
    }
    let channel = app.get(NOBODY, &format!("{}/capgo/channel_self?platform=ios", app.origin)).await.ok();
    assert_eq!((channel.text("error"), channel.text("status")), ("missing_app_id", "error"));
    let path = format!("{}/capgo/channel_self?app_id={BUNDLE}&platform=android", app.origin);
    assert_eq!(app.get(NOBODY, &path).await.ok(), json!([]));
    assert_eq!(app.delete(NOBODY, &path).await.ok(), json!({"status": "ok"}));
    let current = app.put(NOBODY, &path, phone(json!({}))).await.ok();
    assert_eq!((current.text("channel"), &current["allowSet"]), ("production", &json!(true)));
}

#[tokio::test]
async fn an_app_of_another_tenant_stays_theirs() {
    let stage = ForeignStage::start().await;
    let other = stage.app.org(Tier::Enterprise).await;
    let theirs = stage.app.key(other, &[Scope::Update]).await;
    let zip = package("index.html", b"theirs");
    let fields = json!({"bundleId": "com.example.theirs", "foreignIds": [{"protocol": "capgo"}]});
    publish(&stage.app, &theirs, &zip, fields).await.created();
    let ours = release(&stage, "one", json!({})).await;
    let crash = phone(json!({"app_id": "com.example.theirs", "action": "app_crash", "version_name": "1.0.1"}));
    call(&stage.app, "stats", crash).await.ok();
    assert_eq!(stage.reports(&ours).await["failed"], 0);
    let theirs = answer(&stage.app, json!({"app_id": "com.example.theirs"})).await;
    assert_ne!(theirs["checksum"], ours["sha256"]);
}

#[tokio::test]
async fn checks_of_capgo_are_counted_and_limited_like_ours() {
    let stage = ForeignStage::with(settings!(check_limit = 2)).await;
    release(&stage, "one", json!({})).await;
    for _ in 0..2 {
        assert_eq!(answer(&stage.app, json!({})).await["version"], "1.0.1");
    }
    let refused = call(&stage.app, "updates", phone(json!({}))).await;
    assert_eq!(refused.status.as_u16(), 429);
    assert!(refused.headers.contains_key("retry-after"));
    let event = phone(json!({"version_name": "1.0.1", "action": "app_crash"}));
    assert_eq!(call(&stage.app, "stats", event).await.ok(), json!({"status": "ok"}));
    let app = &stage.app.app;
    app.check_counts.flush(&app.db, &app.index, app.clock.now()).await.unwrap();
    assert_eq!(stage.app.get(&stage.key, "/usage?id=2026-11").await.ok()["checks"], 2);
}
