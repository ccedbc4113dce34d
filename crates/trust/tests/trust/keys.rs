//! Keys: what is accepted as one, and how private ones are stored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use launchway_trust::{PublicKey, SigningKey, SigningKeyError};
use ring::rand::SystemRandom;

/// Created by `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256` and `openssl pkcs8 -topk8 -scrypt -v2
/// aes-256-cbc -passout pass:correct`.
const OF_OPENSSL: &str = include_str!("openssl-encrypted.pem");
/// The same key, encrypted with PBKDF2 as by `openssl pkcs8 -topk8 -v2 aes-256-cbc`.
const BY_PBKDF2: &str = include_str!("openssl-pbkdf2.pem");
/// A key on P-384.
const OF_P384: &str = include_str!("openssl-p384.pem");

#[test]
fn a_key_is_kept_under_a_passphrase() {
    let random = SystemRandom::new();
    let key = SigningKey::generate(&random).unwrap();
    let pem = key.to_encrypted_pem("correct horse", &random).unwrap();
    assert!(pem.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
    let opened = SigningKey::from_pem(&pem, Some("correct horse")).unwrap();
    assert_eq!(opened.public(), key.public());
    assert_eq!(
        SigningKey::from_pem(&pem, None).unwrap_err(),
        SigningKeyError::Encrypted
    );
    let wrong = SigningKey::from_pem(&pem, Some("correct house"));
    assert!(matches!(
        wrong,
        Err(SigningKeyError::Passphrase | SigningKeyError::Malformed)
    ));
}

#[test]
fn a_key_that_openssl_encrypted_is_opened() {
    let key = SigningKey::from_pem(OF_OPENSSL, Some("correct")).unwrap();
    let signature = key.sign(b"message", &SystemRandom::new()).unwrap();
    assert!(key.public().verifies(b"message", &signature));
    assert!(!key.public().verifies(b"massage", &signature));
}

#[test]
fn weak_and_foreign_keys_are_refused() {
    let refused = |text: &str| SigningKey::from_pem(text, Some("correct")).unwrap_err();
    assert_eq!(refused(BY_PBKDF2), SigningKeyError::Encryption);
    assert_eq!(refused(OF_P384), SigningKeyError::Unsupported);
    assert_eq!(refused(""), SigningKeyError::Malformed);
    assert_eq!(
        refused("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
        SigningKeyError::Malformed
    );
    let label = OF_P384.replace("PRIVATE KEY", "SOMETHING");
    assert_eq!(refused(&label), SigningKeyError::Malformed);
    assert_eq!(refused(&" ".repeat(1 << 20)), SigningKeyError::Malformed);
}

#[test]
fn costs_and_ciphers_of_an_encrypted_key_are_bounded() {
    // scrypt's N of 2^14, r of 8 and p of 1; then the identifier of AES-256-CBC.
    let costs = [2, 2, 0x40, 0, 2, 1, 8, 2, 1, 1];
    let cipher = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42];
    let changed = |from: &[u8], to: &[u8]| {
        let body: String = OF_OPENSSL.lines().filter(|line| !line.starts_with('-')).collect();
        let mut der = STANDARD.decode(body).unwrap();
        let at = der.windows(from.len()).position(|bytes| bytes == from).unwrap();
        der.splice(at..at + from.len(), to.iter().copied());
        let label = "ENCRYPTED PRIVATE KEY";
        let pem = format!(
            "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
            STANDARD.encode(der)
        );
        SigningKey::from_pem(&pem, Some("correct")).map(|_| ())
    };
    let encryption = Err(SigningKeyError::Encryption);
    assert_eq!(changed(&costs, &[2, 2, 0x40, 0, 2, 1, 127, 2, 1, 5]), encryption);
    assert_eq!(changed(&costs, &[2, 2, 0x7f, 0xff, 2, 1, 127, 2, 1, 1]), encryption);
    assert_eq!(changed(&cipher, &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 2]), encryption);
}

#[test]
fn a_plain_key_reads_back() {
    let key = SigningKey::generate(&SystemRandom::new()).unwrap();
    let pem = key.to_pem();
    for same in [
        pem.to_string(),
        pem.replace('\n', "\r\n"),
        pem.replace('\n', " "),
        pem.replace('\n', ""),
    ] {
        assert_eq!(SigningKey::from_pem(&same, None).unwrap().public(), key.public());
    }
    assert_eq!(
        SigningKey::from_pem(&pem, Some("needless")).unwrap().public(),
        key.public()
    );
}

#[test]
fn nothing_of_a_private_key_is_shown() {
    let key = SigningKey::generate(&SystemRandom::new()).unwrap();
    assert_eq!(
        format!("{key:?}"),
        format!("SigningKey(PublicKey({}))", &key.public().id()[..12])
    );
}

#[test]
fn a_public_key_has_one_form() {
    let key = *SigningKey::generate(&SystemRandom::new()).unwrap().public();
    let pem = key.to_pem();
    for same in [pem.clone(), pem.trim().to_owned(), pem.replace('\n', "\r\n")] {
        assert_eq!(PublicKey::from_pem(&same), Ok(key));
    }
    for other in [
        String::new(),
        pem.replace("PUBLIC", "PRIVATE"),
        pem.replacen("MFkw", "MFkx", 1),
        format!("{pem}{pem}"),
        pem.replace('=', ""),
    ] {
        assert!(PublicKey::from_pem(&other).is_err(), "{other}");
    }
    let mut compressed = [3; 33];
    compressed[0] = 2;
    assert!(PublicKey::from_point(&compressed).is_err());
    assert!(PublicKey::from_point(&[4; 64]).is_err());
}
