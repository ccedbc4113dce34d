//! Notifies this process when a build changes, so that readers rarely need to query the database. Other nodes are not
//! notified, so readers still query the database every second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use launchway_domain::id::{BuildId, OrgId};
use tokio::sync::watch;

/// Log streams that an organization may have open on one node.
const MAX_STREAMS: usize = 100;

/// Notifications about builds.
#[derive(Default)]
pub struct BuildNews {
    followed: Mutex<HashMap<BuildId, watch::Sender<()>>>,
    streams: Arc<Mutex<HashMap<OrgId, usize>>>,
}

/// One of the open log streams of an organization. Dropping it frees the place.
pub struct StreamPlace {
    streams: Arc<Mutex<HashMap<OrgId, usize>>>,
    org: OrgId,
}

impl BuildNews {
    /// Notifies followers: the build has another status or phase, or its log has grown.
    pub fn notify(&self, id: BuildId) {
        if let Some(sender) = locked(&self.followed).get(&id) {
            sender.send_replace(());
        }
    }

    /// Subscribes to a build.
    pub fn follow(&self, id: BuildId) -> watch::Receiver<()> {
        let mut followed = locked(&self.followed);
        followed.retain(|_, sender| sender.receiver_count() > 0);
        followed.entry(id).or_insert_with(|| watch::Sender::new(())).subscribe()
    }

    /// Takes a place for a stream; `None` if the organization has none left.
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
