//! Updates that devices have from another server keep their ids and times (`docs/reference/foreign-clients.md#publishing`).

use launchway_domain::time::{EpochMs, from_iso, iso};
use serde_json::{Value, json};

use super::phone::{Expo, Phone};
use super::{Day, export};
use crate::stage::BUNDLE;
use crate::support::{Fields, TestApp, with};

const FIRST: &str = "019abcde-0000-7000-8000-000000000001";
const SECOND: &str = "019abcde-0000-7000-8000-000000000002";
const BACK: &str = "019abcde-0000-7000-8000-000000000003";
const FIRST_AT: &str = "2024-01-01T10:00:00.000Z";
const SECOND_AT: &str = "2024-01-02T10:00:00.000Z";

fn named(id: &str, created_at: &str) -> Value {
    json!({"foreignIds": [{"protocol": "expo", "id": id, "createdAt": created_at}]})
}

/// A phone that runs an update of the old server.
fn holder(day: &Day, id: &str, created_at: &str) -> Phone {
    let mut phone = day.phone("device-1");
    phone.runs(id, from_iso(created_at).unwrap());
    phone
}

/// When clients take an update as created.
fn created_at(phone: &Phone, expo: &mut Expo) -> EpochMs {
    let answer = phone.check(expo);
    let manifest: Value = serde_json::from_str(answer["parts"]["manifest"].text("text")).unwrap();
    from_iso(manifest.text("createdAt")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn devices_of_another_server_are_recognized() {
    let mut expo = Expo::install();
    for app in TestApp::on_both().await {
        recognized(&Day::new(app).await, &mut expo).await;
    }
}

async fn recognized(day: &Day, expo: &mut Expo) {
    day.release("one", named(FIRST, FIRST_AT)).await;
    let second = day.release("two", named(SECOND, SECOND_AT)).await;
    let ids = day.read(&second).await["foreignIds"].clone();
    assert_eq!(ids, json!([{"protocol": "expo", "id": SECOND}]));
    assert_eq!(holder(day, SECOND, SECOND_AT).sync(expo), "nothing");
    let mut older = holder(day, FIRST, FIRST_AT);
    assert_eq!(created_at(&older, expo), from_iso(SECOND_AT).unwrap());
    assert_eq!(older.sync(expo), "two");
    assert_eq!(older.running(), SECOND);
    assert_eq!(older.sync(expo), "nothing");
    // One that the server does not know was created before.
    let mut unknown = holder(day, "019abcde-0000-7000-8000-000000000000", "2023-12-31T10:00:00.000Z");
    assert_eq!(unknown.sync(expo), "two");

    // A withdrawal leads its holders back, and a new release is later than all.
    day.change(&second, json!({"status": "withdrawn"})).await;
    let mut holder = holder(day, SECOND, SECOND_AT);
    assert_eq!(holder.sync(expo), "one");
    assert_ne!(holder.running(), FIRST, "it is issued again, and later");
    assert_eq!(holder.sync(expo), "nothing");
    day.release("three", json!({})).await;
    assert_eq!(holder.sync(expo), "three");
    assert_eq!(older.sync(expo), "three");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_given_time_follows_what_is_there() {
    let mut expo = Expo::install();
    let day = Day::new(TestApp::start().await).await;
    day.release("two", named(SECOND, SECOND_AT)).await;
    // It was created earlier but is published later: devices take it, whichever of the two they run.
    day.release("one", named(FIRST, FIRST_AT)).await;
    let mut phone = holder(&day, SECOND, SECOND_AT);
    assert_eq!(created_at(&phone, &mut expo), from_iso(SECOND_AT).unwrap() + 3);
    assert_eq!(phone.sync(&mut expo), "one");
    assert_eq!(holder(&day, FIRST, FIRST_AT).sync(&mut expo), "nothing");

    let back = json!({"kind": "embedded", "bundleId": BUNDLE, "platform": "android", "version": "1.0.9",
                      "configuration": "production", "runtimeVersion": "1.0.0"});
    let back = with(back, &named(BACK, "2024-01-03T10:00:00.000Z"));
    let back = day.app.post(&day.key, "/update", back).await.created();
    assert_eq!(day.read(&back).await["foreignIds"], json!([{"protocol": "expo", "id": BACK}]));
    assert_eq!(phone.sync(&mut expo), "built-in");
    assert_eq!(phone.sync(&mut expo), "nothing");
}

#[tokio::test]
async fn a_given_id_is_a_uuid_with_a_time_of_clients() {
    let day = Day::new(TestApp::start().await).await;
    let zip = export("one", 1);
    let now = day.app.app.clock.now();
    let ahead = iso(now + 400_000);
    let id_only = |id: &str| json!({"foreignIds": [{"protocol": "expo", "id": id}]});
    for (fields, message) in [
        (json!({"foreignIds": [{"protocol": "expo"}]}), "foreignIds: id of expo must be a UUID in lower case"),
        (id_only("v1"), "foreignIds: id of expo must be a UUID in lower case"),
        (id_only(&FIRST.to_uppercase()), "foreignIds: id of expo must be a UUID in lower case"),
        (named(FIRST, "2024-01-01"), "foreignIds: createdAt must be a time such as 2026-11-20T10:00:00.000Z"),
        (named(FIRST, &ahead), "foreignIds: createdAt must be at most 5 minutes ahead of the server's clock"),
        (
            with(named(FIRST, FIRST_AT), &json!({"format": "archive", "runtimeVersion": null})),
            "foreignIds names codepush only for updates of format codepush, capgo only for format archive, and expo only for format expo and kind embedded",
        ),
    ] {
        day.try_release(&zip, fields).await.refused(400, message);
    }
    day.try_release(&zip, id_only(FIRST)).await.created();
    let again = day.try_release(&zip, with(named(FIRST, FIRST_AT), &json!({"version": "1.0.2"}))).await;
    again.refused(400, &format!("expo: another update of this app and platform already has the id {FIRST}"));
}
