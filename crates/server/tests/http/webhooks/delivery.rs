//! What receivers get: which events, in which form, with which signatures, and never delayed by other receivers.

use launchway_domain::time::{DAY, HOUR, iso};
use launchway_domain::webhook::DELIVERY_LIFE;
use launchway_jobs::Jobs;
use launchway_jobs::clean_up::clean_up;
use launchway_jobs::fan_out::fan_out;
use launchway_testing::receiver::{Receiver, Reply};
use serde_json::json;

use crate::stage::webhooks::{PATH, answering, assert_signed, secret};
use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, START};

#[tokio::test]
async fn an_event_arrives_as_the_reference_says() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/hook?a=b"), json!({})).await;
    let update = stage.publish_and_deliver().await;
    let all = receiver.received();
    assert_eq!(all.len(), 1);
    let received = &all[0];
    assert_eq!((received.method.as_str(), received.path.as_str()), ("POST", "/hook?a=b"));
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(received.header("user-agent"), concat!("Launchway/", env!("CARGO_PKG_VERSION")));
    assert_eq!(received.json(), json!({"type": "update.published", "timestamp": iso(START), "data": update}));
    assert_signed(received, &[secret(&webhook["secret"])], START);

    let delivery = stage.delivery(&webhook).await;
    let attempt = delivery["attempts"][0].clone();
    let wanted = json!({
        "id": delivery["id"], "status": "succeeded", "webhookId": webhook["id"], "eventId": received.header("webhook-id"),
        "type": "update.published", "createdAt": iso(START), "nextAttemptAt": null, "reason": null,
        "attempts": [{"at": iso(START), "duration": attempt["duration"], "responseStatus": 204, "error": null}],
    });
    assert_eq!(delivery, wanted);
    assert!(attempt["duration"].as_f64().unwrap() < 60.0);
    assert!(delivery.id().starts_with("delivery_") && received.header("webhook-id").starts_with("event_"));
    assert_eq!(stage.webhook_now(&webhook).await["lastDelivery"], delivery);
    assert_eq!(stage.deliver_after(DAY).await, 0, "it is delivered once");
}

#[tokio::test]
async fn each_webhook_gets_only_its_events_apps_and_organization() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    for (path, fields) in [
        ("/all", json!({})),
        ("/app", json!({"bundleIds": ["com.example.OTHER", "COM.example.app"]})),
        ("/other-app", json!({"bundleIds": ["com.example.other"]})),
        ("/changed", json!({"events": ["update.changed", "build.failed"]})),
        ("/nothing", json!({"events": ["build.failed"]})),
    ] {
        stage.webhook(&receiver.url(path), fields).await;
    }
    let (_, other_key) = stage.org_with_key().await;
    let body = json!({"name": "theirs", "url": receiver.url("/theirs"), "events": ["*"]});
    stage.post(&other_key, PATH, body).await.created();

    let update = stage.publish_for(BUNDLE).await;
    let path = format!("/update?id={}", update.id());
    let change = Some(json!({"rollout": 10}));
    stage.patch(&stage.key, &path, change).await.ok();
    assert_eq!(stage.deliver().await, 5);
    let mut told: Vec<String> = receiver
        .received()
        .iter()
        .map(|received| format!("{} {}", received.path, received.json().text("type")))
        .collect();
    told.sort();
    let wanted = [
        "/all update.changed",
        "/all update.published",
        "/app update.changed",
        "/app update.published",
        "/changed update.changed",
    ];
    assert_eq!(told, wanted);
}

#[tokio::test]
async fn an_event_from_before_a_webhook_was_made_is_not_told() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    stage.publish_and_deliver().await;
    stage.webhook(&receiver.url("/"), json!({})).await;
    assert_eq!(stage.deliver().await, 0);
    stage.publish_and_deliver().await;
    assert_eq!(receiver.received().len(), 1);
}

/// Both secrets are valid for 24 hours: `docs/reference/webhooks.md#secret`.
#[tokio::test]
async fn for_a_day_after_a_rotation_both_secrets_sign() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    let path = format!("/webhooks/rotate-secret?id={}", webhook.id());
    let first = secret(&webhook["secret"]);
    let rotate = async |stage: &Stage| {
        let answer = stage.post(&stage.key, &path, ()).await;
        secret(&answer.ok()["secret"])
    };
    stage.publish_and_deliver().await;
    let second = rotate(&stage).await;
    stage.publish_and_deliver().await;
    stage.advance(23 * HOUR);
    let third = rotate(&stage).await;
    stage.publish_and_deliver().await;
    stage.advance(HOUR);
    stage.publish_and_deliver().await;
    stage.advance(23 * HOUR);
    stage.publish_and_deliver().await;
    let received = receiver.received();
    assert_eq!(received.len(), 5);
    for (place, secrets, hours) in [
        (0, vec![first.clone()], 0),
        (1, vec![second.clone(), first.clone()], 0),
        (2, vec![third.clone(), second.clone(), first], 23),
        (3, vec![third.clone(), second], 24),
        (4, vec![third], 47),
    ] {
        assert_signed(&received[place], &secrets, START + hours * HOUR);
    }
}

