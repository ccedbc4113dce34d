//! Test events, and manual redelivery.

use launchway_testing::receiver::Receiver;
use reqwest::Method;
use serde_json::json;

use crate::stage::Stage;
use crate::stage::webhooks::{PATH, answering, assert_signed, secret};
use crate::support::{Answer, Fields, START};

#[tokio::test]
async fn a_test_goes_to_that_webhook_whatever_its_events() {
    let mut stage = Stage::new().local_webhooks().await;
    let (receiver, bystander) = (Receiver::ok().await, Receiver::ok().await);
    stage.webhook(&bystander.url("/"), json!({})).await;
    for fields in [json!({}), json!({"events": ["build.failed"], "bundleIds": ["com.example.app"]})] {
        let webhook = stage.webhook(&receiver.url("/"), fields).await;
        let delivery = stage.test_event(&webhook).await;
        assert_eq!(
            json!([delivery["status"], delivery["type"], delivery["webhookId"], delivery["attempts"]]),
            json!(["pending", "webhook.test", webhook["id"], []])
        );
        stage.deliver().await;
        let received = receiver.received().pop().unwrap();
        assert_eq!(received.header("webhook-id"), delivery.text("eventId"));
        assert_signed(&received, &[secret(&webhook["secret"])], START);
        let body = received.json();
        assert_eq!(json!([body["type"], body["data"]]), json!(["webhook.test", {"id": webhook["id"], "name": "CI"}]));
        let sent = stage.delivery(&webhook).await;
        assert_eq!(json!([sent["id"], sent["status"]]), json!([delivery["id"], "succeeded"]));
    }
    assert_eq!(bystander.received().len(), 0);
}

#[tokio::test]
async fn a_redelivery_is_the_same_event_as_a_new_delivery() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = answering(404).await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    stage.publish_and_deliver().await;
    let first = stage.delivery(&webhook).await;
    stage.advance(1_000);
    let again = stage.post(&stage.key, &format!("/webhooks/redeliver?id={}", first.id()), ()).await.created();
    assert_ne!(again["id"], first["id"]);
    assert_eq!(
        json!([again["status"], again["eventId"], again["type"]]),
        json!(["pending", first["eventId"], "update.published"])
    );
    assert_eq!(stage.deliver().await, 1, "at once; the first waits for its own time");
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[1].body, received[0].body);
    assert_eq!(received[1].header("webhook-id"), received[0].header("webhook-id"));
    assert_signed(&received[1], &[secret(&webhook["secret"])], START + 1_000);
    let ids: Vec<_> = stage.deliveries(&webhook).await.iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, [again["id"].clone(), first["id"].clone()]);
}

#[tokio::test]
async fn an_idempotent_request_sends_once() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    let ask = async |path: &str| {
        let request = stage.request(Method::POST, path).bearer_auth(&stage.key).header("idempotency-key", "once");
        Answer::to(request).await
    };
    let test = format!("/webhooks/test?id={}", webhook.id());
    let first = ask(&test).await.created();
    assert_eq!(ask(&test).await.created(), first);
    let again = format!("/webhooks/redeliver?id={}", first.id());
    let second = ask(&again).await.created();
    assert_eq!(ask(&again).await.created(), second);
    let other = stage.webhook(&receiver.url("/"), json!({})).await;
    ask(&format!("/webhooks/test?id={}", other.id()))
        .await
        .refused(400, "This Idempotency-Key was used with another body. Use a new key.");
    assert_eq!(stage.deliver().await, 2);
}

#[tokio::test]
async fn an_id_that_names_nothing_is_not_found() {
    let stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/"), json!({})).await;
    let delivery = stage.test_event(&webhook).await;
    let post = async |path: String| stage.post(&stage.key, &path, ()).await;
    for unused in ["webhook_01h455vb4pex5vsknk084sn02q", "nonsense", delivery.id()] {
        post(format!("/webhooks/test?id={unused}")).await.refused(404, "No webhook has this id");
    }
    for unused in ["delivery_01h455vb4pex5vsknk084sn02q", "nonsense", webhook.id()] {
        post(format!("/webhooks/redeliver?id={unused}")).await.refused(404, "No delivery has this id");
    }
    for path in ["/webhooks/test", "/webhooks/redeliver?id=", "/webhooks/rotate-secret"] {
        post(path.to_owned()).await.refused(400, "id is required");
    }
    // Deleting a webhook deletes its deliveries.
    stage.delete(&stage.key, &format!("{PATH}?id={}", webhook.id())).await.ok();
    post(format!("/webhooks/redeliver?id={}", delivery.id())).await.refused(404, "No delivery has this id");
}
