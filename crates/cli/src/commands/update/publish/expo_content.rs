//! The content of an update of Expo: what a package has of a platform, as its manifest lists it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use launchway_api::updates::CreateUpdate;
use launchway_delta::file_list::hash_file;
use launchway_domain::platform::Platform;
use launchway_domain::release::RuntimeVersion;
use launchway_domain::time::EpochMs;
use launchway_foreign::expo::{
    Asset, CONFIG_FILE, Export, MAX_CONFIG_BYTES, MAX_METADATA_BYTES, METADATA_FILE, Manifest,
};
use ring::rand::{SecureRandom, SystemRandom};
use uuid::{Builder, Uuid};
use zip::ZipArchive;

use crate::failure::Failure;

/// The id and the time of an update that is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct NewIssue {
    pub id: Uuid,
    /// When clients take it as created.
    pub created_at: EpochMs,
}

impl NewIssue {
    /// A new id at a time.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn at(created_at: EpochMs) -> Result<Self, Failure> {
        let id = new_id()?;
        Ok(Self { id, created_at })
    }
}

/// A new random id.
pub fn new_id() -> Result<Uuid, Failure> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Failure::failed("the operating system gives no randomness"))?;
    Ok(Builder::from_random_bytes(bytes).into_uuid())
}

/// The files of a package.
pub struct ExpoContent {
    launch: [u8; 32],
    /// Key, extension and hash.
    assets: Vec<(String, String, [u8; 32])>,
    config: Option<serde_json::Map<String, serde_json::Value>>,
}

impl ExpoContent {
    /// Reads the files of one platform, and hashes them.
    ///
    /// # Errors
    /// The package is not an export of the platform, or lacks files that it lists.
    pub fn of(package: &Path, platform: Platform) -> Result<Self, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| Failure::failed(format!("cannot read the package: {error}"));
        let file = File::open(package).map_err(|error| unreadable(&error))?;
        let mut archive = ZipArchive::new(file).map_err(|error| unreadable(&error))?;
        let small = |archive: &mut ZipArchive<File>, name: &str, most: usize| {
            let entry = archive.by_name(name).ok()?;
            let mut bytes = Vec::new();
            entry.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
            (bytes.len() <= most).then_some(bytes)
        };
        let metadata = small(&mut archive, METADATA_FILE, MAX_METADATA_BYTES).unwrap_or_default();
        let listed = Export::parse(&metadata, platform).map_err(|error| Failure::failed(error.to_string()))?;
        let config = small(&mut archive, CONFIG_FILE, MAX_CONFIG_BYTES);
        let mut hash = |path: &str| -> Result<[u8; 32], Failure> {
            let mut entry = archive.by_name(path).map_err(|error| unreadable(&error))?;
            let listed = hash_file(path.to_owned(), &mut entry).map_err(|error| unreadable(&error))?;
            Ok(listed.sha256.0)
        };
        let launch = hash(&listed.bundle)?;
        let assets = listed.assets.iter();
        let assets = assets.map(|file| Ok((file.key().to_owned(), file.extension.clone(), hash(&file.path)?)));
        Ok(Self {
            launch,
            assets: assets.collect::<Result<_, Failure>>()?,
            config: config.and_then(|bytes| serde_json::from_slice(&bytes).ok()),
        })
    }

    /// The manifest of an update with these files.
    pub fn manifest(
        self,
        asset_base: &str,
        create: &CreateUpdate,
        runtime_version: &RuntimeVersion,
        issue: NewIssue,
    ) -> Manifest {
        let asset =
            |key: &str, extension: &str, sha256| Asset::new(key, extension, sha256, asset_base, &create.bundle_id);
        let config = self.config.map(|config| ("expoClient".to_owned(), config.into()));
        let configuration = create
            .configuration
            .clone()
            .map(|label| ("configuration".to_owned(), label));
        Manifest {
            id: issue.id,
            created_at: issue.created_at,
            runtime_version: runtime_version.clone(),
            launch_asset: asset(&hex::encode(self.launch), "bundle", self.launch),
            assets: self
                .assets
                .iter()
                .map(|(key, extension, sha256)| asset(key, extension, *sha256))
                .collect(),
            metadata: configuration.into_iter().collect(),
            extra: config.into_iter().collect(),
        }
    }
}
