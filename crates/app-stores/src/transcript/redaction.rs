//! What a transcript keeps of a URL and of JSON. Everything else becomes a placeholder that says how long it was; the
//! same value has the same placeholder, so that references can be followed.
//!
//! Kept are the names of fields of the published form, numbers with few digits, booleans, words in capitals (`IN_REVIEW`), times,
//! and the plain words of error messages.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The maximum number of digits of a number that is kept: counts and statuses, not identifiers.
const MAX_DIGITS: usize = 5;
/// The maximum length of a word that is kept.
const MAX_WORD: usize = 40;
/// The maximum depth of JSON that is kept.
const MAX_DEPTH: usize = 24;
/// The hosts of the app stores. Any other host is replaced.
const HOSTS: [&str; 3] = [
    "api.appstoreconnect.apple.com",
    "androidpublisher.googleapis.com",
    "oauth2.googleapis.com",
];
/// The fields with messages for developers.
const MESSAGES: [&str; 4] = ["title", "detail", "message", "error_description"];
/// The fields with a type or code that may be in lower case.
const CODES: [&str; 8] = [
    "type",
    "code",
    "error",
    "status",
    "reason",
    "domain",
    "token_type",
    "releaseLifecycleState",
];
/// The names of tracks that every app has.
const TRACKS: [&str; 4] = ["internal", "alpha", "beta", "production"];

/// Gives each replaced value its placeholder.
#[derive(Default)]
pub(super) struct Redaction {
    known: HashMap<String, usize>,
}

impl Redaction {
    /// The URL with its host, the words of its path, and the names in its query.
    pub fn url(&mut self, url: &str) -> String {
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let mut parts = rest.split('/');
        let host = parts.next().unwrap_or_default();
        let mut text = if HOSTS.contains(&host) {
            host.to_owned()
        } else {
            "<host>".to_owned()
        };
        let mut is_id = false;
        for part in parts {
            text.push('/');
            if !is_id && is_path_word(part) || TRACKS.contains(&part) {
                text.push_str(part);
            } else {
                text.push_str(&self.placeholder(part));
            }
            // What follows these is the identifier or the name of one.
            is_id = matches!(part, "applications" | "edits" | "tracks" | "apps" | "builds");
        }
        for (at, pair) in query.split('&').filter(|pair| !pair.is_empty()).enumerate() {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            text.push(if at == 0 { '?' } else { '&' });
            let name = if is_field(name) {
                name.to_owned()
            } else {
                self.placeholder(name)
            };
            let value = match value.split(',').all(is_code) || is_small_number(value) {
                true => value.to_owned(),
                false => self.placeholder(value),
            };
            text.push_str(&format!("{name}={value}"));
        }
        text
    }

    /// The JSON with its form, and without the values that are the account's.
    pub fn json(&mut self, value: &Value) -> Value {
        self.value("", value, 0)
    }

