//! The updates of one bundle as checks read them: those that are offered, and those that apps may still run.

use std::ops::Deref;
use std::sync::Arc;

use launchway_domain::id::UpdateId;
use launchway_domain::ota::{Caller, Candidate, Running};
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use launchway_store::RetiredUpdate;

use crate::Entry;

/// The maximum number of known updates of a bundle that are not offered, the newest ones. Apps that run an older one
/// are identified by their `currentBuild` alone.
pub const RETIRED: usize = 64;

/// The updates of one bundle. Dereferences to the offered ones, newest first.
#[derive(Clone)]
pub struct Updates {
    offered: Arc<[Entry]>,
    /// Newest first. Most bundles have none.
    retired: Option<Arc<[RetiredUpdate]>>,
}

impl Deref for Updates {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.offered
    }
}

impl Updates {
    /// Of `known`, drops those that are offered, and keeps the newest of the rest.
    pub fn new(offered: Arc<[Entry]>, mut known: Vec<RetiredUpdate>) -> Updates {
        let mut ids: Vec<UpdateId> = offered.iter().map(|entry| entry.update_id).collect();
        ids.sort_unstable();
        known.retain(|update| ids.binary_search(&update.id).is_err());
        // Ids increase with time.
        known.sort_unstable_by_key(|update| std::cmp::Reverse(update.id));
        known.truncate(RETIRED);
        Updates {
            offered,
            retired: (!known.is_empty()).then(|| known.into()),
        }
    }

    /// The known update that a caller states to run. `None` if it is unknown, or has another version or platform than
    /// the caller states: then the id says nothing about the installed build.
    pub fn running(&self, caller: &Caller<'_>, current_update: &str) -> Option<Running> {
        let id: UpdateId = current_update.parse().ok()?;
        let offered = self.offered.iter().find(|entry| entry.update_id == id);
        let known = match offered {
            Some(entry) => Some((
                Candidate::platform(entry),
                Candidate::version(entry),
                Candidate::build(entry),
            )),
            None => {
                let mut retired = self.retired.iter().flat_map(|retired| retired.iter());
                let update = retired.find(|update| update.id == id);
                update.map(|update| (update.platform, &update.version, update.build))
            }
        };
        let fits = |platform: Platform, version: &Version| {
            *version == caller.version && caller.platform.is_none_or(|named| named == platform)
        };
        known
            .filter(|(platform, version, _)| fits(*platform, version))
            .map(|(platform, _, build)| Running { platform, build })
    }
}
