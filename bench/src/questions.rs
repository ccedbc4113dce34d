//! The questions of the load: the checks of installed apps, and how the body of each response must begin.

use std::net::SocketAddr;

use crate::bundles::{self, PLATFORMS, Platform};

/// The maximum number of distinct requests; they are sent in turn.
const MOST: u32 = 131_072;

/// One request and the expected response.
#[derive(Clone, Debug)]
pub struct Question {
    /// The bytes of the request.
    pub request: Vec<u8>,
    /// How the body of the response begins; empty if the response has no body.
    pub expected: &'static [u8],
}

/// A check of an app, and how the response begins.
type Kind = fn(&Installed) -> (String, &'static [u8]);

/// The kinds of installed apps.
const KINDS: [Kind; 4] = [outdated, known_device, up_to_date, other_native_code];

/// An installed app.
struct Installed {
    platform: Platform,
    number: u32,
}

/// Questions for a server with this many bundles: bundles from the whole range, both platforms, alternating kinds.
pub fn questions(address: SocketAddr, bundles: u32) -> Vec<Question> {
    let count = bundles.saturating_mul(8).min(MOST);
    (0..count)
        .map(|number| {
            let bundle = (u64::from(number) * u64::from(bundles) / u64::from(count)) as u32;
            let platform = PLATFORMS[number as usize / KINDS.len() % PLATFORMS.len()];
            let (query, expected) = KINDS[number as usize % KINDS.len()](&Installed { platform, number });
            let request = format!(
                "GET /api/update/check/{}?platform={platform}&configuration={}&{query} HTTP/1.1\r\nHost: {address}\r\n\
                 User-Agent: ExampleApp/41 (Mobile)\r\nAccept: application/json\r\n\r\n",
                bundles::bundle_id(bundle),
                bundles::CONFIGURATION,
            );
            Question {
                request: request.into_bytes(),
                expected,
            }
        })
        .collect()
}

/// Those of the questions whose response is that there is no update.
pub fn without_update(questions: &[Question]) -> Vec<Question> {
    let up_to_date = questions.iter().skip(2).step_by(KINDS.len());
    up_to_date.cloned().collect()
}

/// The same questions for a server at another address that returns the same response to all of them.
pub fn to_peer(questions: &[Question]) -> Vec<Question> {
    let mut all = questions.to_vec();
    for question in &mut all {
        question.expected = crate::twin::BEGINNING;
    }
    all
}

fn outdated(app: &Installed) -> (String, &'static [u8]) {
    let query = format!(
        "currentVersion=1.1.0&currentBuild=41&fingerprint={}",
        bundles::fingerprint(app.platform)
    );
    (query, br#"{"updateAvailable":true,"requiresStoreUpdate":false,"#)
}

fn known_device(app: &Installed) -> (String, &'static [u8]) {
    let (query, expected) = outdated(app);
    let device = format!("2f9c6d1e-7b0a-4a63-9f51-{:012x}", app.number);
    (format!("{query}&deviceId={device}"), expected)
}

fn up_to_date(app: &Installed) -> (String, &'static [u8]) {
    let query = format!(
        "currentVersion={}&currentBuild={}&fingerprint={}",
        bundles::VERSION,
        bundles::BUILD,
        bundles::fingerprint(app.platform)
    );
    (query, br#"{"updateAvailable":false,"message":"No update available"}"#)
}

fn other_native_code(_: &Installed) -> (String, &'static [u8]) {
    let query = format!("currentVersion=1.0.3&currentBuild=17&fingerprint={}", "0".repeat(64));
    (query, br#"{"updateAvailable":true,"requiresStoreUpdate":true,"#)
}
