//! A database of apps with the clients of other services: of each protocol as many apps, with 20 releases each.

use std::path::Path;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::OrgId;
use launchway_domain::release::{
    BinaryRange, DeploymentKey, ForeignId, Format, Protocol, ReleaseFacts, RuntimeVersion, Sequence, UpdateKind,
};
use launchway_domain::rollout::Rollout;
use launchway_domain::update::Update;
use launchway_domain::version::Version;
use launchway_foreign::Place;
use launchway_foreign::expo::{PackedExport, PackedFile};
use launchway_store::{NewForeignId, NewIssue, NewUpdate, Org};
use sha2::{Digest, Sha256};

use crate::bundles::{self, CONFIGURATION, PUBLISHED_AT, Platform, id};

/// The protocols, in the order of the table.
pub const PROTOCOLS: [Protocol; 4] = [
    Protocol::Codepush,
    Protocol::Expo,
    Protocol::Capgo,
    Protocol::HotUpdater,
];
/// The releases of an app.
pub const RELEASES: u32 = 20;
/// The newest release that a device without an id receives: those above it reach half of the devices.
const NEWEST_FOR_ALL: u32 = RELEASES - 2;
/// The platform of all releases.
pub const PLATFORM: Platform = Platform::Android;
/// The runtime of those of Expo.
pub const RUNTIME: &str = "1.0.0";
/// The deployment key of CodePush's apps.
pub const DEPLOYMENT_KEY: &str = "Ab3dEf9hIjKlMnOpQrStUvWxYz0123456789";

/// The configuration of every other release; the apps ask for [`CONFIGURATION`].
const OTHER_CONFIGURATION: &str = "beta";
/// The versions of the app that run releases of CodePush and hot-updater.
const RANGE: &str = "^1.0.0";
/// The assets of an update of Expo.
const ASSETS: u32 = 20;
/// Apps that are written in one transaction.
const BATCH: u32 = 100;

/// The identifier of an app by its number.
pub fn app(protocol: Protocol, number: u32) -> String {
    bundles::bundle_id((place(protocol) << 24) | number)
}

/// The id of a bundle of hot-updater, or of an update of Expo, which are of no app in particular.
pub fn uuid(release: u32) -> String {
    format!("0190a8c6-0000-7000-8000-{release:012x}")
}

/// The package hash of a release of CodePush.
pub fn package_hash(release: u32) -> String {
    hex::encode(Sha256::digest(release.to_be_bytes()))
}

fn place(protocol: Protocol) -> u32 {
    match protocol {
        Protocol::Codepush => 0,
        Protocol::Expo => 1,
        Protocol::Capgo => 2,
        Protocol::HotUpdater => 3,
    }
}

/// Creates the database that a server finds in the data directory `data`, with so many apps of each protocol. Their packages are in no
/// object storage.
///
/// # Errors
/// When the database fails.
pub fn fill(data: &Path, apps: u32) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let db = bundles::open(data).await?;
        let mut tx = db.write().await?;
        bundles::create_org(&mut tx, bundles::org(), PUBLISHED_AT).await?;
        tx.commit().await?;
        for protocol in PROTOCOLS {
            for first in (0..apps).step_by(BATCH as usize) {
                let mut tx = db.write().await?;
                for number in first..apps.min(first + BATCH) {
                    write_app(&mut tx.org(bundles::org()), protocol, number).await?;
                }
                tx.commit().await?;
            }
        }
        db.close().await;
        Ok(())
    })
}

async fn write_app(org: &mut Org<'_>, protocol: Protocol, number: u32) -> anyhow::Result<()> {
    let bundle: BundleId = app(protocol, number).parse()?;
    if protocol == Protocol::Codepush {
        let key = DeploymentKey {
            id: id(number),
            org_id: bundles::org(),
            bundle_id: bundle.to_string(),
            platform: PLATFORM,
            configuration: Some(CONFIGURATION.parse()?),
            key: DEPLOYMENT_KEY.to_owned(),
            created_by: "system".to_owned(),
            created_at: PUBLISHED_AT,
        };
        org.create_deployment_key(&bundle, &key).await?;
    }
    for release in 1..=RELEASES {
        let unique = ((place(protocol) << 24) | number) * RELEASES + release;
        let update = update(bundles::org(), protocol, &bundle, release, unique)?;
        org.create_package(&bundles::package_of(&update), PUBLISHED_AT).await?;
        org.create_update(&NewUpdate {
            update: &update,
            bundle: &bundle,
        })
        .await?;
        name(org, protocol, &bundle, &update, release, unique).await?;
    }
    Ok(())
}

