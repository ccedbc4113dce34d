//! Which call is which.

use launchway_app_stores::transport::Response;
use launchway_domain::time::EpochMs;
use serde_json::Value;

use super::{App, EditState, GooglePlay};
use crate::answer::{Refused, google, ok, status};
use crate::call::{Call, Received, plain};
use crate::ledger::Ledger;
use crate::settings::Settings;
use crate::{State, schema};

pub(super) type Answered = Result<Value, Refused>;

/// What a call may need besides the apps.
pub(super) struct Around<'a> {
    pub settings: &'a Settings,
    pub ledger: &'a mut Ledger,
    pub address: &'a str,
    pub now: EpochMs,
}

/// Answers a call to the Developer API.
pub(crate) fn route(state: &mut State, call: &Call, body: &Received, now: EpochMs) -> Response {
    let store = &mut state.google_play;
    let mut around = Around {
        settings: &state.settings,
        ledger: &mut state.ledger,
        address: &state.address,
        now,
    };
    let parts: Vec<String> = call.parts().into_iter().map(plain).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if parts.first() == Some(&"resumable") {
        // resumable/upload/androidpublisher/v3/applications/{package}/edits/{edit}/…
        return match store.begin_session(&around, call, parts.get(5..).unwrap_or_default()) {
            Ok(location) => Response {
                headers: vec![("location".to_owned(), location)],
                ..status(200)
            },
            Err(refused) => google(refused),
        };
    }
    match store.answer(&mut around, call, parts.get(3..).unwrap_or_default(), body) {
        Ok(Value::Null) => status(204),
        Ok(answer) => ok(&answer),
        Err(refused) => google(refused),
    }
}

/// Holds a body against its schema.
fn fits(name: &str, body: &Received) -> Result<Value, Refused> {
    let invalid = |message: String| Refused(400, "INVALID_ARGUMENT", message);
    let value: Value =
        serde_json::from_slice(&body.bytes).map_err(|_| invalid("Invalid JSON payload received.".to_owned()))?;
    match schema::wrong(schema::google_play(), name, &value) {
        None => Ok(value),
        Some(wrong) => Err(invalid(format!("Invalid JSON payload received: {wrong}"))),
    }
}

impl GooglePlay {
    fn answer(&mut self, around: &mut Around<'_>, call: &Call, parts: &[&str], body: &Received) -> Answered {
        let [package, rest @ ..] = parts else {
            return Err(not_found());
        };
        if around.settings.makes_apps && !self.apps.contains_key(*package) {
            self.apps.insert((*package).to_owned(), App::usual());
        }
        if !self.apps.contains_key(*package) {
            return Err(Refused(404, "NOT_FOUND", format!("Package not found: {package}.")));
        }
        match (call.method.as_str(), rest) {
            ("POST", ["edits"]) => {
                fits("AppEdit", body)?;
                Ok(self.insert_edit(around, package))
            }
            ("GET", ["tracks", track, "releases"]) => self.summaries(package, track),
            (method, ["edits", edit, inner @ ..]) => {
                let (edit, verb) = edit.split_once(':').unwrap_or((edit, ""));
                self.open(package, edit)?;
                match (method, verb, inner) {
                    ("GET", "", []) => Ok(self.shown(edit)),
                    ("DELETE", "", []) => {
                        self.set_state(edit, EditState::Deleted);
                        Ok(Value::Null)
                    }
                    ("POST", "validate", []) => {
                        self.check(edit)?;
                        Ok(self.shown(edit))
                    }
                    ("POST", "commit", []) => self.commit(around, call, edit),
                    ("GET", "", ["bundles"]) => Ok(self.binaries(around, edit, false)),
                    ("GET", "", ["apks"]) => Ok(self.binaries(around, edit, true)),
                    ("GET", "", ["tracks", track]) => self.track(edit, track),
                    ("PUT", "", ["tracks", track]) => self.set_track(edit, track, fits("Track", body)?),
                    _ => Err(not_found()),
                }
            }
            _ => Err(not_found()),
        }
    }
}

fn not_found() -> Refused {
    Refused(
        404,
        "NOT_FOUND",
        "The requested URL was not found on this server.".to_owned(),
    )
}
