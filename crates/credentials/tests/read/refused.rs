//! Credentials that are refused for the other input or for being of another kind, and the messages, which contain no
//! secrets.

use launchway_credentials::{CredentialInput, Kind, MAX_SIZE, read};

use crate::fixture::{KEY_PASSWORD, NOW, STORE_PASSWORD, fixture, good, names};

use Kind::{AndroidKeystore, AppStoreConnectKey, AppleCertificate, GoogleServiceAccount, ProvisioningProfile};

/// One file of each format, and its name in messages.
const FORMS: &[(&str, &str)] = &[
    ("openssl3.p12", "a PKCS#12 file (.p12)"),
    ("rsa.jks", "a Java keystore (JKS)"),
    ("keystore.jceks", "a Java keystore (JCEKS)"),
    ("development.mobileprovision", "a provisioning profile"),
    ("ad-hoc.mobileprovision", "a provisioning profile"),
    ("distribution.cer", "a certificate without a private key"),
    ("store-connect.p8", "a bare private key"),
    ("service-account.json", "a Google service account key"),
    ("google-services.json", "a google-services.json"),
    ("authorized-user.json", "a JSON file"),
    ("unsigned.plist", "a property list"),
];

/// The error message.
pub fn message(kind: Kind, given: &CredentialInput<'_>) -> String {
    read(kind, given, NOW).expect_err("it is refused").to_string()
}

#[test]
fn a_file_of_another_kind_is_called_by_its_name() {
    for kind in Kind::ALL {
        let wanted = match kind {
            AppStoreConnectKey => "an App Store Connect key (.p8)",
            GoogleServiceAccount => "a Google service account key (JSON)",
            AndroidKeystore => "an Android keystore (JKS or PKCS#12)",
            AppleCertificate => "an Apple certificate with its private key (.p12)",
            ProvisioningProfile => "a provisioning profile",
        };
        for (name, found) in FORMS {
            let is_own = match kind {
                AppStoreConnectKey => *name == "store-connect.p8",
                GoogleServiceAccount => ["service-account.json", "authorized-user.json"].contains(name),
                AndroidKeystore => ["openssl3.p12", "rsa.jks", "keystore.jceks"].contains(name),
                AppleCertificate => ["openssl3.p12", "distribution.cer"].contains(name),
                ProvisioningProfile => name.ends_with("mobileprovision"),
            };
            if !is_own {
                assert_eq!(
                    message(kind, &fixture(name).given()),
                    format!("This is {found}, not {wanted}")
                );
            }
        }
        for (content, found) in [
            (&b"PK\x03\x04"[..], "a ZIP archive"),
            (b"\0\0\0\x02\0\0\0\x14", "a Bouncy Castle keystore (BKS)"),
            (b"-----BEGIN CERTIFICATE REQUEST-----", "a certificate request"),
            (b"-----BEGIN OPENSSH PRIVATE KEY-----", "a PEM file"),
            (b"MIIKigIBAzCCCgUGCSqGSIb3DQEHAaCC", "the Base64 text of a file"),
            (b"/u3+7QAAAAIAAAABAAAAAQAGdXBsb2Fk", "the Base64 text of a file"),
        ] {
            let expected = match kind {
                AndroidKeystore if content[0] == 0 => continue,
                _ => format!("This is {found}, not {wanted}"),
            };
            assert_eq!(
                message(
                    kind,
                    &CredentialInput {
                        content,
                        ..CredentialInput::default()
                    }
                ),
                expected
            );
        }
        let text = CredentialInput {
            content: b"This is only a text that somebody took for a credential.",
            ..CredentialInput::default()
        };
        assert_eq!(
            message(kind, &text),
            format!("This is not {wanted}. Check that it is the right file.")
        );
    }
}

#[test]
fn empty_and_huge_files_are_refused() {
    let huge = vec![0x30; MAX_SIZE + 1];
    for kind in Kind::ALL {
        assert_eq!(
            message(kind, &CredentialInput::default()),
            "The file is empty. Upload the original file."
        );
        assert_eq!(
            message(
                kind,
                &CredentialInput {
                    content: &huge,
                    ..CredentialInput::default()
                }
            ),
            "The file is larger than 1 MiB, the limit of a credential. Upload only the credential."
        );
        let largest = CredentialInput {
            content: &huge[1..],
            password: Some(""),
            ..CredentialInput::default()
        };
        assert!(!message(kind, &largest).contains("1 MiB"));
    }
}

