//! `GET /build/log/stream`: the live log, each byte once and in order, changes of the build, the end, resumption.

use std::time::Duration;

use launchway_domain::build::Outcome;
use launchway_domain::id::BuildId;
use launchway_domain::tenancy::Role;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::stage::builds::{Play, build, built, id_of, running};
use crate::support::{Answer, Fields, Setup, TestApp};

/// An event as received.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

/// An open stream.
struct Stream {
    response: Response,
    buffer: String,
    bytes: Vec<u8>,
}

impl Stream {
    async fn open(app: &TestApp, key: &str, id: BuildId, from: Option<&str>) -> Stream {
        let request = app.request(Method::GET, &format!("/build/log/stream?id={id}")).bearer_auth(key);
        Self::of(match from {
            Some(from) => request.header("last-event-id", from),
            None => request,
        })
        .await
    }

    async fn of(request: RequestBuilder) -> Stream {
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Stream { response, buffer: String::new(), bytes: Vec::new() }
    }

    /// The next event; `None` at the end. Skips comments.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.buffer = rest;
                if block.starts_with(':') {
                    continue;
                }
                let field = |name: &str| {
                    let start = format!("{name}: ");
                    block.lines().find_map(|line| line.strip_prefix(&start)).map(str::to_owned)
                };
                return Some(Event {
                    name: field("event").unwrap(),
                    id: field("id"),
                    data: serde_json::from_str(&field("data").unwrap()).unwrap(),
                });
            }
            let more = tokio::time::timeout(Duration::from_secs(60), self.response.chunk()).await;
            let Some(more) = more.expect("something within a minute").unwrap() else {
                assert!(self.buffer.is_empty() && self.bytes.is_empty(), "torn: {}", self.buffer);
                return None;
            };
            // The connection may split a character, the stream does not.
            self.bytes.extend(&more);
            let whole = match std::str::from_utf8(&self.bytes) {
                Ok(_) => self.bytes.len(),
                Err(error) => error.valid_up_to(),
            };
            let rest = self.bytes.split_off(whole);
            self.buffer += &String::from_utf8(std::mem::replace(&mut self.bytes, rest)).unwrap();
        }
    }

    async fn all(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// The text of all `log` events, whose offsets must be contiguous from `start` on.
fn text(events: &[Event], start: i64) -> String {
    let mut at = start;
    let mut all = String::new();
    for event in events.iter().filter(|event| event.name == "log") {
        assert_eq!(event.data["offset"], at, "{event:?}");
        at = event.id.as_ref().unwrap().parse().unwrap();
        all += event.data.text("text");
    }
    all
}

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn a_build_is_followed_from_the_queue_to_its_end() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let made = build(&app, &key, json!({})).await.created();
        let id = id_of(&made);
        let play = Play { app: &app, org, id };
        let mut stream = Stream::open(&app, &key, id, None).await;
        let first = stream.next().await.unwrap();
        assert_eq!((first.name.as_str(), &first.id, &first.data), ("build", &None, &made));
        play.leased(crate::stage::builds::runner(&app, None, &[]).await).await;
        let event = stream.next().await.unwrap();
        assert_eq!((event.name.as_str(), &event.data["status"]), ("build", &json!("running")));
        play.prints("héllo\n".as_bytes()).await;
        let event = stream.next().await.unwrap();
        assert_eq!((event.name.as_str(), event.id.as_deref()), ("log", Some("7")));
        assert_eq!(event.data, json!({"offset": 0, "text": "héllo\n"}));
        play.phases(&["source"]).await;
        assert_eq!(stream.next().await.unwrap().data["phase"], "source");
        app.post(&key, &format!("/build/cancel?id={id}"), ()).await.ok();
        assert_eq!(stream.next().await.unwrap().data["cancelRequested"], true);
        play.prints(b"bye\n").await;
        play.ends(Outcome::Canceled).await;
        let rest = stream.all().await;
        assert_eq!(text(&rest, 7), "bye\n");
        let end = rest.last().unwrap();
        assert_eq!((end.name.as_str(), &end.data["status"]), ("end", &json!("canceled")));
        assert_eq!(end.data, crate::stage::builds::read(&app, &key, id).await);
    }
}

#[tokio::test]
async fn a_stream_resumes_where_it_was_cut() {
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    let play = Play { app: &app, org, id };
    let log: String = (0..20_000).map(|line| format!("line {line} ü 漢\n")).collect();
    for chunk in log.as_bytes().chunks(77_777) {
        play.prints(chunk).await;
    }
    play.sealed(0, &log.as_bytes()[..77_777]).await;
    let (mut got, mut from) = (String::new(), None::<String>);
    for _ in 0..3 {
        let mut stream = Stream::open(&app, &key, id, from.as_deref()).await;
        assert_eq!(stream.next().await.unwrap().name, "build");
        let event = stream.next().await.unwrap();
        let start = from.as_ref().map_or(0, |from| from.parse().unwrap());
        got += &text(std::slice::from_ref(&event), start);
        from = event.id;
    }
    play.ends(Outcome::Success).await;
    let start = from.as_ref().unwrap().parse().unwrap();
    let rest = Stream::open(&app, &key, id, from.as_deref()).await.all().await;
    got += &text(&rest, start);
    assert!(got == log, "{} of {} bytes", got.len(), log.len());
    // A stream of an ended build contains only the log and the end; a resumed one repeats the end.
    assert_eq!(names(&rest).last(), Some(&"end"));
    let whole = Stream::open(&app, &key, id, None).await.all().await;
    assert!(text(&whole, 0) == log);
    assert!(whole.iter().all(|event| event.name != "build"));
    let at_end = Stream::open(&app, &key, id, Some(&log.len().to_string())).await.all().await;
    assert_eq!(names(&at_end), ["end"]);
    let path = format!("/build/log/stream?id={id}&offset=10");
    let request = app.request(Method::GET, &path).bearer_auth(&key);
    let from_offset = Stream::of(request).await.all().await;
    assert!(text(&from_offset, 10) == log[10..]);
}

