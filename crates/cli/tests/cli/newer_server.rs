//! A newer server: words that this version does not know are displayed unchanged.

use serde_json::{Value, json};

use crate::build::{ID, stream};
use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, build, page, submission, update};

/// The output of a command when the server has one response.
async fn printed(answer: impl Into<String>, arguments: &[&str]) -> String {
    let server = FakeServer::start([Reply::new(200, answer)]).await;
    Stage::with(&server).run(arguments).await
}

fn has_all(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
}

#[tokio::test]
async fn lists_show_words_that_are_new() {
    let new = json!({"status": "hibernating", "platform": "watchos", "buildType": "profiled", "distribution": "kiosk"});
    let text = printed(page(&[build(new)], 1, 0), &["build", "list"]).await;
    has_all(&text, &["hibernating", "watchos", "--- exit 0"]);
    let new = json!({"status": "preordered", "platform": "watchos", "destination": "moon", "store": "third_store"});
    let text = printed(page(&[submission(new)], 1, 0), &["submit", "list"]).await;
    has_all(&text, &["preordered", "watchos", "moon", "--- exit 0"]);
    let new = json!({"status": "embargoed", "platform": "watchos"});
    let text = printed(page(&[update(new)], 1, 0), &["update", "list"]).await;
    has_all(&text, &["embargoed", "watchos", "--- exit 0"]);
}

#[tokio::test]
async fn a_thing_shows_words_that_are_new() {
    let error = json!({"code": "SOLAR_FLARE", "phase": null, "message": "The sun did it."});
    let new = json!({"status": "hibernating", "platform": "watchos", "error": error});
    let text = printed(build(new).to_string(), &["build", "show", ID]).await;
    has_all(&text, &["hibernating", "watchos", "The sun did it.", "--- exit 0"]);
    let error = json!({"code": "MOON_PHASE", "message": "It wanes.", "fix": "Wait.", "retryable": true});
    let events = json!([{"at": "2026-11-20T10:00:00.000Z", "status": "dreaming", "message": "It sleeps."}]);
    let new = json!({"status": "preordered", "store": "third_store", "error": error, "events": events});
    let text = printed(submission(new).to_string(), &["submit", "show", "submission_1"]).await;
    has_all(&text, &["preordered", "third_store", "MOON_PHASE", "--- exit 0"]);
}

#[tokio::test]
async fn a_word_cannot_move_the_cursor() {
    let new = json!({"status": "\u{1b}[2Jgone"});
    let text = printed(page(&[build(new)], 1, 0), &["build", "list"]).await;
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[tokio::test]
async fn an_end_that_is_new_is_told_and_is_no_success() {
    let events: [(&str, Value); 1] = [("end", json!({"status": "abandoned"}))];
    let text = printed(stream(&events), &["build", "logs", "-f", ID]).await;
    has_all(
        &text,
        &["ended with the status abandoned", "update launchway", "--- exit 11"],
    );
}
