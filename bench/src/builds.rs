//! A database with queued builds, and runners that could claim them.

use launchway_domain::build::{Build, BuildState, Runner, SourceRecord, Spec};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{Id, Kind, OrgId};
use launchway_domain::platform::Platform;
use launchway_domain::time::EpochMs;
use launchway_store::Db;
use sha2::{Digest, Sha256};

use crate::bundles::create_org;
use crate::owner;

/// The label that every runner has and every build needs.
pub const LABEL: &str = "os=linux";

/// Builds written per transaction.
pub const BATCH: u32 = 5_000;

/// The size of the database.
pub struct Queue {
    /// Builds that remain in the queue at the end.
    pub waiting: u32,
    /// Builds that are claimed.
    pub claimed: u32,
    pub runners: u32,
}

/// The token of the runner with this number.
pub fn token(number: u32) -> String {
    format!("bench-runner-{number}")
}

/// Writes the queue, the runners and a signed-in owner into a database; returns the organization.
///
/// # Errors
/// When the database fails.
pub async fn fill(database: &str, queue: &Queue) -> anyhow::Result<OrgId> {
    let db = Db::open(database).await?;
    let now = now()?;
    let bundle = BundleId::parse("com.example.queue")?;
    let org: OrgId = id(0, 0, now);
    let mut tx = db.write().await?;
    create_org(&mut tx, org, now).await?;
    owner::create(&mut tx, org, now).await?;
    for number in 0..queue.runners {
        let runner = Runner {
            id: id(1, number, now),
            org_id: Some(org),
            name: format!("bench-{number}"),
            labels: vec![LABEL.to_owned()],
            slots: 64,
            version: "bench".to_owned(),
            created_by: "system".to_owned(),
            created_at: now,
            last_seen_at: now,
            revoked_at: None,
        };
        let hash = hex::encode(Sha256::digest(token(number)));
        tx.system("a new runner").create_runner(&runner, &hash).await?;
    }
    tx.commit().await?;
    let builds = queue.waiting + queue.claimed;
    for first in (0..builds).step_by(BATCH as usize) {
        let mut tx = db.write().await?;
        for number in first..builds.min(first + BATCH) {
            let build = build(org, bundle.as_str(), number, now);
            tx.org(org).create_build(&build, &bundle).await?;
        }
        tx.commit().await?;
    }
    db.close().await;
    Ok(org)
}

/// A queued build.
pub fn build(org: OrgId, bundle_id: &str, number: u32, now: EpochMs) -> Build {
    Build {
        id: id(2, number, now),
        org_id: org,
        state: BuildState::new(now),
        priority: 0,
        labels: vec![LABEL.to_owned()],
        bundle_id: bundle_id.to_owned(),
        platform: Platform::Android,
        configuration: None,
        spec: Spec {
            profile: None,
            build_type: "release".to_owned(),
            distribution: "store".to_owned(),
            version: None,
            build_number: None,
            source: SourceRecord::Git {
                url: "https://git.example.com/app.git".to_owned(),
                reference: "main".to_owned(),
            },
            git: None,
            undecided: Default::default(),
        },
        plan: None,
        plan_origin: None,
        fingerprint: None,
        runner_id: None,
        phases: Vec::new(),
        error: None,
        warnings: Vec::new(),
        parent_id: None,
        log_size: 0,
        created_by: "system".to_owned(),
        created_at: now,
        started_at: None,
        finished_at: None,
    }
}

/// Builds that wait for a day expire, so queued builds must be recent.
#[expect(clippy::disallowed_methods, reason = "a benchmark works in the real time")]
pub fn now() -> anyhow::Result<EpochMs> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Ok(since.as_millis() as EpochMs)
}

/// A unique id of this kind for the number. The number is at the end, where the format of a UUID overwrites no bits.
pub fn id<K: Kind>(sort: u8, number: u32, now: EpochMs) -> Id<K> {
    let mut random = [sort; 10];
    random[6..].copy_from_slice(&number.to_be_bytes());
    Id::new(now, random)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_number_has_an_id_of_its_own() {
        let ids: HashSet<OrgId> = (0..40_000).map(|number| id(0, number, 1)).collect();
        assert_eq!(ids.len(), 40_000);
    }
}
