//! Sample records. Each call returns a new one, with an id that sorts after the previous ones.

use std::sync::atomic::{AtomicU32, Ordering};

use launchway_domain::app::{App, Package, Upload};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{Id, Kind, OrgId, UserId};
use launchway_domain::key::Key;
use launchway_domain::org::{Invitation, Org, Session, User};
use launchway_domain::platform::Platform;
use launchway_domain::release::{Format, ReleaseFacts};
use launchway_domain::rollout::Rollout;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{DAY, EpochMs};
use launchway_domain::update::{Update, UpdateStatus};
use launchway_store::{Db, NewKey, NewUpdate, Paging};

/// The time of all records.
pub const NOW: EpochMs = 1_795_255_200_000;
/// A page large enough for everything a test creates.
pub const ALL: Paging = Paging { limit: 100, offset: 0 };

fn next() -> u32 {
    static MADE: AtomicU32 = AtomicU32::new(0);
    MADE.fetch_add(1, Ordering::Relaxed)
}

/// A new id, later than all previous ones.
pub fn new_id<K: Kind>() -> Id<K> {
    Id::new(NOW + i64::from(next()), [7; 10])
}

/// A text that no other record has.
pub fn unique(what: &str) -> String {
    format!("{what}-{}", next())
}

/// Parses a bundle id.
pub fn bundle(text: &str) -> BundleId {
    text.parse().unwrap()
}

/// An organization, not stored yet; the other `new_…` functions do not store either.
pub fn new_org() -> Org {
    Org {
        id: new_id(),
        name: unique("Org"),
        tier: Tier::Enterprise,
        created_at: NOW,
    }
}

/// An account.
pub fn new_user() -> User {
    User {
        id: new_id(),
        email: format!("{}@example.com", unique("user")),
        created_at: NOW,
    }
}

/// An invitation for seven days.
pub fn new_invitation(org_id: OrgId) -> Invitation {
    Invitation {
        id: new_id(),
        org_id,
        email: format!("{}@example.com", unique("guest")),
        role: Role::Member,
        created_at: NOW,
        expires_at: NOW + 7 * DAY,
        accepted_at: None,
    }
}

/// A session that begins now.
pub fn new_session(user_id: UserId) -> Session {
    Session {
        id: new_id(),
        user_id,
        user_agent: "Mozilla/5.0 (X11; Linux x86_64)".to_owned(),
        address: "2001:db8::7".to_owned(),
        created_at: NOW,
        last_used_at: NOW,
    }
}

/// A key for builds and updates that does not expire.
pub fn new_key(org_id: OrgId) -> NewKey {
    NewKey {
        key: Key {
            id: new_id(),
            org_id,
            name: unique("CI"),
            prefix: "lw_abcdefghi".to_owned(),
            scopes: vec![Scope::Build, Scope::Update],
            created_by: "operator".to_owned(),
            created_at: NOW,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            device_login: None,
        },
        hash: unique("hash"),
    }
}

/// An app with this identifier.
pub fn new_app(org_id: OrgId, bundle: &BundleId) -> App {
    App {
        id: new_id(),
        org_id,
        bundle_id: bundle.to_string(),
        name: unique("App"),
        created_at: NOW,
    }
}

/// An upload that waits for its bytes until tomorrow.
pub fn new_upload(org_id: OrgId) -> Upload {
    Upload {
        id: new_id(),
        org_id,
        file_name: "www.zip".to_owned(),
        size: 4711,
        sha256: "ab".repeat(32),
        used: false,
        created_at: NOW,
        expires_at: NOW + DAY,
    }
}

/// A package with a unique key in object storage.
pub fn new_package(org_id: OrgId) -> Package {
    Package {
        id: new_id(),
        org_id,
        blob_key: unique("packages/p"),
        size: 4711,
        sha256: "cd".repeat(32),
        file_count: 12,
        manifest: Some("ab".repeat(32)),
        format: Format::Archive,
        content_id: None,
    }
}

/// A published update of build 1 of 1.0.0 for iOS, with the bytes of the package.
pub fn new_update(bundle: &BundleId, package: &Package) -> Update {
    Update {
        id: new_id(),
        org_id: package.org_id,
        status: UpdateStatus::Published,
        bundle_id: bundle.to_string(),
        platform: Platform::Ios,
        version: "1.0.0".parse().unwrap(),
        version_text: "1.0.0".to_owned(),
        build_number: "1".parse().unwrap(),
        configuration: None,
        fingerprint: None,
        build_id: None,
        source_update_id: None,
        package_id: package.id,
        release_notes: String::new(),
        mandatory: false,
        rollout: Rollout::FULL,
        size: package.size,
        sha256: package.sha256.clone(),
        file_count: package.file_count,
        blob_key: package.blob_key.clone(),
        manifest: package.manifest.clone(),
        trust_role: None,
        release: ReleaseFacts::ARCHIVE,
        created_by: "operator".to_owned(),
        created_at: NOW,
        published_at: None,
    }
}

/// Stores an organization.
pub async fn an_org(db: &Db) -> Org {
    let org = new_org();
    system_writes!(db, create_org(&org));
    org
}

/// Stores an account.
pub async fn a_user(db: &Db) -> User {
    let user = new_user();
    assert!(system_writes!(db, create_user(&user, "password hash")));
    user
}

/// Stores a package.
pub async fn a_package(db: &Db, org: OrgId) -> Package {
    let package = new_package(org);
    org_writes!(db, org, create_package(&package, NOW));
    package
}

/// Stores a package and publishes an update with it, after `change` has changed it.
pub async fn an_update(db: &Db, org: OrgId, bundle: &BundleId, change: impl FnOnce(&mut Update)) -> Update {
    let package = a_package(db, org).await;
    let mut update = new_update(bundle, &package);
    change(&mut update);
    assert!(publish(db, bundle, &update).await, "its identity is taken");
    update
}

/// Publishes an update like the service; returns false if its identity is taken.
pub async fn publish(db: &Db, bundle: &BundleId, update: &Update) -> bool {
    let mut tx = db.write().await.unwrap();
    let mut org = tx.org(update.org_id);
    org.touch_updates(bundle, update.created_at).await.unwrap();
    let made = org.create_update(&NewUpdate { update, bundle }).await.unwrap();
    tx.commit().await.unwrap();
    made
}

/// Deletes an update like the service.
pub async fn unpublish(db: &Db, bundle: &BundleId, update: &Update, now: EpochMs) {
    let mut tx = db.write().await.unwrap();
    let mut org = tx.org(update.org_id);
    org.touch_updates(bundle, now).await.unwrap();
    org.delete_update(update, now).await.unwrap();
    tx.commit().await.unwrap();
}

/// The form of an update for comparisons: all of it.
pub fn shown(update: &Update) -> String {
    format!("{update:#?}")
}
