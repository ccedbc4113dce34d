//! App Store Connect: its resources, which all have the same outer form, and what is due to happen to them.

mod builds;
mod by_hand;
mod notices;
mod reviews;
mod routes;
mod uploads;
mod versions;

use std::collections::BTreeMap;

use launchway_domain::time::EpochMs;
use serde_json::{Map, Value, json};

use crate::answer::Refused;
use crate::ledger::Ledger;
use crate::settings::{AppStoreApp, ByHand, Settings};

pub(crate) use routes::route;

/// All that App Store Connect holds.
pub(crate) struct AppStore {
    things: BTreeMap<String, Thing>,
    made: u64,
    due: Vec<Due>,
    parts: BTreeMap<String, uploads::Parts>,
    /// Addresses of parts that were given out before this are no good any more.
    generation: u32,
    /// Apps whose binaries answer the question about cryptography.
    answers_encryption: Vec<String>,
    /// Changes of state that nobody was told of yet, and how many were told.
    notices: Vec<notices::Notice>,
    told: u64,
}

/// A resource.
#[derive(Clone, Debug)]
struct Thing {
    kind: &'static str,
    attributes: Value,
    relationships: Map<String, Value>,
    /// What it belongs to, where the published form of the resource does not tell it.
    parent: String,
}

/// Something that will happen.
#[derive(Clone, Debug)]
struct Due {
    at: EpochMs,
    what: Event,
    id: String,
}

/// What will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// An upload becomes a build.
    BuildAppears,
    /// An upload holds a binary with faults.
    UploadFails,
    /// A build is processed.
    BuildValid,
    /// TestFlight's review begins, and ends.
    BetaReviewBegins,
    BetaReviewEnds,
    /// A review begins, and ends.
    ReviewBegins,
    ReviewEnds,
    /// A review that was called off is closed.
    ReviewCloses,
    /// A released version reaches the store.
    Released,
    /// A day of a phased release is over.
    PhasedDay,
}

/// What a call may need besides the resources.
struct Around<'a> {
    settings: &'a mut Settings,
    ledger: &'a mut Ledger,
    address: &'a str,
    now: EpochMs,
}

impl AppStore {
    pub(crate) fn new(settings: &Settings) -> AppStore {
        let mut store = AppStore {
            things: BTreeMap::new(),
            made: 0,
            due: Vec::new(),
            parts: BTreeMap::new(),
            generation: 0,
            answers_encryption: Vec::new(),
            notices: Vec::new(),
            told: 0,
        };
        for app in &settings.app_store {
            store.make_app(app);
        }
        store
    }

    fn make_app(&mut self, app: &AppStoreApp) {
        let attributes =
            json!({"name": app.bundle_id, "bundleId": app.bundle_id, "sku": app.bundle_id, "primaryLocale": "en-US"});
        let id = self.make("apps", attributes, &[]);
        if app.answers_encryption {
            self.answers_encryption.push(id.clone());
        }
        for group in &app.groups {
            let attributes = json!({
                "name": group.name,
                "isInternalGroup": group.internal,
                "hasAccessToAllBuilds": group.all_builds,
            });
            self.make("betaGroups", attributes, &[("app", "apps", &id)]);
        }
        if let Some(version) = &app.live {
            let attributes = versions::attributes("IOS", version, "AFTER_APPROVAL", "READY_FOR_DISTRIBUTION");
            self.make("appStoreVersions", attributes, &[("app", "apps", &id)]);
        }
    }

    /// The app of a bundle id is made if it is not there.
    fn see_app(&mut self, bundle_id: &str) {
        let is_there = self.all("apps").any(|(_, app)| app.text("bundleId") == bundle_id);
        if !is_there && !bundle_id.is_empty() {
            self.make_app(&AppStoreApp::usual(bundle_id));
        }
    }

    /// What was due by now happens, in its order.
    pub(crate) fn advance(&mut self, now: EpochMs, settings: &mut Settings, ledger: &mut Ledger) {
        loop {
            let next = self.due.iter().enumerate().filter(|(_, due)| due.at <= now);
            let Some(place) = next.min_by_key(|(place, due)| (due.at, *place)).map(|(place, _)| place) else {
                return;
            };
            let due = self.due.remove(place);
            // It may have been deleted since.
            if self.things.contains_key(&due.id) {
                let mut around = Around {
                    settings: &mut *settings,
                    ledger: &mut *ledger,
                    address: "",
                    now: due.at,
                };
                self.happen(due, &mut around);
            }
        }
    }

