//! Simulates App Store Connect and the Google Play Developer API: state in memory, an external clock, injected faults,
//! and a ledger of all effects. Requests are validated against the app stores' published schemas (`schemas/`).
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod access;
mod answer;
mod app_store;
mod call;
mod clock;
mod control;
mod direct;
mod fault;
mod google_play;
mod ledger;
mod schema;
mod serve;
mod settings;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use launchway_app_stores::Clock;
pub use launchway_app_stores::app_store::webhook::SIGNATURE_HEADER;
use launchway_app_stores::app_store::webhook::WebhookSecret;
use launchway_app_stores::transport::Response;
use launchway_domain::time::{EpochMs, HOUR};

pub use call::{Call, Cut};
pub use direct::Direct;
pub use fault::{Fault, Kind, When};
pub use ledger::{Entry, Ledger};
pub use serve::serve;
pub use settings::{
    Account, AppInfo, AppStoreApp, ByHand, GooglePlayApp, Group, Outcome, ReadBinary, Settings, Webhook,
};

/// The base URL of both app stores for calls in the same process.
pub const ADDRESS: &str = "https://stores.invalid";

/// Both app stores.
pub struct Simulator {
    state: Mutex<State>,
    real_clock: Arc<dyn Clock>,
}

/// A webhook event to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The target URL, for a POST.
    pub url: String,
    /// The value of the header [`SIGNATURE_HEADER`].
    pub signature: String,
    /// The body, as JSON.
    pub body: String,
}

struct State {
    /// The initial settings.
    begun_with: Settings,
    settings: Settings,
    clock: clock::StoreClock,
    /// The base URL of the simulator, for the URLs that it issues.
    address: String,
    app_store: app_store::AppStore,
    google_play: google_play::GooglePlay,
    access: access::Access,
    faults: fault::Faults,
    ledger: Ledger,
}

impl Simulator {
    /// App stores with the state of the settings, reachable at `address`.
    pub fn new(settings: Settings, address: &str, real_clock: Arc<dyn Clock>) -> Arc<Simulator> {
        let state = State {
            clock: clock::StoreClock::new(real_clock.now(), settings.speed),
            app_store: app_store::AppStore::new(&settings),
            google_play: google_play::GooglePlay::new(&settings),
            access: access::Access::default(),
            faults: fault::Faults::default(),
            ledger: Ledger::default(),
            address: address.trim_end_matches('/').to_owned(),
            begun_with: settings.clone(),
            settings,
        };
        Arc::new(Simulator {
            state: Mutex::new(state),
            real_clock,
        })
    }

    /// Schedules a fault.
    pub fn order(&self, fault: Fault) {
        self.lock().faults.order(fault);
    }

    /// Sets the outcomes of the next reviews, in order; all later ones pass.
    pub fn decide(&self, outcomes: &[Outcome]) {
        self.lock().settings.outcomes.extend(outcomes);
    }

    /// Simulates an edit by somebody else, which invalidates open edits of the app.
    pub fn change_app_elsewhere(&self, package: &str) {
        self.lock().google_play.change_elsewhere(package);
    }

    /// Puts changes of the app by somebody else into review until `until`.
    pub fn other_review(&self, package: &str, until: EpochMs) {
        self.lock().google_play.other_review(package, until);
    }

    /// Changes the fraction of users of a staged release, as a person in the Play Console would.
    pub fn stage_by_hand(&self, package: &str, track: &str, code: i64, fraction: f64) {
        self.lock().google_play.stage_by_hand(package, track, code, fraction);
    }

    /// Turns on managed publishing of an app in the Play Console: approved releases wait for [`Self::publish`].
    pub fn manage_publishing(&self, package: &str) {
        self.lock().google_play.manage_publishing(package);
    }

    /// Publishes the approved releases of an app, as a person in the Play Console would.
    pub fn publish(&self, package: &str) {
        let mut state = self.lock();
        let State {
            google_play, ledger, ..
        } = &mut *state;
        google_play.publish(package, ledger);
    }

    /// Uploads a build to App Store Connect, or attaches it to a version, as a person would.
    ///
    /// # Errors
    /// What is missing.
    pub fn by_hand(&self, done: &ByHand) -> Result<(), String> {
        let now = self.real_clock.now();
        self.lock().by_hand(done, now)
    }

    /// Adds a binary with this checksum to an app's library, as a person in the Play Console would.
    pub fn bundle_by_hand(&self, package: &str, code: i64, sha256: &str) {
        self.lock().google_play.bundle_by_hand(package, code, sha256);
    }

