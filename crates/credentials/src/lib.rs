//! Signing credentials: what they are, whether they are intact, and whether the password opens them
//! (`docs/reference/submissions.md#check-on-upload`). Nothing here reads a clock, a file or the network: bytes and time are
//! parameters. Every input is hostile.
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
mod fault;
mod google_service_account;
mod jks;
mod keystore;
mod name;
mod password;
mod pem;
mod pkcs12;
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
pub use fault::MalformedError;
pub use launchway_domain::credential::CredentialKind as Kind;
pub use property_list::read_xml_dictionary;
pub use signing_certificate::SigningCertificate;

/// A credential has at most this many bytes.
pub const MAX_SIZE: usize = 1 << 20;
/// Bytes of the facts as JSON: names in a file are short, or not worth keeping.
const MAX_FACTS: usize = 1 << 16;

/// What a user gives of one credential. Only what belongs to its kind is looked at; an empty text counts as absent.
#[derive(Clone, Copy, Default)]
pub struct Given<'a> {
    /// The bytes of the file.
    pub content: &'a [u8],
    /// Opens a keystore or a PKCS#12 file.
    pub password: Option<&'a str>,
    /// Names one private key among several.
    pub alias: Option<&'a str>,
    /// Opens the private key, where its password is not the file's.
    pub key_password: Option<&'a str>,
    /// The id that App Store Connect gave the key.
    pub key_id: Option<&'a str>,
    /// The issuer id of a team's App Store Connect key; an individual key has none.
    pub issuer_id: Option<&'a str>,
    /// The app that a provisioning profile must cover.
    pub bundle_id: Option<&'a str>,
}

/// Reads a credential of `kind` at the time `now`, and says what is known of it. Nothing in the facts is secret.
///
/// # Errors
/// Why the credential is refused; the text is for the user, and says nothing secret.
pub fn read(kind: Kind, given: &Given<'_>, now: EpochMs) -> Result<Facts, CredentialError> {
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
    short(kind, facts)
}

/// Refuses facts that hold more text than is kept.
fn short(kind: Kind, facts: Facts) -> Result<Facts, CredentialError> {
    match serde_json::to_vec(&facts) {
        Ok(json) if json.len() <= MAX_FACTS => Ok(facts),
        _ => Err(CredentialError::TooMuchText { kind }),
    }
}

/// Reads a provisioning profile as [`read`] does, whenever it is or was valid: what an app carries was signed long ago.
///
/// # Errors
/// Why it is no whole profile; the text is for the user.
pub fn read_profile(content: &[u8]) -> Result<Facts, CredentialError> {
    if content.len() > MAX_SIZE {
        return Err(CredentialError::TooLarge);
    }
    short(Kind::ProvisioningProfile, provisioning_profile::read_whenever(content)?)
}

/// The bytes of an unencrypted private key in PKCS#8, from the text of its PEM block: for who signs with it. Give it what
/// [`read`] has accepted.
///
/// # Errors
/// It is no whole block of that label.
pub fn private_key_der(pem_text: &str) -> Result<zeroize::Zeroizing<Vec<u8>>, MalformedError> {
    pem::decode(pem_text, "PRIVATE KEY")
}

/// The text that was given, if there is any.
fn given_text(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// The error of a file that has not the form of its kind: by the name of its form, if it shows one. Too few bytes to
/// show any are the beginning of something.
fn unfit(kind: Kind, form: Option<Form>, content: &[u8]) -> CredentialError {
    const TOO_FEW: usize = 32;
    match form {
        Some(form) => CredentialError::AnotherKind {
            kind,
            found: form.one(),
        },
        None if content.len() < TOO_FEW => CredentialError::Damaged { kind },
        None => CredentialError::Unrecognized { kind },
    }
}
