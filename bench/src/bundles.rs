//! A database like that of a service with many apps: each bundle has an update for iOS and one for Android.

use std::path::Path;

use anyhow::Context;
use launchway_domain::app::Package;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{Id, Kind, OrgId, PackageId, UploadId};
use launchway_domain::org;
use launchway_domain::rollout::Rollout;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::EpochMs;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_domain::version::Version;
use launchway_store::{Db, NewUpdate};

pub use launchway_domain::platform::Platform;

/// The version of every update.
pub const VERSION: &str = "1.2.0";
/// The build number of every update.
pub const BUILD: &str = "42";
/// The configuration of every update.
pub const CONFIGURATION: &str = "production";
/// The platforms that each bundle has an update for.
pub const PLATFORMS: [Platform; 2] = [Platform::Ios, Platform::Android];

/// When everything was published.
pub const PUBLISHED_AT: EpochMs = 1_790_000_000_000;
const RELEASE_NOTES: &str = "The list scrolls smoothly again, and two crashes at start are gone.";
/// Bundles written per transaction.
const BATCH: u32 = 10_000;

/// The identifier of a bundle by its number. Sorted by identifier, the bundles are as mixed as in production, where the
/// order of publication is unrelated.
pub fn bundle_id(number: u32) -> String {
    // Odd, so that numbers do not collide; the golden ratio, so that neighbors are far apart.
    format!("com.example.app{:08x}", number.wrapping_mul(0x9e37_79b1))
}

/// The fingerprint of the updates for a platform.
pub fn fingerprint(platform: Platform) -> String {
    let digit = if platform == Platform::Ios { "1" } else { "a" };
    digit.repeat(64)
}

/// The organization of all bundles.
pub fn org() -> OrgId {
    id(0)
}

/// The database in a server's data directory.
///
/// # Errors
/// When the database fails.
pub async fn open(data: &Path) -> anyhow::Result<Db> {
    let path = data.join("launchway.db");
    Ok(Db::open(&format!("sqlite:{}", path.display())).await?)
}

/// Creates the SQLite database that a server finds in the data directory `data`, with this many bundles, whose updates
/// this role signs. Their packages are in no object storage: a check only signs their URLs.
///
/// # Errors
/// When the database fails.
pub fn fill(data: &Path, bundles: u32, trust_role: Option<&str>) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let db = open(data).await?;
            let org = org();
            let mut tx = db.write().await?;
            let record = org::Org {
                id: org,
                name: "Bench".to_owned(),
                tier: Tier::Enterprise,
                created_at: PUBLISHED_AT,
            };
            tx.system("a new organization").create_org(&record).await?;
            tx.commit().await?;
            for first in (0..bundles).step_by(BATCH as usize) {
                let mut tx = db.write().await?;
                for number in first..bundles.min(first + BATCH) {
                    let text = bundle_id(number);
                    let bundle = BundleId::parse(&text).context("a bundle identifier")?;
                    for (place, platform) in PLATFORMS.into_iter().enumerate() {
                        let mut update = update(org, &text, platform, number * 2 + place as u32)?;
                        update.trust_role = trust_role.map(str::to_owned);
                        let mut door = tx.org(org);
                        door.create_package(&package_of(&update), PUBLISHED_AT).await?;
                        let new = NewUpdate {
                            update: &update,
                            bundle: &bundle,
                        };
                        door.create_update(&new).await?;
                    }
                }
                tx.commit().await?;
            }
            db.close().await;
            Ok(())
        })
}

/// An update with its own package, which is in no object storage.
///
/// # Errors
/// Never: its versions are valid.
pub fn update(org: OrgId, bundle_id: &str, platform: Platform, number: u32) -> anyhow::Result<Update> {
    let package: PackageId = id(number);
    let upload: UploadId = id(number);
    Ok(Update {
        id: id(number),
        org_id: org,
        status: UpdateStatus::Published,
        bundle_id: bundle_id.to_owned(),
        platform,
        version: Version::parse(VERSION)?,
        version_text: VERSION.to_owned(),
        build_number: BUILD.parse()?,
        configuration: Some(CONFIGURATION.parse()?),
        fingerprint: Some(fingerprint(platform).parse()?),
        build_id: None,
        source_update_id: None,
        package_id: package,
        release_notes: RELEASE_NOTES.to_owned(),
        mandatory: false,
        rollout: Rollout::FULL,
        size: 4_000_000 + i64::from(number),
        sha256: format!("{number:064x}"),
        file_count: 120,
        blob_key: format!("packages/{upload}/{package}"),
        manifest: None,
        trust_role: None,
        created_by: "system".to_owned(),
        created_at: PUBLISHED_AT,
        published_at: None,
    })
}

/// The package of an update.
pub fn package_of(update: &Update) -> Package {
    Package {
        id: update.package_id,
        org_id: update.org_id,
        blob_key: update.blob_key.clone(),
        size: update.size,
        sha256: update.sha256.clone(),
        file_count: update.file_count,
        manifest: update.manifest.clone(),
    }
}

/// A unique id for the number. As in production, later ids are greater.
pub fn id<K: Kind>(number: u32) -> Id<K> {
    let mut random = [0; 10];
    random[..4].copy_from_slice(&number.to_be_bytes());
    Id::new(PUBLISHED_AT + i64::from(number), random)
}
