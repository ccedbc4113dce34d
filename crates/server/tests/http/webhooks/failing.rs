//! Failing receivers: deliveries are retried on schedule, given up, and their webhook disabled; no event is lost.

use launchway_domain::time::{DAY, HOUR, MINUTE, SECOND, iso};
use launchway_domain::webhook_retry::RETRIES;
use launchway_jobs::deliver::LAPSE;
use launchway_testing::receiver::{Receiver, Reply};
use serde_json::{Value, json};

use crate::stage::webhooks::{PATH, answering, assert_signed, secret};
use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, START};

/// `docs/reference/webhooks.md#retries`
#[tokio::test]
async fn is_tried_again_by_the_schedule_and_then_given_up() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::start(|_, _| Reply::Answer(500, String::new(), b"out of order".to_vec())).await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_and_deliver().await;
    let mut now = START;
    for (tries, pause) in (1..).zip(RETRIES) {
        let delivery = stage.delivery(&webhook).await;
        assert_eq!((&delivery["status"], delivery["attempts"].as_array().unwrap().len()), (&json!("pending"), tries));
        assert_eq!(delivery["nextAttemptAt"], iso(now + pause));
        assert_eq!(stage.deliver_after(pause - 1).await, 0);
        assert_eq!(stage.deliver_after(1).await, 1);
        now += pause;
    }
    let delivery = stage.delivery(&webhook).await;
    assert_eq!(json!([delivery["status"], delivery["nextAttemptAt"]]), json!(["failed", null]));
    let attempts = delivery["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 10);
    assert!(attempts.iter().all(|attempt| attempt["responseStatus"] == 500
        && attempt["error"] == "The receiver responded with status 500: out of order"));
    assert_eq!(stage.deliver_after(30 * DAY).await, 0, "it is given up");

    // Every attempt sends the same event and the same bytes, signed with its own time.
    let received = receiver.received();
    let mut at = START;
    for (place, one) in received.iter().enumerate() {
        assert_eq!(one.header("webhook-id"), received[0].header("webhook-id"));
        assert_eq!(one.body, received[0].body);
        assert_signed(one, &[secret(&webhook["secret"])], at);
        at += RETRIES.get(place).copied().unwrap_or_default();
    }
}

#[tokio::test]
async fn a_receiver_that_comes_back_gets_what_it_missed() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::start(|_, before| Reply::status(if before < 2 { 503 } else { 200 })).await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_and_deliver().await;
    stage.deliver_after(5 * SECOND).await;
    stage.deliver_after(5 * MINUTE).await;
    let delivery = stage.delivery(&webhook).await;
    let statuses: Vec<_> = delivery["attempts"].as_array().unwrap().iter().map(|one| &one["responseStatus"]).collect();
    assert_eq!((json!(statuses), &delivery["status"]), (json!([503, 503, 200]), &json!("succeeded")));
}

fn shown(webhook: &Value) -> Value {
    json!([webhook["status"], webhook["disabledReason"]])
}

/// A webhook whose receiver responded with 410, with one more pending delivery.
async fn gone() -> (Stage, Receiver, Value) {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::start(|_, before| Reply::status(if before == 0 { 500 } else { 410 })).await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_and_deliver().await;
    stage.publish_and_deliver().await;
    (stage, receiver, webhook)
}

#[tokio::test]
async fn a_receiver_that_says_410_is_told_nothing_more() {
    let (mut stage, receiver, webhook) = gone().await;
    assert_eq!(shown(&stage.webhook_now(&webhook).await), json!(["disabled", "The receiver responded with 410 Gone"]));
    let deliveries = stage.deliveries(&webhook).await;
    let mut ends: Vec<_> = deliveries.iter().map(|one| json!([one["status"], one["reason"]])).collect();
    ends.sort_by_key(Value::to_string);
    let canceled = "The webhook was disabled: The receiver responded with 410 Gone";
    assert_eq!(ends, [json!(["canceled", canceled]), json!(["failed", null])]);
    stage.publish_and_deliver().await;
    assert_eq!(stage.deliver_after(DAY).await, 0);
    assert_eq!((receiver.received().len(), stage.deliveries(&webhook).await.len()), (2, 2));

    let lines = stage.audit(stage.org).await;
    let line = lines.iter().find(|line| line.action == "webhook.disable").unwrap();
    assert_eq!((line.actor.as_str(), line.resource.as_str()), ("service", webhook.id()));
    assert!(line.after.as_deref().unwrap().contains("410 Gone"));
    let refused = "This webhook is disabled. Set its status to active first.";
    let test = format!("/webhooks/test?id={}", webhook.id());
    let again = format!("/webhooks/redeliver?id={}", deliveries[0].id());
    for path in [&test, &again] {
        stage.post(&stage.key, path, ()).await.refused(400, refused);
    }
}

#[tokio::test]
async fn a_disabled_one_is_turned_on_again() {
    let (mut stage, _, webhook) = gone().await;
    let receiver = Receiver::ok().await;
    let body = json!({
        "id": webhook.id(), "name": "CI", "url": receiver.url("/"), "events": ["*"], "status": "active",
    });
    let answer = stage.put(&stage.key, PATH, body).await.ok();
    assert_eq!(shown(&answer), json!(["active", null]));
    assert_eq!(stage.deliver_after(DAY).await, 0, "what had ended stays so");
    stage.publish_and_deliver().await;
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn five_days_of_failure_disable() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = answering(500).await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_and_deliver().await;
    stage.advance(5 * DAY - 1);
    stage.publish_and_deliver().await;
    assert_eq!(shown(&stage.webhook_now(&webhook).await), json!(["active", null]));
    stage.advance(1);
    stage.publish_and_deliver().await;
    let disabled = json!(["disabled", "Every attempt has failed for five days"]);
    assert_eq!(shown(&stage.webhook_now(&webhook).await), disabled);
    let statuses: Vec<_> = stage.deliveries(&webhook).await.iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, ["canceled"; 3]);

    // After it is enabled again, it has five days again.
    let body = json!({"id": webhook.id(), "name": "CI", "url": receiver.url("/"), "events": ["*"], "status": "active"});
    stage.put(&stage.key, PATH, body).await.ok();
    stage.publish_and_deliver().await;
    assert_eq!(shown(&stage.webhook_now(&webhook).await), json!(["active", null]));
}

