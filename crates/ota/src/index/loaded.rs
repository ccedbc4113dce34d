//! The rows of one bundle on their way into the index.

use std::sync::Arc;

use launchway_domain::update::UpdateStatus;
use launchway_store::{OfferedUpdate, RetiredUpdate, TrustFileRow};

use crate::bundle::prepare;
use crate::trust::{TrustLoad, TrustSet};
use crate::{Entry, LongTexts, Updates};

/// During the initial load, the list of a bundle's updates grows by single elements up to this length.
const FEW: usize = 8;

/// The rows of one bundle.
#[derive(Default)]
pub struct LoadedBundle {
    /// Further known updates: paused, withdrawn and deleted ones, and those that no role signs any more.
    pub others: Vec<RetiredUpdate>,
    /// Fingerprint documents by hash.
    pub documents: Vec<(String, String)>,
    /// Hashes with the `lwfp-2` hash of the same native code.
    pub pairs: Vec<(String, String)>,
    /// Boxed, because a start holds one of these for each bundle, and few apps have a root.
    trust: Option<Box<TrustLoad>>,
    entries: Vec<Entry>,
    has_updates: bool,
}

/// A bundle as the index keeps it.
pub struct Prepared {
    /// `None` for a bundle without published or paused updates.
    pub updates: Option<Updates>,
    /// `None` for an app without a root.
    pub trust: Option<TrustSet>,
}

impl LoadedBundle {
    /// Adds a file of the app's metadata. All of them come before the first update.
    pub fn add_trust_file(&mut self, bundle_key: &str, file: TrustFileRow) {
        let trust = self.trust.get_or_insert_with(|| Box::new(TrustLoad::new(bundle_key)));
        trust.push(file);
    }

    /// Adds a published or paused update.
    pub fn add(&mut self, update: OfferedUpdate, long_texts: &Arc<LongTexts>) {
        self.has_updates = true;
        if !self.is_offered(&update) {
            self.others.push(RetiredUpdate {
                id: update.id,
                platform: update.platform,
                version: update.version,
                build: update.build_number.value(),
            });
        } else if let Some(entry) = Entry::new(update, long_texts) {
            // Most bundles have few updates, and a list that grows by doubling would take twice the memory.
            if self.entries.len() < FEW {
                self.entries.reserve_exact(1);
            }
            self.entries.push(entry);
        }
    }

    fn is_offered(&mut self, update: &OfferedUpdate) -> bool {
        let is_admitted = match &mut self.trust {
            Some(trust) => trust.admit(update),
            None => update.trust_role.is_none(),
        };
        is_admitted && update.status == UpdateStatus::Published
    }

    /// The bundle with at most `limit` offered updates.
    pub fn prepare(self, limit: usize) -> Prepared {
        let mut known = self.others;
        // Updates that no caller can get any more leave the list of offered ones.
        known.extend(self.entries.iter().map(Entry::as_retired));
        let updates = self.has_updates.then(|| {
            let offered = prepare(self.entries, &self.documents, &self.pairs, limit);
            Updates::new(offered, known)
        });
        Prepared {
            updates,
            trust: self.trust.and_then(|trust| trust.finish()),
        }
    }
}
