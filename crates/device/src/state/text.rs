//! The JSON of `state.json` and `boot.json`. Unknown members are ignored; a missing or wrong one makes the file corrupt.

use launchway_delta::Digest;
use launchway_trust::json::{Value, object};

use super::{FailedUpdate, SlotRecord, State, TrustRecord};
use crate::boot::{Attempt, Binary, BootState, Content, SlotId};

/// The form of both files. A file of another form is corrupt.
const FORM: u64 = 1;

pub(super) fn state_value(state: &State) -> Value {
    let boot = &state.boot;
    let ids = |ids: &[SlotId]| Value::Array(ids.iter().map(|id| Value::from(id.to_string())).collect());
    Value::Object(object([
        ("form", Value::from(FORM)),
        ("deviceId", Value::from(&*state.device_id)),
        (
            "binary",
            Value::Object(object([
                ("code", Value::from(&*boot.binary.code)),
                ("name", Value::from(&*boot.binary.name)),
                ("installedAt", Value::from(boot.binary.installed_at)),
            ])),
        ),
        ("current", content_value(boot.current)),
        ("trial", Value::Bool(boot.trial)),
        ("lastGood", content_value(boot.last_good)),
        ("next", boot.next.map_or(Value::Null, |id| Value::from(id.to_string()))),
        ("quarantine", ids(&boot.quarantine)),
        ("hard", Value::from(u64::from(boot.hard))),
        ("soft", Value::from(u64::from(boot.soft))),
        ("earlyCrashes", Value::from(u64::from(boot.early_crashes))),
        ("judged", Value::from(boot.judged)),
        ("slots", Value::Array(state.slots.iter().map(slot_value).collect())),
        (
            "tokens",
            Value::Array(
                state
                    .tokens
                    .iter()
                    .map(|(update, token)| {
                        Value::Object(object([
                            ("updateId", Value::from(&**update)),
                            ("token", Value::from(&**token)),
                        ]))
                    })
                    .collect(),
            ),
        ),
        ("trust", state.trust.as_ref().map_or(Value::Null, trust_value)),
        ("failed", state.failed.as_ref().map_or(Value::Null, failed_value)),
    ]))
}

pub(super) fn parse_state(json: &Value) -> Option<State> {
    if number(json, "form")? != FORM {
        return None;
    }
    let binary = json.get("binary")?;
    let list = |name| json.get(name)?.as_array();
    Some(State {
        boot: BootState {
            binary: Binary {
                code: text(binary, "code")?,
                name: text(binary, "name")?,
                installed_at: number(binary, "installedAt")?,
            },
            current: parse_content(json.get("current")?)?,
            trial: json.get("trial")?.as_bool()?,
            last_good: parse_content(json.get("lastGood")?)?,
            next: match json.get("next")? {
                Value::Null => None,
                id => Some(parse_digest(id)?),
            },
            quarantine: list("quarantine")?.iter().map(parse_digest).collect::<Option<_>>()?,
            hard: small(json, "hard")?,
            soft: small(json, "soft")?,
            early_crashes: small(json, "earlyCrashes")?,
            judged: number(json, "judged")?,
        },
        device_id: text(json, "deviceId")?,
        slots: list("slots")?.iter().map(parse_slot).collect::<Option<_>>()?,
        tokens: list("tokens")?
            .iter()
            .map(|token| Some((text(token, "updateId")?, text(token, "token")?)))
            .collect::<Option<_>>()?,
        trust: match json.get("trust")? {
            Value::Null => None,
            trust => Some(TrustRecord {
                refreshed_at: number(trust, "refreshedAt")?,
                stored: text(trust, "stored")?,
            }),
        },
        // Earlier versions of the client do not write it.
        failed: match json.get("failed") {
            None | Some(Value::Null) => None,
            Some(failed) => Some(parse_failed(failed)?),
        },
    })
}

pub(super) fn attempt_value(attempt: &Attempt) -> Value {
    Value::Object(object([
        ("form", Value::from(FORM)),
        ("number", Value::from(attempt.number)),
        ("content", content_value(attempt.content)),
        ("window", Value::Bool(attempt.window)),
        ("foreground", Value::Bool(attempt.foreground)),
        ("settled", Value::Bool(attempt.settled)),
        ("crashed", Value::Bool(attempt.crashed)),
        ("hung", Value::Bool(attempt.hung)),
    ]))
}

pub(super) fn parse_attempt(json: &Value) -> Option<Attempt> {
    if number(json, "form")? != FORM {
        return None;
    }
    let flag = |name| json.get(name)?.as_bool();
    Some(Attempt {
        number: number(json, "number")?,
        content: parse_content(json.get("content")?)?,
        window: flag("window")?,
        foreground: flag("foreground")?,
        settled: flag("settled")?,
        crashed: flag("crashed")?,
        hung: flag("hung")?,
    })
}

fn trust_value(trust: &TrustRecord) -> Value {
    Value::Object(object([
        ("refreshedAt", Value::from(trust.refreshed_at)),
        ("stored", Value::from(&*trust.stored)),
    ]))
}

fn failed_value(failed: &FailedUpdate) -> Value {
    Value::Object(object([
        ("updateId", Value::from(&*failed.update_id)),
        ("version", Value::from(&*failed.version)),
        ("buildNumber", Value::from(&*failed.build_number)),
        ("sha256", Value::from(failed.sha256.to_string())),
        ("reason", Value::from(&*failed.reason)),
    ]))
}

fn parse_failed(json: &Value) -> Option<FailedUpdate> {
    Some(FailedUpdate {
        update_id: text(json, "updateId")?,
        version: text(json, "version")?,
        build_number: text(json, "buildNumber")?,
        sha256: parse_digest(json.get("sha256")?)?,
        reason: text(json, "reason")?,
    })
}

fn slot_value(slot: &SlotRecord) -> Value {
    Value::Object(object([
        ("id", Value::from(slot.id.to_string())),
        ("updateId", Value::from(&*slot.update_id)),
        ("version", Value::from(&*slot.version)),
        ("buildNumber", Value::from(&*slot.build_number)),
        ("manifest", Value::from(slot.manifest.to_string())),
    ]))
}

fn parse_slot(json: &Value) -> Option<SlotRecord> {
    Some(SlotRecord {
        id: parse_digest(json.get("id")?)?,
        update_id: text(json, "updateId")?,
        version: text(json, "version")?,
        build_number: text(json, "buildNumber")?,
        manifest: parse_digest(json.get("manifest")?)?,
    })
}

fn content_value(content: Content) -> Value {
    match content {
        Content::Embedded => Value::from("embedded"),
        Content::Slot(id) => Value::from(id.to_string()),
    }
}

fn parse_content(json: &Value) -> Option<Content> {
    match json.as_text()? {
        "embedded" => Some(Content::Embedded),
        id => id.parse().ok().map(Content::Slot),
    }
}

fn parse_digest(json: &Value) -> Option<Digest> {
    json.as_text()?.parse().ok()
}

fn text(json: &Value, name: &str) -> Option<String> {
    json.get(name)?.as_text().map(ToOwned::to_owned)
}

fn number(json: &Value, name: &str) -> Option<u64> {
    json.get(name)?.as_count()
}

fn small(json: &Value, name: &str) -> Option<u32> {
    number(json, name)?.try_into().ok()
}