/// Opening a secret writes a line to the audit log, so an opened secret is cached for an hour. The URL is one, too.
#[tokio::test]
async fn a_secret_is_opened_once_an_hour() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    for pause in [0, HOUR - 1, 1, 1] {
        stage.advance(pause);
        stage.publish_and_deliver().await;
    }
    assert_eq!(receiver.received().len(), 4);
    let mut lines = stage.audit(stage.org).await;
    lines.retain(|line| line.action == "secret.open");
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line.resource == webhook.id() && line.actor == "service"));
}

#[tokio::test]
async fn a_change_of_the_record_counts_for_what_is_still_to_be_sent() {
    let mut stage = Stage::new().local_webhooks().await;
    let (old, new) = (answering(500).await, Receiver::ok().await);
    let webhook = stage.webhook(&old.url("/"), json!({})).await;
    stage.publish_and_deliver().await;
    let body = json!({"id": webhook.id(), "name": "CI", "url": new.url("/"), "events": ["*"]});
    stage.put(&stage.key, PATH, body).await.ok();
    stage.deliver_after(5_000).await;
    assert_eq!((old.received().len(), new.received().len()), (1, 1));
    assert_eq!(stage.delivery(&webhook).await["status"], "succeeded");
}

/// The running service with its jobs, which find the work themselves.
#[tokio::test]
async fn the_running_service_delivers_by_itself() {
    let stage = Stage::new().local_webhooks().await;
    let jobs = Jobs::start(&stage.app);
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_for(BUNDLE).await;
    receiver.wait_for(1).await;
    stage.test_event(&webhook).await;
    receiver.wait_for(2).await;
    // It stops when started work is finished and stored.
    jobs.stop(&stage.app).await;
    let deliveries = stage.deliveries(&webhook).await;
    assert_eq!(deliveries.len(), 2);
    assert!(deliveries.iter().all(|delivery| delivery["status"] == "succeeded"), "{deliveries:?}");
    stage.publish_for(BUNDLE).await;
    assert_eq!(receiver.received().len(), 2, "nothing new is begun");
}

/// Three receivers that never respond, each with more deliveries than may run at once, and one that does respond.
#[tokio::test]
async fn a_slow_receiver_holds_up_nobody_else() {
    let stage = Stage::new().local_webhooks().await;
    let slow = Receiver::start(|_, _| Reply::Silence).await;
    let quick = Receiver::ok().await;
    for _ in 0..3 {
        stage.webhook(&slow.url("/"), json!({})).await;
    }
    stage.webhook(&quick.url("/"), json!({})).await;
    for _ in 0..20 {
        stage.publish_for(BUNDLE).await;
    }
    let _jobs = Jobs::start(&stage.app);
    slow.wait_for(1).await;
    quick.wait_for(20).await;
}

#[tokio::test]
async fn two_nodes_deliver_each_once() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    stage.webhook(&receiver.url("/"), json!({})).await;
    for _ in 0..30 {
        stage.publish_for(BUNDLE).await;
    }
    fan_out(&stage.app).await.unwrap();
    let mut other = stage.another_deliverer();
    let (one, other) = tokio::join!(stage.deliver(), other.deliver_due());
    assert_eq!(one + other.unwrap(), 30);
    let mut ids: Vec<_> = receiver.received().iter().map(|received| received.header("webhook-id").to_owned()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((receiver.received().len(), ids.len()), (30, 30));
}

#[tokio::test]
async fn deliveries_are_listed_newest_first_and_kept_for_thirty_days() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    let mut events = Vec::new();
    for _ in 0..3 {
        stage.advance(1);
        stage.publish_and_deliver().await;
        events.insert(0, receiver.received().last().unwrap().header("webhook-id").to_owned());
    }
    let list = async |query: &str| {
        let path = format!("/webhooks/deliveries?id={}{query}", webhook.id());
        stage.get(&stage.key, &path).await.ok()
    };
    for (query, range) in [("", 0..3), ("&limit=2", 0..2), ("&limit=2&offset=2", 2..3)] {
        let page = list(query).await;
        let listed: Vec<_> = page["items"].as_array().unwrap().iter().map(|item| item["eventId"].clone()).collect();
        assert_eq!((listed, &page["total"]), (events[range].iter().map(|id| json!(id)).collect(), &json!(3)));
    }
    stage.advance(DELIVERY_LIFE - 1);
    clean_up(&stage.app).await.unwrap();
    assert_eq!(list("").await["total"], 2);
    stage.advance(2);
    clean_up(&stage.app).await.unwrap();
    assert_eq!(list("").await["total"], 0);
    let mut tx = stage.app.db.write().await.unwrap();
    let left = tx.system("a test").forget_events_before(i64::MAX, 100).await.unwrap();
    assert_eq!(left, 0, "the events are forgotten too");
    drop(tx);

    for (path, status, message) in [
        ("/webhooks/deliveries", 400, "id is required"),
        ("/webhooks/deliveries?id=", 400, "id is required"),
        ("/webhooks/deliveries?id=nonsense", 404, "No webhook has this id"),
        ("/webhooks/deliveries?id=webhook_01h455vb4pex5vsknk084sn02q", 404, "No webhook has this id"),
    ] {
        stage.get(&stage.key, path).await.refused(status, message);
    }
}
