//! Which of two updates is the newer one (`docs/reference/updates.md#order-of-candidates`), and which updates can never win
//! any more.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::Candidate;
use crate::rollout::Rollout;

/// Orders updates newest first: highest version, then build number, then a configuration before none, then latest
/// created, and at last the id, falling, so that no two updates are equal.
///
/// "An exact configuration before none" depends on the caller in words only: an update with a configuration is a candidate
/// only for callers that name it, so for every caller that sees both it is the exact one.
pub fn order<C: Candidate>(this: &C, that: &C) -> Ordering {
    let exact = |update: &C| update.configuration().is_some();
    let falling = that.version().cmp(this.version());
    falling
        .then_with(|| that.build().cmp(&this.build()))
        .then_with(|| exact(that).cmp(&exact(this)))
        .then_with(|| that.created_at().cmp(&this.created_at()))
        .then_with(|| that.id().cmp(this.id()))
}

/// Drops the updates that no caller can get: those with a newer one of the same platform, configuration and fingerprint
/// that is rolled out to everybody. Whoever could get the older one gets the newer one.
///
/// Takes and gives a list sorted by [`order`]. Prune all published updates anew when one of them changes: with the newer
/// one paused, the older one wins again.
pub fn prune<C: Candidate>(newest_first: Vec<C>) -> Vec<C> {
    let mut covered = BTreeSet::new();
    let mut kept = Vec::with_capacity(newest_first.len());
    for update in &newest_first {
        let reach = (update.platform(), update.configuration(), update.fingerprint());
        kept.push(!covered.contains(&reach));
        if update.rollout() == Rollout::FULL {
            covered.insert(reach);
        }
    }
    newest_first
        .into_iter()
        .zip(kept)
        .filter_map(|(update, keep)| keep.then_some(update))
        .collect()
}