#[test]
fn a_wrong_password_is_called_wrong_and_a_missing_one_missing() {
    let mut count = 0;
    for (kind, fixture) in good() {
        if !fixture.is_keystore() {
            continue;
        }
        count += 1;
        let wrong = CredentialInput {
            password: Some("another-secret"),
            ..fixture.given()
        };
        let expected = format!("The password is wrong: it does not open the {}", kind.title());
        assert_eq!(message(kind, &wrong), expected, "{}", fixture.name);
        if fixture.given().password.is_none() {
            continue;
        }
        for password in [None, Some("")] {
            let missing = CredentialInput {
                password,
                ..fixture.given()
            };
            let expected = format!("The {} is protected by a password: send it as password", kind.title());
            assert_eq!(message(kind, &missing), expected, "{}", fixture.name);
        }
    }
    assert!(count > 25, "{count}");
}

#[test]
fn a_keys_own_password_is_asked_for() {
    let own = fixture("own-key-password.jks");
    assert_eq!(
        message(
            AndroidKeystore,
            &CredentialInput {
                key_password: None,
                ..own.given()
            }
        ),
        "The key `upload` has its own password: send it as keyPassword"
    );
    assert_eq!(
        message(
            AndroidKeystore,
            &CredentialInput {
                key_password: Some("another-secret"),
                ..own.given()
            }
        ),
        "The key password is wrong: it does not open the key `upload`."
    );
    for name in ["openssl3.p12", "rsa.jks", "no-mac.p12"] {
        assert_eq!(
            message(
                AndroidKeystore,
                &CredentialInput {
                    key_password: Some(KEY_PASSWORD),
                    ..fixture(name).given()
                }
            ),
            "The key password is wrong: it does not open the key `upload`. The keystore's password opens it, so omit the \
             key password.",
            "{name}"
        );
    }
}

#[test]
fn several_keys_are_listed() {
    for name in ["two-keys.p12", "two-keys.jks"] {
        let fixture = fixture(name);
        let with = |alias| CredentialInput {
            alias,
            ..fixture.given()
        };
        let mut missing = message(AndroidKeystore, &with(None));
        let mut unknown = message(AndroidKeystore, &with(Some("upload")));
        // The entries of a JKS file are in the order of a hash table.
        for message in [&mut missing, &mut unknown] {
            *message = message.replace("release, debug", "debug, release");
        }
        assert_eq!(
            missing,
            "The Android keystore has several private keys: choose one with alias (debug, release)"
        );
        assert_eq!(
            unknown,
            "The Android keystore has no private key with the alias `upload`, only: debug, release"
        );
    }
}

#[test]
fn a_profile_for_another_app_names_both() {
    let fixture = fixture("enterprise.mobileprovision");
    let given = CredentialInput {
        bundle_id: Some("org.example.app"),
        ..fixture.given()
    };
    assert_eq!(
        message(ProvisioningProfile, &given),
        "The provisioning profile is for PREFIX1234.com.example.*, which does not cover org.example.app. Upload a profile \
         for this app."
    );
}

#[test]
fn a_changed_profile_is_refused() {
    let changed =
        "The provisioning profile was changed after it was signed. Download it again from Apple's developer site.";
    for (kind, fixture) in good() {
        let place = fixture.content.windows(11).position(|part| part == b"PREFIX1234.");
        let Some(place) = place.filter(|_| kind == ProvisioningProfile) else {
            continue;
        };
        for at in [place, fixture.content.len() - 1] {
            let mut content = fixture.content.clone();
            content[at] ^= 1;
            // The last bytes of a BER file are end marks.
            if content[at] == 1 {
                continue;
            }
            assert_eq!(
                message(
                    kind,
                    &CredentialInput {
                        content: &content,
                        ..fixture.given()
                    }
                ),
                changed,
                "{}",
                fixture.name
            );
        }
    }
}

