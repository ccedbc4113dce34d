//! Google Play: apps, edits, resumable uploads, reviews.

mod edits;
mod routes;
mod tracks;
mod uploads;

use std::collections::BTreeMap;

use launchway_domain::time::{DAY, EpochMs};
use serde_json::{Value, json};

use crate::ledger::Ledger;
use crate::settings::{Outcome, Settings};

pub(crate) use routes::route;

/// The tracks that every app has.
const TRACKS: [&str; 4] = ["internal", "alpha", "beta", "production"];
/// The lifetime of an edit.
const EDIT_LIFE: EpochMs = 7 * DAY;

/// The state of Google Play.
pub(crate) struct GooglePlay {
    apps: BTreeMap<String, App>,
    edits: BTreeMap<String, Edit>,
    sessions: BTreeMap<String, uploads::Session>,
    made: u64,
}

/// An app.
#[derive(Clone, Default)]
struct App {
    /// Incremented by each change, which invalidates older edits.
    revision: u64,
    tracks: BTreeMap<String, Value>,
    binaries: BTreeMap<i64, Binary>,
    /// The lifecycle state of each release of a track.
    lives: BTreeMap<(String, i64), &'static str>,
    /// The releases in review, and when their reviews end.
    reviews: Vec<(EpochMs, String, i64)>,
    /// The end of the review of somebody else's changes.
    other_review: Option<EpochMs>,
    draft: bool,
    review_by_hand: bool,
    /// Whether approved releases wait until somebody publishes them.
    managed_publishing: bool,
}

/// A binary in an app's library.
#[derive(Clone)]
struct Binary {
    sha256: String,
    is_apk: bool,
}

/// An edit.
struct Edit {
    package: String,
    revision: u64,
    tracks: BTreeMap<String, Value>,
    binaries: BTreeMap<i64, Binary>,
    ends: EpochMs,
    state: EditState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditState {
    Open,
    Committed,
    Deleted,
}

impl App {
    /// An app that was never released, with the default tracks.
    fn unreleased() -> App {
        let tracks = TRACKS.map(|name| (name.to_owned(), json!({"track": name})));
        App {
            tracks: tracks.into(),
            ..App::default()
        }
    }
}

impl GooglePlay {
    pub(crate) fn new(settings: &Settings) -> GooglePlay {
        let mut apps = BTreeMap::new();
        for given in &settings.google_play {
            let mut app = App {
                draft: given.draft,
                review_by_hand: given.review_by_hand,
                ..App::unreleased()
            };
            for name in &given.tracks {
                app.tracks.insert(name.clone(), json!({"track": name}));
            }
            if let Some(code) = given.live {
                let release = json!({"versionCodes": [code.to_string()], "status": "completed", "name": "before"});
                let track = json!({"track": "production", "releases": [release]});
                app.tracks.insert("production".to_owned(), track);
                app.lives.insert(("production".to_owned(), code), tracks::PUBLISHED);
                let binary = Binary {
                    sha256: "00".repeat(32),
                    is_apk: false,
                };
                app.binaries.insert(code, binary);
            }
            apps.insert(given.package.clone(), app);
        }
        GooglePlay {
            apps,
            edits: BTreeMap::new(),
            sessions: BTreeMap::new(),
            made: 0,
        }
    }

    /// Ends the reviews that are due.
    pub(crate) fn advance(&mut self, now: EpochMs, settings: &mut Settings, ledger: &mut Ledger) {
        for (package, app) in &mut self.apps {
            app.other_review = app.other_review.filter(|until| now < *until);
            let due: Vec<(EpochMs, String, i64)> = app.reviews.iter().filter(|(at, ..)| *at <= now).cloned().collect();
            app.reviews.retain(|(at, ..)| *at > now);
            for (_, track, code) in due {
                let rejected = settings.next_outcome() == Outcome::Reject;
                let state = match (rejected, app.managed_publishing) {
                    (true, _) => tracks::NOT_APPROVED,
                    (false, true) => tracks::APPROVED,
                    (false, false) => tracks::PUBLISHED,
                };
                if state == tracks::PUBLISHED {
                    ledger.note("release", format!("{package} {track} {code}"));
                }
                app.lives.insert((track, code), state);
            }
        }
        for edit in self.edits.values_mut() {
            if edit.state == EditState::Open && edit.ends <= now {
                edit.state = EditState::Deleted;
            }
        }
    }

    pub(crate) fn delete_edits(&mut self) {
        for edit in self.edits.values_mut() {
            if edit.state == EditState::Open {
                edit.state = EditState::Deleted;
            }
        }
    }

    pub(crate) fn lose_sessions(&mut self) {
        self.sessions.clear();
    }

    pub(crate) fn change_elsewhere(&mut self, package: &str) {
        if let Some(app) = self.apps.get_mut(package) {
            app.revision += 1;
        }
    }

    pub(crate) fn bundle_by_hand(&mut self, package: &str, code: i64, sha256: &str) {
        if let Some(app) = self.apps.get_mut(package) {
            let sha256 = sha256.to_owned();
            app.binaries.insert(code, Binary { sha256, is_apk: false });
            app.revision += 1;
        }
    }

    pub(crate) fn stage_by_hand(&mut self, package: &str, track: &str, code: i64, fraction: f64) {
        let Some(app) = self.apps.get_mut(package) else { return };
        app.revision += 1;
        let releases = app
            .tracks
            .get_mut(track)
            .and_then(|track| track["releases"].as_array_mut());
        for release in releases.into_iter().flatten() {
            if tracks::codes_of(release).any(|known| known == code) {
                release["status"] = json!("inProgress");
                release["userFraction"] = json!(fraction);
            }
        }
    }

    pub(crate) fn manage_publishing(&mut self, package: &str) {
        if let Some(app) = self.apps.get_mut(package) {
            app.managed_publishing = true;
        }
    }

    pub(crate) fn publish(&mut self, package: &str, ledger: &mut Ledger) {
        let lives = self.apps.get_mut(package).map(|app| &mut app.lives);
        for ((track, code), state) in lives.into_iter().flatten() {
            if *state == tracks::APPROVED {
                *state = tracks::PUBLISHED;
                ledger.note("release", format!("{package} {track} {code}"));
            }
        }
    }

    pub(crate) fn other_review(&mut self, package: &str, until: EpochMs) {
        if let Some(app) = self.apps.get_mut(package) {
            app.other_review = Some(until);
        }
    }

    pub(crate) fn other_reviews(&mut self, until: EpochMs) {
        for app in self.apps.values_mut() {
            app.other_review = Some(until);
        }
    }

    fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }
}
