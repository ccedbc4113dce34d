//! A database with several years of builds, updates and submissions, and a signed-in owner.

use anyhow::ensure;
use launchway_domain::build::{BuildStatus, GitFacts};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{BuildId, OrgId, SubmissionId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::{Submission, SubmissionState, SubmissionStatus};
use launchway_domain::time::{EpochMs, MINUTE};
use launchway_domain::update::Update;
use launchway_store::{Db, NewUpdate};

use crate::builds::{BATCH, build, id, now};
use crate::bundles::{create_org, package_of, update};
use crate::owner;

/// One of this many builds failed. None was canceled: finding nothing is the most expensive.
const FAILED: u32 = 500;
/// One update and one submission per this many builds.
const BUILDS_A_RELEASE: u32 = 100;

/// The viewer and the resources that the pages show.
pub struct History {
    pub org: OrgId,
    pub build: String,
    pub update: UpdateId,
    pub submission: SubmissionId,
    pub cookie: String,
}

impl History {
    /// The path of a page, which may contain the id of the newest build, update or submission.
    pub fn path(&self, page: &str) -> String {
        let page = page
            .replace("{build}", &self.build)
            .replace("{update}", &self.update.to_string())
            .replace("{submission}", &self.submission.to_string());
        format!("/o/{}{page}", self.org)
    }
}

/// Writes the builds into an empty database, the newest a minute ago.
///
/// # Errors
/// When the database fails.
pub async fn fill(database: &str, builds: u32) -> anyhow::Result<History> {
    let db = Db::open(database).await?;
    let now = now()?;
    let org = fill_org(&db, now).await?;
    let bundle = BundleId::parse("com.example.history")?;
    let build = fill_builds(&db, org, &bundle, builds, now).await?;
    let (update, submission) = fill_releases(&db, org, &bundle, builds.div_ceil(BUILDS_A_RELEASE), now).await?;
    db.close().await;
    Ok(History {
        org,
        update,
        submission,
        build: build.map(|id| id.to_string()).unwrap_or_default(),
        cookie: owner::cookie(),
    })
}

/// An organization, and its signed-in owner.
async fn fill_org(db: &Db, now: EpochMs) -> anyhow::Result<OrgId> {
    let org: OrgId = id(0, 0, now);
    let mut tx = db.write().await?;
    create_org(&mut tx, org, now).await?;
    owner::create(&mut tx, org, now).await?;
    tx.commit().await?;
    Ok(org)
}

/// The builds. Returns the newest.
async fn fill_builds(
    db: &Db,
    org: OrgId,
    bundle: &BundleId,
    builds: u32,
    now: EpochMs,
) -> anyhow::Result<Option<BuildId>> {
    let mut newest = None;
    for first in (0..builds).step_by(BATCH as usize) {
        let mut tx = db.write().await?;
        for number in first..builds.min(first + BATCH) {
            let at = now - i64::from(builds - number) * MINUTE;
            let mut build = build(org, bundle.as_str(), number, at);
            build.state.status = match number % FAILED {
                0 => BuildStatus::Failed,
                _ => BuildStatus::Success,
            };
            build.spec.version = Some(format!("1.{number}.0"));
            build.spec.git = Some(GitFacts {
                commit: Some(format!("{number:040x}")),
                branch: Some("main".to_owned()),
                message: Some("A change".to_owned()),
                dirty: None,
            });
            newest = Some(build.id);
            tx.org(org).create_build(&build, bundle).await?;
        }
        tx.commit().await?;
    }
    Ok(newest)
}

/// Updates, each with a submission. Returns the newest of both.
async fn fill_releases(
    db: &Db,
    org: OrgId,
    bundle: &BundleId,
    releases: u32,
    now: EpochMs,
) -> anyhow::Result<(UpdateId, SubmissionId)> {
    let (mut last_update, mut last_submission) = (id(5, 0, now), id(6, 0, now));
    let mut tx = db.write().await?;
    for number in 0..releases {
        let mut rows = tx.org(org);
        // The same version, published repeatedly.
        let update = Update {
            build_number: (number + 1).to_string().parse()?,
            ..update(org, bundle.as_str(), Platform::Android, number)?
        };
        rows.create_package(&package_of(&update), now).await?;
        let new = NewUpdate {
            update: &update,
            bundle,
        };
        ensure!(rows.create_update(&new).await?, "update {number} is there already");
        let submission = submission(org, bundle, number, now)?;
        rows.create_submission(&submission, bundle).await?;
        (last_update, last_submission) = (update.id, submission.id);
    }
    tx.commit().await?;
    Ok((last_update, last_submission))
}

/// A submission that has ended.
fn submission(org: OrgId, bundle: &BundleId, number: u32, now: EpochMs) -> anyhow::Result<Submission> {
    let mut new = Submission {
        id: id(6, number, now),
        org_id: org,
        state: SubmissionState {
            status: SubmissionStatus::Success,
            ..SubmissionState::new()
        },
        build_id: None,
        bundle_id: bundle.as_str().to_owned(),
        platform: Platform::Android,
        destination: Destination::parse(Platform::Android, "production")?,
        version: Some(format!("1.{number}.0")),
        build_number: Some(number.to_string()),
        sha256: format!("{number:064x}"),
        rollout: 100,
        spec: Default::default(),
        credential_id: None,
        external: Default::default(),
        change: None,
        error: None,
        events: Vec::new(),
        work: Default::default(),
        created_by: "system".to_owned(),
        created_at: now,
        finished_at: Some(now),
    };
    new.add_event(now, "The release is live for all users of the track");
    Ok(new)
}
