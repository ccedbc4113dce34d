//! The content of a delivery: `{type, timestamp, data}` for programs, a sentence with a link for Slack and Teams channels.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::time::{EpochMs, iso};
use crate::webhook::WebhookType;

/// The maximum number of characters shown of a user's text.
const SHOWN: usize = 300;

/// The generic body of an event that happened at `at`. `data` is JSON text and is inserted unchanged.
pub fn generic(kind: &str, at: EpochMs, data: &str) -> String {
    format!(
        r#"{{"type":{},"timestamp":"{}","data":{data}}}"#,
        Value::from(kind),
        iso(at)
    )
}

/// Renders a generic body for a webhook of this type. Deterministic. `public_url` is the address of the service for people.
pub fn render<'b>(kind: WebhookType, body: &'b str, public_url: &str) -> Cow<'b, str> {
    let told = || {
        let event: Value = serde_json::from_str(body).unwrap_or_default();
        sentence(event["type"].as_str().unwrap_or_default(), &event["data"])
    };
    match kind {
        WebhookType::Generic => Cow::Borrowed(body),
        WebhookType::Slack => Cow::Owned(slack(&told(), public_url).to_string()),
        WebhookType::Teams => Cow::Owned(teams(&told(), public_url).to_string()),
    }
}

/// Slack interprets `<…>` as links and mentions; escaped, it is plain text.
fn slack(sentence: &str, public_url: &str) -> Value {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // A bar would end the URL and begin its label.
    let link = escape(public_url).replace('|', "%7C");
    json!({"text": format!("{} <{link}|Open Launchway>", escape(sentence))})
}

/// A message with an adaptive card, for the "Workflows" webhook of Teams. A text run does not interpret Markdown, so a
/// user's text can be neither a link nor a mention.
fn teams(sentence: &str, public_url: &str) -> Value {
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": sentence}]}],
        "actions": [{"type": "Action.OpenUrl", "title": "Open Launchway", "url": public_url}],
    });
    let attachment = json!({
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": null,
        "content": card,
    });
    json!({"type": "message", "attachments": [attachment]})
}

/// Describes an event in one sentence. Facts that its data do not contain are left out.
pub fn sentence(kind: &str, data: &Value) -> String {
    let about = |what: &str, done: &str| format!("{what}{}{done}", subject(data));
    let failed = |what: &str, done: &str| match text(&data["error"]["message"]) {
        Some(message) => format!("{what}{}{done}: {message}", subject(data)),
        None => about(what, done),
    };
    match kind {
        "build.queued" => about("A build", " is queued"),
        "build.started" => about("A build", " has started"),
        "build.succeeded" => about("A build", " succeeded"),
        "build.failed" => failed("A build", " failed"),
        "build.canceled" => about("A build", " was canceled"),
        "submission.started" => about("A submission", &format!("{} has started", destination(data))),
        "submission.succeeded" => about("A submission", &format!("{} succeeded", destination(data))),
        "submission.failed" => failed("A submission", &format!("{} failed", destination(data))),
        "submission.rejected" => failed("A submission", &format!("{} was rejected", destination(data))),
        "update.published" => about("An update", &format!(" was published{}", offer(data))),
        "update.changed" => {
            let status = text(&data["status"]).map(|status| format!(" and is {status} now"));
            about(
                "An update",
                &format!(" was changed{}{}", status.unwrap_or_default(), offer(data)),
            )
        }
        "update.withdrawn" => about("An update", " was withdrawn"),
        "update.awaiting_signature" => about("An update", " awaits its signature"),
        "trust.changed" => about("The trust", " changed"),
        "trust.expiring" => {
            let role = text(&data["role"]).map_or("A role".to_owned(), |role| format!("The role {role}"));
            let end = text(&data["expiresAt"]).map_or(" soon".to_owned(), |end| format!(" at {end}"));
            about(&role, &format!(" expires{end}"))
        }
        "credential.expiring" => {
            let name = text(&data["name"]).map(|name| format!(" {name}"));
            let end = text(&data["expiresAt"]).map(|end| format!(" at {end}"));
            format!(
                "The credential{} expires{}",
                name.unwrap_or_default(),
                end.unwrap_or(" soon".to_owned())
            )
        }
        "webhook.test" => {
            let name = text(&data["name"]).map(|name| format!(" {name}"));
            format!("This is a test of the webhook{}", name.unwrap_or_default())
        }
        other => about(&format!("The event {}", clip(other)), " happened"),
    }
}

/// Such as ` of com.example.app 1.0.1 (7) for ios`.
fn subject(data: &Value) -> String {
    let parts = [
        text(&data["bundleId"]).map(|bundle| format!(" of {bundle}")),
        text(&data["version"]).map(|version| format!(" {version}")),
        text(&data["buildNumber"]).map(|build| format!(" ({build})")),
        text(&data["platform"]).map(|platform| format!(" for {platform}")),
    ];
    parts.into_iter().flatten().collect()
}

/// Such as ` to app_store (testflight)`.
fn destination(data: &Value) -> String {
    match (text(&data["store"]), text(&data["destination"])) {
        (Some(store), Some(destination)) => format!(" to {store} ({destination})"),
        (Some(place), None) | (None, Some(place)) => format!(" to {place}"),
        (None, None) => String::new(),
    }
}

/// The audience of an update, if it is not everybody.
fn offer(data: &Value) -> String {
    let configuration = text(&data["configuration"]).map(|name| format!(", in configuration {name}"));
    let rollout = data["rollout"].as_i64().filter(|percent| *percent < 100);
    let rollout = rollout.map(|percent| format!(", for {percent}% of devices"));
    configuration.unwrap_or_default() + &rollout.unwrap_or_default()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(clip)
}

