//! What is refused, and in which words: each kind with a wrong password, another kind's file, at the wrong time, for the
//! wrong app. No word of a secret.

use std::collections::BTreeSet;

use launchway_credentials::{Given, Kind, MAX_SIZE, read};

use crate::fixture::{KEY_PASSWORD, NOW, STORE_PASSWORD, expected, fixture, good, names};

use Kind::{AndroidKeystore, AppStoreConnectKey, AppleCertificate, GoogleServiceAccount, ProvisioningProfile};

/// Files that are refused for what they are, each with the message.
const BAD: &[(Kind, &str, &str)] = &[
    (
        AndroidKeystore,
        "rc4.p12",
        "The Android keystore uses RC4 with 128 bits, which is not supported. Export it again as PKCS#12 with a current \
         keytool.",
    ),
    (
        AndroidKeystore,
        "dsa.p12",
        "The Android keystore uses a DSA key, which is not supported. Export it again as PKCS#12 with a current keytool.",
    ),
    (
        AndroidKeystore,
        "ed25519.p12",
        "The Android keystore uses an Ed25519 key, which is not supported. Export it again as PKCS#12 with a current \
         keytool.",
    ),
    (
        AndroidKeystore,
        "too-many-rounds.p12",
        "The Android keystore asks for more than 10,000,000 rounds of password derivation. Export it again as PKCS#12 \
         with a current keytool.",
    ),
    (
        AndroidKeystore,
        "certificates-only.p12",
        "The Android keystore holds no private key. Export it again together with the private key.",
    ),
    (
        AndroidKeystore,
        "certificates-only.jks",
        "The Android keystore holds no private key. Export it again together with the private key.",
    ),
    (
        AndroidKeystore,
        "foreign-certificate.p12",
        "The private key '1' of the Android keystore does not belong to its certificate. Export both together.",
    ),
    (
        AndroidKeystore,
        "expired.p12",
        "The Android keystore expired on 2016-01-02. Upload one that is still valid.",
    ),
    (
        AndroidKeystore,
        "expired.jks",
        "The Android keystore expired on 2016-01-02. Upload one that is still valid.",
    ),
    (
        AndroidKeystore,
        "not-yet-valid.p12",
        "The Android keystore is not valid before 2090-01-01. Upload one that is valid now.",
    ),
    (
        AndroidKeystore,
        "keystore.jceks",
        "This is a Java keystore (JCEKS), which is not supported. Convert it: keytool -importkeystore -srckeystore FILE \
         -destkeystore release.p12 -deststoretype PKCS12",
    ),
    (
        AndroidKeystore,
        "distribution.p12",
        "This is an Apple certificate, not an Android keystore (JKS or PKCS#12).",
    ),
    (
        AppleCertificate,
        "apple-certificate-only.p12",
        "The Apple certificate holds no private key. Export it again together with the private key.",
    ),
    (
        AppleCertificate,
        "distribution.cer",
        "This is a certificate without its private key. In Keychain Access, export it together with its private key as \
         a .p12 file, and upload that.",
    ),
    (
        AppleCertificate,
        "distribution.pem",
        "This is a certificate without its private key. In Keychain Access, export it together with its private key as \
         a .p12 file, and upload that.",
    ),
    (
        AppleCertificate,
        "expired-distribution.p12",
        "The Apple certificate expired on 2016-01-02. Upload one that is still valid.",
    ),
    (
        AppleCertificate,
        "developer-id.p12",
        "The certificate 'Developer ID Application: Example GmbH (ABCDE12345)' is not an Apple Development or Apple \
         Distribution certificate. Create one of these on Apple's developer site.",
    ),
    (
        AppleCertificate,
        "openssl3.p12",
        "The certificate 'Upload' is not an Apple Development or Apple Distribution certificate. Create one of these on \
         Apple's developer site.",
    ),
    (
        AppleCertificate,
        "no-team.p12",
        "The Apple certificate has no team id. Export it again from Keychain Access, or with a current OpenSSL.",
    ),
    (
        AppStoreConnectKey,
        "p384.p8",
        "The App Store Connect key must be an EC key on the curve P-256. Upload the .p8 file from App Store Connect.",
    ),
    (
        AppStoreConnectKey,
        "rsa.p8",
        "The App Store Connect key must be an EC key on the curve P-256. Upload the .p8 file from App Store Connect.",
    ),
    (
        AppStoreConnectKey,
        "sec1.pem",
        "The App Store Connect key must be an EC key on the curve P-256. Upload the .p8 file from App Store Connect.",
    ),
    (
        AppStoreConnectKey,
        "encrypted.p8",
        "This is an encrypted private key, not an App Store Connect key (.p8).",
    ),
    (
        GoogleServiceAccount,
        "authorized-user.json",
        "The type of the Google service account key must be service_account. Create a new JSON key in the Google Cloud \
         console.",
    ),
    (
        GoogleServiceAccount,
        "google-services.json",
        "This is a google-services.json, not a Google service account key (JSON).",
    ),
    (
        GoogleServiceAccount,
        "ec-account.json",
        "The private_key of the Google service account key must be an RSA key. Create a new JSON key in the Google Cloud \
         console.",
    ),
    (
        GoogleServiceAccount,
        "http-account.json",
        "The token_uri of the Google service account key must be an https URL. Create a new JSON key in the Google Cloud \
         console.",
    ),
    (
        ProvisioningProfile,
        "expired.mobileprovision",
        "The provisioning profile expired on 2021-03-04. Upload one that is still valid.",
    ),
    (
        ProvisioningProfile,
        "not-yet-valid.mobileprovision",
        "The provisioning profile is not valid before 2080-03-04. Upload one that is valid now.",
    ),
    (
        ProvisioningProfile,
        "pss.mobileprovision",
        "The provisioning profile uses a signature by RSA-PSS, which is not supported. Download it again from Apple's \
         developer site.",
    ),
    (
        ProvisioningProfile,
        "bare.mobileprovision",
        "The provisioning profile has no Entitlements. Download it again from Apple's developer site.",
    ),
    (
        ProvisioningProfile,
        "unsigned.plist",
        "This is a property list, not a provisioning profile.",
    ),
];

