//! What happens during a run, and questions about what is installed.

use std::io;

use crate::boot::{Attempt, BootEventKind};
use crate::device::Device;
use crate::reports::{self, Event};
use crate::state::{Found, State, load_attempt, save_attempt};

/// Something that happens during a run and matters to the next start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The app came to the foreground.
    Foreground,
    /// The app left the foreground.
    Background,
    /// An uncaught error ends the app; with its stack.
    Crash(Option<String>),
    /// The app was in the foreground longer than it may be without confirmation.
    Hang,
    /// The app has run for ten seconds.
    Settled,
}

/// What is installed and what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Everything that is remembered.
    pub state: State,
    /// The attempt that runs, or ran last.
    pub attempt: Option<Attempt>,
    /// How many reports wait.
    pub reports: usize,
}

impl Device<'_> {
    /// Takes what runs for good. Answers whether it was a trial. A start that could not be recorded confirms nothing.
    ///
    /// # Errors
    /// The storage fails; the trial continues.
    pub fn confirm(&self) -> io::Result<bool> {
        let storage = self.ports.storage;
        let (Found::Whole(mut state), Found::Whole(attempt), true) =
            (State::load(storage)?, load_attempt(storage)?, self.is_main())
        else {
            return Ok(false);
        };
        let Some(event) = state.boot.confirm(&attempt, self.recorded.get()) else {
            return Ok(false);
        };
        let _ = reports::add(storage, vec![self.event(&state, &event)]);
        state.save(storage)?;
        Ok(true)
    }

    /// Notes what happens during the run, at once. What happens during a start that could not be recorded is not noted.
    ///
    /// # Errors
    /// The storage fails.
    pub fn mark(&self, mark: Mark) -> io::Result<()> {
        let storage = self.ports.storage;
        let noted = self.is_main() && self.recorded.get();
        let (Found::Whole(mut attempt), true) = (load_attempt(storage)?, noted) else {
            return Ok(());
        };
        let mut stack = None;
        match mark {
            Mark::Foreground => attempt.enter_foreground(),
            Mark::Background => attempt.leave_foreground(),
            Mark::Hang => attempt.hung = true,
            Mark::Settled => attempt.settled = true,
            Mark::Crash(text) => {
                attempt.crashed = true;
                stack = Some(text);
            }
        }
        save_attempt(storage, &attempt)?;
        if let (Some(stack), Found::Whole(state)) = (stack, State::load(storage)?) {
            let event = self.report(BootEventKind::Crash.as_str(), state.update_id(attempt.content), None);
            reports::add(storage, vec![Event { stack, ..event }])?;
        }
        Ok(())
    }

    /// Goes back to the embedded app from the next start on.
    ///
    /// # Errors
    /// The storage fails.
    pub fn reset(&self) -> io::Result<()> {
        if let (Found::Whole(mut state), true) = (State::load(self.ports.storage)?, self.is_main()) {
            state.boot.reset();
            state.save(self.ports.storage)?;
        }
        Ok(())
    }

    /// What is installed and what runs. `None`: the app has never started, or its state is corrupt.
    ///
    /// # Errors
    /// The storage fails.
    pub fn status(&self) -> io::Result<Option<Status>> {
        let Found::Whole(state) = State::load(self.ports.storage)? else {
            return Ok(None);
        };
        let attempt = match load_attempt(self.ports.storage)? {
            Found::Whole(attempt) => Some(attempt),
            Found::Nothing | Found::Corrupt => None,
        };
        Ok(Some(Status {
            state,
            attempt,
            reports: reports::queued_events(self.ports.storage)?.len(),
        }))
    }
}