/// Reduces a text to one line of limited length.
fn clip(text: &str) -> String {
    let line = |letter: char| if letter.is_control() { ' ' } else { letter };
    let mut shown: String = text.chars().take(SHOWN).map(line).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::EventKind;
    use proptest::prelude::*;

    const URL: &str = "https://updates.example.com";

    #[test]
    fn the_generic_body_is_type_time_and_data() {
        let body = generic("update.published", 1_795_255_201_007, r#"{"b":1, "a":"é"}"#);
        let wanted = r#"{"type":"update.published","timestamp":"2026-11-21T10:00:01.007Z","data":{"b":1, "a":"é"}}"#;
        assert_eq!(body, wanted);
        assert_eq!(render(WebhookType::Generic, &body, URL), wanted);
    }

    #[test]
    fn every_event_has_a_sentence() {
        let update = json!({
            "bundleId": "com.example.app", "version": "1.0.1", "buildNumber": "7", "platform": "ios",
            "status": "paused", "configuration": "staging", "rollout": 20,
        });
        let build = json!({
            "bundleId": "com.example.app", "platform": "android", "error": {"message": "Step `test` failed"},
            "store": "google_play", "destination": "beta",
        });
        let role =
            json!({"bundleId": "com.example.app", "role": "c-production", "expiresAt": "2026-12-01T00:00:00.000Z"});
        let cases = [
            (
                "update.published",
                &update,
                "An update of com.example.app 1.0.1 (7) for ios was published, in configuration staging, for 20% of \
                 devices",
            ),
            (
                "update.changed",
                &update,
                "An update of com.example.app 1.0.1 (7) for ios was changed and is paused now, in configuration staging, \
                 for 20% of devices",
            ),
            (
                "update.withdrawn",
                &update,
                "An update of com.example.app 1.0.1 (7) for ios was withdrawn",
            ),
            (
                "update.awaiting_signature",
                &update,
                "An update of com.example.app 1.0.1 (7) for ios awaits its signature",
            ),
            ("trust.changed", &role, "The trust of com.example.app changed"),
            (
                "trust.expiring",
                &role,
                "The role c-production of com.example.app expires at 2026-12-01T00:00:00.000Z",
            ),
            (
                "build.failed",
                &build,
                "A build of com.example.app for android failed: Step `test` failed",
            ),
            (
                "build.succeeded",
                &build,
                "A build of com.example.app for android succeeded",
            ),
            (
                "submission.rejected",
                &build,
                "A submission of com.example.app for android to google_play (beta) was rejected: Step `test` failed",
            ),
        ];
        for (kind, data, wanted) in cases {
            assert_eq!(sentence(kind, data), wanted);
        }
        let named = json!({"name": "CI", "expiresAt": "2026-12-01T00:00:00.000Z"});
        assert_eq!(
            sentence("credential.expiring", &named),
            "The credential CI expires at 2026-12-01T00:00:00.000Z"
        );
        assert_eq!(sentence("webhook.test", &named), "This is a test of the webhook CI");
        for kind in EventKind::ALL {
            let bare = sentence(kind.as_str(), &Value::Null);
            assert!(!bare.starts_with("The event") && !bare.contains("  "), "{kind}: {bare}");
        }
    }

    #[test]
    fn what_somebody_wrote_is_only_text() {
        let data = json!({"name": "<!channel> & <https://evil.example|ours>\n*bold*"});
        let body = generic("webhook.test", 0, &data.to_string());
        let slack: Value = serde_json::from_str(&render(WebhookType::Slack, &body, URL)).unwrap();
        assert_eq!(
            slack["text"],
            "This is a test of the webhook &lt;!channel&gt; &amp; &lt;https://evil.example|ours&gt; *bold* \
             <https://updates.example.com|Open Launchway>"
        );
        let teams: Value = serde_json::from_str(&render(WebhookType::Teams, &body, URL)).unwrap();
        let attachment = &teams["attachments"][0];
        assert_eq!(
            (&teams["type"], &attachment["contentType"]),
            (&json!("message"), &json!("application/vnd.microsoft.card.adaptive"))
        );
        let run = &attachment["content"]["body"][0]["inlines"][0];
        assert_eq!(run["type"], "TextRun");
        assert_eq!(
            run["text"],
            "This is a test of the webhook <!channel> & <https://evil.example|ours> *bold*"
        );
        assert_eq!(attachment["content"]["actions"][0]["url"], URL);
    }

    #[test]
    fn a_long_text_is_cut() {
        let told = sentence("webhook.test", &json!({"name": "ä".repeat(10_000)}));
        assert!(told.chars().count() < 400 && told.ends_with("ä…"), "{told}");
    }

    proptest! {
        #[test]
        fn any_text_makes_valid_json_and_no_mention(name: String, bundle: String) {
            let data = json!({"name": name, "bundleId": bundle, "error": {"message": name}});
            for kind in ["webhook.test", "build.failed", "update.published", "x.y"] {
                let body = generic(kind, 0, &data.to_string());
                prop_assert_eq!(&serde_json::from_str::<Value>(&body).unwrap()["data"], &data);
                let slack: Value = serde_json::from_str(&render(WebhookType::Slack, &body, URL)).unwrap();
                let text = slack["text"].as_str().unwrap();
                prop_assert_eq!(text.matches('<').count(), 1);
                serde_json::from_str::<Value>(&render(WebhookType::Teams, &body, URL)).unwrap();
                prop_assert_eq!(render(WebhookType::Slack, &body, URL), render(WebhookType::Slack, &body, URL));
            }
        }
    }
}
