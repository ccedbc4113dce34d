//! The reference's sentences about endpoints, authentication, the check, errors and limits, one row each, over real
//! HTTP.

/// Rows of a table: `"sentence of the reference": who, "call", body => expected response;`. The body may be absent.
macro_rules! rows {
    (@body) => { serde_json::Value::Null };
    (@body $body:expr) => { $body };
    ($($says:literal: $who:expr, $call:literal $(, $body:expr)? => $gets:expr;)+) => {
        [$(($says, $who, $call, rows!(@body $($body)?), $gets)),+]
    };
}

mod check;
mod data;
mod endpoints;
mod errors;
mod limits;
mod proofs;

use launchway_domain::scope::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Fields};
use data::Data;

/// The caller.
#[derive(Clone, Copy, Debug)]
enum Who {
    /// Nobody.
    Nobody,
    /// A caller with this `Authorization`.
    Shows(&'static str),
    /// A key with one scope.
    Key(Scope),
    /// A key with every scope of another organization.
    Stranger,
    /// A key that was revoked.
    Revoked,
    /// An expired key.
    Expired,
    /// An owner, signed in, of two organizations.
    Session,
}

/// The expected response.
#[derive(Clone, Debug)]
enum Gets {
    /// Exactly this JSON.
    Is(u16, Value),
    /// An object with at least these fields.
    Has(u16, Value),
    /// An object without these fields.
    Lacks(u16, &'static [&'static str]),
    /// A page of a list with these fields among `limit`, `offset` and `total`, and this number of items.
    Page(Value, usize),
    /// Exactly `error` and `message` (`docs/reference/conventions.md#error-body`).
    Error(u16, &'static str),
    /// The same, with any text that contains this.
    Names(u16, &'static str),
}
use Gets::{Error, Has, Is, Lacks, Names, Page};

/// One row: the sentence, the caller, the call, the body, and the expected response. [`Data::filled`] replaces every
/// `{…}` in the call.
type Row = (&'static str, Who, &'static str, Value, Gets);

/// Two fixed messages (`docs/reference/conventions.md#fixed-messages`).
const NO_PROOF: &str = "No authentication provided";
const BAD_KEY: &str = "Invalid or expired API key";

/// No body.
const NONE: Value = Value::Null;

async fn run(data: &Data, rows: impl IntoIterator<Item = Row>) {
    for (says, who, call, body, gets) in rows {
        let call = data.filled(call);
        let (method, path) = call.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let answer = data.call(who, method, path, data.filled_body(body)).await;
        check_answer(&format!("{says}: {who:?} {call}"), &answer, &data.filled_gets(gets));
    }
}

fn check_answer(row: &str, answer: &Answer, gets: &Gets) {
    let expect = |status: u16| {
        assert_eq!(answer.status.as_u16(), status, "{row}: {}", answer.text());
        answer.json()
    };
    match gets {
        Is(status, json) => assert_eq!(&expect(*status), json, "{row}"),
        Has(status, fields) => {
            let json = expect(*status);
            for (name, value) in fields.as_object().unwrap() {
                assert_eq!(&json[name], value, "{row}: {name}");
            }
        }
        Lacks(status, fields) => {
            let json = expect(*status);
            fields.iter().for_each(|name| assert_eq!(json.get(name), None, "{row}: {name}"));
        }
        Page(fields, items) => {
            let json = expect(200);
            for (name, value) in fields.as_object().unwrap() {
                assert_eq!(&json[name], value, "{row}: {name}");
            }
            assert_eq!(json["items"].as_array().unwrap().len(), *items, "{row}");
        }
        Error(status, message) => {
            expect(*status);
            answer.refused(*status, message);
        }
        Names(status, named) => {
            let message = expect(*status).text("message").to_owned();
            answer.refused(*status, &message);
            assert!(message.contains(named), "{row}: {message}");
        }
    }
}

/// The body of a new API key.
fn new_key(scopes: &[&str]) -> Value {
    json!({"name": "CI", "scopes": scopes})
}
