//! Webhook events of App Store Connect: what changes of state tell whoever asked for them.

use launchway_domain::time::{EpochMs, iso};
use serde_json::{Value, json};

use super::{AppStore, Thing};

/// More are not kept for somebody who does not fetch them.
const MOST: usize = 1_000;

/// The states that are told: of what kind, the attribute, the event, and how it calls its two values.
const TOLD: [(&str, &str, &str, [&str; 2]); 3] = [
    (
        "appStoreVersions",
        "appVersionState",
        "appStoreVersionAppVersionStateUpdated",
        ["oldValue", "newValue"],
    ),
    (
        "buildUploads",
        "state",
        "buildUploadStateUpdated",
        ["oldState", "newState"],
    ),
    (
        "buildBetaDetails",
        "externalBuildState",
        "buildBetaDetailExternalBuildStateUpdated",
        ["oldState", "newState"],
    ),
];

/// A change of state that is told.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    event: &'static str,
    values: [(&'static str, Value); 2],
    subject: (&'static str, String),
}

impl Notice {
    /// The notice of an attribute that becomes another, if that is one that is told.
    pub(super) fn of(id: &str, thing: &Thing, name: &str, value: &Value) -> Option<Notice> {
        let told = TOLD
            .iter()
            .find(|(kind, attribute, ..)| *kind == thing.kind && *attribute == name)?;
        let (kind, _, event, [old_name, new_name]) = *told;
        // The state of an upload is an object around it.
        let state = |value: &Value| value.get("state").unwrap_or(value).clone();
        let (old, new) = (state(&thing.attributes[name]), state(value));
        let id = match kind {
            // A build's state in TestFlight has the id of the build.
            "buildBetaDetails" => thing.related("build"),
            _ => id,
        };
        (old != new).then(|| Notice {
            event,
            values: [(old_name, old), (new_name, new)],
            subject: (kind, id.to_owned()),
        })
    }

    fn body(self, number: u64, now: EpochMs) -> String {
        let mut attributes = json!({"timestamp": iso(now)});
        for (name, value) in self.values {
            attributes[name] = value;
        }
        let (kind, id) = self.subject;
        let path = format!("/v1/{kind}/{id}");
        json!({"data": {
            "type": self.event,
            "id": format!("0e7e0000-0000-4000-8000-{number:012x}"),
            "version": 1,
            "attributes": attributes,
            "relationships": {"instance": {"data": {"type": kind, "id": id}, "links": {"self": path}}},
        }})
        .to_string()
    }
}

impl AppStore {
    pub(super) fn notice(&mut self, notice: Option<Notice>) {
        if self.notices.len() < MOST {
            self.notices.extend(notice);
        }
    }

    /// The bodies of the events since the last time.
    pub(crate) fn take_events(&mut self, now: EpochMs) -> Vec<String> {
        let notices = std::mem::take(&mut self.notices);
        let numbered = notices.into_iter().map(|notice| {
            self.told += 1;
            (self.told, notice)
        });
        numbered.map(|(number, notice)| notice.body(number, now)).collect()
    }
}
