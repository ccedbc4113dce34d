//! Builds, and TestFlight.

use launchway_domain::time::iso;
use serde_json::{Value, json};

use super::routes::{Answer, Answered};
use super::uploads::id_of;
use super::{AppStore, Event, RequestContext};
use crate::answer::RefusalError;
use crate::settings::Outcome;

impl AppStore {
    pub(super) fn build_appears(&mut self, upload: &str, context: &mut RequestContext<'_>) {
        let Some(resource) = self.resources.get(upload).cloned() else {
            return;
        };
        let app = resource.parent.clone();
        let mut attributes = json!({
            "version": resource.attributes["cfBundleVersion"],
            "uploadedDate": iso(context.now),
            "expired": false,
            "processingState": "PROCESSING",
            // The version, which is published in another resource that no client requests.
            "#version": resource.attributes["cfBundleShortVersionString"],
            "#platform": resource.attributes["platform"],
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
        context.ledger.note("build", self.numbers(upload));
        let half = context.settings.processing / 2;
        self.later(context.now + half, Event::BuildValid, &build);
    }

    pub(super) fn build_valid(&mut self, build: &str, _context: &mut RequestContext<'_>) {
        self.set(build, "processingState", "VALID");
        let unanswered = self
            .resources
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

    /// The id of the resource with a build's TestFlight states.
    fn detail(&self, build: &str) -> String {
        let detail = self
            .all("buildBetaDetails")
            .find(|(_, detail)| detail.related("build") == build);
        detail.map(|(id, _)| id.clone()).unwrap_or_default()
    }

    pub(super) fn beta_detail(&self, build: &str) -> Answered {
        let detail = self.detail(build);
        self.resource("buildBetaDetails", &detail)?;
        Ok(Answer::One(detail))
    }

    pub(super) fn change_build(&mut self, id: &str, data: &Value) -> Answered {
        let build = self.resource("builds", id)?;
        let is_valid = build.text("processingState") == "VALID";
        let was_answered = !build.attributes["usesNonExemptEncryption"].is_null();
        let answers = !data["attributes"]["usesNonExemptEncryption"].is_null();
        if answers && was_answered {
            let detail = "You cannot update when the value is already set.".to_owned();
            return Err(RefusalError(409, "ENTITY_ERROR.ATTRIBUTE.INVALID", detail));
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
        self.resource("builds", &build)?;
        let locale = &data["attributes"]["locale"];
        if self
            .all("betaBuildLocalizations")
            .any(|(_, note)| note.related("build") == build && note.attributes["locale"] == *locale)
        {
            let detail = "A localization of this locale exists.".to_owned();
            return Err(RefusalError(409, "ENTITY_ERROR.RELATIONSHIP.INVALID", detail));
        }
        let related = [("build", "builds", build.as_str())];
        Ok(Answer::Made(self.make(
            "betaBuildLocalizations",
            data["attributes"].clone(),
            &related,
        )))
    }

    pub(super) fn give_to_groups(&mut self, context: &mut RequestContext<'_>, build: &str, groups: &Value) -> Answered {
        let is_valid = self.resource("builds", build)?.text("processingState") == "VALID";
        if !is_valid {
            let detail = "The build is not processed.".to_owned();
            return Err(RefusalError(422, "STATE_ERROR", detail));
        }
        for group in groups.as_array().into_iter().flatten() {
            let id = group["id"].as_str().unwrap_or_default();
            let resource = self.resource("betaGroups", id)?;
            if resource.attributes["hasAccessToAllBuilds"] == true {
                let detail = "Builds cannot be assigned to this internal group.".to_owned();
                return Err(RefusalError(422, "STATE_ERROR", detail));
            }
            context.ledger.note("group", resource.text("name"));
            self.tested.insert((id.to_owned(), build.to_owned()));
        }
        Ok(Answer::Nothing)
    }

    pub(super) fn begin_beta_review(&mut self, context: &mut RequestContext<'_>, data: &Value) -> Answered {
        let build = id_of(data, "build");
        self.resource("builds", &build)?;
        let detail = self.detail(&build);
        if self.text(&detail, "externalBuildState") != "READY_FOR_BETA_SUBMISSION" {
            let detail = "The build is not in a state in which it can be submitted.".to_owned();
            return Err(RefusalError(422, "ENTITY_UNPROCESSABLE", detail));
        }
        self.set(&detail, "externalBuildState", "WAITING_FOR_BETA_REVIEW");
        let attributes = json!({"betaReviewState": "WAITING_FOR_REVIEW", "submittedDate": iso(context.now)});
        let id = self.make("betaAppReviewSubmissions", attributes, &[("build", "builds", &build)]);
        context.ledger.note("beta_review", build);
        let review = context.settings.review;
        self.later(context.now + review / 2, Event::BetaReviewBegins, &detail);
        self.later(context.now + review, Event::BetaReviewEnds, &detail);
        Ok(Answer::Made(id))
    }

    pub(super) fn beta_review_ends(&mut self, detail: &str, context: &mut RequestContext<'_>) {
        let build = self.related(detail, "build").to_owned();
        let has_testers = self.tested.iter().any(|(_, tested)| *tested == build);
        let state = match context.settings.next_outcome() {
            Outcome::Reject => "BETA_REJECTED",
            Outcome::Pass if !has_testers => "BETA_APPROVED",
            Outcome::Pass => {
                context.ledger.note("beta_released", build);
                "IN_BETA_TESTING"
            }
        };
        self.set(detail, "externalBuildState", state);
    }
}
