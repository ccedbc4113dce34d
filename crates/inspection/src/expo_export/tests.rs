//! Exports with changed bytes, and with lists of any form: what passes is in the package as it says, and the rest does no harm.

use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use flate2::read::DeflateDecoder;
use launchway_domain::platform::Platform;
use launchway_foreign::expo::{MAX_ASSETS, MAX_CONFIG_BYTES, MAX_METADATA_BYTES, PackedExport};
use launchway_package::Limits;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;
use sha2::{Digest, Sha256};
use zip::CompressionMethod::{Deflated, Stored};

use crate::work::answer;
use crate::{Answer, ExportFacts, Task};

const LIMITS: Limits = Limits {
    max_files: 10_000,
    max_unpacked: 16 << 20,
    max_ratio: 2000,
    max_path: 512,
};
/// Far above the time for any input of this size, so that a busy machine does not matter.
const TOO_LONG: Duration = Duration::from_secs(20);

/// A package with these files, every other one compressed.
fn package(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (number, (path, bytes)) in files.iter().enumerate() {
        let method = if number % 2 == 0 { Deflated } else { Stored };
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        zip.start_file(*path, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An export with this list and these settings.
fn export(metadata: &[u8], config: &[u8]) -> Vec<u8> {
    let script = b"the script ".repeat(200);
    package(&[
        ("metadata.json", metadata),
        ("expoConfig.json", config),
        ("_expo/index.hbc", &script),
        ("assets/4e3f", b"an image"),
        ("assets/77aa", &b"a font ".repeat(30)),
        ("_expo/index.hbc.map", b"the source"),
    ])
}

fn metadata() -> Vec<u8> {
    let assets = json!([{"path": "assets/4e3f", "ext": "png"}, {"path": "assets/77aa", "ext": "ttf"}]);
    let files = json!({"bundle": "_expo/index.hbc", "assets": assets});
    json!({"version": 0, "fileMetadata": {"android": files}})
        .to_string()
        .into_bytes()
}

/// Inspects a package. What passes is held against the bytes.
fn look(file: &File, bytes: &[u8]) -> Result<PackedExport, String> {
    file.set_len(0).and_then(|()| file.write_all_at(bytes, 0)).unwrap();
    let began = Instant::now();
    let json = answer(&Task::Export(LIMITS, Platform::Android), file.try_clone().unwrap());
    assert!(began.elapsed() < TOO_LONG);
    let facts: ExportFacts = match serde_json::from_slice(&json).unwrap() {
        Answer::Read(facts) => facts,
        Answer::Refused(sentence) | Answer::Unreadable(sentence) => return Err(sentence),
    };
    for file in facts.export.files() {
        let (start, length) = (file.place.start as usize, file.place.length as usize);
        let mut data = &bytes[start..start + length];
        let mut content = Vec::new();
        match file.place.is_deflated {
            true => DeflateDecoder::new(data).read_to_end(&mut content).unwrap(),
            false => data.read_to_end(&mut content).unwrap(),
        };
        assert_eq!(content.len() as u64, file.place.size);
        assert_eq!(Sha256::digest(&content)[..], file.sha256);
        assert_eq!(crc32fast::hash(&content), file.place.checksum);
        assert!(!file.key.contains(['/', '\\']) && !file.key.is_empty(), "{}", file.key);
    }
    Ok(facts.export)
}

fn temporary() -> File {
    tempfile::tempfile().unwrap()
}

#[test]
fn what_is_bounded_is_refused_with_a_sentence() {
    let file = temporary();
    let good = look(&file, &export(&metadata(), br#"{"name": "App"}"#)).unwrap();
    assert_eq!(
        (good.assets.len(), good.config.unwrap()["name"].as_str()),
        (2, Some("App"))
    );
    let long = [metadata(), vec![b' '; MAX_METADATA_BYTES]].concat();
    let config = format!(r#"{{"a": "{}"}}"#, "x".repeat(MAX_CONFIG_BYTES));
    let deep = "[".repeat(100_000);
    let script = String::from_utf8(metadata()).unwrap();
    let source_map = script.replace("assets/77aa", "_expo/index.hbc.map");
    let many: Vec<_> = (0..=MAX_ASSETS)
        .map(|number| json!({"path": format!("assets/{number}"), "ext": ""}))
        .collect();
    let many = json!({"fileMetadata": {"android": {"bundle": "_expo/index.hbc", "assets": many}}}).to_string();
    for (metadata, config, said) in [
        (&long[..], "{}", "metadata.json has more than 4 MiB"),
        (
            &metadata(),
            &config,
            "expoConfig.json must be a JSON object of at most 256 KiB",
        ),
        (&metadata(), "[]", "expoConfig.json must be a JSON object"),
        (&metadata(), &deep, "expoConfig.json must be a JSON object"),
        (deep.as_bytes(), "{}", "metadata.json is not that of an Expo export"),
        (many.as_bytes(), "{}", "the export has more than 4,096 assets"),
        (
            source_map.as_bytes(),
            "{}",
            "metadata.json lists the source map of the script",
        ),
        (
            script.replace("4e3f", "4e40").as_bytes(),
            "{}",
            "the file assets/4e40, which is not in the package",
        ),
        (
            script.replace("assets/4e3f", "../4e3f").as_bytes(),
            "{}",
            "a path outside the export",
        ),
    ] {
        let refused = look(&file, &export(metadata, config.as_bytes())).unwrap_err();
        assert!(refused.contains(said), "{said}: {refused}");
    }
    assert!(
        look(&file, &package(&[("a", b"b")]))
            .unwrap_err()
            .contains("no metadata.json")
    );
}

fn path() -> impl Strategy<Value = String> {
    let known = vec![
        "_expo/index.hbc",
        "_expo\\index.hbc",
        "assets/4e3f",
        "assets/77aa",
        "metadata.json",
        "expoConfig.json",
        "assets",
        "assets/",
        "../assets/4e3f",
        "/etc/passwd",
        "C:/4e3f",
        "./assets/4e3f",
        "",
    ];
    prop_oneof![6 => select(known).prop_map(str::to_owned), 1 => ".{0,20}"]
}

/// A list that is nearly right.
fn list() -> impl Strategy<Value = Vec<u8>> {
    let asset = (path(), "[a-z]{0,4}|.{0,3}").prop_map(|(path, ext)| json!({"path": path, "ext": ext}));
    let platform = select(vec!["android", "android", "android", "ios"]);
    let listed = (platform, path(), prop::collection::vec(asset, 0..6));
    listed.prop_map(|(platform, bundle, assets)| {
        json!({"fileMetadata": {platform: {"bundle": bundle, "assets": assets}}})
            .to_string()
            .into_bytes()
    })
}

fn changed(mut bytes: Vec<u8>, changes: &[(Index, u8)], end: Option<Index>) -> Vec<u8> {
    for (at, byte) in changes {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    if let Some(end) = end {
        bytes.truncate(end.index(bytes.len()));
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_export_with_changed_bytes_does_no_harm(
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..6),
        end in prop::option::weighted(0.2, any::<Index>()),
    ) {
        let bytes = export(&metadata(), b"{}");
        let _ = look(&temporary(), &changed(bytes, &changes, end));
    }

    #[test]
    fn an_export_with_any_list_does_no_harm(
        list in list(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..3),
        config in prop_oneof![Just(b"{}".to_vec()), prop::collection::vec(any::<u8>(), 0..40)],
    ) {
        if let Ok(read) = look(&temporary(), &export(&changed(list, &changes, None), &config)) {
            prop_assert!(read.assets.len() < 6);
        }
    }

    #[test]
    fn any_bytes_are_no_export(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(look(&temporary(), &bytes).is_err());
    }
}
