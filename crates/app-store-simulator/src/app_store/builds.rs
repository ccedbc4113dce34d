//! Builds, and TestFlight.

use launchway_domain::time::iso;
use serde_json::{Value, json};

use super::routes::{Answer, Answered};
use super::uploads::id_of;
use super::{AppStore, Around, Event};
use crate::answer::Refused;
use crate::settings::Outcome;

impl AppStore {
    pub(super) fn build_appears(&mut self, upload: &str, around: &mut Around<'_>) {
        let Some(thing) = self.things.get(upload).cloned() else {
            return;
        };
        let app = thing.parent.clone();
        let mut attributes = json!({
            "version": thing.attributes["cfBundleVersion"],
            "uploadedDate": iso(around.now),
            "expired": false,
            "processingState": "PROCESSING",
            // Of the pre-release version, which nobody asks for here; not shown.
            "#version": thing.attributes["cfBundleShortVersionString"],
            "#platform": thing.attributes["platform"],
        });
        if self.answers_encryption.contains(&app) {
            attributes["usesNonExemptEncryption"] = json!(false);
        }
        let related = [("app", "apps", app.as_str()), ("buildUpload", "buildUploads", upload)];
        let build = self.make("builds", attributes, &related);
        self.relate(upload, "build", "builds", &build);
        let complete = json!({"state": "COMPLETE", "errors": [], "warnings": [], "infos": []});
        self.set(upload, "state", complete);
        let detail = json!({
            "autoNotifyEnabled": true,
            "internalBuildState": "PROCESSING",
            "externalBuildState": "PROCESSING",
        });
        self.make("buildBetaDetails", detail, &[("build", "builds", &build)]);
        around.ledger.note("build", self.numbers(upload));
        let half = around.settings.processing / 2;
        self.later(around.now + half, Event::BuildValid, &build);
    }

    pub(super) fn build_valid(&mut self, build: &str, _around: &mut Around<'_>) {
        self.set(build, "processingState", "VALID");
        let unanswered = self
            .things
            .get(build)
            .is_some_and(|build| build.attributes["usesNonExemptEncryption"].is_null());
        let (inside, outside) = if unanswered {
            ("MISSING_EXPORT_COMPLIANCE", "MISSING_EXPORT_COMPLIANCE")
        } else {
            ("IN_BETA_TESTING", "READY_FOR_BETA_SUBMISSION")
        };
        let detail = self.detail(build);
        self.set(&detail, "internalBuildState", inside);
        self.set(&detail, "externalBuildState", outside);
    }

    /// The id of the resource that tells a build's states in TestFlight.
    fn detail(&self, build: &str) -> String {
        let detail = self
            .all("buildBetaDetails")
            .find(|(_, detail)| detail.related("build") == build);
        detail.map(|(id, _)| id.clone()).unwrap_or_default()
    }

    pub(super) fn beta_detail(&self, build: &str) -> Answered {
        let detail = self.detail(build);
        self.thing("buildBetaDetails", &detail)?;
        Ok(Answer::One(detail))
    }

    pub(super) fn change_build(&mut self, id: &str, data: &Value) -> Answered {
        let build = self.thing("builds", id)?;
        let is_valid = build.text("processingState") == "VALID";
        let was_answered = !build.attributes["usesNonExemptEncryption"].is_null();
        let answers = !data["attributes"]["usesNonExemptEncryption"].is_null();
        if answers && was_answered {
            let detail = "You cannot update when the value is already set.".to_owned();
            return Err(Refused(409, "ENTITY_ERROR.ATTRIBUTE.INVALID", detail));
        }
        self.change("builds", id, data)?;
        if answers && is_valid {
            let detail = self.detail(id);
            self.set(&detail, "internalBuildState", "IN_BETA_TESTING");
            self.set(&detail, "externalBuildState", "READY_FOR_BETA_SUBMISSION");
        }
        Ok(Answer::One(id.to_owned()))
    }

    pub(super) fn create_test_note(&mut self, data: &Value) -> Answered {
        let build = id_of(data, "build");
        self.thing("builds", &build)?;
        let locale = &data["attributes"]["locale"];
        if self
            .all("betaBuildLocalizations")
            .any(|(_, note)| note.related("build") == build && note.attributes["locale"] == *locale)
        {
            let detail = "A localization of this locale exists.".to_owned();
            return Err(Refused(409, "ENTITY_ERROR.RELATIONSHIP.INVALID", detail));
        }
        let related = [("build", "builds", build.as_str())];
        Ok(Answer::Made(self.make(
            "betaBuildLocalizations",
            data["attributes"].clone(),
            &related,
        )))
    }

    pub(super) fn give_to_groups(&mut self, around: &mut Around<'_>, build: &str, groups: &Value) -> Answered {
        let is_valid = self.thing("builds", build)?.text("processingState") == "VALID";
        if !is_valid {
            let detail = "The build is not processed.".to_owned();
            return Err(Refused(422, "STATE_ERROR", detail));
        }
        for group in groups.as_array().into_iter().flatten() {
            let id = group["id"].as_str().unwrap_or_default();
            let thing = self.thing("betaGroups", id)?;
            if thing.attributes["hasAccessToAllBuilds"] == true {
                let detail = "Builds cannot be assigned to this internal group.".to_owned();
                return Err(Refused(422, "STATE_ERROR", detail));
            }
            around.ledger.note("group", thing.text("name"));
        }
        Ok(Answer::Nothing)
    }

    pub(super) fn begin_beta_review(&mut self, around: &mut Around<'_>, data: &Value) -> Answered {
        let build = id_of(data, "build");
        self.thing("builds", &build)?;
        let detail = self.detail(&build);
        if self.text(&detail, "externalBuildState") != "READY_FOR_BETA_SUBMISSION" {
            let detail = "The build is not in a state in which it can be submitted.".to_owned();
            return Err(Refused(422, "ENTITY_UNPROCESSABLE", detail));
        }
        self.set(&detail, "externalBuildState", "WAITING_FOR_BETA_REVIEW");
        let attributes = json!({"betaReviewState": "WAITING_FOR_REVIEW", "submittedDate": iso(around.now)});
        let id = self.make("betaAppReviewSubmissions", attributes, &[("build", "builds", &build)]);
        around.ledger.note("beta_review", build);
        let review = around.settings.review;
        self.later(around.now + review / 2, Event::BetaReviewBegins, &detail);
        self.later(around.now + review, Event::BetaReviewEnds, &detail);
        Ok(Answer::Made(id))
    }

    pub(super) fn beta_review_ends(&mut self, detail: &str, around: &mut Around<'_>) {
        let state = match around.settings.next_outcome() {
            Outcome::Reject => "BETA_REJECTED",
            Outcome::Pass => {
                around
                    .ledger
                    .note("beta_released", self.related(detail, "build").to_owned());
                "IN_BETA_TESTING"
            }
        };
        self.set(detail, "externalBuildState", state);
    }
}
