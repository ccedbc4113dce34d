//! The parsers of paths and queries with mutated input: every response is a well-formed 200 or 400.

use axum::body::Body;
use axum::http::{Request, Uri};
use http_body_util::BodyExt;
use launchway_web::query::Query;
use launchway_web::server::HttpServer;
use serde_json::{Value, json};

use crate::support::TestApp;

/// One check per line, as path and query; inputs that once failed are added here.
const CORPUS: &str = include_str!("../corpus/query/checks.txt");
/// Tokens that parsers stumble over.
const PIECES: [&str; 16] = [
    "%",
    "%2",
    "%00",
    "%ff",
    "+",
    "&",
    "=",
    "&currentVersion=1.0.0",
    "&platform=ios",
    ".",
    "-",
    "0",
    "9999999999999999999",
    "&currentBuild=",
    "é",
    "/",
];

/// A generator that returns the same numbers for the same seed (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

fn mutate(numbers: &mut Numbers) -> String {
    let lines: Vec<&str> = CORPUS.lines().collect();
    let mut text: Vec<char> = lines[numbers.below(lines.len())].chars().collect();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(text.len() + 1);
        match numbers.below(4) {
            0 => drop(text.splice(at..at, PIECES[numbers.below(PIECES.len())].chars())),
            1 if at < text.len() => drop(text.remove(at)),
            2 if at < text.len() => text[at] = char::from(33 + numbers.below(94) as u8),
            _ => {
                let other = lines[numbers.below(lines.len())];
                text.truncate(at);
                text.extend(other.chars().skip(numbers.below(other.len())));
            }
        }
    }
    text.into_iter().collect()
}

async fn fuzz(runs: usize, seed: u64) {
    let (app, key) = TestApp::with_key().await;
    app.publish(&key, json!({"version": "1.5.0", "rollout": 50})).await.created();
    app.publish(&key, json!({"configuration": "production", "fingerprint": "abc"})).await.created();
    let server = HttpServer::new(app.app.clone());
    let mut numbers = Numbers(seed);
    let (mut asked, mut counts) = (0, [0usize; 4]);
    while asked < runs {
        let input = mutate(&mut numbers);
        let path = input.split('?').next().unwrap_or_default();
        // Invalid URIs and other paths never reach the check.
        let Ok(uri) = format!("/api/update/check/{input}").parse::<Uri>() else {
            continue;
        };
        if path.contains('/') || path.contains('#') {
            continue;
        }
        asked += 1;
        let request = Request::get(uri).body(Body::empty()).unwrap();
        let answer = server.answer(request, "192.0.2.1".parse().unwrap()).await;
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_else(|_| panic!("no JSON for {input:?}: {bytes:?}"));
        match (status, body["updateAvailable"].as_bool(), body["message"].as_str()) {
            (200, Some(true), None) => counts[0] += 1,
            (200, Some(false), Some("No update available")) => counts[1] += 1,
            (200, Some(false), Some("No updates found for this bundle")) => counts[2] += 1,
            (400, None, Some(message)) if body["error"] == "Bad Request" && !message.is_empty() => counts[3] += 1,
            _ => panic!("{status} {body} for {input:?}"),
        }
        let query = Query::parse(&input);
        let _ = (query.paging(), query.get("currentVersion"), query.raw("id"));
    }
    let [update, none, unknown, refused] = counts;
    assert!(counts.iter().all(|count| *count > 0), "the input does not reach every answer: {counts:?}");
    println!(
        "summary: query parsers, {asked} runs: {update} update, {none} none, {unknown} unknown bundle, {refused} refused"
    );
}

#[tokio::test]
async fn mutated_checks_get_an_answer_of_the_right_form() {
    fuzz(5_000, 0x9e37_79b9_7f4a_7c15).await;
}

#[tokio::test]
#[ignore = "long run"]
async fn a_million_mutated_checks_get_an_answer_of_the_right_form() {
    for seed in 1..=4 {
        fuzz(250_000, 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed)).await;
    }
}
