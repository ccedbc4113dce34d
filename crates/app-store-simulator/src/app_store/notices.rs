//! Webhook events of App Store Connect for changes of state.

use launchway_domain::time::{EpochMs, iso};
use serde_json::{Value, json};

use super::{AppStore, Resource};

/// The maximum number of unfetched events.
const MAX_NOTICES: usize = 1_000;

/// The attributes with events: resource kind, attribute, event, and the names of the old and new value.
const EVENT_ATTRIBUTES: [(&str, &str, &str, [&str; 2]); 3] = [
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

/// A change of state with an event.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    event: &'static str,
    values: [(&'static str, Value); 2],
    subject: (&'static str, String),
}

impl Notice {
    /// The notice of an attribute change, if the attribute has events.
    pub(super) fn of(id: &str, resource: &Resource, name: &str, value: &Value) -> Option<Notice> {
        let told = EVENT_ATTRIBUTES
            .iter()
            .find(|(kind, attribute, ..)| *kind == resource.kind && *attribute == name)?;
        let (kind, _, event, [old_name, new_name]) = *told;
        // The state of an upload is wrapped in an object.
        let state = |value: &Value| value.get("state").unwrap_or(value).clone();
        let (old, new) = (state(&resource.attributes[name]), state(value));
        let id = match kind {
            // A build's TestFlight state has the id of the build.
            "buildBetaDetails" => resource.related("build"),
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
        if self.notices.len() < MAX_NOTICES {
            self.notices.extend(notice);
        }
    }

    /// The bodies of the events since the last call.
    pub(crate) fn take_events(&mut self, now: EpochMs) -> Vec<String> {
        let notices = std::mem::take(&mut self.notices);
        let numbered = notices.into_iter().map(|notice| {
            self.told += 1;
            (self.told, notice)
        });
        numbered.map(|(number, notice)| notice.body(number, now)).collect()
    }
}
