//! Tracks and their releases.

use serde_json::{Value, json};

use super::GooglePlay;
use super::routes::{Answered, RequestContext};
use crate::answer::RefusalError;

pub(super) const DRAFT: &str = "RELEASE_LIFECYCLE_STATE_DRAFT";
pub(super) const IN_REVIEW: &str = "RELEASE_LIFECYCLE_STATE_IN_REVIEW";
pub(super) const NOT_APPROVED: &str = "RELEASE_LIFECYCLE_STATE_NOT_APPROVED";
pub(super) const APPROVED: &str = "RELEASE_LIFECYCLE_STATE_APPROVED_NOT_PUBLISHED";
pub(super) const PUBLISHED: &str = "RELEASE_LIFECYCLE_STATE_PUBLISHED";

fn invalid(message: impl Into<String>) -> RefusalError {
    RefusalError(400, "INVALID_ARGUMENT", message.into())
}

/// The version codes of a release.
pub(super) fn codes_of(release: &Value) -> impl Iterator<Item = i64> {
    let codes = release["versionCodes"].as_array().into_iter().flatten();
    codes.filter_map(|code| code.as_str()?.parse().ok())
}

impl GooglePlay {
    pub(super) fn track(&self, edit: &str, name: &str) -> Answered {
        let track = self.edits.get(edit).and_then(|edit| edit.tracks.get(name));
        track
            .cloned()
            .ok_or_else(|| RefusalError(404, "NOT_FOUND", format!("Track not found: {name}.")))
    }

    pub(super) fn set_track(&mut self, edit: &str, name: &str, track: Value) -> Answered {
        self.track(edit, name)?;
        if track["track"] != name {
            return Err(invalid("The track of the body is another than that of the path."));
        }
        let releases = track["releases"].as_array().cloned().unwrap_or_default();
        let mut staged = 0;
        for release in &releases {
            let status = release["status"].as_str().unwrap_or_default();
            let fraction = release["userFraction"].as_f64();
            if codes_of(release).next().is_none() {
                return Err(invalid("A release must have a version code."));
            }
            match (status, fraction) {
                ("inProgress", Some(fraction)) if fraction > 0.0 && fraction < 1.0 => staged += 1,
                ("halted", None) => {}
                ("halted", Some(fraction)) if fraction > 0.0 && fraction < 1.0 => {}
                ("completed" | "draft", None) => {}
                _ => return Err(invalid("userFraction does not fit the status of the release.")),
            }
            let priority = release["inAppUpdatePriority"].as_i64().unwrap_or(0);
            if !(0..=5).contains(&priority) {
                return Err(invalid("inAppUpdatePriority must be 0 to 5."));
            }
            if !release["countryTargeting"].is_null() && (status != "inProgress" || name != "production") {
                return Err(invalid(
                    "countryTargeting is for inProgress releases in the production track.",
                ));
            }
            for note in release["releaseNotes"].as_array().into_iter().flatten() {
                if note["text"].as_str().is_some_and(|text| text.chars().count() > 500) {
                    return Err(invalid("Release notes are too long: at most 500 characters."));
                }
            }
        }
        if staged > 1 {
            return Err(invalid("Only one release of a track may be inProgress."));
        }
        if let Some(edit) = self.edits.get_mut(edit) {
            edit.tracks.insert(name.to_owned(), track.clone());
        }
        Ok(track)
    }

    pub(super) fn binaries(&self, context: &RequestContext<'_>, edit: &str, apks: bool) -> Value {
        let binaries = self.edits.get(edit).map(|edit| &edit.binaries).into_iter().flatten();
        let shown: Vec<Value> = binaries
            .filter(|(_, binary)| binary.is_apk == apks)
            .map(|(code, binary)| match apks {
                _ if !context.settings.checksums => json!({"versionCode": code}),
                true => json!({"versionCode": code, "binary": {"sha256": binary.sha256}}),
                false => json!({"versionCode": code, "sha256": binary.sha256}),
            })
            .collect();
        match apks {
            true => json!({"kind": "androidpublisher#apksListResponse", "apks": shown}),
            false => json!({"kind": "androidpublisher#bundlesListResponse", "bundles": shown}),
        }
    }

    /// The releases of a track, without obsolete ones.
    pub(super) fn summaries(&self, package: &str, name: &str) -> Answered {
        let app = self.apps.get(package);
        let track = app.and_then(|app| app.tracks.get(name));
        let track = track.ok_or_else(|| RefusalError(404, "NOT_FOUND", format!("Track not found: {name}.")))?;
        let lives = app.map(|app| &app.lives);
        let releases = track["releases"].as_array().into_iter().flatten();
        let shown: Vec<Value> = releases
            .map(|release| {
                let state = codes_of(release).find_map(|code| lives?.get(&(name.to_owned(), code)).copied());
                let artifacts: Vec<Value> = codes_of(release).map(|code| json!({"versionCode": code})).collect();
                json!({
                    "releaseName": release["name"].as_str().unwrap_or_default(),
                    "track": name,
                    "activeArtifacts": artifacts,
                    "releaseLifecycleState": state.unwrap_or(DRAFT),
                })
            })
            .collect();
        Ok(json!({"releases": shown}))
    }
}
