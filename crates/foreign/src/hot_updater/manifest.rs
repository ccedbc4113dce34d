//! The manifest inside an archive of hot-updater (`docs/reference/hot-updater.md#archive`).

use serde::Deserialize;

use super::bundle_id::BundleId;

/// The file of an archive that names its bundle. It is at the root.
pub const MANIFEST_FILE: &str = "manifest.json";
/// The maximum size of the manifest in bytes.
pub const MAX_MANIFEST_BYTES: usize = 8 * 1024 * 1024;

/// The fields of the manifest that matter here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    bundle_id: String,
}

/// The id of the bundle that a manifest names; `None` if it names none. A device that runs the archive sends this id, so a bundle
/// published under another one would be offered to it again and again.
pub fn bundle_id_of(manifest: &[u8]) -> Option<BundleId> {
    let is_short = manifest.len() <= MAX_MANIFEST_BYTES;
    let manifest: Manifest = is_short.then(|| serde_json::from_slice(manifest).ok())??;
    BundleId::parse(manifest.bundle_id.trim()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_manifest_names_its_bundle() {
        let manifest =
            br#"{"bundleId":" 0190A8C6-0000-7000-8000-000000000000 ","assets":{"index.ios.bundle":{"fileHash":"00"}}}"#;
        let id = bundle_id_of(manifest).unwrap();
        assert_eq!(id.as_str(), "0190a8c6-0000-7000-8000-000000000000");
    }

    #[test]
    fn other_files_name_none() {
        let mut long = br#"{"bundleId":"0190a8c6-0000-7000-8000-000000000000"}"#.to_vec();
        assert!(bundle_id_of(&long).is_some());
        long.resize(MAX_MANIFEST_BYTES + 1, b' ');
        for manifest in [
            &b""[..],
            b"{}",
            b"[]",
            br#"{"bundleId":1}"#,
            br#"{"bundleId":"v3"}"#,
            &long,
        ] {
            assert_eq!(bundle_id_of(manifest), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_name_a_bundle_or_none(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = bundle_id_of(&bytes);
        }
    }
}