    fn value(&mut self, field: &str, value: &Value, depth: usize) -> Value {
        match value {
            _ if depth > MAX_DEPTH => Value::String("<deeper values>".to_owned()),
            Value::Object(object) => {
                let mut kept = Map::new();
                for (name, value) in object {
                    let shown = if is_field(name) {
                        name.clone()
                    } else {
                        self.placeholder(name)
                    };
                    kept.insert(shown, self.value(name, value, depth + 1));
                }
                Value::Object(kept)
            }
            Value::Array(list) => list.iter().map(|entry| self.value(field, entry, depth + 1)).collect(),
            Value::String(text) => Value::String(self.text(field, text)),
            Value::Number(number) if !is_small_number(&number.to_string()) => {
                Value::String(self.placeholder(&number.to_string()))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn text(&mut self, field: &str, text: &str) -> String {
        if MESSAGES.contains(&field) {
            return self.message(text);
        }
        let is_kept = text.is_empty()
            || is_code(text)
            || is_time(text)
            || (CODES.contains(&field) && text.len() <= MAX_WORD && is_plain_word(text));
        if is_kept {
            return text.to_owned();
        }
        self.placeholder(text)
    }

    /// A message with its plain words. What is in quotes, and what is not a word, is the account's.
    fn message(&mut self, text: &str) -> String {
        // An apostrophe is not a quote.
        let text = text.replace("n't", "n\u{2bc}t");
        let mut kept = String::new();
        for (at, piece) in text.split(['\'', '"', '‘', '’', '“', '”', '`', '«', '»']).enumerate() {
            if at % 2 == 1 {
                kept.push_str(&self.placeholder(piece));
                continue;
            }
            for word in piece.split_inclusive(char::is_whitespace) {
                let bare = word.trim();
                let plain = bare.trim_matches(['.', ',', ':', ';', '(', ')', '!', '?']);
                let is_kept = plain.is_empty() || is_plain_word(plain) && plain.len() <= MAX_WORD || is_code(plain);
                if is_kept {
                    kept.push_str(word);
                } else {
                    let shown = self.placeholder(plain);
                    kept.push_str(&word.replacen(plain, &shown, 1));
                }
            }
        }
        kept.replace('\u{2bc}', "'")
    }

    /// `<value 3, 24 characters>`
    fn placeholder(&mut self, value: &str) -> String {
        let next = self.known.len() + 1;
        let number = *self.known.entry(value.to_owned()).or_insert(next);
        format!("<value {number}, {} characters>", value.chars().count())
    }
}

/// A header value that consists of numbers, names and punctuation of protocols; otherwise only its length.
pub(super) fn header(value: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || " /;=:,-+.".contains(letter);
    match value.len() <= 100 && value.chars().all(plain) {
        true => value.to_owned(),
        false => format!("<{} characters>", value.chars().count()),
    }
}

/// `apps`, `appStoreVersions`, `v1`: the resources of the app stores' paths.
fn is_path_word(part: &str) -> bool {
    matches!(part, "v1" | "v2" | "v3") || is_plain_word(part) && part.len() <= MAX_WORD
}

/// `filter[bundleId]`, `appStoreState`: the name of a field or a parameter.
fn is_field(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "[]_.".contains(letter);
    name.len() <= MAX_WORD
        && name.chars().all(letter)
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && !name.contains("..")
        && name.chars().filter(char::is_ascii_digit).count() <= 3
}

/// `IN_REVIEW`, `ENTITY_ERROR.ATTRIBUTE.INVALID`: a word of the app store. A name in capitals without an underscore or
/// a full stop may be somebody's, unless it is short.
fn is_code(text: &str) -> bool {
    let letters = text
        .chars()
        .all(|letter| letter.is_ascii_uppercase() || "_.".contains(letter));
    letters && !text.is_empty() && text.len() <= 80 && (text.contains('_') || KNOWN_WORDS.contains(&text))
}

/// Words of the app stores in capitals that have no underscore.
const KNOWN_WORDS: [&str; 24] = [
    "IOS",
    "VALID",
    "INVALID",
    "PROCESSING",
    "FAILED",
    "COMPLETE",
    "APPROVED",
    "REJECTED",
    "ACCEPTED",
    "MANUAL",
    "SCHEDULED",
    "ACTIVE",
    "INACTIVE",
    "PAUSED",
    "CANCELED",
    "CANCELING",
    "COMPLETING",
    "REMOVED",
    "FORBIDDEN",
    "CONFLICT",
    "UNAUTHENTICATED",
    "INTERNAL",
    "UNAVAILABLE",
    "ASSET",
];

fn is_plain_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphabetic() || matches!(letter, '-' | '_' | '\u{2bc}'))
}

fn is_small_number(text: &str) -> bool {
    !text.is_empty()
        && text.chars().filter(char::is_ascii_digit).count() <= MAX_DIGITS
        && text.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
}

/// `2026-11-23T20:15:00-08:00`: only digits where a time has them.
fn is_time(text: &str) -> bool {
    let form = b"0000-00-00T00:00:00";
    let fits = |(letter, wanted): (u8, &u8)| {
        if *wanted == b'0' {
            letter.is_ascii_digit()
        } else {
            letter == *wanted
        }
    };
    let rest = text.get(form.len()..).unwrap_or("?");
    text.len() <= 35
        && text.bytes().zip(form).all(fits)
        && rest
            .chars()
            .all(|letter| letter.is_ascii_digit() || ".Z+-:".contains(letter))
}