/// One file of each form, and what it is called.
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

fn message(kind: Kind, given: &Given<'_>) -> String {
    read(kind, given, NOW).expect_err("it is refused").to_string()
}

#[test]
fn bad_files_are_refused_by_what_is_wrong_with_them() {
    for (kind, name, expected) in BAD {
        assert_eq!(message(*kind, &fixture(name).given()), *expected, "{name}");
    }
}

#[test]
fn every_file_is_in_a_test() {
    let mut known: BTreeSet<String> = expected().keys().cloned().collect();
    known.extend(BAD.iter().map(|(_, name, _)| (*name).to_owned()));
    assert_eq!(known.into_iter().collect::<Vec<_>>(), names());
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
                    format!("This is {found}, not {wanted}.")
                );
            }
        }
        for (content, found) in [
            (&b"PK\x03\x04"[..], "a ZIP archive"),
            (b"\0\0\0\x02\0\0\0\x14", "a Bouncy Castle keystore (BKS)"),
            (b"-----BEGIN CERTIFICATE REQUEST-----", "a certificate request"),
            (b"-----BEGIN OPENSSH PRIVATE KEY-----", "a PEM file"),
        ] {
            let expected = match kind {
                AndroidKeystore if content[0] == 0 => continue,
                _ => format!("This is {found}, not {wanted}."),
            };
            assert_eq!(
                message(
                    kind,
                    &Given {
                        content,
                        ..Given::default()
                    }
                ),
                expected
            );
        }
        let text = Given {
            content: b"This is only a text that somebody took for a credential.",
            ..Given::default()
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
            message(kind, &Given::default()),
            "The file is empty. Upload the original file."
        );
        assert_eq!(
            message(
                kind,
                &Given {
                    content: &huge,
                    ..Given::default()
                }
            ),
            "The file is larger than 1 MiB, and no credential is. Upload the credential alone."
        );
        let largest = Given {
            content: &huge[1..],
            password: Some(""),
            ..Given::default()
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
        let wrong = Given {
            password: Some("another-secret"),
            ..fixture.given()
        };
        let expected = format!("The password is wrong: it does not open the {}.", kind.title());
        assert_eq!(message(kind, &wrong), expected, "{}", fixture.name);
        if fixture.given().password.is_none() {
            continue;
        }
        for password in [None, Some("")] {
            let missing = Given {
                password,
                ..fixture.given()
            };
            let expected = format!("The {} is protected by a password: give it as password.", kind.title());
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
            &Given {
                key_password: None,
                ..own.given()
            }
        ),
        "The key 'upload' has a password of its own: give it as keyPassword."
    );
    assert_eq!(
        message(
            AndroidKeystore,
            &Given {
                key_password: Some("another-secret"),
                ..own.given()
            }
        ),
        "The key password is wrong: it does not open the key 'upload'."
    );
    for name in ["openssl3.p12", "rsa.jks", "no-mac.p12"] {
        assert_eq!(
            message(
                AndroidKeystore,
                &Given {
                    key_password: Some(KEY_PASSWORD),
                    ..fixture(name).given()
                }
            ),
            "The key password is wrong: it does not open the key 'upload'. The keystore's password opens it: leave the \
             key password out.",
            "{name}"
        );
    }
}

