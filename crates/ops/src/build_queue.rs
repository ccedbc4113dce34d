//! Selects the build that a runner takes next, and limits an organization's concurrent builds. Organizations get equal
//! shares: priority counts only within one.

use std::collections::HashMap;

use launchway_domain::build::{Build, Runner};
use launchway_domain::id::OrgId;
use launchway_domain::tenancy::Tier;
use launchway_domain::usage::Concurrency;
use launchway_store::{QueueShare, RunningBuilds, Tx};

use crate::api_error::ApiError;
use crate::app::App;
use crate::write::Write;

/// The maximum number of different label sets among the queued builds of an organization.
const MOST_SETS: i64 = 50;
/// The number of label sets considered for each organization. It exceeds the maximum, which concurrent creates can
/// overrun.
const LOOKED_AT: i64 = 64;
/// The maximum number of organizations tried before a runner polls again.
const TRIES: usize = 16;
const REASON: &str = "a runner may work for every tenant";

/// An organization that has builds for a runner.
struct Candidate {
    org: OrgId,
    /// The sort key: builds that run for it on shared runners, and when it was last served.
    order: (i64, Option<i64>, OrgId),
    /// The label sets that the runner satisfies.
    sets: Vec<Vec<String>>,
}

/// Whether there may be a build for a runner with these labels.
pub async fn has_builds(app: &App, tx: &mut Tx, runner: &Runner, labels: &[String]) -> Result<bool, ApiError> {
    Ok(!candidates(app, tx, runner, labels).await?.is_empty())
}

/// The next build for a runner with these labels, locked until the transaction ends. The caller must hold the queue
/// lock (`lock_queue`), because running builds are counted here.
pub async fn next(app: &App, tx: &mut Tx, runner: &Runner, labels: &[String]) -> Result<Option<Build>, ApiError> {
    for candidate in candidates(app, tx, runner, labels).await?.iter().take(TRIES) {
        let mut first: Option<(i64, Build)> = None;
        for set in &candidate.sets {
            let next = tx.org(candidate.org).next_queued(set).await?;
            let sooner = |next: &(i64, Build)| {
                first
                    .as_ref()
                    .is_none_or(|first| (next.0, next.1.id) < (first.0, first.1.id))
            };
            if let Some(next) = next.filter(sooner) {
                first = Some(next);
            }
        }
        if let Some((_, build)) = first {
            return Ok(Some(build));
        }
    }
    Ok(None)
}

/// The organizations that have builds for a runner and may run one more, in the order in which they are served: fewest
/// builds on shared runners first, then least recently served.
async fn candidates(app: &App, tx: &mut Tx, runner: &Runner, labels: &[String]) -> Result<Vec<Candidate>, ApiError> {
    let shares = match runner.org_id {
        Some(org) => tx.org(org).queue_share(LOOKED_AT).await?,
        None => tx.system(REASON).queue_shares(LOOKED_AT).await?,
    };
    let fitting: Vec<_> = shares.into_iter().filter_map(|share| fit(share, labels)).collect();
    if fitting.is_empty() {
        return Ok(Vec::new());
    }
    let running = tx.system(REASON).running_builds().await?;
    let running: HashMap<OrgId, RunningBuilds> = running.into_iter().map(|running| (running.org, running)).collect();
    let mut candidates: Vec<Candidate> = fitting
        .into_iter()
        .filter_map(|share| {
            let (all, shared) = running
                .get(&share.org)
                .map_or((0, 0), |running| (running.all, running.shared));
            may_run(app, share.tier, all).then_some(Candidate {
                org: share.org,
                order: (shared, share.served_at, share.org),
                sets: share.sets,
            })
        })
        .collect();
    candidates.sort_unstable_by_key(|candidate| candidate.order);
    Ok(candidates)
}

/// The label sets of a share that a runner with these labels satisfies; `None` if there are none.
fn fit(mut share: QueueShare, labels: &[String]) -> Option<QueueShare> {
    share.sets.retain(|set| set.iter().all(|label| labels.contains(label)));
    (!share.sets.is_empty()).then_some(share)
}

fn may_run(app: &App, tier: Tier, running: i64) -> bool {
    let most = app.config.quotas.concurrency_quota(tier, Concurrency::RunningBuilds);
    most.is_none_or(|most| u64::try_from(running).unwrap_or(0) < most)
}

/// Checks that one more build with these labels may wait. The lock on the usage counter's row serializes an
/// organization's creates.
pub async fn make_room(write: &mut Write<'_>, labels: &[String]) -> Result<(), ApiError> {
    let waiting = write.org().queue_share(MOST_SETS).await?;
    let sets: Vec<_> = waiting.into_iter().flat_map(|share| share.sets).collect();
    if sets.len() as i64 >= MOST_SETS && !sets.iter().any(|set| set == labels) {
        return Err(ApiError::bad(format!(
            "Builds of this organization wait with {MOST_SETS} different sets of labels, which is the maximum. Use \
             the labels of another build, or cancel builds that no runner accepts."
        )));
    }
    let quotas = &write.app().config.quotas;
    let record = write.org().record().await?.ok_or(ApiError::NoSuch("organization"))?;
    let Some(most) = quotas.concurrency_quota(record.tier, Concurrency::QueuedBuilds) else {
        return Ok(());
    };
    let bound = i64::try_from(most).unwrap_or(i64::MAX);
    if write.org().count_queued(bound).await? < bound {
        return Ok(());
    }
    Err(ApiError::bad(format!(
        "This organization has {most} builds in the queue, the maximum of its tier {}. Wait until one starts, cancel \
         one, or ask the operator to change --quotas or the tier.",
        record.tier
    )))
}
