//! The client as an app calls it: starts, what happens during a run, and questions about what is installed.

mod choices;
mod cleaning;
mod offers;
mod retries;
mod run;
mod sync;

use std::cell::Cell;
use std::io;

pub use run::{Mark, Status};
pub use sync::{SyncError, SyncOutcome};

use crate::boot::{Binary, BootEvent, BootEventKind, Content, Ending, SlotId, Soundness, StartFacts, decide};
use crate::check::Running;
use crate::ports::{Lock, Ports};
use crate::reports::{self, Event};
use crate::settings::Settings;
use crate::slot;
use crate::state::{FailedUpdate, Found, State, load_attempt, save_attempt};
use crate::trust::Trust;

/// The client of one app in one process.
pub struct Device<'a> {
    ports: Ports<'a>,
    settings: &'a Settings,
    /// Held by the main process. Others follow it.
    lock: Option<Box<dyn Lock>>,
    /// Whether `boot.json` names what runs. A process that did not start the app continues what is recorded.
    recorded: Cell<bool>,
}

/// What the platform knows at a start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The store binary.
    pub binary: Binary,
    /// Whether a window is shown.
    pub window: bool,
    /// How the previous process ended.
    pub ending: Ending,
}

/// What a start hands over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartOutcome {
    /// What runs.
    pub content: Content,
    /// The folder with its files, below the client's own; `None` is the embedded app.
    pub folder: Option<String>,
    /// Why the embedded app runs although nobody decided so.
    pub problem: Option<String>,
    /// Whether this start is the attempt in `boot.json`. What happens during another one is not noted.
    pub recorded: bool,
}

impl StartOutcome {
    fn with(content: Content, recorded: bool) -> Self {
        let folder = match content {
            Content::Embedded => None,
            Content::Slot(id) => Some(slot::content(id)),
        };
        Self {
            content,
            folder,
            problem: None,
            recorded,
        }
    }

    fn fallback(problem: String) -> Self {
        Self {
            problem: Some(problem),
            ..Self::with(Content::Embedded, false)
        }
    }
}

impl<'a> Device<'a> {
    /// Takes the lock if no other process of the app has it.
    ///
    /// # Errors
    /// The storage fails.
    pub fn open(ports: Ports<'a>, settings: &'a Settings) -> io::Result<Self> {
        let lock = ports.storage.lock()?;
        Ok(Self {
            ports,
            settings,
            lock,
            recorded: Cell::new(true),
        })
    }

    /// Whether this is the process that decides.
    #[must_use]
    pub const fn is_main(&self) -> bool {
        self.lock.is_some()
    }

    /// Decides what the app runs, before any of its code does. It never fails: storage that cannot be read, or a state
    /// that cannot be understood, starts the embedded app and changes nothing.
    #[must_use]
    pub fn start(&self, launch: &Launch) -> StartOutcome {
        let started = if self.is_main() {
            self.decide(launch)
        } else {
            self.follow()
        };
        let started =
            started.unwrap_or_else(|error| StartOutcome::fallback(format!("cannot read the storage: {error}")));
        self.recorded.set(started.recorded);
        started
    }

    /// What the main process runs, where that can be handed over.
    fn follow(&self) -> io::Result<StartOutcome> {
        let Found::Whole(attempt) = load_attempt(self.ports.storage)? else {
            return Ok(StartOutcome::with(Content::Embedded, false));
        };
        let Content::Slot(id) = attempt.content else {
            return Ok(StartOutcome::with(Content::Embedded, false));
        };
        let Found::Whole(state) = State::load(self.ports.storage)? else {
            return Ok(StartOutcome::with(Content::Embedded, false));
        };
        let revoked = Trust::open(self.settings, state.trust.as_ref()).is_revoked(id);
        let may_run = !revoked && self.soundness(id, false)? == Soundness::Sound;
        let content = if may_run { attempt.content } else { Content::Embedded };
        Ok(StartOutcome::with(content, false))
    }

    fn decide(&self, launch: &Launch) -> io::Result<StartOutcome> {
        let storage = self.ports.storage;
        let (mut state, is_first) = match State::load(storage)? {
            Found::Nothing => (State::new(launch.binary.clone(), self.ports.random.bytes()), true),
            Found::Corrupt => return Ok(StartOutcome::fallback("state.json is not valid".to_owned())),
            Found::Whole(state) => (state, false),
        };
        let trust = Trust::open(self.settings, state.trust.as_ref());
        let previous = match load_attempt(storage)? {
            Found::Whole(attempt) => Some(attempt),
            Found::Nothing | Found::Corrupt => None,
        };
        let unreadable = Cell::new(None);
        let decision = decide(
            &state.boot,
            previous.as_ref(),
            &StartFacts {
                binary: launch.binary.clone(),
                window: launch.window,
                ending: launch.ending,
                revoked: &|id| trust.is_revoked(id),
                soundness: &|id, first| {
                    self.soundness(id, first).unwrap_or_else(|error| {
                        unreadable.set(Some(error));
                        Soundness::Incomplete
                    })
                },
            },
        );
        if let Some(error) = unreadable.take() {
            return Err(error);
        }
        // Reports come first: one too many is counted once, one too few never.
        let events = decision.events.iter().map(|event| self.event(&state, event)).collect();
        let _ = reports::add(storage, events);
        let changed = is_first || decision.state.is_changed_from(&state.boot);
        remember_failure(&mut state, &decision.events);
        state.boot = decision.state;
        if decision.new_binary {
            state.slots.clear();
            state.tokens.clear();
            state.failed = None;
            // Another configuration has another role, which this device may not have fetched yet.
            if let Some(trust) = &mut state.trust {
                trust.refreshed_at = 0;
            }
        }
        let saved = if changed { state.save(storage) } else { Ok(()) };
        let saved = saved.and_then(|()| save_attempt(storage, &decision.attempt));
        Ok(match saved {
            Ok(()) => StartOutcome::with(decision.attempt.content, true),
            Err(_) => StartOutcome::with(decision.unwritten, false),
        })
    }

    fn soundness(&self, id: SlotId, first: bool) -> io::Result<Soundness> {
        slot::soundness(self.ports.storage, id, &self.settings.entry_file, first)
    }

    fn event(&self, state: &State, event: &BootEvent) -> Event {
        self.report(
            event.kind.as_str(),
            state.update_id(event.content),
            event.reason.map(|reason| reason.as_str().to_owned()),
        )
    }

    fn report(&self, kind: &str, update_id: String, reason: Option<String>) -> Event {
        Event {
            kind: kind.to_owned(),
            update_id,
            at: self.ports.clock.now(),
            reason,
            stack: None,
        }
    }

    /// What the server learns about the running content.
    fn running(&self, state: &State, content: Content) -> Running {
        let slot = match content {
            Content::Embedded => None,
            Content::Slot(id) => state.slot(id),
        };
        Running {
            version: slot.map_or(&self.settings.version, |slot| &slot.version).clone(),
            build: slot.map_or(&state.boot.binary.code, |slot| &slot.build_number).clone(),
            update_id: state.update_id(content),
        }
    }
}

/// Remembers what gave way or could not be used, which always changes the state: it is saved after this.
fn remember_failure(state: &mut State, events: &[BootEvent]) {
    for event in events {
        let (BootEventKind::RolledBack | BootEventKind::Failed, Content::Slot(id), Some(reason)) =
            (event.kind, event.content, event.reason)
        else {
            continue;
        };
        if let Some(slot) = state.slot(id) {
            state.failed = Some(FailedUpdate::of(slot, reason.as_str()));
        }
    }
}
