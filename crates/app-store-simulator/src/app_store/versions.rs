//! App Store versions, their notes and phased releases.

use launchway_domain::time::iso;
use serde_json::{Value, json};

use super::routes::{Answer, Answered};
use super::uploads::id_of;
use super::{AppStore, Event, RequestContext};
use crate::answer::RefusalError;

/// The states in which a version can be changed.
pub(super) const OPEN: [&str; 6] = [
    "PREPARE_FOR_SUBMISSION",
    "READY_FOR_REVIEW",
    "DEVELOPER_REJECTED",
    "REJECTED",
    "METADATA_REJECTED",
    "INVALID_BINARY",
];

/// The attributes of a version.
pub(super) fn attributes(platform: &str, version: &str, release_type: &str, state: &str) -> Value {
    json!({
        "platform": platform,
        "versionString": version,
        "releaseType": release_type,
        "appVersionState": state,
        "reviewType": "APP_STORE",
    })
}

impl AppStore {
    pub(super) fn create_version(&mut self, context: &mut RequestContext<'_>, data: &Value) -> Answered {
        let app = id_of(data, "app");
        self.resource("apps", &app)?;
        let given = &data["attributes"];
        let of_app = |(_, version): &(&String, &super::Resource)| {
            version.related("app") == app && version.attributes["platform"] == given["platform"]
        };
        let over = ["READY_FOR_DISTRIBUTION", "REPLACED_WITH_NEW_VERSION"];
        if self
            .all("appStoreVersions")
            .filter(of_app)
            .any(|(_, version)| !over.contains(&version.text("appVersionState")))
        {
            return Err(RefusalError(
                409,
                "ENTITY_ERROR.RELATIONSHIP.INVALID",
                "You cannot create a new version of the App in the current state.".to_owned(),
            ));
        }
        if self
            .all("appStoreVersions")
            .filter(of_app)
            .any(|(_, version)| version.attributes["versionString"] == given["versionString"])
        {
            return Err(RefusalError(
                409,
                "ENTITY_ERROR.ATTRIBUTE.INVALID.DUPLICATE",
                "The version number has been previously used.".to_owned(),
            ));
        }
        let text = |name: &str| given[name].as_str().unwrap_or_default();
        let release_type = given["releaseType"].as_str().unwrap_or("AFTER_APPROVAL");
        let mut made = attributes(
            text("platform"),
            text("versionString"),
            release_type,
            "PREPARE_FOR_SUBMISSION",
        );
        made["createdDate"] = json!(iso(context.now));
        let id = self.make("appStoreVersions", made, &[("app", "apps", &app)]);
        context.ledger.note("version", text("versionString"));
        Ok(Answer::Made(id))
    }

    /// Refuses unless the version can be changed.
    pub(super) fn open_version(&self, id: &str) -> Result<(), RefusalError> {
        let state = self.resource("appStoreVersions", id)?.text("appVersionState");
        if OPEN.contains(&state) {
            Ok(())
        } else {
            let detail = format!("The version is {state} and cannot be changed.");
            Err(RefusalError(409, "STATE_ERROR", detail))
        }
    }

    pub(super) fn change_version(&mut self, id: &str, data: &Value) -> Answered {
        self.open_version(id)?;
        self.change("appStoreVersions", id, data)
    }

    pub(super) fn attach_build(&mut self, id: &str, build: &Value) -> Answered {
        self.open_version(id)?;
        let build = build["id"].as_str().unwrap_or_default().to_owned();
        let resource = self.resource("builds", &build)?;
        let fits = resource.text("processingState") == "VALID"
            && resource.attributes["#version"] == self.text(id, "versionString")
            && resource.attributes["#platform"] == self.text(id, "platform");
        if !fits {
            let detail = "The specified build is not valid for this version.".to_owned();
            return Err(RefusalError(409, "ENTITY_ERROR.RELATIONSHIP.INVALID", detail));
        }
        self.relate(id, "build", "builds", &build);
        Ok(Answer::Nothing)
    }

    pub(super) fn create_note(&mut self, data: &Value) -> Answered {
        let version = id_of(data, "appStoreVersion");
        self.open_version(&version)?;
        self.takes_notes(&version)?;
        let locale = &data["attributes"]["locale"];
        let same = |(_, note): (&String, &super::Resource)| {
            note.related("appStoreVersion") == version && note.attributes["locale"] == *locale
        };
        if self.all("appStoreVersionLocalizations").any(same) {
            let detail = "A localization of this locale exists.".to_owned();
            return Err(RefusalError(409, "ENTITY_ERROR.ATTRIBUTE.INVALID", detail));
        }
        let related = [("appStoreVersion", "appStoreVersions", version.as_str())];
        let id = self.make("appStoreVersionLocalizations", data["attributes"].clone(), &related);
        Ok(Answer::Made(id))
    }

