//! The updates of one bundle as checks read them: those that can be offered, and those that apps may still run.

use std::ops::Deref;
use std::sync::Arc;

use launchway_domain::id::UpdateId;
use launchway_domain::ota::{Caller, Candidate, Running};
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;
use launchway_store::RetiredUpdate;

use crate::ota::Entry;

/// How many updates that are not offered are known of a bundle, the newest. Apps that run an older one are told by their
/// `currentBuild` alone.
pub const RETIRED: usize = 64;

/// The updates of one bundle. As a slice: those that can be offered, newest first.
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
    /// Of `known`, those that are offered are dropped, and of the rest the newest kept.
    pub fn new(offered: Arc<[Entry]>, mut known: Vec<RetiredUpdate>) -> Updates {
        let mut ids: Vec<UpdateId> = offered.iter().map(|entry| entry.update_id).collect();
        ids.sort_unstable();
        known.retain(|update| ids.binary_search(&update.id).is_err());
        // Ids grow with time.
        known.sort_unstable_by_key(|update| std::cmp::Reverse(update.id));
        known.truncate(RETIRED);
        Updates {
            offered,
            retired: (!known.is_empty()).then(|| known.into()),
        }
    }

    /// What is known of the update that a caller says it runs. `None` when it is not known, or is not of the version or the
    /// platform that the caller says it has: then the id says nothing about the installed build.
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
