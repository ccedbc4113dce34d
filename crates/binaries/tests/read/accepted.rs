//! Binaries that are read say what other programs say of them.

use launchway_binaries::{Asked, mismatches};
use launchway_domain::platform::Platform;
use serde_json::to_value;

use crate::fixture::{expected, fixture, packed, read_bytes, unpacked};

#[test]
fn binaries_say_what_other_programs_say_of_them() {
    let expected = expected();
    assert!(expected.len() >= 17, "{}", expected.len());
    for (name, facts) in expected {
        let read = read_bytes(&fixture(&name)).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        assert_eq!(to_value(read).unwrap(), facts, "{name}");
    }
}

#[test]
fn mismatches_are_told_in_sentences() {
    let facts = read_bytes(&fixture("v2.apk")).unwrap();
    let right = Asked {
        bundle_id: Some("com.Example.app"),
        version: Some("1.2.3"),
        build_number: Some("42"),
        platform: Some(Platform::Android),
    };
    assert_eq!(mismatches(&facts, &right), Vec::<String>::new());
    assert_eq!(mismatches(&facts, &Asked::default()), Vec::<String>::new());
    let wrong = Asked {
        bundle_id: Some("com.example.other"),
        version: Some("2.0"),
        build_number: Some("43"),
        platform: Some(Platform::Ios),
    };
    assert_eq!(
        mismatches(&facts, &wrong),
        [
            "The APK has the bundle id com.example.app, but com.example.other was asked for.",
            "The APK has the version 1.2.3, but 2.0 was asked for.",
            "The APK has the build number 42, but 43 was asked for.",
            "The APK is made for android, but ios was asked for.",
        ]
    );
    let facts = read_bytes(&fixture("no-versions.apk")).unwrap();
    assert_eq!(
        mismatches(&facts, &right)[0],
        "The APK has no version, but 1.2.3 was asked for."
    );
}

#[test]
fn what_cannot_be_read_beside_the_manifest_is_a_warning() {
    for (name, part, warning) in [
        (
            "signed.aab",
            "META-INF/KEY.RSA",
            "The JAR signature in META-INF cannot be read.",
        ),
        (
            "binary.ipa",
            "Payload/Example.app/Example",
            "The code signature of the IPA's executable cannot be read.",
        ),
        (
            "binary.ipa",
            "Payload/Example.app/embedded.mobileprovision",
            "The IPA's provisioning profile cannot be read: ",
        ),
        (
            "resource-version.apk",
            "resources.arsc",
            "The manifest names a resource as its versionName, which cannot be read.",
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