#[test]
fn ids_of_a_key_have_their_form() {
    let fixture = fixture("store-connect.p8");
    let missing = "keyId is required: App Store Connect shows it beside the key";
    let malformed = "keyId must be 10 upper-case letters and digits, as shown in App Store Connect";
    for (key_id, expected) in [
        (None, missing),
        (Some(""), missing),
        (Some("abc123def4"), malformed),
        (Some("ABC123DEF"), malformed),
        (Some("ABC123DEF45"), malformed),
        (Some("ABC123DE\u{c4}"), malformed),
    ] {
        assert_eq!(
            message(
                AppStoreConnectKey,
                &CredentialInput {
                    key_id,
                    ..fixture.given()
                }
            ),
            expected,
            "{key_id:?}"
        );
    }
    for issuer_id in [
        "57246542-96fe-1a63-e053-0824d011072",
        "57246542+96fe-1a63-e053-0824d011072a",
        "x",
        "5724654296fe1a63e0530824d011072a1234",
    ] {
        assert_eq!(
            message(
                AppStoreConnectKey,
                &CredentialInput {
                    issuer_id: Some(issuer_id),
                    ..fixture.given()
                }
            ),
            "issuerId must be a UUID, as shown in App Store Connect; an individual key has none"
        );
    }
}

#[test]
fn what_a_service_account_lacks_is_named() {
    let original = fixture("service-account.json");
    let text = str::from_utf8(&original.content).unwrap();
    for field in [
        "type",
        "client_email",
        "project_id",
        "private_key_id",
        "private_key",
        "token_uri",
    ] {
        let changed = text.replace(&format!("\"{field}\""), "\"x\"");
        assert_eq!(
            message(
                GoogleServiceAccount,
                &CredentialInput {
                    content: changed.as_bytes(),
                    ..CredentialInput::default()
                }
            ),
            format!(
                "The Google service account key has no {field}. Create a new JSON key in the Google Cloud console."
            )
        );
    }
    for (from, to, expected) in [
        (
            "launchway@",
            "launchway",
            "The client_email of the Google service account key must be an address.",
        ),
        (
            "-----END",
            "-----",
            "The private_key of the Google service account key must be a whole PEM block.",
        ),
        (
            "\"MII",
            "\"MI",
            "The Google service account key is truncated or damaged.",
        ),
    ] {
        let changed = text.replace(from, to).replace("KEY-----\\nMII", "KEY-----\\nMIJ");
        let shown = message(
            GoogleServiceAccount,
            &CredentialInput {
                content: changed.as_bytes(),
                ..CredentialInput::default()
            },
        );
        assert!(shown.starts_with(expected), "{from}: {shown}");
    }
}

#[test]
fn endless_texts_are_refused() {
    let original = fixture("service-account.json");
    let text = str::from_utf8(&original.content).unwrap();
    let changed = text.replace("example-project\"", &format!("{}\"", "x".repeat(1 << 16)));
    assert_eq!(
        message(
            GoogleServiceAccount,
            &CredentialInput {
                content: changed.as_bytes(),
                ..CredentialInput::default()
            }
        ),
        "The Google service account key has more than 64 KiB of names. Create a new JSON key in the Google Cloud \
         console."
    );
    let endless = "x".repeat(1 << 20);
    for name in ["openssl3.p12", "rsa.jks"] {
        let fixture = fixture(name);
        let store = CredentialInput {
            password: Some(&endless),
            ..fixture.given()
        };
        assert_eq!(
            message(AndroidKeystore, &store),
            "The password is wrong: it does not open the Android keystore"
        );
        let key = CredentialInput {
            key_password: Some(&endless),
            ..fixture.given()
        };
        assert!(
            message(AndroidKeystore, &key).starts_with("The key password is wrong"),
            "{name}"
        );
    }
}

#[test]
fn no_message_holds_a_secret() {
    for kind in Kind::ALL {
        for name in names() {
            let fixture = fixture(&name);
            for password in [Some(STORE_PASSWORD), Some("another-secret")] {
                let given = CredentialInput {
                    password,
                    key_password: Some(KEY_PASSWORD),
                    ..fixture.given()
                };
                let Err(error) = read(kind, &given, NOW) else {
                    continue;
                };
                let shown = format!("{error} {error:?}");
                assert!(!shown.contains("secret") && !shown.contains("MII"), "{name}: {shown}");
            }
        }
    }
}
