//! The facts of accepted credentials agree with the output of the programs that created them.

use launchway_credentials::{
    CredentialError, CredentialInput, Details, Kind, Recognized, kind_of_pkcs12, read, recognize,
};
use serde_json::Value;

use crate::fixture::{KEY_ID, KEY_PASSWORD, NOW, STORE_PASSWORD, expected, fixture, good};

#[test]
fn every_good_file_says_what_its_maker_says() {
    let expected = expected();
    for (kind, fixture) in good() {
        let facts = fixture
            .read(kind)
            .unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let facts = serde_json::to_value(&facts).unwrap();
        assert_eq!(facts, expected[&fixture.name], "{}", fixture.name);
    }
    for kind in Kind::ALL {
        assert!(
            expected.values().any(|facts| facts["kind"] == kind.as_str()),
            "no good {kind}"
        );
    }
}

#[test]
fn a_pkcs12_file_tells_its_kind() {
    let files = good();
    let files = files.iter().filter(|(_, fixture)| fixture.name.ends_with(".p12"));
    let mut kinds = Vec::new();
    for (kind, fixture) in files {
        assert_eq!(
            recognize(&fixture.content),
            Some(Recognized::Pkcs12),
            "{}",
            fixture.name
        );
        assert_eq!(kind_of_pkcs12(&fixture.given()), Ok(*kind), "{}", fixture.name);
        kinds.push(*kind);
    }
    assert!(kinds.contains(&Kind::AppleCertificate) && kinds.contains(&Kind::AndroidKeystore));
    for (name, kind) in [
        ("app-store.mobileprovision", Some(Kind::ProvisioningProfile)),
        ("rsa.jks", Some(Kind::AndroidKeystore)),
        ("service-account.json", Some(Kind::GoogleServiceAccount)),
        ("google-services.json", None),
        ("store-connect.p8", None),
    ] {
        assert_eq!(recognize(&fixture(name).content), kind.map(Recognized::Kind), "{name}");
    }
}

#[test]
fn facts_hold_no_secret() {
    for (kind, fixture) in good() {
        let facts = fixture.read(kind).unwrap();
        let shown = format!("{facts:?} {}", serde_json::to_string(&facts).unwrap());
        for secret in [STORE_PASSWORD, KEY_PASSWORD, "schlüssel", "BEGIN", "MII"] {
            assert!(!shown.contains(secret), "{}: {shown}", fixture.name);
        }
    }
}

#[test]
fn an_alias_is_found_whatever_its_letter_case() {
    for name in ["two-keys.p12", "two-keys.jks"] {
        let fixture = fixture(name);
        for (alias, subject) in [("Release", "CN=release"), ("DEBUG", "CN=debug")] {
            let given = CredentialInput {
                alias: Some(alias),
                ..fixture.given()
            };
            let facts = read(Kind::AndroidKeystore, &given, NOW).unwrap();
            let Details::AndroidKeystore(found) = facts.details else {
                panic!("{facts:?}")
            };
            assert_eq!(found.subject, subject, "{name}");
        }
    }
}

#[test]
fn the_keystores_password_may_stand_for_the_keys() {
    for name in ["openssl3.p12", "rsa.jks", "no-mac.p12"] {
        let fixture = fixture(name);
        for key_password in [None, Some(""), Some(STORE_PASSWORD)] {
            let given = CredentialInput {
                key_password,
                alias: Some("upload"),
                ..fixture.given()
            };
            assert!(
                read(Kind::AndroidKeystore, &given, NOW).is_ok(),
                "{name} {key_password:?}"
            );
        }
    }
}

#[test]
fn an_empty_password_is_none() {
    for (kind, name) in [
        (Kind::AndroidKeystore, "no-password.p12"),
        (Kind::AppleCertificate, "iphone-developer.p12"),
    ] {
        let fixture = fixture(name);
        for password in [None, Some("")] {
            assert!(
                read(
                    kind,
                    &CredentialInput {
                        password,
                        ..fixture.given()
                    },
                    NOW
                )
                .is_ok(),
                "{name} {password:?}"
            );
        }
    }
}

#[test]
fn a_key_without_issuer_is_an_individuals() {
    let fixture = fixture("store-connect.p8");
    for issuer_id in [None, Some("")] {
        let given = CredentialInput {
            issuer_id,
            ..fixture.given()
        };
        let facts = serde_json::to_value(read(Kind::AppStoreConnectKey, &given, NOW).unwrap()).unwrap();
        assert_eq!(facts["individual"], true);
        assert_eq!(facts["keyId"], KEY_ID);
        assert_eq!(facts.get("issuerId"), None);
    }
}

#[test]
fn text_files_are_read_whatever_their_line_ends() {
    for (kind, name) in [
        (Kind::AppStoreConnectKey, "store-connect.p8"),
        (Kind::GoogleServiceAccount, "service-account.json"),
    ] {
        let original = fixture(name);
        let text = str::from_utf8(&original.content).unwrap();
        let facts = original.read(kind).unwrap();
        for changed in [
            text.replace('\n', "\r\n"),
            format!("\u{feff}{text}"),
            format!("\n  {}", text.trim_end()),
        ] {
            let given = CredentialInput {
                content: changed.as_bytes(),
                ..original.given()
            };
            assert_eq!(read(kind, &given, NOW), Ok(facts.clone()), "{changed:?}");
        }
    }
}

#[test]
fn a_profile_covers_its_bundle_ids() {
    for (name, bundle_id, covers) in [
        ("development.mobileprovision", "com.example.app", true),
        ("development.mobileprovision", "com.Example.App", true),
        ("development.mobileprovision", "", true),
        ("development.mobileprovision", "com.example.app.widget", false),
        ("enterprise.mobileprovision", "com.example.other", true),
        ("enterprise.mobileprovision", "com.examples", false),
        ("ec-wildcard.mobileprovision", "org.any", true),
    ] {
        let fixture = fixture(name);
        let given = CredentialInput {
            bundle_id: Some(bundle_id),
            ..fixture.given()
        };
        let result = read(Kind::ProvisioningProfile, &given, NOW);
        assert_eq!(result.is_ok(), covers, "{name} {bundle_id}");
        assert_eq!(
            matches!(result, Err(CredentialError::ForeignBundleId { .. })),
            !covers,
            "{name} {bundle_id}"
        );
    }
}

#[test]
fn times_are_shown_as_everywhere() {
    let facts = serde_json::to_value(fixture("keytool17.p12").read(Kind::AndroidKeystore).unwrap()).unwrap();
    assert_eq!(facts["notBefore"], "2020-01-01T00:00:00.000Z");
    assert!(matches!(&facts["expiresAt"], Value::String(text) if text.ends_with(".000Z")));
}
