//! The phases of a build as they go, for its record.

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
    /// A phase begins; the one before is over.
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

    /// Takes up what is known from before.
    pub fn set(&self, phases: Vec<Phase>) {
        *self.list() = phases;
    }

    /// The phase that runs is over, with an exit code if it was a step.
    pub fn end(&self, exit_code: Option<i32>, now: EpochMs) {
        end_last(&mut self.list(), exit_code, now);
    }

    /// The name of the latest.
    pub fn latest(&self) -> Option<String> {
        self.list().last().map(|phase| phase.name.clone())
    }

    /// All of them.
    pub fn all(&self) -> Vec<Phase> {
        self.list().clone()
    }

    /// Waits until another one has begun since the last time this was waited for.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    fn list(&self) -> MutexGuard<'_, Vec<Phase>> {
        // A list is never left half changed.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end_last(list: &mut [Phase], exit_code: Option<i32>, now: EpochMs) {
    if let Some(last) = list.last_mut().filter(|phase| phase.finished_at.is_none()) {
        last.finished_at = Some(iso(now));
        last.exit_code = exit_code;
    }
}
