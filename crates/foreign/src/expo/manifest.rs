//! The manifest: what an update consists of (`docs/reference/expo.md#manifest`).
//!
//! Whoever publishes writes it, because its exact bytes may be signed; the server validates and serves these bytes. The rules are
//! stricter than the specification where clients are: Android takes any other form of `createdAt` for "now" and drops an asset
//! without `fileExtension`; iOS ends the app on an id that is not a UUID.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use launchway_domain::release::RuntimeVersion;
use launchway_domain::time::{EpochMs, from_iso, iso};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::asset;

/// The largest manifest, in bytes: thousands of assets, and the app's settings.
pub const MAX_MANIFEST_BYTES: usize = 2 * 1024 * 1024;
/// The largest number of assets besides the launch asset.
pub const MAX_ASSETS: usize = 4096;
/// The time after `createdAt` that an update occupies, in milliseconds: its undo is created within it. The next update of the same
/// configuration and runtime is created later.
pub const UNDO_SPAN: EpochMs = 2;
/// The longest text of an asset, in bytes.
const MAX_TEXT_BYTES: usize = 255;

/// A file of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// The name by which the app's code finds it. The client stores files by name and extension and never again one that it
    /// has, so a name stands for one content.
    pub key: String,
    /// Its content type.
    pub content_type: String,
    /// Its extension with the dot; empty for none. The client ignores that of the launch asset, which has none.
    pub file_extension: String,
    /// The SHA-256 of its content.
    pub sha256: [u8; 32],
    /// Where it is.
    pub url: String,
}

/// An update as the client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Its id.
    pub id: Uuid,
    /// When it was created, in epoch milliseconds: the client runs the update that was created last.
    pub created_at: EpochMs,
    /// The runtime that it needs.
    pub runtime_version: RuntimeVersion,
    /// The script that the app starts with.
    pub launch_asset: Asset,
    /// All other files.
    pub assets: Vec<Asset>,
    /// What filters compare.
    pub metadata: BTreeMap<String, String>,
    /// The app's settings, which its code reads.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// The bytes are not a manifest that every client accepts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It is larger than [`MAX_MANIFEST_BYTES`].
    #[error("is larger than 2 MiB")]
    Size,
    /// It is not the JSON of a manifest.
    #[error("is not a manifest of Expo Updates: {0}")]
    Json(String),
    /// The id is not a UUID.
    #[error("has an id that is not a UUID in lower case")]
    Id,
    /// The time has another form.
    #[error("has a createdAt that is not a time such as 2026-11-20T10:00:00.000Z")]
    CreatedAt,
    /// The runtime version has another form.
    #[error("has a runtimeVersion that is not 1 to 128 visible ASCII characters")]
    RuntimeVersion,
    /// There are too many assets.
    #[error("has more than 4,096 assets")]
    TooManyAssets,
    /// A field of an asset has another form.
    #[error("has an asset whose {0} is invalid")]
    Asset(&'static str),
    /// Two assets have one name.
    #[error("has two assets with the key {0}")]
    DuplicateKey(String),
}

/// The manifest on the wire. Unknown fields are the publisher's own and stay in the bytes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    id: String,
    created_at: String,
    runtime_version: String,
    launch_asset: WireAsset,
    assets: Vec<WireAsset>,
    metadata: BTreeMap<String, String>,
    extra: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireAsset {
    hash: String,
    key: String,
    content_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file_extension: Option<String>,
    url: String,
}

impl Asset {
    /// A file of an app, at the address where the server serves it.
    pub fn new(key: &str, extension: &str, sha256: [u8; 32], asset_base: &str, bundle_id: &str) -> Asset {
        let file_extension = if extension.is_empty() {
            String::new()
        } else {
            format!(".{extension}")
        };
        Asset {
            key: key.to_owned(),
            content_type: asset::content_type(extension).to_owned(),
            file_extension,
            sha256,
            url: asset::url(asset_base, bundle_id, &sha256),
        }
    }

    /// Whether its address is where this server serves the file with its hash.
    pub fn is_at(&self, asset_base: &str, bundle_id: &str) -> bool {
        self.url == asset::url(asset_base, bundle_id, &self.sha256)
    }

    fn to_wire(&self, is_launch_asset: bool) -> WireAsset {
        WireAsset {
            hash: URL_SAFE_NO_PAD.encode(self.sha256),
            key: self.key.clone(),
            content_type: self.content_type.clone(),
            file_extension: (!is_launch_asset).then(|| self.file_extension.clone()),
            url: self.url.clone(),
        }
    }
}

