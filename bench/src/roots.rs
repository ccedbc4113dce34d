//! Roots for the apps of [`bundles`]: what their developers and the server have signed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use launchway_developers::{Developers, new_key, role_of};
use launchway_domain::app::App;
use launchway_domain::build_number::BuildNumber;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::{DAY, EpochMs, SECOND};
use launchway_domain::version::Version;
use launchway_store::{NewTrustFile, Org, TrustRepository};
use launchway_trust::metadata::{Metadata, Snapshot};
use launchway_trust::online::{OnlineFiles, OnlineRequest, sign_online};
use launchway_trust::{Sha256, SigningKey, TrustFile, Update, UpdateRole};
use ring::rand::SystemRandom;
use serde_json::Value;

use crate::bundles::{self, CONFIGURATION, PLATFORMS, PUBLISHED_AT, bundle_id};

/// The versions of each platform that a role lists.
const LISTED: u64 = 8;
/// Nothing expires during a measurement.
const EXPIRES: EpochMs = PUBLISHED_AT + 3650 * DAY;
/// Apps written per transaction.
const BATCH: u32 = 1_000;

/// The version of the current snapshot of every app; the one before is one lower.
pub const SNAPSHOT: u64 = (PUBLISHED_AT / SECOND) as u64 + 1;

/// Apps with a root.
pub struct Roots {
    /// The metadata of all apps, in bytes.
    pub bytes: u64,
    /// What the first app carries.
    pub trust_file: TrustFile,
}

/// A file of metadata: its role, version and text.
type File = (String, u64, String);

/// Like [`bundles::fill`], with a root and two versions of the role of [`CONFIGURATION`] for each bundle.
///
/// # Errors
/// When the database fails.
pub fn fill(data: &Path, bundles: u32) -> anyhow::Result<Roots> {
    let (role, online) = (role_of(CONFIGURATION), new_key());
    bundles::fill(data, bundles, Some(&role.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let db = bundles::open(data).await?;
        let (mut bytes, mut trust_file) = (0, None);
        for first in (0..bundles).step_by(BATCH as usize) {
            let mut tx = db.write().await?;
            for number in first..bundles.min(first + BATCH) {
                let (developers, files) = sign(number, &role, &online)?;
                bytes += files.iter().map(|(_, _, text)| text.len() as u64).sum::<u64>();
                trust_file.get_or_insert_with(|| developers.trust_file());
                let mut org = tx.org(bundles::org());
                let bundle = &developers.identity.bundle_id;
                let app = App {
                    id: bundles::id(number),
                    org_id: bundles::org(),
                    bundle_id: bundle.to_string(),
                    name: bundle.to_string(),
                    created_at: PUBLISHED_AT,
                };
                org.claim_app(bundle, &app).await?;
                store(&mut org, &developers, &online, &files).await?;
            }
            tx.commit().await?;
        }
        db.close().await;
        let trust_file = trust_file.context("no apps")?;
        Ok(Roots { bytes, trust_file })
    })
}

/// The files of the app with this number.
fn sign(number: u32, role: &UpdateRole, online: &SigningKey) -> anyhow::Result<(Developers, Vec<File>)> {
    let bundle = bundle_id(number);
    let mut developers = Developers::new(&bundle, &online.public().to_pem(), std::slice::from_ref(role));
    let manifest = Sha256::of(b"a list of files");
    for build in 1..LISTED {
        for platform in PLATFORMS {
            let version = Version::parse("1.1.0")?;
            let update = Update::new(version, BuildNumber::from_value(build)?, None, manifest);
            let content = &mut developers.signers(role).content;
            content.publish(role, platform, &update, Sha256::of(&build.to_be_bytes()), 4_000_000);
        }
    }
    let first = developers.first_trust(PUBLISHED_AT);
    let text = |value: &Value| value.as_str().map(str::to_owned).context("a text");
    for (place, platform) in PLATFORMS.into_iter().enumerate() {
        let published = bundles::update(bundles::org(), &bundle, platform, bundles::number(number, place))?;
        let fingerprint = Some(bundles::fingerprint(platform));
        let update = Update::new(published.version, published.build_number, fingerprint, manifest);
        let content = &mut developers.signers(role).content;
        let (sha256, length) = (published.sha256.parse::<Sha256>()?, u64::try_from(published.size)?);
        content.publish(role, platform, &update, sha256, length);
    }
    let name = role.to_string();
    let mut files = vec![
        ("root".to_owned(), 1, text(&first["roots"][0])?),
        ("targets".to_owned(), 1, text(&first["roles"]["targets"])?),
        (name.clone(), 1, text(&first["roles"][&name])?),
        (name.clone(), 2, developers.sign_role(role, PUBLISHED_AT)),
    ];
    let before = sign_versions(&developers, online, &name, 1, None)?;
    let current = sign_versions(&developers, online, &name, 2, Some(&before))?;
    files.push(("snapshot".to_owned(), before.snapshot_version, before.snapshot));
    files.push(("snapshot".to_owned(), current.snapshot_version, current.snapshot));
    files.push(("timestamp".to_owned(), current.timestamp_version, current.timestamp));
    Ok((developers, files))
}

/// Snapshot and timestamp with this version of the role.
fn sign_versions(
    developers: &Developers,
    online: &SigningKey,
    role: &str,
    version: u64,
    before: Option<&OnlineFiles>,
) -> anyhow::Result<OnlineFiles> {
    let snapshot: Option<Metadata<Snapshot>> = before
        .map(|before| Metadata::parse(before.snapshot.as_bytes()))
        .transpose()?;
    let request = OnlineRequest {
        root: &developers.root(),
        identity: &developers.identity,
        previous_snapshot: snapshot.as_ref().map(|snapshot| (snapshot.version(), snapshot.body())),
        previous_timestamp: before.map(|before| before.timestamp_version),
        roles: &BTreeMap::from([("targets".to_owned(), 1), (role.to_owned(), version)]),
        now: PUBLISHED_AT,
        expires: EXPIRES,
    };
    Ok(sign_online(&request, online, &SystemRandom::new())?)
}

async fn store(org: &mut Org<'_>, developers: &Developers, online: &SigningKey, files: &[File]) -> anyhow::Result<()> {
    let bundle: &BundleId = &developers.identity.bundle_id;
    let repository = developers.identity.repository.to_string();
    for (role, version, content) in files {
        let new = NewTrustFile {
            bundle,
            repository: &repository,
            role,
            version: *version,
            content,
            expires_at: EXPIRES,
            accepted_at: PUBLISHED_AT,
            accepted_by: "system",
        };
        org.add_trust_file(&new).await?;
    }
    let record = TrustRepository {
        bundle_id: bundle.to_string(),
        repository,
        root_version: 1,
        snapshot_version: SNAPSHOT,
        timestamp_version: SNAPSHOT,
        online_key_id: online.public().id(),
        other_formats: false,
        began_at: PUBLISHED_AT,
        changed_at: PUBLISHED_AT,
    };
    org.put_trust_repository(bundle, &record).await?;
    Ok(())
}
