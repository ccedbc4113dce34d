//! Records the phases of a build as they run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use launchway_api::runner::Phase;
use launchway_domain::time::{EpochMs, iso};
use tokio::sync::Notify;

/// The phases of one attempt.
#[derive(Debug, Default)]
pub struct Phases {
    list: Mutex<Vec<Phase>>,
    changed: Notify,
}

impl Phases {
    /// Starts a phase and ends the previous one.
    pub fn begin(&self, name: &str, now: EpochMs) {
        let mut list = self.list();
        end_last(&mut list, None, now);
        list.push(Phase {
            name: name.to_owned(),
            started_at: iso(now),
            finished_at: None,
            exit_code: None,
        });
        drop(list);
        self.changed.notify_one();
    }

    /// Restores phases that are already known.
    pub fn set(&self, phases: Vec<Phase>) {
        *self.list() = phases;
    }

    /// Ends the running phase, with the exit code if it was a step.
    pub fn end(&self, exit_code: Option<i32>, now: EpochMs) {
        end_last(&mut self.list(), exit_code, now);
    }

    /// The name of the latest phase.
    pub fn latest(&self) -> Option<String> {
        self.list().last().map(|phase| phase.name.clone())
    }

    /// All phases so far.
    pub fn all(&self) -> Vec<Phase> {
        self.list().clone()
    }

    /// Waits until another phase has begun since the last call.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    fn list(&self) -> MutexGuard<'_, Vec<Phase>> {
        // A panic cannot leave the list half changed.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end_last(list: &mut [Phase], exit_code: Option<i32>, now: EpochMs) {
    if let Some(last) = list.last_mut().filter(|phase| phase.finished_at.is_none()) {
        last.finished_at = Some(iso(now));
        last.exit_code = exit_code;
    }
}
