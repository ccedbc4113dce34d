//! Tells this process that something happened to a build, so that nobody here need ask the database often. Other nodes
//! hear nothing of it: who listens asks the database every second all the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use launchway_domain::id::{BuildId, OrgId};
use tokio::sync::watch;

/// Streams of logs that an organization may have open on one node.
const MAX_STREAMS: usize = 100;

/// What happens to builds, for those who listen.
#[derive(Default)]
pub struct BuildNews {
    followed: Mutex<HashMap<BuildId, watch::Sender<()>>>,
    streams: Arc<Mutex<HashMap<OrgId, usize>>>,
}

/// One of the streams that an organization may have open; its place is free when this is dropped.
pub struct StreamPlace {
    streams: Arc<Mutex<HashMap<OrgId, usize>>>,
    org: OrgId,
}

impl BuildNews {
    /// A build has another status or phase, or its log is longer.
    pub fn tell(&self, id: BuildId) {
        if let Some(sender) = locked(&self.followed).get(&id) {
            sender.send_replace(());
        }
    }

    /// Hears of a build from now on.
    pub fn follow(&self, id: BuildId) -> watch::Receiver<()> {
        let mut followed = locked(&self.followed);
        followed.retain(|_, sender| sender.receiver_count() > 0);
        followed.entry(id).or_insert_with(|| watch::Sender::new(())).subscribe()
    }

    /// Takes a place for a stream; `None` when the organization has all of its own open.
    pub fn open_stream(&self, org: OrgId) -> Option<StreamPlace> {
        let mut streams = locked(&self.streams);
        let open = streams.entry(org).or_insert(0);
        if *open >= MAX_STREAMS {
            return None;
        }
        *open += 1;
        Some(StreamPlace {
            streams: self.streams.clone(),
            org,
        })
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut streams = locked(&self.streams);
        if let Some(open) = streams.get_mut(&self.org) {
            *open -= 1;
            if *open == 0 {
                streams.remove(&self.org);
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
