//! Routes requests.

use launchway_app_stores::transport::Response;
use launchway_domain::time::EpochMs;
use serde_json::Value;

use super::{App, EditState, GooglePlay};
use crate::answer::{RefusalError, google, ok, status};
use crate::call::{Call, Received, plain};
use crate::ledger::Ledger;
use crate::settings::Settings;
use crate::{State, schema};

pub(super) type Answered = Result<Value, RefusalError>;

/// What a request may need besides the apps.
pub(super) struct RequestContext<'a> {
    pub settings: &'a Settings,
    pub ledger: &'a mut Ledger,
    pub address: &'a str,
    pub now: EpochMs,
}

/// Handles a request to the Developer API.
pub(crate) fn route(state: &mut State, call: &Call, body: &Received, now: EpochMs) -> Response {
    let store = &mut state.google_play;
    let mut context = RequestContext {
        settings: &state.settings,
        ledger: &mut state.ledger,
        address: &state.address,
        now,
    };
    let parts: Vec<String> = call.parts().into_iter().map(plain).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if parts.first() == Some(&"resumable") {
        // resumable/upload/androidpublisher/v3/applications/{package}/edits/{edit}/…
        return match store.begin_session(&context, call, parts.get(5..).unwrap_or_default()) {
            Ok(location) => Response {
                headers: vec![("location".to_owned(), location)],
                ..status(200)
            },
            Err(refused) => google(refused),
        };
    }
    match store.answer(&mut context, call, parts.get(3..).unwrap_or_default(), body) {
        Ok(Value::Null) => status(204),
        Ok(answer) => ok(&answer),
        Err(refused) => google(refused),
    }
}

/// Validates a body against its schema.
fn fits(name: &str, body: &Received) -> Result<Value, RefusalError> {
    let invalid = |message: String| RefusalError(400, "INVALID_ARGUMENT", message);
    let value: Value =
        serde_json::from_slice(&body.bytes).map_err(|_| invalid("Invalid JSON payload received.".to_owned()))?;
    match schema::validation_error(schema::google_play(), name, &value) {
        None => Ok(value),
        Some(wrong) => Err(invalid(format!("Invalid JSON payload received: {wrong}"))),
    }
}

impl GooglePlay {
    fn answer(&mut self, context: &mut RequestContext<'_>, call: &Call, parts: &[&str], body: &Received) -> Answered {
        let [package, rest @ ..] = parts else {
            return Err(not_found());
        };
        if context.settings.makes_apps && !self.apps.contains_key(*package) {
            self.apps.insert((*package).to_owned(), App::unreleased());
        }
        if !self.apps.contains_key(*package) {
            return Err(RefusalError(404, "NOT_FOUND", format!("Package not found: {package}.")));
        }
        match (call.method.as_str(), rest) {
            ("POST", ["edits"]) => {
                fits("AppEdit", body)?;
                Ok(self.insert_edit(context, package))
            }
            ("GET", ["tracks", track, "releases"]) => self.summaries(package, track),
            (method, ["edits", edit, inner @ ..]) => {
                let (edit, verb) = edit.split_once(':').unwrap_or((edit, ""));
                self.open(package, edit)?;
                match (method, verb, inner) {
                    ("GET", "", []) => Ok(self.published(edit)),
                    ("DELETE", "", []) => {
                        self.set_state(edit, EditState::Deleted);
                        Ok(Value::Null)
                    }
                    ("POST", "validate", []) => {
                        self.check(edit)?;
                        Ok(self.published(edit))
                    }
                    ("POST", "commit", []) => self.commit(context, call, edit),
                    ("GET", "", ["bundles"]) => Ok(self.binaries(context, edit, false)),
                    ("GET", "", ["apks"]) => Ok(self.binaries(context, edit, true)),
                    ("GET", "", ["tracks", track]) => self.track(edit, track),
                    ("PUT", "", ["tracks", track]) => self.set_track(edit, track, fits("Track", body)?),
                    _ => Err(not_found()),
                }
            }
            _ => Err(not_found()),
        }
    }
}

fn not_found() -> RefusalError {
    RefusalError(
        404,
        "NOT_FOUND",
        "The requested URL was not found on this server.".to_owned(),
    )
}
