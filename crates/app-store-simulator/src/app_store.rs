//! App Store Connect: its resources, which share one outer format, and the scheduled changes to them.

mod builds;
mod by_hand;
mod notices;
mod reviews;
mod routes;
mod taken_back;
mod uploads;
mod versions;

use std::collections::{BTreeMap, BTreeSet};

use launchway_domain::time::EpochMs;
use serde_json::{Map, Value, json};

use crate::answer::RefusalError;
use crate::ledger::Ledger;
use crate::settings::{AppStoreApp, ByHand, Settings};

pub(crate) use routes::route;

/// The state of App Store Connect.
pub(crate) struct AppStore {
    resources: BTreeMap<String, Resource>,
    made: u64,
    due: Vec<ScheduledChange>,
    parts: BTreeMap<String, uploads::Parts>,
    /// Part URLs that were issued before this generation are no longer valid.
    generation: u32,
    /// Groups of testers, each with a build that was assigned to it.
    tested: BTreeSet<(String, String)>,
    /// Apps whose binaries answer the encryption question.
    answers_encryption: Vec<String>,
    /// State changes without a webhook event yet, and the number of events so far.
    notices: Vec<notices::Notice>,
    told: u64,
}

/// A resource.
#[derive(Clone, Debug)]
struct Resource {
    kind: &'static str,
    attributes: Value,
    relationships: Map<String, Value>,
    /// The parent resource, if the published format does not contain it.
    parent: String,
}

/// A scheduled change.
#[derive(Clone, Debug)]
struct ScheduledChange {
    at: EpochMs,
    what: Event,
    id: String,
}

/// The kinds of scheduled changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// An upload becomes a build.
    BuildAppears,
    /// An upload contains an invalid binary.
    UploadFails,
    /// The processing of a build ends.
    BuildValid,
    /// TestFlight's review begins, and ends.
    BetaReviewBegins,
    BetaReviewEnds,
    /// A review begins, and ends.
    ReviewBegins,
    ReviewEnds,
    /// A canceled review is closed.
    ReviewCloses,
    /// A released version reaches customers.
    Released,
    /// A day of a phased release is over.
    PhasedDay,
}

/// What a request may need besides the resources.
struct RequestContext<'a> {
    settings: &'a mut Settings,
    ledger: &'a mut Ledger,
    address: &'a str,
    now: EpochMs,
}

impl AppStore {
    pub(crate) fn new(settings: &Settings) -> AppStore {
        let mut store = AppStore {
            resources: BTreeMap::new(),
            made: 0,
            due: Vec::new(),
            parts: BTreeMap::new(),
            generation: 0,
            tested: BTreeSet::new(),
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

    /// Creates the app with this bundle id if it is missing.
    fn ensure_app(&mut self, bundle_id: &str) {
        let is_there = self.all("apps").any(|(_, app)| app.text("bundleId") == bundle_id);
        if !is_there && !bundle_id.is_empty() {
            self.make_app(&AppStoreApp::unreleased(bundle_id));
        }
    }

    /// Applies the scheduled changes that are due, in order.
    pub(crate) fn advance(&mut self, now: EpochMs, settings: &mut Settings, ledger: &mut Ledger) {
        loop {
            let next = self.due.iter().enumerate().filter(|(_, due)| due.at <= now);
            let Some(place) = next.min_by_key(|(place, due)| (due.at, *place)).map(|(place, _)| place) else {
                return;
            };
            let due = self.due.remove(place);
            // The resource may have been deleted.
            if self.resources.contains_key(&due.id) {
                let mut context = RequestContext {
                    settings: &mut *settings,
                    ledger: &mut *ledger,
                    address: "",
                    now: due.at,
                };
                self.apply(due, &mut context);
            }
        }
    }

    /// Performs a manual action of a person.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn by_hand(
        &mut self,
        done: &ByHand,
        now: EpochMs,
        settings: &mut Settings,
        ledger: &mut Ledger,
    ) -> Result<(), String> {
        let address = "";
        let mut context = RequestContext {
            settings,
            ledger,
            address,
            now,
        };
        self.do_by_hand(&mut context, done)
    }

    fn apply(&mut self, due: ScheduledChange, context: &mut RequestContext<'_>) {
        match due.what {
            Event::BuildAppears => self.build_appears(&due.id, context),
            Event::UploadFails => self.upload_fails(&due.id),
            Event::BuildValid => self.build_valid(&due.id, context),
            Event::BetaReviewBegins => self.set(&due.id, "externalBuildState", "IN_BETA_REVIEW"),
            Event::BetaReviewEnds => self.beta_review_ends(&due.id, context),
            Event::ReviewBegins => self.review_begins(&due.id),
            Event::ReviewEnds => self.review_ends(&due.id, context),
            Event::ReviewCloses => self.set(&due.id, "state", "COMPLETE"),
            Event::Released => self.released(&due.id, context),
            Event::PhasedDay => self.phased_day(&due.id, context),
        }
    }

    fn later(&mut self, at: EpochMs, what: Event, id: &str) {
        let id = id.to_owned();
        self.due.push(ScheduledChange { at, what, id });
    }

    /// Creates a resource; its relationships are name, kind and id.
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
        let resource = Resource {
            kind,
            attributes,
            relationships,
            parent: String::new(),
        };
        self.resources.insert(id.clone(), resource);
        id
    }