impl WireAsset {
    fn read(self, is_launch_asset: bool) -> Result<Asset, ManifestError> {
        let mut sha256 = [0; 32];
        let is_hash = URL_SAFE_NO_PAD.decode_slice(&self.hash, &mut sha256) == Ok(32);
        if !is_hash {
            return Err(ManifestError::Asset("hash"));
        }
        let file_extension = match self.file_extension {
            Some(extension) => extension,
            None if is_launch_asset => String::new(),
            None => return Err(ManifestError::Asset("fileExtension")),
        };
        // The client joins both to the name of a file.
        let is_name = |text: &str| text.len() <= MAX_TEXT_BYTES && !text.contains(['/', '\\']) && is_plain(text);
        if self.key.is_empty() || self.key.starts_with('.') || !is_name(&self.key) {
            return Err(ManifestError::Asset("key"));
        }
        if !(file_extension.is_empty() || file_extension.starts_with('.')) || !is_name(&file_extension) {
            return Err(ManifestError::Asset("fileExtension"));
        }
        let is_content_type =
            self.content_type.contains('/') && self.content_type.is_ascii() && is_plain(&self.content_type);
        if !is_content_type || self.content_type.len() > MAX_TEXT_BYTES {
            return Err(ManifestError::Asset("contentType"));
        }
        let is_address = self.url.starts_with("https://") || self.url.starts_with("http://");
        if !is_address || self.url.len() > 4 * MAX_TEXT_BYTES || !self.url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ManifestError::Asset("url"));
        }
        Ok(Asset {
            key: self.key,
            content_type: self.content_type,
            file_extension,
            sha256,
            url: self.url,
        })
    }
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

