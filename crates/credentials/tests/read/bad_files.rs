//! Files that are refused for their content, and the messages: unknown keys, wrong times, missing keys.

use std::collections::BTreeSet;

use launchway_credentials::Kind;

use crate::fixture::{expected, fixture, names};
use crate::refused::message;

use Kind::{AndroidKeystore, AppStoreConnectKey, AppleCertificate, GoogleServiceAccount, ProvisioningProfile};

/// Each file with its message.
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
        "The Android keystore uses a DSA key, which is not supported. Export it again as PKCS#12 with a current \
         keytool.",
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
        "The Android keystore requires more than 10,000,000 rounds of password derivation. Export it again as PKCS#12 \
         with a current keytool.",
    ),
    (
        AndroidKeystore,
        "certificates-only.p12",
        "The Android keystore has no private key. Export it again together with the private key.",
    ),
    (
        AndroidKeystore,
        "certificates-only.jks",
        "The Android keystore has no private key. Export it again together with the private key.",
    ),
    (
        AndroidKeystore,
        "foreign-certificate.p12",
        "The private key `1` of the Android keystore does not belong to its certificate. Export both together.",
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
        "This is an Apple certificate, not an Android keystore (JKS or PKCS#12)",
    ),
    (
        AppleCertificate,
        "apple-certificate-only.p12",
        "The Apple certificate has no private key. Export it again together with the private key.",
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
        "The certificate `Developer ID Application: Example GmbH (ABCDE12345)` is not an Apple Development or Apple \
         Distribution certificate. Create one of these on Apple's developer site.",
    ),
    (
        AppleCertificate,
        "openssl3.p12",
        "The certificate `Upload` is not an Apple Development or Apple Distribution certificate. Create one of these on \
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
        "This is an encrypted private key, not an App Store Connect key (.p8)",
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
        "This is a google-services.json, not a Google service account key (JSON)",
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
        "This is a property list, not a provisioning profile",
    ),
];

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
