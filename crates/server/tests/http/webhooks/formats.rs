//! Messages for chats: a sentence and a link, in the format of Slack and Teams.

use launchway_testing::receiver::Receiver;
use serde_json::json;

use crate::stage::webhooks::{answering, assert_signed, secret};
use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, START, Says};

const SENTENCE: &str = "An update of com.example.app 1.0.1 (1) for android was published";

#[tokio::test]
async fn slack_gets_a_text() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    let webhook = stage.webhook(&receiver.url("/"), json!({"type": "slack"})).await;
    stage.publish_for(BUNDLE).await;
    stage.deliver().await;
    let received = receiver.received().pop().unwrap();
    let link = format!("<{}|Open Launchway>", stage.origin);
    assert_eq!(received.json(), json!({"text": format!("{SENTENCE} {link}")}));
    assert_signed(&received, &[secret(&webhook["secret"])], START);
}

#[tokio::test]
async fn teams_gets_an_adaptive_card() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = Receiver::ok().await;
    stage.webhook(&receiver.url("/"), json!({"type": "teams"})).await;
    stage.publish_for(BUNDLE).await;
    stage.deliver().await;
    let message = receiver.received().pop().unwrap().json();
    let attachment = &message["attachments"][0];
    assert_eq!(
        json!([message["type"], attachment["contentType"], attachment["content"]["type"]]),
        json!(["message", "application/vnd.microsoft.card.adaptive", "AdaptiveCard"])
    );
    let card = &attachment["content"];
    assert_eq!(card["body"][0]["inlines"][0]["text"], SENTENCE);
    assert_eq!(card["actions"][0]["url"], stage.origin);
}

/// User-chosen names are plain text in a chat: no mention, no link.
#[tokio::test]
async fn nobody_can_mention_a_channel() {
    let mut stage = Stage::new().local_webhooks().await;
    let receiver = answering(500).await;
    let webhook = stage.webhook(&receiver.url("/"), json!({"type": "slack", "name": "<!channel> & <@U1>"})).await;
    stage.test_event(&webhook).await;
    stage.deliver().await;
    stage.deliver_after(5_000).await;
    let received = receiver.received();
    let message = received[0].json();
    let text = message.text("text");
    text.says("&lt;!channel&gt; &amp; &lt;@U1&gt;");
    assert_eq!(received[1].body, received[0].body, "the same bytes at every try");
}
