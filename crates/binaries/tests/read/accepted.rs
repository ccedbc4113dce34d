//! The facts of a binary agree with the output of other programs.

use std::io::Cursor;

use launchway_binaries::{BinaryFacts, RequestedFacts, mismatches};
use launchway_domain::platform::Platform;
use plist::Value;
use serde_json::to_value;

use crate::fixture::{expected, fixture, packed, read_bytes, unpacked};

#[test]
fn binaries_say_what_other_programs_say_of_them() {
    let expected = expected();
    assert!(expected.len() >= 17, "{}", expected.len());
    for (name, facts) in expected {
        let read = read_bytes(&fixture(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(to_value(read).unwrap(), facts, "{name}");
    }
}

/// Reads the app with another Info.plist, in both formats.
fn with_info(change: impl Fn(&mut plist::Dictionary)) -> BinaryFacts {
    let mut files = unpacked(&fixture("binary.ipa"));
    let at = files
        .iter()
        .position(|(name, _)| name == "Payload/Example.app/Info.plist")
        .unwrap();
    let mut info = Value::from_reader(Cursor::new(&files[at].1))
        .unwrap()
        .into_dictionary()
        .unwrap();
    change(&mut info);
    let (info, mut xml, mut binary) = (Value::Dictionary(info), Vec::new(), Vec::new());
    info.to_writer_xml(&mut xml).unwrap();
    info.to_writer_binary(&mut binary).unwrap();
    let [xml, binary] = [xml, binary].map(|form| {
        files[at].1 = form;
        read_bytes(&packed(&files)).unwrap()
    });
    assert_eq!(xml, binary);
    binary
}

#[test]
fn an_icon_is_named_and_in_the_asset_catalog() {
    let named = |icons: Value| {
        move |info: &mut plist::Dictionary| {
            info.insert("CFBundleIcons".to_owned(), icons.clone());
        }
    };
    let dictionary = |name: &str, value: Value| Value::Dictionary([(name.to_owned(), value)].into_iter().collect());
    let text = |text: &str| Value::String(text.to_owned());
    let primary = |value: Value| dictionary("CFBundlePrimaryIcon", value);
    for (icons, has_icon) in [
        (primary(dictionary("CFBundleIconName", text("AppIcon"))), true),
        (primary(text("App Icon")), true),
        (primary(dictionary("CFBundleIconName", text(""))), false),
        (
            primary(dictionary("CFBundleIconFiles", Value::Array(vec![text("a")]))),
            false,
        ),
        (primary(Value::Array(vec![text("a")])), false),
        (dictionary("CFBundleAlternateIcons", text("a")), false),
        (text("AppIcon"), false),
    ] {
        assert_eq!(with_info(named(icons.clone())).icon, Some(has_icon), "{icons:?}");
        let top = with_info(|info| {
            named(icons.clone())(info);
            info.insert("CFBundleIconName".to_owned(), text("AppIcon"));
        });
        assert_eq!(top.icon, Some(true));
    }
    let mut files = unpacked(&fixture("binary.ipa"));
    files.retain(|(name, _)| !name.ends_with("/Assets.car"));
    assert_eq!(read_bytes(&packed(&files)).unwrap().icon, Some(false));
}

#[test]
fn the_sdk_is_the_platforms_version_or_in_its_name() {
    for (version, name, sdk) in [
        (Some("26.1"), Some("iphoneos18.5"), Some("26.1")),
        (None, Some("iphoneos18.5"), Some("18.5")),
        (None, Some("xros2.0"), Some("2.0")),
        (None, Some("iphoneos"), None),
        (None, None, None),
    ] {
        let facts = with_info(|info| {
            info.remove("DTPlatformVersion");
            for (key, value) in [("DTPlatformVersion", version), ("DTSDKName", name)] {
                value.map(|value| info.insert(key.to_owned(), Value::String(value.to_owned())));
            }
        });
        assert_eq!(facts.sdk.as_deref(), sdk, "{version:?} {name:?}");
    }
}

#[test]
fn mismatches_are_told_in_sentences() {
    let facts = read_bytes(&fixture("v2.apk")).unwrap();
    let right = RequestedFacts {
        bundle_id: Some("com.Example.app"),
        version: Some("1.2.3"),
        build_number: Some("42"),
        platform: Some(Platform::Android),
    };
    assert_eq!(mismatches(&facts, &right), Vec::<String>::new());
    assert_eq!(mismatches(&facts, &RequestedFacts::default()), Vec::<String>::new());
    let wrong = RequestedFacts {
        bundle_id: Some("com.example.other"),
        version: Some("2.0"),
        build_number: Some("43"),
        platform: Some(Platform::Ios),
    };
    assert_eq!(
        mismatches(&facts, &wrong),
        [
            "The APK has the bundle id com.example.app instead of the requested com.example.other",
            "The APK has the version 1.2.3 instead of the requested 2.0",
            "The APK has the build number 42 instead of the requested 43",
            "The APK is built for android instead of the requested ios",
        ]
    );
    let facts = read_bytes(&fixture("no-versions.apk")).unwrap();
    assert_eq!(
        mismatches(&facts, &right)[0],
        "The APK has no version instead of the requested 1.2.3"
    );
}

#[test]
fn what_cannot_be_read_beside_the_manifest_is_a_warning() {
    for (name, part, warning) in [
        (
            "signed.aab",
            "META-INF/KEY.RSA",
            "Cannot read the JAR signature in META-INF",
        ),
        (
            "binary.ipa",
            "Payload/Example.app/Example",
            "Cannot read the code signature of the IPA's executable",
        ),
        (
            "binary.ipa",
            "Payload/Example.app/embedded.mobileprovision",
            "Cannot read the IPA's provisioning profile: ",
        ),
        (
            "resource-version.apk",
            "resources.arsc",
            "The versionName in the manifest is a reference to a resource, which cannot be read",
        ),
    ] {
        let mut files = unpacked(&fixture(name));
        let file = files.iter_mut().find(|(name, _)| name == part);
        file.unwrap_or_else(|| panic!("{part}")).1 = vec![0; 64];
        let facts = read_bytes(&packed(&files)).unwrap();
        assert_eq!(facts.warnings.len(), 1, "{name} {part}: {:?}", facts.warnings);
        assert!(facts.warnings[0].starts_with(warning), "{:?}", facts.warnings);
    }
}

/// Changes the app's executable in an IPA, and reads the IPA.
fn with_executable(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> BinaryFacts {
    let mut files = unpacked(&fixture(name));
    let file = files.iter_mut().find(|(name, _)| name == "Payload/Example.app/Example");
    change(&mut file.unwrap().1);
    read_bytes(&packed(&files)).unwrap()
}

/// The offset of the symbol table's load command in a thin 64-bit executable.
fn symbol_command(executable: &[u8]) -> usize {
    let mut at = 32;
    while executable[at] != 2 {
        at += usize::from(u16::from_le_bytes([executable[at + 4], executable[at + 5]]));
    }
    at
}

#[test]
fn what_code_refers_to_is_unknown_where_it_cannot_be_read() {
    let whole = with_executable("no-purpose.ipa", |_| ());
    assert_eq!(whole.system_classes, Some(vec!["AVCaptureDevice".to_owned()]));
    // Offset and number of the symbols, offset and length of the string table.
    for field in 0..4 {
        for value in [1_u32, 0x00ff_ffff, u32::MAX] {
            let facts = with_executable("no-purpose.ipa", |executable| {
                let at = symbol_command(executable) + 8 + 4 * field;
                executable[at..at + 4].copy_from_slice(&value.to_le_bytes());
            });
            // Whatever the table contains, only known classes are reported.
            let classes = facts.system_classes.clone().unwrap_or_default();
            assert!(classes.iter().all(|class| *class == "AVCaptureDevice"), "{classes:?}");
            if field < 3 && value == u32::MAX {
                assert_eq!(facts.system_classes, None, "{field}");
            }
            assert_eq!(
                (facts.architectures, facts.signer),
                (whole.architectures.clone(), whole.signer.clone())
            );
        }
    }
    // Symbols that do not name their library.
    let flat = with_executable("no-purpose.ipa", |executable| executable[24] &= 0x7f);
    assert_eq!(flat.system_classes, None);
    let cut = with_executable("no-purpose.ipa", |executable| executable.truncate(100));
    assert_eq!((cut.system_classes, cut.architectures), (None, None));
}

#[test]
fn a_library_that_cannot_be_read_says_nothing() {
    for content in [&b""[..], b"\xcf\xfa\xed\xfe", &[0xff; 5000]] {
        let mut files = unpacked(&fixture("library-purpose.ipa"));
        let file = files.iter_mut().find(|(name, _)| name.ends_with("/Other"));
        file.unwrap().1 = content.to_vec();
        let facts = read_bytes(&packed(&files)).unwrap();
        assert_eq!(facts.system_classes, Some(vec!["AVCaptureDevice".to_owned()]));
    }
}

#[test]
fn a_purpose_string_of_any_length_and_alphabet_counts() {
    for text in ["ä".repeat(2000), "To scan. ".repeat(1000)] {
        let info = format!(
            "<plist><dict><key>CFBundleIdentifier</key><string>a.b</string><key>NSCameraUsageDescription</key>\
             <string>{text}</string><key>NSContactsUsageDescription</key><true/></dict></plist>"
        );
        let facts = read_bytes(&packed(&[("Payload/A.app/Info.plist", info)])).unwrap();
        assert_eq!(facts.purpose_strings, ["NSCameraUsageDescription"]);
    }
}
