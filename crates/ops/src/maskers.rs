//! The maskers of running builds: each finds the secrets of its build in the log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use launchway_domain::id::BuildId;
use launchway_domain::masking::Masker;

/// The number of builds whose masker is cached. The secrets of others are opened again.
const MAX_MASKERS: usize = 256;

/// Maskers of running builds, by build and attempt.
#[derive(Default)]
pub struct Maskers(Mutex<HashMap<(BuildId, u32), Arc<Masker>>>);

impl Maskers {
    /// The masker of an attempt, if it is cached.
    pub fn of(&self, build: BuildId, attempt: u32) -> Option<Arc<Masker>> {
        self.all().get(&(build, attempt)).cloned()
    }

    /// Caches the masker of an attempt.
    pub fn keep(&self, build: BuildId, attempt: u32, masker: Arc<Masker>) {
        let mut all = self.all();
        if all.len() >= MAX_MASKERS {
            all.clear();
        }
        all.insert((build, attempt), masker);
    }

    /// Drops the maskers of a build.
    pub fn forget(&self, build: BuildId) {
        self.all().retain(|(of, _), _| *of != build);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<(BuildId, u32), Arc<Masker>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
