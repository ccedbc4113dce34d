//! The file of a credential: its kind, the values in its name, and its content.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use launchway_api::secret::SecretText;
use launchway_client::Error;
use launchway_credentials::{CredentialInput, Recognized, recognize};
use launchway_domain::credential::CredentialKind;
use zeroize::Zeroizing;

use crate::api_words::in_commands;
use crate::commands::credential::password::Secrets;
use crate::failure::{Exit, Failure};

/// Keystores and profiles have some KiB; the server accepts no more than this.
const LARGEST: u64 = 1 << 20;

/// The words of `--kind`, for hints.
const KINDS: &str = "--kind apple_certificate or --kind android_keystore";

/// What is known of a file before it is opened.
#[derive(Debug, PartialEq, Eq)]
pub enum FileKind {
    /// It is a credential of this kind, by its content or else by its name.
    Known(CredentialKind),
    /// An Apple certificate with its key, or an Android keystore.
    Pkcs12,
}

/// The kind of a file: its content counts, and only if that says nothing, its name.
pub fn kind(path: &Path, content: &[u8]) -> Result<FileKind, Failure> {
    match recognize(content) {
        Some(Recognized::Pkcs12) => Ok(FileKind::Pkcs12),
        Some(Recognized::Kind(kind)) => Ok(FileKind::Known(kind)),
        None => kind_by_name(path).map(FileKind::Known),
    }
}

/// The kind of credential that a file of this name contains.
fn kind_by_name(path: &Path) -> Result<CredentialKind, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "jks" | "keystore" | "ks" => Ok(CredentialKind::AndroidKeystore),
        "p8" => Ok(CredentialKind::AppStoreConnectKey),
        "json" => Ok(CredentialKind::GoogleServiceAccount),
        "mobileprovision" | "provisionprofile" => Ok(CredentialKind::ProvisioningProfile),
        // Not a PKCS#12 file: the server says what is wrong with it.
        "p12" | "pfx" => Ok(CredentialKind::AppleCertificate),
        _ => Err(Failure::usage(format!(
            "cannot tell the kind of credential from the name {}",
            path.display()
        ))
        .hint("give --kind; `launchway credential add --help` lists the kinds")),
    }
}

/// The kind of a PKCS#12 file, by the certificate in it.
pub fn kind_of_pkcs12(content: &[u8], secrets: &Secrets, alias: Option<&str>) -> Result<CredentialKind, Failure> {
    let given = CredentialInput {
        content,
        password: Some(secrets.file.reveal()),
        key_password: secrets.key.as_ref().map(SecretText::reveal),
        alias,
        ..CredentialInput::default()
    };
    launchway_credentials::kind_of_pkcs12(&given).map_err(|error| {
        let told = in_commands(&error.to_string());
        Failure::usage(format!(
            "cannot open the file to see what it is: {}",
            within_sentence(&told)
        ))
        .hint(format!("check the password, or give {KINDS}"))
    })
}

/// A message with its first letter in lower case and without its full stop, unless it has several sentences.
fn within_sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    let text = first.unwrap_or_default() + letters.as_str();
    text.replace(". ", "; ").trim_end_matches('.').to_owned()
}

/// The failure of a file that the server refuses, with a word about `--kind` if that was given.
pub fn refused(error: Error, told_kind: bool) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Failed if told_kind => failure.hint("if --kind is wrong, omit it: the file says what it is"),
        _ => failure,
    }
}

/// The id in the name that Apple gives to an App Store Connect key: `AuthKey_2X9R4HXF34.p8`.
pub fn key_id(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    name.strip_prefix("AuthKey_").map(str::to_owned)
}

/// The bytes of a file that may be a credential.
pub fn bytes(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| Failure::usage(format!("cannot read {shown}: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    match bytes.len() as u64 {
        0 => Err(Failure::usage(format!("{shown} is empty"))),
        size if size > LARGEST => Err(Failure::usage(format!("{shown} is too large to be a credential"))),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../credentials/tests/fixtures");
        std::fs::read(folder.join(name)).expect("a fixture")
    }

    #[test]
    fn the_content_tells_the_kind_whatever_its_name() {
        let rows = [
            ("rsa.jks", CredentialKind::AndroidKeystore),
            ("app-store.mobileprovision", CredentialKind::ProvisioningProfile),
            ("service-account.json", CredentialKind::GoogleServiceAccount),
        ];
        for (name, expected) in rows {
            let found = kind(Path::new("secret.p12"), &fixture(name)).expect(name);
            assert_eq!(found, FileKind::Known(expected), "{name}");
        }
        let secrets = |password: &str| Secrets {
            file: SecretText::new(password.to_owned()),
            key: None,
        };
        for (name, expected) in [
            ("keytool17.p12", CredentialKind::AndroidKeystore),
            ("openssl3.p12", CredentialKind::AndroidKeystore),
            ("distribution.p12", CredentialKind::AppleCertificate),
            ("expired-distribution.p12", CredentialKind::AppleCertificate),
            ("development.p12", CredentialKind::AppleCertificate),
        ] {
            let content = fixture(name);
            assert_eq!(kind(Path::new("release.jks"), &content).expect(name), FileKind::Pkcs12);
            let found = kind_of_pkcs12(&content, &secrets("store-secret"), None).expect(name);
            assert_eq!(found, expected, "{name}");
            let failure = kind_of_pkcs12(&content, &secrets("wrong"), None).expect_err("another password");
            let hint = failure.hint.unwrap_or_default();
            assert!(
                hint.contains(KINDS) && failure.message.contains("the password is wrong"),
                "{}",
                failure.message
            );
        }
        let failure = kind_of_pkcs12(&fixture("two-keys.p12"), &secrets("store-secret"), None).expect_err("two keys");
        assert!(
            failure.message.contains("choose one with --alias"),
            "{}",
            failure.message
        );
        kind_of_pkcs12(&fixture("two-keys.p12"), &secrets("store-secret"), Some("release")).expect("one of them");
    }

    #[test]
    fn the_name_tells_the_kind() {
        let rows = [
            ("upload.JKS", CredentialKind::AndroidKeystore),
            ("debug.keystore", CredentialKind::AndroidKeystore),
            ("AuthKey_2X9R4HXF34.p8", CredentialKind::AppStoreConnectKey),
            ("play.json", CredentialKind::GoogleServiceAccount),
            ("App.mobileprovision", CredentialKind::ProvisioningProfile),
            ("dist.p12", CredentialKind::AppleCertificate),
        ];
        for (name, expected) in rows {
            let found = kind(Path::new(name), b"bytes that say nothing").expect(name);
            assert_eq!(found, FileKind::Known(expected), "{name}");
        }
        kind(Path::new("secret"), b"bytes that say nothing").expect_err("no ending");
        assert_eq!(
            key_id(Path::new("x/AuthKey_2X9R4HXF34.p8")).as_deref(),
            Some("2X9R4HXF34")
        );
        assert_eq!(key_id(Path::new("key.p8")), None);
    }
}