    /// All effects so far.
    pub fn ledger(&self) -> Ledger {
        self.lock().ledger.clone()
    }

    /// The webhook events of App Store Connect since the last call, for delivery. Empty if no webhook is configured.
    pub fn take_deliveries(&self) -> Vec<Delivery> {
        let now = self.real_clock.now();
        let mut state = self.lock();
        state.advance(now);
        let there = state.clock.at(now);
        let events = state.app_store.take_events(there);
        let Some(webhook) = &state.settings.webhook else {
            return Vec::new();
        };
        let secret = WebhookSecret::new(webhook.secret.clone().into());
        let deliveries = events.into_iter().map(|body| Delivery {
            url: webhook.url.clone(),
            signature: secret.sign(body.as_bytes()),
            body,
        });
        deliveries.collect()
    }

    /// The number of requests, including those whose effect a fault prevented.
    pub fn calls(&self) -> u64 {
        self.lock().faults.calls()
    }

    /// The method and path of each request, in order, without queries.
    pub fn log(&self) -> Vec<String> {
        self.lock().faults.log()
    }

    /// Handles a request.
    ///
    /// # Errors
    /// The connection breaks, because of a fault or on the caller's side.
    pub async fn answer(&self, mut call: Call) -> Result<Response, Cut> {
        if control::is_control(&call) {
            let body = call.read(false).await?;
            return Ok(control::answer(&mut self.lock(), &call, &body, self.real_clock.now()));
        }
        let fault = self.lock().faults.next(&call);
        if let Some(kind) = fault
            && let Some(answer) = kind.before(&call)
        {
            return answer;
        }
        if let Some(kind) = fault {
            self.lock().prepare(kind, self.real_clock.now());
        }
        let cut = matches!(fault, Some(Kind::Cut));
        let body = call.read(cut).await?;
        if cut && !call.is_resumable() {
            return Err(Cut);
        }
        let answer = self.lock().route(&call, &body, self.real_clock.now());
        if cut {
            return Err(Cut);
        }
        match fault {
            Some(kind) => kind.after(answer),
            None => Ok(answer),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Applies the changes that are due in both app stores.
    fn advance(&mut self, now: EpochMs) {
        let now = self.clock.at(now);
        self.app_store.advance(now, &mut self.settings, &mut self.ledger);
        self.google_play.advance(now, &mut self.settings, &mut self.ledger);
    }

    fn by_hand(&mut self, done: &ByHand, now: EpochMs) -> Result<(), String> {
        self.advance(now);
        let there = self.clock.at(now);
        self.app_store
            .by_hand(done, there, &mut self.settings, &mut self.ledger)
    }

    /// Restores the initial state of both app stores. Issued tokens stay valid.
    fn reset(&mut self, now: EpochMs) {
        self.settings = self.begun_with.clone();
        self.clock = clock::StoreClock::new(now, self.settings.speed);
        self.app_store = app_store::AppStore::new(&self.settings);
        self.google_play = google_play::GooglePlay::new(&self.settings);
        self.faults = fault::Faults::default();
        self.ledger = Ledger::default();
    }

    fn prepare(&mut self, kind: Kind, now: EpochMs) {
        let now = self.clock.at(now);
        match kind {
            Kind::ExpireParts => self.app_store.expire_parts(),
            Kind::NoChecksums => self.settings.checksums = false,
            Kind::DeleteEdits => self.google_play.delete_edits(),
            Kind::LoseSessions => self.google_play.lose_sessions(),
            Kind::OtherReview => {
                self.app_store.other_reviews(now + HOUR);
                self.google_play.other_reviews(now + HOUR);
            }
            _ => {}
        }
    }

    fn route(&mut self, call: &Call, body: &call::Received, now: EpochMs) -> Response {
        self.advance(now);
        let there = self.clock.at(now);
        let parts = call.parts();
        match parts[..] {
            ["simulator", "parts", file, number] => self.app_store.receive(file, number, body),
            ["simulator", "sessions", session] => self.google_play.receive(session, call, body, &self.settings),
            ["token"] => self.access.token(&self.settings, &self.address, &body.bytes, now),
            ["v1", ..] => match self.access.app_store(&self.settings, call, now) {
                Ok(()) => app_store::route(self, call, body, there),
                Err(refused) => refused,
            },
            ["androidpublisher", "v3", "applications", ..] | ["resumable", "upload", "androidpublisher", ..] => {
                match self.access.google_play(call, now) {
                    Ok(()) => google_play::route(self, call, body, there),
                    Err(refused) => refused,
                }
            }
            _ => answer::status(404),
        }
    }
}
