//! A database with the builds of some years, and an owner who is signed in.

use launchway_domain::build::{BuildStatus, GitFacts};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{BuildId, OrgId, UserId};
use launchway_domain::org::{Org, Session, User};
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::MINUTE;
use launchway_store::Db;
use sha2::{Digest, Sha256};

use crate::builds::{BATCH, build, id, now};

const TOKEN: &str = "bench-session";
/// One of so many builds failed. None was canceled: to find nothing is the hardest.
const FAILED: u32 = 500;

/// Who looks at what.
pub struct History {
    /// The organization.
    pub org: OrgId,
    /// The newest build.
    pub build: String,
    /// The owner's cookie.
    pub cookie: String,
}

/// Writes the builds into an empty database, the newest a minute ago.
///
/// # Errors
/// When the database refuses.
pub async fn fill(database: &str, builds: u32) -> anyhow::Result<History> {
    let db = Db::open(database).await?;
    let now = now()?;
    let (org, user): (OrgId, UserId) = (id(0, 0, now), id(3, 0, now));
    let mut tx = db.write().await?;
    let mut system = tx.system("a new organization");
    system
        .create_org(&Org {
            id: org,
            name: "Bench".to_owned(),
            tier: Tier::Enterprise,
            created_at: now,
        })
        .await?;
    let owner = User {
        id: user,
        email: "owner@example.com".to_owned(),
        created_at: now,
    };
    // No password has this hash: nobody signs in by one.
    system.create_user(&owner, "none").await?;
    let session = Session {
        id: id(4, 0, now),
        user_id: user,
        user_agent: "bench".to_owned(),
        address: "127.0.0.1".to_owned(),
        created_at: now,
        last_used_at: now,
    };
    system
        .create_session(&session, &hex::encode(Sha256::digest(TOKEN)))
        .await?;
    tx.org(org).add_member(user, Role::Owner, now).await?;
    tx.commit().await?;
    let bundle = BundleId::parse("com.example.history")?;
    let mut newest: Option<BuildId> = None;
    for first in (0..builds).step_by(BATCH as usize) {
        let mut tx = db.write().await?;
        for number in first..builds.min(first + BATCH) {
            let at = now - i64::from(builds - number) * MINUTE;
            let mut build = build(org, bundle.as_str(), number, at);
            build.standing.status = match number % FAILED {
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
            tx.org(org).create_build(&build, &bundle).await?;
        }
        tx.commit().await?;
    }
    db.close().await;
    Ok(History {
        org,
        build: newest.map(|id| id.to_string()).unwrap_or_default(),
        cookie: format!("launchway={TOKEN}"),
    })
}
