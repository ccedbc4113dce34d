//! Files that are not an app, or not a complete one, and the messages for the user.

use crate::fixture::{expected, fixture, names, packed, read_bytes, unpacked};

fn refused(bytes: &[u8], text: &str) {
    match read_bytes(bytes) {
        Ok(facts) => panic!("not refused by {text:?}: {facts:?}"),
        Err(error) => assert_eq!(error.to_string(), text),
    }
}

#[test]
fn each_file_that_is_no_app_is_told_why() {
    let refusals = [
        (
            "empty.ipa",
            "The IPA has no Payload/*.app/Info.plist. Build the app again.",
        ),
        (
            "library.aar",
            "The file is an Android library (AAR), not an app. Use the APK or AAB of the app.",
        ),
        (
            "nameless.ipa",
            "Info.plist in the file has no CFBundleIdentifier. Build the app again.",
        ),
        (
            "no-manifest.aab",
            "The AAB has no base/manifest/AndroidManifest.xml. Build the app again.",
        ),
        (
            "no-manifest.apk",
            "The APK has no AndroidManifest.xml. Build the app again.",
        ),
        (
            "other.zip",
            "The file is not an APK, AAB or IPA. Use the app from the build.",
        ),
        (
            "set.apks",
            "The file is a set of APKs. Use the AAB that it was created from, or a universal APK.",
        ),
        (
            "several.ipa",
            "The IPA has several apps in Payload. Export each app separately.",
        ),
    ];
    for (name, text) in refusals {
        refused(&fixture(name), text);
    }
    let known = expected();
    let told: Vec<_> = names().into_iter().filter(|name| !known.contains_key(name)).collect();
    assert_eq!(told, refusals.map(|(name, _)| name));
}

#[test]
fn other_bytes_are_no_app() {
    for bytes in [&b""[..], b"PK", b"hello", &[0; 100_000]] {
        refused(bytes, "The file is not an APK, AAB or IPA. Use the app from the build.");
    }
}

#[test]
fn a_manifest_that_is_damaged_is_refused() {
    for (name, part) in [
        ("v2.apk", "AndroidManifest.xml"),
        ("signed.aab", "base/manifest/AndroidManifest.xml"),
        ("binary.ipa", "Payload/Example.app/Info.plist"),
        ("xml.ipa", "Payload/Example.app/Info.plist"),
    ] {
        let mut files = unpacked(&fixture(name));
        let file = files.iter_mut().find(|(name, _)| name == part).unwrap();
        file.1.truncate(file.1.len() - 3);
        let shown = part.rsplit_once("app/").map_or(part, |(_, file)| file);
        let text = format!("{shown} in the file is truncated or damaged. Build the app again.");
        refused(&packed(&files), &text);
    }
}

#[test]
fn what_is_endless_is_refused() {
    let manifest = vec![0; (4 << 20) + 1];
    refused(
        &packed(&[("AndroidManifest.xml", manifest)]),
        "AndroidManifest.xml in the file has more than 4194304 bytes. Build the app again.",
    );
    let deep = [b"<plist>".to_vec(), b"<array>".repeat(100_000)].concat();
    refused(
        &packed(&[("Payload/A.app/Info.plist", deep)]),
        "Info.plist in the file is truncated or damaged. Build the app again.",
    );
    for (open, close) in [
        ("<array>", "</array>"),
        ("<x:array>", "</x:array>"),
        ("<dict><key>k</key>", "</dict >"),
    ] {
        let list = |depth: usize| {
            let lists = [&open.repeat(depth), "<true/>", &close.repeat(depth)].concat();
            format!("<plist><dict><key>CFBundleIdentifier</key><string>a.b</string><key>x</key>{lists}</dict></plist>")
        };
        assert!(
            read_bytes(&packed(&[("Payload/A.app/Info.plist", list(31))])).is_ok(),
            "{open}"
        );
        for depth in [32, 100_000] {
            refused(
                &packed(&[("Payload/A.app/Info.plist", list(depth))]),
                "Info.plist in the file is truncated or damaged. Build the app again.",
            );
        }
    }
}

/// Two readers might choose different ones.
#[test]
fn two_manifests_are_refused() {
    let manifest = unpacked(&fixture("v2.apk")).swap_remove(0).1;
    let mut bytes = packed(&[("AndroidManifest.xml", &manifest), ("AndroidManifest.xmm", &manifest)]);
    let places: Vec<_> = bytes
        .windows(3)
        .enumerate()
        .filter(|(_, three)| three == b"xmm")
        .map(|(at, _)| at)
        .collect();
    for at in places {
        bytes[at + 2] = b'l';
    }
    refused(
        &bytes,
        "The file contains AndroidManifest.xml more than once. Build the app again.",
    );
}