#[tokio::test]
async fn one_success_makes_the_five_days_begin_anew() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::start(|_, before| Reply::status(if before == 1 { 200 } else { 500 })).await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_and_deliver().await;
    stage.deliver_after(5 * SECOND).await;
    stage.advance(5 * DAY);
    stage.publish_and_deliver().await;
    stage.advance(5 * DAY - HOUR);
    stage.publish_and_deliver().await;
    assert_eq!(shown(&stage.webhook_now(&webhook).await), json!(["active", null]));
}

#[tokio::test]
async fn turned_off_by_hand_or_deleted_it_gets_nothing_more() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = answering(500).await;
    let (off, deleted) = (
        stage.webhook(&receiver.url("/off"), json!({})).await,
        stage.webhook(&receiver.url("/deleted"), json!({})).await,
    );
    stage.publish_and_deliver().await;
    stage.publish_for(BUNDLE).await;
    let body = json!({"id": off.id(), "name": "CI", "url": receiver.url("/"), "events": ["*"], "status": "disabled"});
    stage.put(&stage.key, PATH, body).await.ok();
    stage.delete(&stage.key, &format!("{PATH}?id={}", deleted.id())).await.ok();
    assert_eq!(stage.deliver_after(DAY).await, 0);
    assert_eq!(receiver.received().len(), 2);
    let delivery = stage.delivery(&off).await;
    assert_eq!(
        json!([delivery["status"], delivery["reason"], delivery["nextAttemptAt"]]),
        json!(["canceled", "The webhook was disabled", null])
    );
}

/// A node dies after a claim without a trace; after the claim has expired, another node delivers.
#[tokio::test]
async fn what_a_dead_node_had_claimed_is_delivered_by_another() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_for(BUNDLE).await;
    launchway_jobs::fan_out::fan_out(&stage.app).await.unwrap();
    let mut tx = stage.app.db.write().await.unwrap();
    let mut system = tx.system("a test");
    let due = system.due_webhooks(START, 10).await.unwrap();
    let claimed = system.claim_deliveries(due[0].id, START, START + LAPSE, 10).await.unwrap();
    assert_eq!(claimed.len(), 1);
    tx.commit().await.unwrap();
    assert_eq!(stage.deliver_after(LAPSE - 1).await, 0);
    assert_eq!(stage.deliver_after(1).await, 1);
    let delivery = stage.delivery(&webhook).await;
    assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(receiver.received()[0].header("webhook-id"), delivery.text("eventId"));
}

/// The error of a webhook's only attempt.
async fn error_of(stage: &mut Stage, url: &str) -> Value {
    let webhook = stage.webhook(url, json!({})).await;
    stage.publish_and_deliver().await;
    let delivery = stage.delivery(&webhook).await;
    let attempt = &delivery["attempts"][0];
    stage.delete(&stage.key, &format!("{PATH}?id={}", webhook.id())).await.ok();
    json!([attempt["responseStatus"], attempt["error"]])
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut stage = Stage::new().local_webhooks().await;
    let target = Receiver::ok().await;
    for status in [301, 302, 303, 307, 308] {
        let location = target.url("/");
        let receiver = Receiver::start(move |_, _| Reply::Answer(status, location.clone(), Vec::new())).await;
        let wanted =
            json!([status, format!("The receiver responded with status {status}, and redirects are not followed")]);
        assert_eq!(error_of(&mut stage, &receiver.url("/")).await, wanted);
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn what_went_wrong_is_told() {
    let mut stage = Stage::new().local_webhooks().await;
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let refused = error_of(&mut stage, &format!("http://{closed}/secret")).await;
    assert_eq!(refused, json!([null, "The connection was refused"]));
    let unknown = error_of(&mut stage, "http://nobody.invalid/secret").await;
    assert_eq!(unknown, json!([null, "The name nobody.invalid cannot be resolved"]));
    let plain = Receiver::ok().await;
    let url = plain.url("/secret").replace("http:", "https:");
    let tls = error_of(&mut stage, &url).await[1].as_str().unwrap().to_owned();
    assert!(tls.starts_with("The TLS connection failed") && !tls.contains("secret"), "{tls}");
}

/// An attempt takes at most 15 s (`docs/reference/webhooks.md#sending`). This test waits in real time.
#[tokio::test]
async fn a_receiver_that_never_answers_is_given_fifteen_seconds() {
    let mut stage = Stage::new().local_webhooks().await;
    let silent = Receiver::start(|_, _| Reply::Silence).await;
    let wanted = json!([null, "The receiver did not respond within 15 seconds"]);
    assert_eq!(error_of(&mut stage, &silent.url("/")).await, wanted);
}

#[tokio::test]
async fn of_a_large_answer_only_the_start_is_read() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::start(|_, _| Reply::Answer(400, String::new(), vec![b'x'; 50_000_000])).await;
    let told = error_of(&mut stage, &receiver.url("/")).await;
    assert_eq!(told, json!([400, format!("The receiver responded with status 400: {}", "x".repeat(200))]));
}
