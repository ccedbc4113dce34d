//! Reports that wait for the server (`docs/reference/sdk.md#reports`): one JSON object a line in `events.jsonl`.

use std::io;

use launchway_domain::{percent, time};
use launchway_trust::json::{self, Value, object};

use crate::check::{read_body, retry_after};
use crate::files::{read, replace};
use crate::ports::{Network, Request, Storage};
use crate::settings::Settings;

const FILE: &str = "events.jsonl";
/// The most reports that wait. The oldest leave first.
pub const MAX_EVENTS: usize = 200;
/// The most characters of a reason.
const MAX_REASON: usize = 200;
/// The most bytes of a crash's stack.
pub const MAX_STACK: usize = 8 << 10;
/// The most bytes of the file: every event with the longest stack, escaped.
const MAX_FILE: usize = MAX_EVENTS * (8 * MAX_STACK);
/// The most bytes of a line.
const MAX_LINE: usize = 8 * MAX_STACK;
/// So many reports go in one request.
const BATCH: usize = 50;

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `downloaded`, `installed`, `confirmed`, `rolled_back`, `failed` or `crash`.
    pub kind: String,
    /// The update, or `embedded:<build>`.
    pub update_id: String,
    /// When it happened, in milliseconds since 1970.
    pub at: u64,
    /// Why.
    pub reason: Option<String>,
    /// Where it crashed.
    pub stack: Option<String>,
}

impl Event {
    fn to_json(&self) -> Value {
        let at = time::iso(i64::try_from(self.at).unwrap_or(0));
        let mut members = object([
            ("type", Value::from(&*self.kind)),
            ("updateId", Value::from(&*self.update_id)),
            ("at", Value::from(at)),
        ]);
        for (name, value) in [("reason", &self.reason), ("stack", &self.stack)] {
            members.extend(value.as_deref().map(|value| (name.to_owned(), Value::from(value))));
        }
        Value::Object(members)
    }

    fn from_json(json: &Value) -> Option<Self> {
        let text = |name| json.get(name).and_then(Value::as_text).map(ToOwned::to_owned);
        Some(Self {
            kind: text("type")?,
            update_id: text("updateId")?,
            at: time::from_iso(&text("at")?)?.try_into().ok()?,
            reason: text("reason"),
            stack: text("stack"),
        })
    }
}

/// The reports that wait, oldest first. Lines that are damaged are left out.
///
/// # Errors
/// The storage fails.
pub fn queued_events(storage: &dyn Storage) -> io::Result<Vec<Event>> {
    let bytes = match read(storage, FILE, MAX_FILE) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
        bytes => bytes?,
    };
    let bytes = bytes.unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let events = lines.filter_map(|line| Event::from_json(&json::parse(line, MAX_LINE).ok()?));
    Ok(events.take(MAX_EVENTS).collect())
}

/// Adds reports. The server counts each update and type of a device once, and so does this.
///
/// # Errors
/// The storage fails.
pub fn add(storage: &dyn Storage, events: Vec<Event>) -> io::Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let mut all = queued_events(storage)?;
    for mut event in events {
        let known = |other: &Event| other.kind == event.kind && other.update_id == event.update_id;
        if !all.iter().any(known) {
            event.reason = event.reason.as_deref().map(cut_reason);
            event.stack = event.stack.map(|stack| truncate(stack, MAX_STACK));
            all.push(event);
        }
    }
    let excess = all.len().saturating_sub(MAX_EVENTS);
    save(storage, &all[excess..])
}

/// The reason without NULs and with at most 200 characters.
pub(crate) fn cut_reason(reason: &str) -> String {
    let letters = reason.chars().filter(|letter| *letter != '\0');
    letters.take(MAX_REASON).collect()
}

/// The text without NULs and with at most `max` bytes, cut between characters.
fn truncate(text: String, max: usize) -> String {
    let mut text = text.replace('\0', "");
    let end = (0..=max.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    text.truncate(end);
    text
}

fn save(storage: &dyn Storage, events: &[Event]) -> io::Result<()> {
    let text: String = events
        .iter()
        .map(|event| json::to_utf8(&event.to_json()) + "\n")
        .collect();
    replace(storage, FILE, text.as_bytes())
}

/// How the server took a batch.
enum BatchOutcome {
    /// It counted it.
    Counted,
    /// It will never count it.
    Rejected,
    /// It wants another token, which the next check brings.
    TokenRefused,
    /// It may count it later.
    Retry,
}

/// Sends what waits, with the token of each report's update. Answers how many reports the server took. Reports that it
/// will never take are dropped; all others stay.
///
/// # Errors
/// The storage fails.
pub fn send(
    storage: &dyn Storage,
    network: &dyn Network,
    settings: &Settings,
    tokens: &[(String, String)],
) -> io::Result<usize> {
    let all = queued_events(storage)?;
    let mut left = all.clone();
    let mut taken = 0;
    for (update_id, token) in tokens {
        let of_update: Vec<Event> = all
            .iter()
            .filter(|event| event.update_id == *update_id)
            .cloned()
            .collect();
        'of_update: for batch in of_update.chunks(BATCH) {
            match post(network, settings, token, batch) {
                BatchOutcome::Retry => return finish(storage, &all, &left, taken),
                BatchOutcome::TokenRefused => break 'of_update,
                BatchOutcome::Counted => taken += batch.len(),
                // An older server may not know one kind of report: each for itself.
                BatchOutcome::Rejected if batch.len() > 1 => {
                    for event in batch {
                        match post(network, settings, token, std::slice::from_ref(event)) {
                            BatchOutcome::Retry => return finish(storage, &all, &left, taken),
                            // It and what follows wait for another token.
                            BatchOutcome::TokenRefused => break 'of_update,
                            BatchOutcome::Counted => taken += 1,
                            BatchOutcome::Rejected => {}
                        }
                        left.retain(|other| other != event);
                    }
                }
                BatchOutcome::Rejected => {}
            }
            left.retain(|event| !batch.contains(event));
        }
    }
    finish(storage, &all, &left, taken)
}

fn finish(storage: &dyn Storage, all: &[Event], left: &[Event], taken: usize) -> io::Result<usize> {
    if left.len() < all.len() {
        save(storage, left)?;
    }
    Ok(taken)
}

fn post(network: &dyn Network, settings: &Settings, token: &str, events: &[Event]) -> BatchOutcome {
    let mut url = format!("{}/update/report/", settings.server_url.trim_end_matches('/'));
    url.extend(percent::encode(settings.bundle_id.as_str()));
    let body = Value::Object(object([
        ("reportToken", Value::from(token)),
        ("events", Value::Array(events.iter().map(Event::to_json).collect())),
    ]));
    let request = Request {
        url,
        headers: vec![("content-type", "application/json".to_owned())],
        body: Some(json::to_utf8(&body)),
    };
    match network.send(&request) {
        Ok(response) if (200..300).contains(&response.status) => {
            // Reading to the end lets the connection be used again.
            let _ = read_body(response, 4096);
            BatchOutcome::Counted
        }
        Ok(response) if response.status == 400 && retry_after(&response).is_none() => BatchOutcome::Rejected,
        Ok(response) if response.status == 401 => BatchOutcome::TokenRefused,
        _ => BatchOutcome::Retry,
    }
}