/// A release; every other one is of the other configuration, and the newest of each reach half of the devices.
fn update(org: OrgId, protocol: Protocol, bundle: &BundleId, release: u32, unique: u32) -> anyhow::Result<Update> {
    let version = format!("1.0.{release}");
    let is_asked_for = release.is_multiple_of(2);
    let configuration = if is_asked_for {
        CONFIGURATION
    } else {
        OTHER_CONFIGURATION
    };
    let half = Rollout::new(50).unwrap_or(Rollout::FULL);
    let facts = ReleaseFacts {
        kind: UpdateKind::Update,
        format: protocol.format(),
        sequence: Some(Sequence::new(u64::from(release))),
        runtime_version: None,
        binary_range: None,
        content_id: None,
    };
    let range = BinaryRange::parse(RANGE).ok();
    let release_facts = match protocol {
        Protocol::Codepush => ReleaseFacts {
            binary_range: range,
            content_id: Some(package_hash(release)),
            ..facts
        },
        Protocol::HotUpdater => ReleaseFacts {
            binary_range: range,
            content_id: Some(uuid(release)),
            ..facts
        },
        Protocol::Expo => ReleaseFacts {
            runtime_version: RuntimeVersion::parse(RUNTIME).ok(),
            ..facts
        },
        Protocol::Capgo => facts,
    };
    Ok(Update {
        version: Version::parse(&version)?,
        version_text: version,
        build_number: release.to_string().parse()?,
        configuration: Some(configuration.parse()?),
        fingerprint: None,
        rollout: if release > NEWEST_FOR_ALL { half } else { Rollout::FULL },
        release: release_facts,
        ..bundles::update(org, bundle.as_str(), PLATFORM, unique)?
    })
}

/// Names a release in the words of its protocol.
async fn name(
    org: &mut Org<'_>,
    protocol: Protocol,
    bundle: &BundleId,
    update: &Update,
    release: u32,
    unique: u32,
) -> anyhow::Result<()> {
    let configuration = update.configuration.as_ref().map(|label| label.as_str());
    let ids = match protocol {
        Protocol::Codepush => vec![
            ForeignId::within(configuration, &format!("v{release}"))?,
            ForeignId::within(configuration, &package_hash(release))?,
        ],
        Protocol::Capgo => vec![ForeignId::parse(&update.version_text)?],
        Protocol::HotUpdater => vec![ForeignId::parse(&uuid(release))?],
        Protocol::Expo => Vec::new(),
    };
    for id in ids {
        let new = NewForeignId {
            protocol,
            bundle,
            platform: PLATFORM,
            id: &id,
            update_id: update.id,
            file_hash: None,
        };
        org.add_foreign_id(&new).await?;
    }
    if protocol.format() == Format::Expo {
        let export = serde_json::to_string(&export(unique))?;
        org.set_package_export(update.package_id, &export).await?;
        let issue = NewIssue {
            bundle,
            platform: PLATFORM,
            update_id: update.id,
            id: &uuid(release),
            created_at: update.created_at,
            undoes: None,
        };
        org.add_issue(&issue).await?;
    }
    Ok(())
}

/// An export like that of a small app. Its files are in no package.
fn export(unique: u32) -> PackedExport {
    let file = |number: u32, extension: &str| {
        let sha256: [u8; 32] = Sha256::digest([unique.to_be_bytes(), number.to_be_bytes()].concat()).into();
        PackedFile {
            key: hex::encode(&sha256[..16]),
            extension: extension.to_owned(),
            sha256,
            place: Place {
                size: 20_000,
                start: u64::from(number) * 20_000,
                length: 20_000,
                is_deflated: false,
                checksum: number,
            },
        }
    };
    PackedExport {
        launch: file(0, ""),
        assets: (1..=ASSETS).map(|number| file(number, "png")).collect(),
        config: None,
    }
}
