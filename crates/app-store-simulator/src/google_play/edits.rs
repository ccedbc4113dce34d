//! Edits: opened, validated, committed once.

use launchway_domain::time::SECOND;
use serde_json::{Value, json};

use super::routes::{Answered, RequestContext};
use super::tracks::{DRAFT, IN_REVIEW, NOT_APPROVED, PUBLISHED, codes_of};
use super::{App, EDIT_LIFE, Edit, EditState, GooglePlay};
use crate::answer::{IN_REVIEW_REASON, RefusalError};
use crate::call::Call;

fn invalid(message: impl Into<String>) -> RefusalError {
    RefusalError(400, "INVALID_ARGUMENT", message.into())
}

impl GooglePlay {
    pub(super) fn insert_edit(&mut self, context: &RequestContext<'_>, package: &str) -> Value {
        let id = format!("{:020}", self.number());
        let app = self.apps.entry(package.to_owned()).or_default();
        let edit = Edit {
            package: package.to_owned(),
            revision: app.revision,
            tracks: app.tracks.clone(),
            binaries: app.binaries.clone(),
            ends: context.now + EDIT_LIFE,
            state: EditState::Open,
        };
        self.edits.insert(id.clone(), edit);
        self.published(&id)
    }

    pub(super) fn published(&self, id: &str) -> Value {
        let ends = self.edits.get(id).map_or(0, |edit| edit.ends / SECOND);
        json!({"id": id, "expiryTimeSeconds": ends.to_string()})
    }

    /// Refuses unless the edit is usable.
    pub(super) fn open(&self, package: &str, id: &str) -> Result<(), RefusalError> {
        let edit = self.edits.get(id).filter(|edit| edit.package == package);
        let edit = edit.ok_or_else(|| RefusalError(404, "NOT_FOUND", "Edit not found.".to_owned()))?;
        let current = self.apps.get(package).map_or(0, |app| app.revision);
        match edit.state {
            EditState::Committed => Err(invalid(
                "This edit has already been successfully committed, please create a new Edit.",
            )),
            EditState::Open if edit.revision == current => Ok(()),
            _ => Err(invalid("This Edit has been deleted.")),
        }
    }

    pub(super) fn set_state(&mut self, id: &str, state: EditState) {
        if let Some(edit) = self.edits.get_mut(id) {
            edit.state = state;
        }
    }

    /// The validation errors that a commit would report.
    pub(super) fn check(&self, id: &str) -> Result<(), RefusalError> {
        let Some(edit) = self.edits.get(id) else { return Ok(()) };
        let draft_app = self.apps.get(&edit.package).is_some_and(|app| app.draft);
        for track in edit.tracks.values() {
            for release in track["releases"].as_array().into_iter().flatten() {
                if let Some(missing) = codes_of(release).find(|code| !edit.binaries.contains_key(code)) {
                    return Err(invalid(format!("Version code {missing} does not exist.")));
                }
                if draft_app && release["status"] != "draft" {
                    return Err(invalid("Only releases with status draft may be created on draft app."));
                }
            }
        }
        Ok(())
    }

    pub(super) fn commit(&mut self, context: &mut RequestContext<'_>, call: &Call, id: &str) -> Answered {
        self.check(id)?;
        let Some(edit) = self.edits.get(id) else {
            return Ok(Value::Null);
        };
        let package = edit.package.clone();
        let (tracks, binaries) = (edit.tracks.clone(), edit.binaries.clone());
        let app = self.apps.entry(package.clone()).or_default();
        begin_review(app, context, call, &package)?;
        for code in binaries.keys().filter(|code| !app.binaries.contains_key(*code)) {
            context.ledger.note("upload", format!("{package} {code}"));
        }
        for (name, track) in &tracks {
            release(app, context, &package, name, track);
        }
        app.tracks = tracks;
        app.binaries = binaries;
        app.revision += 1;
        context.ledger.note("commit", package);
        self.set_state(id, EditState::Committed);
        Ok(self.published(id))
    }
}

/// Checks whether changes may go into review now. Changes already in review are withdrawn.
fn begin_review(
    app: &mut App,
    context: &mut RequestContext<'_>,
    call: &Call,
    package: &str,
) -> Result<(), RefusalError> {
    let by_hand = call.query("changesNotSentForReview") == Some("true");
    if app.review_by_hand && !by_hand {
        return Err(invalid(
            "Changes cannot be sent for review automatically. Please set the query parameter changesNotSentForReview to true.",
        ));
    }
    if by_hand && !app.review_by_hand {
        return Err(invalid(
            "Changes are sent for review automatically. The query parameter changesNotSentForReview must not be set.",
        ));
    }
    if app.other_review.is_some() || !app.reviews.is_empty() {
        match call.query("changesInReviewBehavior") {
            Some("ERROR_IF_IN_REVIEW") => {
                let message = "Changes are already submitted.".to_owned();
                return Err(RefusalError(400, IN_REVIEW_REASON, message));
            }
            _ => {
                context.ledger.note("review_canceled", package);
                app.other_review = None;
                app.reviews.clear();
            }
        }
    }
    Ok(())
}

/// Applies the releases of a track, each with its next state.
fn release(app: &mut App, context: &mut RequestContext<'_>, package: &str, name: &str, track: &Value) {
    for release in track["releases"].as_array().into_iter().flatten() {
        let before = app.tracks.get(name).and_then(|track| track["releases"].as_array());
        let refused = |code| app.lives.get(&(name.to_owned(), code)) == Some(&NOT_APPROVED);
        // A refused release is resubmitted with the next change.
        if before.is_some_and(|before| before.contains(release)) && !codes_of(release).any(refused) {
            continue;
        }
        let status = release["status"].as_str().unwrap_or_default();
        for code in codes_of(release) {
            context.ledger.note(
                "track",
                format!("{package} {name} {code} {status} {}", release["userFraction"]),
            );
            let place = (name.to_owned(), code);
            let known = app.lives.get(&place).copied();
            let state = match (status, known) {
                ("draft", _) => DRAFT,
                (_, Some(PUBLISHED)) => PUBLISHED,
                _ if name == "internal" => {
                    context.ledger.note("release", format!("{package} {name} {code}"));
                    PUBLISHED
                }
                _ => {
                    let end = context.now + context.settings.review;
                    app.reviews.push((end, name.to_owned(), code));
                    IN_REVIEW
                }
            };
            app.lives.insert(place, state);
        }
    }
}