    /// Does what a person does.
    ///
    /// # Errors
    /// What there is not.
    pub(crate) fn by_hand(
        &mut self,
        done: &ByHand,
        now: EpochMs,
        settings: &mut Settings,
        ledger: &mut Ledger,
    ) -> Result<(), String> {
        let address = "";
        let mut around = Around {
            settings,
            ledger,
            address,
            now,
        };
        self.do_by_hand(&mut around, done)
    }

    fn happen(&mut self, due: Due, around: &mut Around<'_>) {
        match due.what {
            Event::BuildAppears => self.build_appears(&due.id, around),
            Event::UploadFails => self.upload_fails(&due.id),
            Event::BuildValid => self.build_valid(&due.id, around),
            Event::BetaReviewBegins => self.set(&due.id, "externalBuildState", "IN_BETA_REVIEW"),
            Event::BetaReviewEnds => self.beta_review_ends(&due.id, around),
            Event::ReviewBegins => self.review_begins(&due.id),
            Event::ReviewEnds => self.review_ends(&due.id, around),
            Event::ReviewCloses => self.set(&due.id, "state", "COMPLETE"),
            Event::Released => self.released(&due.id, around),
            Event::PhasedDay => self.phased_day(&due.id, around),
        }
    }

    fn later(&mut self, at: EpochMs, what: Event, id: &str) {
        let id = id.to_owned();
        self.due.push(Due { at, what, id });
    }

    /// Makes a resource; its relationships are name, kind and id.
    fn make(&mut self, kind: &'static str, attributes: Value, related: &[(&str, &str, &str)]) -> String {
        self.made += 1;
        let id = match kind {
            "apps" => (1_000_000_000 + self.made).to_string(),
            _ => format!("5171a7e0-0000-4000-8000-{:012x}", self.made),
        };
        let relationships = related.iter();
        let relationships = relationships
            .map(|(name, kind, id)| ((*name).to_owned(), json!({"data": {"type": kind, "id": id}})))
            .collect();
        let thing = Thing {
            kind,
            attributes,
            relationships,
            parent: String::new(),
        };
        self.things.insert(id.clone(), thing);
        id
    }

    fn thing(&self, kind: &str, id: &str) -> Result<&Thing, Refused> {
        self.things.get(id).filter(|thing| thing.kind == kind).ok_or_else(|| {
            Refused(
                404,
                "NOT_FOUND",
                format!("There is no resource of type '{kind}' with id '{id}'"),
            )
        })
    }

    /// An attribute; empty when there is none.
    fn text(&self, id: &str, name: &str) -> &str {
        let thing = self.things.get(id);
        thing
            .and_then(|thing| thing.attributes[name].as_str())
            .unwrap_or_default()
    }

    fn set(&mut self, id: &str, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if let Some(thing) = self.things.get_mut(id) {
            let notice = notices::Notice::of(id, thing, name, &value);
            thing.attributes[name] = value;
            self.notice(notice);
        }
    }

    fn relate(&mut self, id: &str, name: &str, kind: &str, other: &str) {
        if let Some(thing) = self.things.get_mut(id) {
            let link = json!({"data": {"type": kind, "id": other}});
            thing.relationships.insert(name.to_owned(), link);
        }
    }

    fn related(&self, id: &str, name: &str) -> &str {
        self.things.get(id).map_or("", |thing| thing.related(name))
    }

    fn all<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = (&'s String, &'s Thing)> {
        self.things.iter().filter(move |(_, thing)| thing.kind == kind)
    }

    /// A resource as it is answered.
    fn shown(&self, id: &str) -> Value {
        let Some(thing) = self.things.get(id) else {
            return Value::Null;
        };
        let kind = thing.kind;
        let mut shown = json!({"type": kind, "id": id, "links": {"self": format!("/v1/{kind}/{id}")}});
        if let Some(attributes) = thing.attributes.as_object() {
            // What begins with `#` is known here only.
            let attributes = attributes.iter().filter(|(name, _)| !name.starts_with('#'));
            shown["attributes"] = attributes.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        if !thing.relationships.is_empty() {
            shown["relationships"] = Value::Object(thing.relationships.clone());
        }
        shown
    }
}

impl Thing {
    /// The id of what it is related to; empty when there is nothing.
    fn related(&self, name: &str) -> &str {
        let link = self.relationships.get(name);
        link.and_then(|link| link["data"]["id"].as_str()).unwrap_or_default()
    }

    fn text(&self, name: &str) -> &str {
        self.attributes[name].as_str().unwrap_or_default()
    }
}