    pub(super) fn change_note(&mut self, id: &str, data: &Value) -> Answered {
        let version = self
            .resource("appStoreVersionLocalizations", id)?
            .related("appStoreVersion")
            .to_owned();
        self.open_version(&version)?;
        self.takes_notes(&version)?;
        self.change("appStoreVersionLocalizations", id, data)
    }

    /// Refuses release notes for the first version of an app.
    fn takes_notes(&self, version: &str) -> Result<(), RefusalError> {
        let app = self.related(version, "app");
        let is_first = !self
            .all("appStoreVersions")
            .any(|(id, other)| id != version && other.related("app") == app);
        if is_first {
            let detail = "Attribute 'whatsNew' cannot be edited at this time".to_owned();
            return Err(RefusalError(
                409,
                "ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE",
                detail,
            ));
        }
        Ok(())
    }

    fn phased_of(&self, version: &str) -> Option<String> {
        let mut all = self.all("appStoreVersionPhasedReleases");
        all.find(|(_, phased)| phased.parent == version)
            .map(|(id, _)| id.clone())
    }

    pub(super) fn phased_release(&self, version: &str) -> Answered {
        self.resource("appStoreVersions", version)?;
        match self.phased_of(version) {
            Some(id) => Ok(Answer::One(id)),
            None => Ok(Answer::Linked(None)),
        }
    }

    pub(super) fn create_phased_release(&mut self, data: &Value) -> Answered {
        let version = id_of(data, "appStoreVersion");
        self.open_version(&version)?;
        if self.phased_of(&version).is_some() {
            let detail = "A phased release exists for this version.".to_owned();
            return Err(RefusalError(409, "ENTITY_ERROR.RELATIONSHIP.INVALID", detail));
        }
        let attributes = json!({"phasedReleaseState": "INACTIVE", "currentDayNumber": 0, "totalPauseDuration": 0});
        let id = self.make("appStoreVersionPhasedReleases", attributes, &[]);
        self.belongs(&id, &version);
        Ok(Answer::Made(id))
    }

    pub(super) fn change_phased_release(
        &mut self,
        context: &mut RequestContext<'_>,
        id: &str,
        data: &Value,
    ) -> Answered {
        let known = self
            .resource("appStoreVersionPhasedReleases", id)?
            .text("phasedReleaseState");
        let wanted = data["attributes"]["phasedReleaseState"].as_str().unwrap_or_default();
        let note = match (known, wanted) {
            ("ACTIVE", "PAUSED") => "halted",
            ("PAUSED", "ACTIVE") => "resumed",
            ("ACTIVE" | "PAUSED", "COMPLETE") => "completed",
            _ => {
                let detail = format!("A phased release that is {known} cannot become {wanted}.");
                return Err(RefusalError(409, "STATE_ERROR", detail));
            }
        };
        context.ledger.note(note, id);
        self.set(id, "phasedReleaseState", wanted);
        Ok(Answer::One(id.to_owned()))
    }

    /// Marks a version as available to customers.
    pub(super) fn released(&mut self, version: &str, context: &mut RequestContext<'_>) {
        let (app, platform) = (
            self.related(version, "app").to_owned(),
            self.text(version, "platform").to_owned(),
        );
        let before: Vec<String> = self
            .all("appStoreVersions")
            .filter(|(_, other)| other.related("app") == app && other.text("platform") == platform)
            .filter(|(_, other)| other.text("appVersionState") == "READY_FOR_DISTRIBUTION")
            .map(|(id, _)| id.clone())
            .collect();
        for id in before {
            self.set(&id, "appVersionState", "REPLACED_WITH_NEW_VERSION");
        }
        self.set(version, "appVersionState", "READY_FOR_DISTRIBUTION");
        context
            .ledger
            .note("release", self.text(version, "versionString").to_owned());
        let build = self.text(self.related(version, "build"), "version").to_owned();
        context.ledger.note("released_build", build);
        if let Some(phased) = self.phased_of(version) {
            self.set(&phased, "phasedReleaseState", "ACTIVE");
            self.set(&phased, "currentDayNumber", 1);
            self.set(&phased, "startDate", iso(context.now));
            let day = context.settings.phased_day;
            self.later(context.now + day, Event::PhasedDay, &phased);
        }
    }

    pub(super) fn phased_day(&mut self, phased: &str, context: &mut RequestContext<'_>) {
        let day = self
            .resources
            .get(phased)
            .and_then(|phased| phased.attributes["currentDayNumber"].as_i64());
        match (self.text(phased, "phasedReleaseState"), day.unwrap_or(0)) {
            ("ACTIVE", 7..) => return self.set(phased, "phasedReleaseState", "COMPLETE"),
            ("ACTIVE", day) => self.set(phased, "currentDayNumber", day + 1),
            ("PAUSED", _) => {}
            _ => return,
        }
        let day = context.settings.phased_day;
        self.later(context.now + day, Event::PhasedDay, phased);
    }
}
