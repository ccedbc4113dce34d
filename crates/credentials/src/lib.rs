//! Signing credentials: their facts, whether they are intact, and whether the password opens them
//! (`docs/reference/submissions.md#check-on-upload`). The crate reads no clock, no file and no network: bytes and time
//! are parameters. Every input is hostile.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod android_keystore;
mod app_store_connect_key;
mod apple_certificate;
mod asn1;
mod certificate;
mod cms;
mod encryption;
mod error;
mod facts;
mod google_service_account;
mod jks;
mod jks_protection;
pub mod jwt;
mod keystore;
mod keystore_contents;
mod name;
mod new_keystore;
mod parse_error;
mod password;
mod pem;
mod pkcs12;
mod pkcs12_derivation;
mod private_key;
mod property_list;
mod provisioning_profile;
mod public_key;
mod recognize;
mod signing_certificate;

use launchway_domain::time::EpochMs;
use recognize::Form;

pub use error::CredentialError;
pub use facts::{
    AndroidKeystore, AppStoreConnectKey, AppleCertificate, CertificateUse, Details, Facts, GoogleServiceAccount,
    KeystoreFormat, ProfileType, ProvisioningProfile,
};
pub use launchway_domain::credential::CredentialKind as Kind;
pub use new_keystore::{NewKeystore, NewKeystoreError, new_android_keystore};
pub use parse_error::MalformedError;
pub use property_list::read_xml_dictionary;
pub use recognize::{Recognized, recognize};
pub use signing_certificate::SigningCertificate;

/// The maximum size of a credential in bytes.
pub const MAX_SIZE: usize = 1 << 20;
/// The maximum size of the facts as JSON, in bytes: names in real files are short.
const MAX_FACTS: usize = 1 << 16;

/// The user's input for one credential. Fields of other kinds are ignored; an empty text counts as absent.
#[derive(Clone, Copy, Default)]
pub struct CredentialInput<'a> {
    /// The bytes of the file.
    pub content: &'a [u8],
    /// The password of a keystore or PKCS#12 file.
    pub password: Option<&'a str>,
    /// The name of the private key, if there are several.
    pub alias: Option<&'a str>,
    /// The password of the private key, if it differs from the file's.
    pub key_password: Option<&'a str>,
    /// The key id from App Store Connect.
    pub key_id: Option<&'a str>,
    /// The issuer id of a team's App Store Connect key; an individual key has none.
    pub issuer_id: Option<&'a str>,
    /// The app that a provisioning profile must cover.
    pub bundle_id: Option<&'a str>,
}

/// Reads a credential of `kind` at the time `now`, and returns its facts. None of them is secret.
///
/// # Errors
/// Why the credential is refused; the message is for the user and contains no secrets.
pub fn read(kind: Kind, given: &CredentialInput<'_>, now: EpochMs) -> Result<Facts, CredentialError> {
    if given.content.is_empty() {
        return Err(CredentialError::Empty);
    }
    if given.content.len() > MAX_SIZE {
        return Err(CredentialError::TooLarge);
    }
    let facts = match kind {
        Kind::AppStoreConnectKey => app_store_connect_key::read(given),
        Kind::GoogleServiceAccount => google_service_account::read(given),
        Kind::AndroidKeystore => android_keystore::read(given, now),
        Kind::AppleCertificate => apple_certificate::read(given, now),
        Kind::ProvisioningProfile => provisioning_profile::read(given, now),
    }?;
    check_size(kind, facts)
}

/// Refuses facts that exceed the size limit.
fn check_size(kind: Kind, facts: Facts) -> Result<Facts, CredentialError> {
    match serde_json::to_vec(&facts) {
        Ok(json) if json.len() <= MAX_FACTS => Ok(facts),
        _ => Err(CredentialError::TooMuchText { kind }),
    }
}

/// The kind of credential that a PKCS#12 file is: an Apple certificate if Apple issued the certificate of its private key,
/// or else an Android keystore.
///
/// # Errors
/// The file cannot be opened, or holds several keys, of which none is chosen.
pub fn kind_of_pkcs12(given: &CredentialInput<'_>) -> Result<Kind, CredentialError> {
    if given.content.len() > MAX_SIZE {
        return Err(CredentialError::TooLarge);
    }
    let identity = keystore::open(Kind::AndroidKeystore, KeystoreFormat::Pkcs12, given)?;
    Ok(match apple_certificate::is_from_apple(&identity.certificate) {
        true => Kind::AppleCertificate,
        false => Kind::AndroidKeystore,
    })
}

/// Reads a provisioning profile like [`read`], but ignores its validity: the profile in an app may have expired long
/// ago.
///
/// # Errors
/// Why the profile is invalid; the message is for the user.
pub fn read_profile(content: &[u8]) -> Result<Facts, CredentialError> {
    if content.len() > MAX_SIZE {
        return Err(CredentialError::TooLarge);
    }
    check_size(
        Kind::ProvisioningProfile,
        provisioning_profile::read_ignoring_validity(content)?,
    )
}

/// Decodes an unencrypted private key in PKCS#8 from its PEM block, for signing. Pass only what [`read`] has accepted.
///
/// # Errors
/// The text is not a single complete block with that label.
fn private_key_der(pem_text: &str) -> Result<zeroize::Zeroizing<Vec<u8>>, MalformedError> {
    pem::decode(pem_text, "PRIVATE KEY")
}

/// The given text, unless it is empty.
fn given_text(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// The error for a file whose format does not match its kind. It names the detected format, if any; a file that is too
/// short for a detection is reported as truncated.
fn format_error(kind: Kind, form: Option<Form>, content: &[u8]) -> CredentialError {
    const TOO_FEW: usize = 32;
    match form {
        Some(form) => CredentialError::AnotherKind {
            kind,
            found: form.with_article(),
        },
        None if content.len() < TOO_FEW => CredentialError::Damaged { kind },
        None => CredentialError::Unrecognized { kind },
    }
}