impl Manifest {
    /// Reads and validates a manifest.
    ///
    /// # Errors
    /// Some client would refuse it, or misread it.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, ManifestError> {
        if bytes.len() > MAX_MANIFEST_BYTES {
            return Err(ManifestError::Size);
        }
        let wire: Wire = serde_json::from_slice(bytes).map_err(|error| ManifestError::Json(error.to_string()))?;
        if wire.assets.len() > MAX_ASSETS {
            return Err(ManifestError::TooManyAssets);
        }
        let id = super::request::id(&wire.id).filter(|id| id.to_string() == wire.id);
        let manifest = Manifest {
            id: id.ok_or(ManifestError::Id)?,
            created_at: from_iso(&wire.created_at).ok_or(ManifestError::CreatedAt)?,
            runtime_version: RuntimeVersion::parse(&wire.runtime_version).map_err(|_| ManifestError::RuntimeVersion)?,
            launch_asset: wire.launch_asset.read(true)?,
            assets: wire
                .assets
                .into_iter()
                .map(|asset| asset.read(false))
                .collect::<Result<_, _>>()?,
            metadata: wire.metadata,
            extra: wire.extra,
        };
        let mut keys = BTreeSet::new();
        let duplicate = manifest
            .files()
            .find(|asset| !keys.insert(&asset.key))
            .map(|asset| asset.key.clone());
        duplicate.map_or(Ok(manifest), |key| Err(ManifestError::DuplicateKey(key)))
    }

    /// The bytes to sign and serve.
    pub fn to_json(&self) -> Vec<u8> {
        let wire = Wire {
            id: self.id.to_string(),
            created_at: iso(self.created_at),
            runtime_version: self.runtime_version.to_string(),
            launch_asset: self.launch_asset.to_wire(true),
            assets: self.assets.iter().map(|asset| asset.to_wire(false)).collect(),
            metadata: self.metadata.clone(),
            extra: self.extra.clone(),
        };
        // Texts and maps with text keys always have a JSON form.
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    /// The launch asset and all other files.
    pub fn files(&self) -> impl Iterator<Item = &Asset> {
        std::iter::once(&self.launch_asset).chain(&self.assets)
    }

    /// The same content under another id, created right after `undone`: clients that run `undone` install it.
    #[must_use]
    pub fn again_after(&self, undone: &Manifest, id: Uuid) -> Manifest {
        Manifest {
            id,
            created_at: undone.created_at + 1,
            ..self.clone()
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const NOW: EpochMs = 1_795_514_400_123;

    pub fn manifest(assets: usize) -> Manifest {
        let asset = |number: usize| {
            let key = format!("{number:032x}");
            Asset::new(
                &key,
                "png",
                [number as u8; 32],
                "https://updates.example.com",
                "com.example.app",
            )
        };
        let launch_asset = Asset {
            file_extension: String::new(),
            ..asset(255)
        };
        Manifest {
            id: Uuid::from_u128(7),
            created_at: NOW,
            runtime_version: RuntimeVersion::parse("1.0.0").unwrap(),
            launch_asset,
            assets: (0..assets).map(asset).collect(),
            metadata: BTreeMap::new(),
            extra: json!({"expoClient": {"name": "Ä"}}).as_object().unwrap().clone(),
        }
    }

    #[test]
    fn a_manifest_is_read_as_it_is_written() {
        let manifest = manifest(3);
        assert_eq!(Manifest::parse(&manifest.to_json()), Ok(manifest.clone()));
        let json: Value = serde_json::from_slice(&manifest.to_json()).unwrap();
        assert_eq!(json["createdAt"], "2026-11-24T10:00:00.123Z");
        assert_eq!(json["assets"][1]["hash"], "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE");
        assert_eq!(json["assets"][1]["fileExtension"], ".png");
        assert_eq!(json["launchAsset"].get("fileExtension"), None);
        assert!(manifest.assets[1].is_at("https://updates.example.com", "com.example.app"));
        assert!(!manifest.assets[1].is_at("https://updates.example.com", "com.example.other"));
    }

    #[test]
    fn the_undo_is_the_same_content_right_after_what_it_undoes() {
        let (before, undone) = (
            manifest(1),
            Manifest {
                created_at: NOW + 50,
                ..manifest(2)
            },
        );
        let undo = before.again_after(&undone, Uuid::from_u128(9));
        assert_eq!((undo.id, undo.created_at), (Uuid::from_u128(9), NOW + 51));
        assert_eq!((undo.assets, undo.launch_asset), (before.assets, before.launch_asset));
        assert!(undo.created_at < undone.created_at + UNDO_SPAN);
    }

    #[test]
    fn what_a_client_would_misread_is_refused() {
        let too_long = "a".repeat(MAX_TEXT_BYTES + 1);
        for (pointer, value, expected) in [
            ("/id", json!("7"), ManifestError::Id),
            ("/id", json!("0193C9A1-7C4E-7D7E-8A9B-0123456789AB"), ManifestError::Id),
            ("/createdAt", json!("2026-11-24T06:00:00Z"), ManifestError::CreatedAt),
            (
                "/createdAt",
                json!("2026-11-24T06:00:00.123456Z"),
                ManifestError::CreatedAt,
            ),
            (
                "/createdAt",
                json!("2026-11-24T06:00:00.123+00:00"),
                ManifestError::CreatedAt,
            ),
            ("/runtimeVersion", json!(""), ManifestError::RuntimeVersion),
            ("/assets/0/hash", json!("AQ"), ManifestError::Asset("hash")),
            (
                "/assets/0/hash",
                json!("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="),
                ManifestError::Asset("hash"),
            ),
            ("/assets/0/key", json!("../a"), ManifestError::Asset("key")),
            ("/assets/0/key", json!(".."), ManifestError::Asset("key")),
            ("/assets/0/key", json!("a\u{0}"), ManifestError::Asset("key")),
            ("/assets/0/key", json!(too_long), ManifestError::Asset("key")),
            (
                "/assets/0/fileExtension",
                Value::Null,
                ManifestError::Asset("fileExtension"),
            ),
            (
                "/assets/0/fileExtension",
                json!("png"),
                ManifestError::Asset("fileExtension"),
            ),
            (
                "/assets/0/fileExtension",
                json!("./png"),
                ManifestError::Asset("fileExtension"),
            ),
            (
                "/assets/0/contentType",
                json!("png"),
                ManifestError::Asset("contentType"),
            ),
            (
                "/assets/0/contentType",
                json!("image/png\r\nx: y"),
                ManifestError::Asset("contentType"),
            ),
            (
                "/assets/0/url",
                json!("file:///etc/passwd"),
                ManifestError::Asset("url"),
            ),
            (
                "/assets/0/url",
                json!("https://a.example/ b"),
                ManifestError::Asset("url"),
            ),
            (
                "/assets/0/key",
                json!("000000000000000000000000000000ff"),
                ManifestError::DuplicateKey("000000000000000000000000000000ff".into()),
            ),
        ] {
            let mut json: Value = serde_json::from_slice(&manifest(1).to_json()).unwrap();
            *json.pointer_mut(pointer).unwrap() = value;
            let refused = Manifest::parse(&serde_json::to_vec(&json).unwrap());
            assert_eq!(refused, Err(expected), "{pointer}");
        }
        let mut without_assets: Value = serde_json::from_slice(&manifest(1).to_json()).unwrap();
        without_assets.as_object_mut().unwrap().remove("assets");
        let refused = Manifest::parse(&serde_json::to_vec(&without_assets).unwrap());
        assert!(matches!(refused, Err(ManifestError::Json(_))), "{refused:?}");
        assert_eq!(
            Manifest::parse(&vec![b' '; MAX_MANIFEST_BYTES + 1]),
            Err(ManifestError::Size)
        );
        let many = Manifest {
            assets: vec![manifest(1).assets[0].clone(); MAX_ASSETS + 1],
            ..manifest(0)
        };
        assert_eq!(Manifest::parse(&many.to_json()), Err(ManifestError::TooManyAssets));
    }

    proptest! {
        #[test]
        fn every_document_is_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            cut in 0..900_usize,
            (place, byte) in (0..900_usize, any::<u8>()),
        ) {
            let _ = Manifest::parse(&bytes);
            let mut changed = manifest(2).to_json();
            let length = changed.len();
            changed[place % length] = byte;
            if let Ok(read) = Manifest::parse(&changed) {
                prop_assert_eq!(Manifest::parse(&read.to_json()), Ok(read));
            }
            let _ = Manifest::parse(&changed[..cut.min(length)]);
        }
    }
}
