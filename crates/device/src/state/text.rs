//! The JSON of `state.json` and `boot.json`. Unknown members are ignored; a missing or wrong one makes the file corrupt.

use launchway_delta::Digest;

use super::{SlotRecord, State};
use crate::boot::{Attempt, Binary, BootState, Content, SlotId};
use crate::json::Json;

/// The form of both files. A file of another form is corrupt.
const FORM: u64 = 1;

pub(super) fn of_state(state: &State) -> Json {
    let boot = &state.boot;
    let ids = |ids: &[SlotId]| Json::Array(ids.iter().map(|id| Json::text(id.to_string())).collect());
    Json::object([
        ("form", Json::count(FORM)),
        ("deviceId", Json::text(&*state.device_id)),
        (
            "binary",
            Json::object([
                ("code", Json::text(&*boot.binary.code)),
                ("name", Json::text(&*boot.binary.name)),
                ("installedAt", Json::count(boot.binary.installed_at)),
            ]),
        ),
        ("current", of_content(boot.current)),
        ("trial", Json::Bool(boot.trial)),
        ("lastGood", of_content(boot.last_good)),
        ("next", boot.next.map_or(Json::Null, |id| Json::text(id.to_string()))),
        ("quarantine", ids(&boot.quarantine)),
        ("hard", Json::count(boot.hard.into())),
        ("soft", Json::count(boot.soft.into())),
        ("earlyCrashes", Json::count(boot.early_crashes.into())),
        ("judged", Json::count(boot.judged)),
        ("slots", Json::Array(state.slots.iter().map(of_slot).collect())),
        (
            "tokens",
            Json::Array(
                state
                    .tokens
                    .iter()
                    .map(|(update, token)| {
                        Json::object([("updateId", Json::text(&**update)), ("token", Json::text(&**token))])
                    })
                    .collect(),
            ),
        ),
        (
            "trust",
            state.trust.as_ref().map_or(Json::Null, |trust| Json::text(&**trust)),
        ),
    ])
}

pub(super) fn state(json: &Json) -> Option<State> {
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
            current: content(json.get("current")?)?,
            trial: json.get("trial")?.as_bool()?,
            last_good: content(json.get("lastGood")?)?,
            next: match json.get("next")? {
                Json::Null => None,
                id => Some(digest(id)?),
            },
            quarantine: list("quarantine")?.iter().map(digest).collect::<Option<_>>()?,
            hard: small(json, "hard")?,
            soft: small(json, "soft")?,
            early_crashes: small(json, "earlyCrashes")?,
            judged: number(json, "judged")?,
        },
        device_id: text(json, "deviceId")?,
        slots: list("slots")?.iter().map(slot).collect::<Option<_>>()?,
        tokens: list("tokens")?
            .iter()
            .map(|token| Some((text(token, "updateId")?, text(token, "token")?)))
            .collect::<Option<_>>()?,
        trust: match json.get("trust")? {
            Json::Null => None,
            trust => Some(trust.as_text()?.to_owned()),
        },
    })
}

pub(super) fn of_attempt(attempt: &Attempt) -> Json {
    Json::object([
        ("form", Json::count(FORM)),
        ("number", Json::count(attempt.number)),
        ("content", of_content(attempt.content)),
        ("window", Json::Bool(attempt.window)),
        ("foreground", Json::Bool(attempt.foreground)),
        ("settled", Json::Bool(attempt.settled)),
        ("crashed", Json::Bool(attempt.crashed)),
        ("hung", Json::Bool(attempt.hung)),
    ])
}

pub(super) fn attempt(json: &Json) -> Option<Attempt> {
    if number(json, "form")? != FORM {
        return None;
    }
    let flag = |name| json.get(name)?.as_bool();
    Some(Attempt {
        number: number(json, "number")?,
        content: content(json.get("content")?)?,
        window: flag("window")?,
        foreground: flag("foreground")?,
        settled: flag("settled")?,
        crashed: flag("crashed")?,
        hung: flag("hung")?,
    })
}

fn of_slot(slot: &SlotRecord) -> Json {
    Json::object([
        ("id", Json::text(slot.id.to_string())),
        ("updateId", Json::text(&*slot.update_id)),
        ("version", Json::text(&*slot.version)),
        ("buildNumber", Json::text(&*slot.build_number)),
        ("manifest", Json::text(slot.manifest.to_string())),
    ])
}

fn slot(json: &Json) -> Option<SlotRecord> {
    Some(SlotRecord {
        id: digest(json.get("id")?)?,
        update_id: text(json, "updateId")?,
        version: text(json, "version")?,
        build_number: text(json, "buildNumber")?,
        manifest: digest(json.get("manifest")?)?,
    })
}

fn of_content(content: Content) -> Json {
    match content {
        Content::Embedded => Json::text("embedded"),
        Content::Slot(id) => Json::text(id.to_string()),
    }
}

fn content(json: &Json) -> Option<Content> {
    match json.as_text()? {
        "embedded" => Some(Content::Embedded),
        id => id.parse().ok().map(Content::Slot),
    }
}

fn digest(json: &Json) -> Option<Digest> {
    json.as_text()?.parse().ok()
}

fn text(json: &Json, name: &str) -> Option<String> {
    json.get(name)?.as_text().map(ToOwned::to_owned)
}

fn number(json: &Json, name: &str) -> Option<u64> {
    json.get(name)?.as_count()
}

fn small(json: &Json, name: &str) -> Option<u32> {
    number(json, name)?.try_into().ok()
}
