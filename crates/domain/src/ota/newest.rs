//! The order of updates (`docs/reference/updates.md#order-of-candidates`), and which updates can never win.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::Candidate;
use crate::rollout::Rollout;

/// Orders updates newest first: highest version, then build number, then a configuration before none, then latest created,
/// and finally the id, descending, so that no two updates are equal.
///
/// "An exact configuration before none" does not depend on the caller in effect: an update with a configuration is a
/// candidate only for callers that name it, so for every caller that sees both it is the exact one.
pub fn order<C: Candidate>(this: &C, that: &C) -> Ordering {
    let exact = |update: &C| update.configuration().is_some();
    let falling = that.version().cmp(this.version());
    falling
        .then_with(|| that.build().cmp(&this.build()))
        .then_with(|| exact(that).cmp(&exact(this)))
        .then_with(|| that.created_at().cmp(&this.created_at()))
        .then_with(|| that.id().cmp(this.id()))
}

/// Drops the updates that no caller can receive: those with a newer one of the same platform, configuration and fingerprint
/// that is rolled out to everybody. Every caller that could receive the older one receives the newer one.
///
/// Takes and returns a list sorted by [`order`]. If one of the published updates changes, prune all of them again: if the
/// newer one is paused, the older one wins again.
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
