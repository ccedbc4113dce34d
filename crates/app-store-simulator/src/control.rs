//! Control over HTTP, at `/simulator` beside the app stores' own paths (docs/store-simulator.md): faults, review
//! outcomes, the clock, the ledger. It has no authentication, as a simulator holds nothing of value.

use bytes::Bytes;
use launchway_app_stores::transport::Response;
use launchway_domain::time::{EpochMs, SECOND, iso};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::State;
use crate::answer::{ok, with_status};
use crate::call::{Call, Received};
use crate::fault::{Fault, Kind, When};
use crate::settings::Outcome;

/// The maximum speed: a day in less than 100 ms.
const MAX_SPEED: u32 = 1_000_000;
/// The maximum number of seconds by which a request advances the clock.
const MAX_ADVANCE_SECONDS: i64 = 366 * 24 * 60 * 60;

const HELP: &str = "\
GET    /simulator/ledger    what happened in the stores, in order
GET    /simulator/calls     the calls that came, in order
POST   /simulator/faults    {\"kind\": \"status\", \"status\": 503, \"method\": \"POST\", \"path\": \":commit\", \"times\": 2}
DELETE /simulator/faults    forget the faults that have not happened yet
POST   /simulator/reviews   {\"outcomes\": [\"reject\", \"pass\"], \"otherwise\": \"pass\"}
POST   /simulator/by-hand   {\"bundleId\": \"…\", \"version\": \"1.2.0\", \"buildNumber\": \"8\", \"attach\": true}: a person's build
GET    /simulator/clock     the time in the stores, and how fast it goes
POST   /simulator/clock     {\"advanceSeconds\": 86400, \"speed\": 720}
POST   /simulator/webhook   {\"url\": \"http://…\", \"secret\": \"…\"}: gets the events of App Store Connect
DELETE /simulator/webhook   nobody gets them
GET    /simulator/samples/app.aab   a small app to submit to Google Play, and /simulator/samples/App.ipa one for the App Store
POST   /simulator/reset     both stores as they were at first
";

/// Apps to submit, so that nobody needs one of their own to try the stores. The preflight of the service passes them.
static SAMPLES: [(&str, &[u8]); 2] = [
    ("app.aab", include_bytes!("../../binaries/tests/fixtures/release.aab")),
    ("App.ipa", include_bytes!("../../binaries/tests/fixtures/binary.ipa")),
];

/// `POST /simulator/faults`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderedFault {
    kind: String,
    status: Option<u16>,
    seconds: Option<u32>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    path: String,
    #[serde(default = "once")]
    times: u32,
}

/// `POST /simulator/reviews`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reviews {
    #[serde(default)]
    outcomes: Vec<Outcome>,
    otherwise: Option<Outcome>,
}

/// `POST /simulator/clock`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Clock {
    #[serde(default)]
    advance_seconds: i64,
    speed: Option<u32>,
}

fn once() -> u32 {
    1
}

/// Whether a request is for the control API, not for an app store.
pub(crate) fn is_control(call: &Call) -> bool {
    match call.parts()[..] {
        ["simulator", what, ..] => !matches!(what, "parts" | "sessions"),
        ["simulator"] => true,
        _ => false,
    }
}

/// Handles a request of the control API.
pub(crate) fn answer(state: &mut State, call: &Call, body: &Received, now: EpochMs) -> Response {
    state.advance(now);
    let parts = call.parts();
    if let Some(sample) = sample(call) {
        return sample;
    }
    let done = match (call.method.as_str(), &parts[1..]) {
        ("GET", []) => {
            return Response {
                status: 200,
                headers: vec![("content-type".to_owned(), "text/plain; charset=utf-8".to_owned())],
                body: Bytes::from_static(HELP.as_bytes()),
            };
        }
        ("GET", ["ledger"]) => return ok(&state.ledger.json()),
        ("GET", ["calls"]) => return ok(&json!({"calls": state.faults.log()})),
        ("GET", ["clock"]) => Ok(()),
        ("POST", ["faults"]) => read(body).and_then(fault).map(|fault| state.faults.order(fault)),
        ("DELETE", ["faults"]) => {
            state.faults.forget();
            Ok(())
        }
        ("POST", ["reviews"]) => read(body).map(|reviews: Reviews| {
            state.settings.outcomes.extend(reviews.outcomes);
            state.settings.outcome = reviews.otherwise.unwrap_or(state.settings.outcome);
        }),
        ("POST", ["by-hand"]) => read(body).and_then(|done| state.by_hand(&done, now)),
        ("POST", ["clock"]) => read(body).and_then(|clock| set_clock(state, &clock, now)),
        ("POST", ["webhook"]) => read(body).map(|webhook| {
            // Discard the events before this moment.
            state.app_store.take_events(now);
            state.settings.webhook = Some(webhook);
        }),
        ("DELETE", ["webhook"]) => {
            state.settings.webhook = None;
            Ok(())
        }
        ("POST", ["reset"]) => {
            state.reset(now);
            Ok(())
        }
        _ => {
            let message = format!(
                "There is no {} {}; GET /simulator lists what there is.",
                call.method, call.path
            );
            return with_status(404, &json!({"error": "Not Found", "message": message}));
        }
    };
    match done {
        Ok(()) => {
            state.advance(now);
            let clock = json!({"now": iso(state.clock.at(now)), "speed": state.clock.speed()});
            ok(&json!({"clock": clock}))
        }
        Err(message) => with_status(400, &json!({"error": "Bad Request", "message": message})),
    }
}

/// One of [`SAMPLES`], if a request asks for one.
fn sample(call: &Call) -> Option<Response> {
    let ["simulator", "samples", wanted] = call.parts()[..] else {
        return None;
    };
    let (name, bytes) = SAMPLES
        .iter()
        .find(|(name, _)| *name == wanted && call.method.as_str() == "GET")?;
    let download = format!("attachment; filename=\"{name}\"");
    let headers = [
        ("content-type", "application/octet-stream"),
        ("content-disposition", download.as_str()),
    ];
    Some(Response {
        status: 200,
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        body: Bytes::from_static(bytes),
    })
}

fn read<T: DeserializeOwned>(body: &Received) -> Result<T, String> {
    serde_json::from_slice(&body.bytes).map_err(|error| format!("The body cannot be read: {error}."))
}

fn fault(wanted: OrderedFault) -> Result<Fault, String> {
    let status = || match wanted.status {
        Some(status @ 200..=599) => Ok(status),
        _ => Err(format!("{} needs status, 200 to 599.", wanted.kind)),
    };
    let kind = match wanted.kind.as_str() {
        "status" => Kind::Status(status()?),
        "status_after" => Kind::StatusAfter(status()?),
        "too_many" => Kind::TooMany(wanted.seconds.unwrap_or(30)),
        "missing_metadata" => Kind::MissingMetadata,
        "cut" => Kind::Cut,
        "lost" => Kind::Lost,
        "nonsense" => Kind::Nonsense,
        "empty_list" => Kind::EmptyList,
        "expire_parts" => Kind::ExpireParts,
        "no_checksums" => Kind::NoChecksums,
        "delete_edits" => Kind::DeleteEdits,
        "lose_sessions" => Kind::LoseSessions,
        "other_review" => Kind::OtherReview,
        "slow" => Kind::Slow,
        _ => {
            return Err(
                "kind must be one of status, status_after, too_many, missing_metadata, cut, lost, nonsense, empty_list, \
                        expire_parts, no_checksums, delete_edits, lose_sessions, other_review, slow."
                    .to_owned(),
            );
        }
    };
    let when = When::Matching {
        method: wanted.method.into(),
        path: wanted.path.into(),
        times: wanted.times,
    };
    Ok(Fault { when, kind })
}

fn set_clock(state: &mut State, clock: &Clock, now: EpochMs) -> Result<(), String> {
    if !(0..=MAX_ADVANCE_SECONDS).contains(&clock.advance_seconds) {
        return Err(format!(
            "advanceSeconds must be 0 to {MAX_ADVANCE_SECONDS}: the clock is never put back."
        ));
    }
    if clock.speed.is_some_and(|speed| !(1..=MAX_SPEED).contains(&speed)) {
        return Err(format!("speed must be 1 to {MAX_SPEED}."));
    }
    state.clock.put_ahead(clock.advance_seconds * SECOND);
    if let Some(speed) = clock.speed {
        state.clock.set_speed(speed, now);
    }
    Ok(())
}