#[tokio::test]
async fn a_character_is_never_torn_and_what_is_none_is_replaced() {
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    let play = Play { app: &app, org, id };
    let mut stream = Stream::open(&app, &key, id, None).await;
    assert_eq!(stream.next().await.unwrap().name, "build");
    let rocket = "🚀".as_bytes();
    play.prints(b"a").await;
    assert_eq!(stream.next().await.unwrap().data["text"], "a");
    play.prints(&rocket[..2]).await;
    play.prints(&rocket[2..]).await;
    let event = stream.next().await.unwrap();
    assert_eq!((event.data["text"].as_str(), event.id.as_deref()), (Some("🚀"), Some("5")));
    play.prints(b"\xff\x00\r\n").await;
    let event = stream.next().await.unwrap();
    assert_eq!(event.data, json!({"offset": 5, "text": "\u{fffd}\u{0}\r\n"}));
    // A line that was started and never finished appears at the end.
    play.prints(&rocket[..3]).await;
    play.ends(Outcome::Success).await;
    let rest = stream.all().await;
    assert_eq!(text(&rest, 9), "\u{fffd}");
    assert_eq!(rest[0].id.as_deref(), Some("12"));
    assert_eq!(names(&rest), ["log", "end"]);
}

#[tokio::test]
async fn what_another_node_writes_comes_too() {
    let one = TestApp::with(Setup::on_postgres()).await;
    let two = one.another_node().await;
    let (org, key, id) = running(&one).await;
    let mut stream = Stream::open(&two, &key, id, None).await;
    assert_eq!(stream.next().await.unwrap().name, "build");
    let play = Play { app: &one, org, id };
    play.prints(b"from afar\n").await;
    assert_eq!(stream.next().await.unwrap().data["text"], "from afar\n");
    play.ends(Outcome::Success).await;
    assert_eq!(names(&stream.all().await), ["end"]);
}

#[tokio::test]
async fn a_stream_ends_with_its_build_and_with_the_service() {
    let app = TestApp::start().await;
    let (_, key, id) = running(&app).await;
    let mut stream = Stream::open(&app, &key, id, None).await;
    assert_eq!(stream.next().await.unwrap().name, "build");
    app.delete(&key, &format!("/build?id={id}")).await.ok();
    assert_eq!(stream.all().await, []);
    let id = built(&app, &key, json!({})).await;
    let mut stream = Stream::open(&app, &key, id, None).await;
    assert_eq!(stream.next().await.unwrap().name, "build");
    app.app.stopping.cancel();
    assert_eq!(stream.all().await, []);
}

#[tokio::test]
async fn a_browser_follows_with_its_cookie_and_a_stranger_does_not() {
    let app = TestApp::start().await;
    let (org, key, id) = running(&app).await;
    let cookie = app.user(org, "ada@example.com", Role::Member).await;
    let path = format!("/build/log/stream?id={id}");
    let request = app.request(Method::GET, &path).header("cookie", cookie);
    let mut stream = Stream::of(request).await;
    assert_eq!(stream.next().await.unwrap().name, "build");
    let (_, stranger) = app.org_with_key().await;
    let refused = app.get(&stranger, &path).await;
    refused.refused(404, "No build has this id");
    let ask = async |header: &str| {
        let request = app.request(Method::GET, &path).bearer_auth(&key);
        Answer::to(request.header("last-event-id", header)).await
    };
    for header in ["x", "-1", "1.5"] {
        ask(header).await.refused(400, "Last-Event-ID must be the id of an event of this stream");
    }
    ask("1").await.refused(400, "offset is too large: the log has 0 bytes");
}

#[tokio::test]
async fn an_organization_has_so_many_streams_open_and_no_more() {
    let app = TestApp::start().await;
    let (_, key, id) = running(&app).await;
    let mut streams = Vec::new();
    for _ in 0..100 {
        streams.push(Stream::open(&app, &key, id, None).await);
    }
    let path = format!("/build/log/stream?id={id}");
    app.get(&key, &path).await.refused(429, "Too many requests. Try again in 10 seconds.");
    // Another organization has its own connection limit.
    let (_, other) = app.org_with_key().await;
    let theirs = built(&app, &other, json!({"bundleId": "com.example.other"})).await;
    Stream::open(&app, &other, theirs, None).await;
    streams.clear();
    crate::support::until("a place is free again", async || {
        let answer = app.request(Method::GET, &path).bearer_auth(&key).send().await.unwrap();
        answer.status().as_u16() == 200
    })
    .await;
}
