//! When keys and sessions were last used, to the minute: recorded in memory and written in batches, so that no request
//! writes.

use std::collections::HashMap;
use std::sync::Mutex;

use launchway_domain::id::{KeyId, SessionId};
use launchway_domain::time::{EpochMs, MINUTE};
use launchway_store::{Db, StoreError};

use crate::caller::Who;

/// The times that are not in the database yet.
#[derive(Default)]
pub struct LastUsed {
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    keys: HashMap<KeyId, EpochMs>,
    sessions: HashMap<SessionId, EpochMs>,
}

impl LastUsed {
    /// Records the use by a caller, unless this minute is recorded already.
    pub fn note(&self, who: &Who, now: EpochMs) {
        let minute = now - now.rem_euclid(MINUTE);
        let mut pending = self.pending.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match who {
            Who::Key { key, .. } if key.last_used_at.is_none_or(|known| known < minute) => {
                pending.keys.insert(key.id, minute);
            }
            Who::Session { session, .. } if session.last_used_at < minute => {
                pending.sessions.insert(session.id, minute);
            }
            _ => {}
        }
    }

    /// Writes the recorded times.
    pub async fn flush(&self, db: &Db) -> Result<(), StoreError> {
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        if pending.keys.is_empty() && pending.sessions.is_empty() {
            return Ok(());
        }
        // A fixed order, so that two nodes never deadlock.
        let mut keys: Vec<_> = pending.keys.into_iter().collect();
        let mut sessions: Vec<_> = pending.sessions.into_iter().collect();
        keys.sort_unstable();
        sessions.sort_unstable();
        let mut tx = db.write().await?;
        let mut system = tx.system("callers of every tenant are noted together");
        system.note_keys_used(&keys).await?;
        system.note_sessions_used(&sessions).await?;
        tx.commit().await
    }
}