#[test]
fn several_keys_are_listed() {
    for name in ["two-keys.p12", "two-keys.jks"] {
        let fixture = fixture(name);
        let with = |alias| Given {
            alias,
            ..fixture.given()
        };
        let mut missing = message(AndroidKeystore, &with(None));
        let mut unknown = message(AndroidKeystore, &with(Some("upload")));
        // A JKS file has them in the order of a hash table.
        for message in [&mut missing, &mut unknown] {
            *message = message.replace("release, debug", "debug, release");
        }
        assert_eq!(
            missing,
            "The Android keystore holds several private keys: name one as alias (debug, release)."
        );
        assert_eq!(
            unknown,
            "The Android keystore holds no private key with the alias 'upload', only: debug, release."
        );
    }
}

#[test]
fn a_profile_for_another_app_names_both() {
    let fixture = fixture("enterprise.mobileprovision");
    let given = Given {
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
            // The last bytes of a file that streams are marks of an end.
            if content[at] == 1 {
                continue;
            }
            assert_eq!(
                message(
                    kind,
                    &Given {
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
    let missing = "keyId is required: App Store Connect shows it beside the key.";
    let malformed = "keyId must be 10 upper-case letters and digits, as App Store Connect shows it.";
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
                &Given {
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
                &Given {
                    issuer_id: Some(issuer_id),
                    ..fixture.given()
                }
            ),
            "issuerId must be a UUID, as App Store Connect shows it; an individual key has none."
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
                &Given {
                    content: changed.as_bytes(),
                    ..Given::default()
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
            &Given {
                content: changed.as_bytes(),
                ..Given::default()
            },
        );
        assert!(shown.starts_with(expected), "{from}: {shown}");
    }
}

#[test]
fn no_message_holds_a_secret() {
    for kind in Kind::ALL {
        for name in names() {
            let fixture = fixture(&name);
            for password in [Some(STORE_PASSWORD), Some("another-secret")] {
                let given = Given {
                    password,
                    key_password: Some(KEY_PASSWORD),
                    ..fixture.given()
                };
                let Err(refusal) = read(kind, &given, NOW) else {
                    continue;
                };
                let shown = format!("{refusal} {refusal:?}");
                assert!(!shown.contains("secret") && !shown.contains("MII"), "{name}: {shown}");
            }
        }
    }
}
