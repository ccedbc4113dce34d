//! The App Store's reviews, and the releases that follow them.

use launchway_domain::time::{EpochMs, SECOND, iso};
use serde_json::{Value, json};

use super::routes::{Answer, Answered};
use super::uploads::id_of;
use super::versions::OPEN;
use super::{AppStore, Event, RequestContext};
use crate::answer::state_error;
use crate::settings::Outcome;

impl AppStore {
    pub(super) fn create_review(&mut self, data: &Value) -> Answered {
        let app = id_of(data, "app");
        self.resource("apps", &app)?;
        let platform = &data["attributes"]["platform"];
        let is_open = |(_, review): (&String, &super::Resource)| {
            review.related("app") == app
                && review.attributes["platform"] == *platform
                && review.text("state") == "READY_FOR_REVIEW"
        };
        if self.all("reviewSubmissions").any(is_open) {
            return Err(state_error("There is a review submission that was not submitted yet."));
        }
        let attributes = json!({"platform": platform, "state": "READY_FOR_REVIEW"});
        Ok(Answer::Made(self.make(
            "reviewSubmissions",
            attributes,
            &[("app", "apps", &app)],
        )))
    }

    /// Puts something else of every app, such as an in-app event, into review.
    pub(crate) fn other_reviews(&mut self, until: EpochMs) {
        let apps: Vec<String> = self.all("apps").map(|(id, _)| id.clone()).collect();
        for app in apps {
            for platform in ["IOS", "VISION_OS"] {
                let attributes = json!({"platform": platform, "state": "IN_REVIEW"});
                let review = self.make("reviewSubmissions", attributes, &[("app", "apps", &app)]);
                self.later(until, Event::ReviewCloses, &review);
            }
        }
    }

    fn versions_of(&self, review: &str) -> Vec<String> {
        let items = self
            .all("reviewSubmissionItems")
            .filter(|(_, item)| item.parent == review);
        items
            .map(|(_, item)| item.related("appStoreVersion").to_owned())
            .collect()
    }

    pub(super) fn create_item(&mut self, data: &Value) -> Answered {
        let (review, version) = (id_of(data, "reviewSubmission"), id_of(data, "appStoreVersion"));
        if self.resource("reviewSubmissions", &review)?.text("state") != "READY_FOR_REVIEW" {
            return Err(state_error("The review submission takes no further item."));
        }
        let resource = self.resource("appStoreVersions", &version)?;
        if !OPEN.contains(&resource.text("appVersionState")) || resource.related("build").is_empty() {
            return Err(state_error(
                "The version is not ready to be reviewed: it lacks a build, or is in review.",
            ));
        }
        let open = self
            .all("reviewSubmissions")
            .filter(|(_, review)| review.text("state") != "COMPLETE");
        let open: Vec<String> = open.map(|(id, _)| id.clone()).collect();
        if open.iter().any(|review| self.versions_of(review).contains(&version)) {
            return Err(state_error("The version is in a review submission already."));
        }
        let related = [("appStoreVersion", "appStoreVersions", version.as_str())];
        let id = self.make("reviewSubmissionItems", json!({"state": "READY_FOR_REVIEW"}), &related);
        self.belongs(&id, &review);
        self.set(&version, "appVersionState", "READY_FOR_REVIEW");
        Ok(Answer::Made(id))
    }

    pub(super) fn change_review(&mut self, context: &mut RequestContext<'_>, id: &str, data: &Value) -> Answered {
        let state = self.resource("reviewSubmissions", id)?.text("state").to_owned();
        let given = &data["attributes"];
        let versions = self.versions_of(id);
        if given["submitted"] == true {
            let own = self.resource("reviewSubmissions", id)?;
            let waiting = |(other, review): (&String, &super::Resource)| {
                other != id
                    && review.related("app") == own.related("app")
                    && review.text("platform") == own.text("platform")
                    && matches!(review.text("state"), "WAITING_FOR_REVIEW" | "IN_REVIEW")
            };
            if state != "READY_FOR_REVIEW" || versions.is_empty() || self.all("reviewSubmissions").any(waiting) {
                return Err(state_error("The review submission cannot be submitted."));
            }
            self.set(id, "state", "WAITING_FOR_REVIEW");
            self.set(id, "submittedDate", iso(context.now));
            for version in &versions {
                self.set(version, "appVersionState", "WAITING_FOR_REVIEW");
                context
                    .ledger
                    .note("review", self.text(version, "versionString").to_owned());
            }
            let review = context.settings.review;
            self.later(context.now + review / 2, Event::ReviewBegins, id);
            self.later(context.now + review, Event::ReviewEnds, id);
        } else if given["canceled"] == true {
            if !matches!(state.as_str(), "WAITING_FOR_REVIEW" | "IN_REVIEW" | "UNRESOLVED_ISSUES") {
                return Err(state_error("The review submission cannot be canceled any more."));
            }
            self.set(id, "state", "CANCELING");
            self.later(context.now + 5 * SECOND, Event::ReviewCloses, id);
            for version in &versions {
                if matches!(
                    self.text(version, "appVersionState"),
                    "WAITING_FOR_REVIEW" | "IN_REVIEW"
                ) {
                    self.set(version, "appVersionState", "DEVELOPER_REJECTED");
                    context
                        .ledger
                        .note("review_canceled", self.text(version, "versionString").to_owned());
                }
            }
        }
        Ok(Answer::One(id.to_owned()))
    }

    pub(super) fn review_begins(&mut self, id: &str) {
        if self.text(id, "state") == "WAITING_FOR_REVIEW" {
            self.set(id, "state", "IN_REVIEW");
            for version in self.versions_of(id) {
                self.set(&version, "appVersionState", "IN_REVIEW");
            }
        }
    }

    pub(super) fn review_ends(&mut self, id: &str, context: &mut RequestContext<'_>) {
        if self.text(id, "state") != "IN_REVIEW" {
            return;
        }
        if context.settings.next_outcome() == Outcome::Reject {
            self.set(id, "state", "UNRESOLVED_ISSUES");
            for version in self.versions_of(id) {
                self.set(&version, "appVersionState", "REJECTED");
            }
            return;
        }
        self.set(id, "state", "COMPLETE");
        for version in self.versions_of(id) {
            if self.text(&version, "releaseType") == "MANUAL" {
                self.set(&version, "appVersionState", "PENDING_DEVELOPER_RELEASE");
            } else {
                self.begin_release(&version, context);
            }
        }
    }

    fn begin_release(&mut self, version: &str, context: &mut RequestContext<'_>) {
        self.set(version, "appVersionState", "PROCESSING_FOR_DISTRIBUTION");
        self.later(context.now + 30 * SECOND, Event::Released, version);
    }

    pub(super) fn request_release(&mut self, context: &mut RequestContext<'_>, data: &Value) -> Answered {
        let version = id_of(data, "appStoreVersion");
        if self.resource("appStoreVersions", &version)?.text("appVersionState") != "PENDING_DEVELOPER_RELEASE" {
            return Err(state_error("The version is not waiting to be released."));
        }
        context
            .ledger
            .note("release_request", self.text(&version, "versionString").to_owned());
        self.begin_release(&version, context);
        Ok(Answer::Made(self.make(
            "appStoreVersionReleaseRequests",
            Value::Null,
            &[],
        )))
    }
}