    fn resource(&self, kind: &str, id: &str) -> Result<&Resource, RefusalError> {
        self.resources
            .get(id)
            .filter(|resource| resource.kind == kind)
            .ok_or_else(|| {
                RefusalError(
                    404,
                    "NOT_FOUND",
                    format!("There is no resource of type '{kind}' with id '{id}'"),
                )
            })
    }

    /// A text attribute; empty if missing.
    fn text(&self, id: &str, name: &str) -> &str {
        let resource = self.resources.get(id);
        resource
            .and_then(|resource| resource.attributes[name].as_str())
            .unwrap_or_default()
    }

    fn set(&mut self, id: &str, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if let Some(resource) = self.resources.get_mut(id) {
            let notice = notices::Notice::of(id, resource, name, &value);
            resource.attributes[name] = value;
            self.notice(notice);
        }
    }

    fn relate(&mut self, id: &str, name: &str, kind: &str, other: &str) {
        if let Some(resource) = self.resources.get_mut(id) {
            let link = json!({"data": {"type": kind, "id": other}});
            resource.relationships.insert(name.to_owned(), link);
        }
    }

    fn related(&self, id: &str, name: &str) -> &str {
        self.resources.get(id).map_or("", |resource| resource.related(name))
    }

    fn all<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = (&'s String, &'s Resource)> {
        self.resources.iter().filter(move |(_, resource)| resource.kind == kind)
    }

    /// A resource in its published format.
    fn published(&self, id: &str) -> Value {
        let Some(resource) = self.resources.get(id) else {
            return Value::Null;
        };
        let kind = resource.kind;
        let mut shown = json!({"type": kind, "id": id, "links": {"self": format!("/v1/{kind}/{id}")}});
        if let Some(attributes) = resource.attributes.as_object() {
            // Attributes with a leading `#` are internal.
            let attributes = attributes.iter().filter(|(name, _)| !name.starts_with('#'));
            shown["attributes"] = attributes.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        if !resource.relationships.is_empty() {
            shown["relationships"] = Value::Object(resource.relationships.clone());
        }
        shown
    }
}

impl Resource {
    /// The id of a related resource; empty if there is none.
    fn related(&self, name: &str) -> &str {
        let link = self.relationships.get(name);
        link.and_then(|link| link["data"]["id"].as_str()).unwrap_or_default()
    }

    fn text(&self, name: &str) -> &str {
        self.attributes[name].as_str().unwrap_or_default()
    }
}
