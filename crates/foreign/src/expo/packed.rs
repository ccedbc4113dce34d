//! An export as the server keeps it: what each file is called, and where it is in the package, so that it can be served from
//! there.

use launchway_domain::release::RuntimeVersion;
use launchway_domain::time::EpochMs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::manifest::{Asset, Manifest};
use crate::place::Place;

/// The name of the file in an export with the app's public settings, which its code reads as `Constants.expoConfig`.
pub const CONFIG_FILE: &str = "expoConfig.json";
/// The largest file of settings, in bytes.
pub const MAX_CONFIG_BYTES: usize = 256 * 1024;
/// The largest export as JSON, in bytes. One of 4,096 assets with usual names is half as large.
pub const MAX_EXPORT_BYTES: usize = 900 * 1024;

/// The files of one platform in a package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PackedExport {
    /// The script that the app starts with.
    pub launch: PackedFile,
    /// All other files.
    pub assets: Vec<PackedFile>,
    /// The app's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Map<String, Value>>,
}

/// A file in a package. Its JSON is short, since an export has thousands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    /// The name by which the app's code finds it.
    #[serde(rename = "k")]
    pub key: String,
    /// Its extension without a dot; may be empty.
    #[serde(rename = "e")]
    pub extension: String,
    /// The SHA-256 of its content.
    #[serde(rename = "h", with = "crate::place::hash_text")]
    pub sha256: [u8; 32],
    /// Where its data are.
    #[serde(flatten)]
    pub place: Place,
}

/// What an unsigned update is, beside its files.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'i> {
    /// Its id.
    pub id: Uuid,
    /// When it was created.
    pub created_at: EpochMs,
    /// The runtime that it needs.
    pub runtime_version: &'i RuntimeVersion,
    /// The channel of apps that run it; `None`: every app.
    pub configuration: Option<&'i str>,
    /// The start of the addresses of its files.
    pub asset_base: &'i str,
    /// The app.
    pub bundle_id: &'i str,
}

impl PackedExport {
    /// The manifest of an unsigned update with these files.
    pub fn manifest(&self, issue: &Issue<'_>) -> Manifest {
        let asset = |file: &PackedFile| {
            Asset::new(
                &file.key,
                &file.extension,
                file.sha256,
                issue.asset_base,
                issue.bundle_id,
            )
        };
        let mut extra = Map::new();
        if let Some(config) = &self.config {
            extra.insert("expoClient".to_owned(), Value::Object(config.clone()));
        }
        let configuration = issue
            .configuration
            .map(|label| ("configuration".to_owned(), label.to_owned()));
        Manifest {
            id: issue.id,
            created_at: issue.created_at,
            runtime_version: issue.runtime_version.clone(),
            launch_asset: Asset {
                content_type: super::asset::content_type("bundle").to_owned(),
                ..asset(&self.launch)
            },
            assets: self.assets.iter().map(asset).collect(),
            metadata: configuration.into_iter().collect(),
            extra,
        }
    }

    /// The script and all other files.
    pub fn files(&self) -> impl Iterator<Item = &PackedFile> {
        std::iter::once(&self.launch).chain(&self.assets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(number: u8, extension: &str) -> PackedFile {
        PackedFile {
            key: format!("{number:032x}"),
            extension: extension.to_owned(),
            sha256: [number; 32],
            place: Place {
                size: 9,
                start: 40,
                length: 7,
                is_deflated: true,
                checksum: 5,
            },
        }
    }

    #[test]
    fn an_export_is_read_as_it_is_written_and_short() {
        let export = PackedExport {
            launch: file(9, ""),
            assets: (0..100).map(|number| file(number, "png")).collect(),
            config: Some(Map::new()),
        };
        let json = serde_json::to_string(&export).unwrap();
        assert_eq!(serde_json::from_str::<PackedExport>(&json).unwrap(), export);
        assert!(json.len() * 4097 / 101 < MAX_EXPORT_BYTES, "{}", json.len());
    }

    #[test]
    fn the_manifest_of_an_export_is_one_that_clients_accept() {
        let export = PackedExport {
            launch: file(9, "hbc"),
            assets: vec![file(1, "png"), file(2, "")],
            config: serde_json::json!({"name": "App"}).as_object().cloned(),
        };
        let runtime_version = RuntimeVersion::parse("1.0.0").unwrap();
        let manifest = export.manifest(&Issue {
            id: Uuid::from_u128(7),
            created_at: 1_795_514_400_123,
            runtime_version: &runtime_version,
            configuration: Some("production"),
            asset_base: "https://updates.example.com",
            bundle_id: "com.example.app",
        });
        let read = Manifest::parse(&manifest.to_json()).unwrap();
        assert_eq!(read.launch_asset.content_type, "application/javascript");
        assert_eq!(
            (
                read.assets[0].file_extension.as_str(),
                read.assets[1].file_extension.as_str()
            ),
            (".png", "")
        );
        assert_eq!(read.extra["expoClient"]["name"], "App");
        assert_eq!(read.metadata["configuration"], "production");
        assert!(
            read.files()
                .all(|asset| asset.is_at("https://updates.example.com", "com.example.app"))
        );
    }
}
