//! A database like that of a service with many apps: each bundle has an update for each platform.

use std::path::Path;

use launchway_domain::app::Package;
use launchway_domain::id::{Id, Kind, OrgId, PackageId, UploadId};
use launchway_domain::org::Org;
use launchway_domain::release::ReleaseFacts;
use launchway_domain::rollout::Rollout;
use launchway_domain::tenancy::Tier;
use launchway_domain::time::EpochMs;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_domain::version::Version;
use launchway_store::{Db, StoreError, Tx};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, QueryBuilder, Sqlite};

pub use launchway_domain::platform::Platform;

/// The version of every update.
pub const VERSION: &str = "1.2.0";
/// The build number of every update.
pub const BUILD: &str = "42";
/// The configuration of every update.
pub const CONFIGURATION: &str = "production";
/// The platforms that each bundle has an update for.
pub const PLATFORMS: [Platform; 3] = Platform::ALL;

/// When everything was published.
pub const PUBLISHED_AT: EpochMs = 1_790_000_000_000;
const RELEASE_NOTES: &str = "The list scrolls smoothly again, and two crashes at start are gone.";
/// Updates written per statement: as many as the parameters of SQLite allow.
const BATCH: usize = 1_000;
/// Indexes that are made once, after everything is written: their names and definitions.
const INDEXES: [(&str, &str); 3] = [
    ("updates_org", "updates (org_id, id)"),
    ("updates_package", "updates (package_id)"),
    ("packages_stored", "packages (org_id, blob_key, size)"),
];

/// The identifier of a bundle by its number. Sorted by identifier, the bundles are as mixed as in production, where the
/// order of publication is unrelated.
pub fn bundle_id(number: u32) -> String {
    // Odd, so that numbers do not collide; the golden ratio, so that neighbors are far apart.
    format!("com.example.app{:08x}", number.wrapping_mul(0x9e37_79b1))
}

/// The fingerprint of the updates for a platform.
pub fn fingerprint(platform: Platform) -> String {
    let digit = match platform {
        Platform::Ios => "1",
        Platform::Android => "a",
        Platform::Visionos => "f",
    };
    digit.repeat(64)
}

/// The organization of all bundles.
pub fn org() -> OrgId {
    id(0)
}

/// Writes an organization with the highest limits.
///
/// # Errors
/// When the database fails.
pub async fn create_org(tx: &mut Tx, id: OrgId, created_at: EpochMs) -> Result<(), StoreError> {
    let org = Org {
        id,
        name: "Bench".to_owned(),
        tier: Tier::Enterprise,
        created_at,
    };
    tx.system("a new organization").create_org(&org).await
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
            let mut tx = db.write().await?;
            create_org(&mut tx, org(), PUBLISHED_AT).await?;
            tx.commit().await?;
            db.close().await;
            write_updates(data, bundles, trust_role).await
        })
}

/// Writes the rows directly, many in a statement: through the store, a million bundles would take minutes.
async fn write_updates(data: &Path, bundles: u32, trust_role: Option<&str>) -> anyhow::Result<()> {
    let options = SqliteConnectOptions::new()
        .filename(data.join("launchway.db"))
        .journal_mode(SqliteJournalMode::Off)
        .synchronous(SqliteSynchronous::Off)
        .foreign_keys(false)
        .pragma("cache_size", "-1000000");
    let mut connection = options.connect().await?;
    for (name, _) in INDEXES {
        sqlx::query(AssertSqlSafe(format!("DROP INDEX {name}")))
            .execute(&mut connection)
            .await?;
    }
    // The totals of lists are in no measurement that these rows are for, and a row of them for each update would be folded during it.
    sqlx::query("DROP TRIGGER updates_counted_in")
        .execute(&mut connection)
        .await?;
    sqlx::query("BEGIN").execute(&mut connection).await?;
    let all = (0..bundles).flat_map(|bundle| PLATFORMS.into_iter().enumerate().map(move |at| (bundle, at)));
    let mut batch = Vec::with_capacity(BATCH);
    for (bundle, (place, platform)) in all {
        batch.push(update(org(), &bundle_id(bundle), platform, number(bundle, place))?);
        if batch.len() == BATCH {
            write_batch(&mut connection, &batch, trust_role).await?;
            batch.clear();
        }
    }
    if !batch.is_empty() {
        write_batch(&mut connection, &batch, trust_role).await?;
    }
    sqlx::query("COMMIT").execute(&mut connection).await?;
    for (name, definition) in INDEXES {
        sqlx::query(AssertSqlSafe(format!("CREATE INDEX {name} ON {definition}")))
            .execute(&mut connection)
            .await?;
    }
    Ok(connection.close().await?)
}

async fn write_batch(
    connection: &mut SqliteConnection,
    updates: &[Update],
    trust_role: Option<&str>,
) -> anyhow::Result<()> {
    let mut packages = QueryBuilder::<Sqlite>::new(
        "INSERT INTO packages (id, org_id, blob_key, size, sha256, file_count, created_at) ",
    );
    packages.push_values(updates, |mut row, update| {
        row.push_bind(update.package_id.to_string())
            .push_bind(update.org_id.to_string())
            .push_bind(&update.blob_key)
            .push_bind(update.size)
            .push_bind(&update.sha256)
            .push_bind(update.file_count)
            .push_bind(update.created_at);
    });
    packages.build().execute(&mut *connection).await?;
    let mut rows = QueryBuilder::<Sqlite>::new(
        "INSERT INTO updates (id, org_id, status, bundle_key, bundle_id, platform, version, version_key, build_number, \
         build_value, configuration, fingerprint, package_id, release_notes, mandatory, rollout, created_by, created_at, \
         trust_role, sequence) ",
    );
    rows.push_values(updates, |mut row, update| {
        row.push_bind(update.id.to_string())
            .push_bind(update.org_id.to_string())
            .push_bind(update.status.as_str())
            .push_bind(update.bundle_id.to_ascii_lowercase())
            .push_bind(&update.bundle_id)
            .push_bind(update.platform.as_str())
            .push_bind(&update.version_text)
            .push_bind(update.version.precedence_key())
            .push_bind(update.build_number.as_str())
            .push_bind(update.build_number.value() as i64)
            .push_bind(update.configuration.as_ref().map_or("", |label| label.as_str()))
            .push_bind(update.fingerprint.as_ref().map(|hash| hash.as_str()))
            .push_bind(update.package_id.to_string())
            .push_bind(&update.release_notes)
            .push_bind(i64::from(update.mandatory))
            .push_bind(i64::from(update.rollout.percent()))
            .push_bind(&update.created_by)
            .push_bind(update.created_at)
            .push_bind(trust_role)
            // Each bundle has one release of a platform. Without a number the server would number them during the measurement.
            .push_bind(1_i64);
    });
    rows.build().execute(&mut *connection).await?;
    Ok(())
}

/// The number of an update of a bundle, by the place of its platform in [`PLATFORMS`].
pub fn number(bundle: u32, place: usize) -> u32 {
    bundle * PLATFORMS.len() as u32 + place as u32
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
        release: ReleaseFacts::ARCHIVE,
        created_by: "system".to_owned(),
        created_at: PUBLISHED_AT + i64::from(number),
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
        format: update.release.format,
        content_id: update.release.content_id.clone(),
    }
}

/// A unique id for the number. As in production, later ids are greater.
pub fn id<K: Kind>(number: u32) -> Id<K> {
    let mut random = [0; 10];
    random[..4].copy_from_slice(&number.to_be_bytes());
    Id::new(PUBLISHED_AT + i64::from(number), random)
}
