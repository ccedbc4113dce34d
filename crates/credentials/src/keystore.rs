//! Opens keystores of both formats: from the bytes to one private key with its certificate.

use zeroize::Zeroizing;

use crate::Kind;
use crate::certificate::Certificate;
use crate::error::CredentialError;
use crate::facts::KeystoreFormat;
use crate::keystore_contents::{Opened, StoredKey};
use crate::parse_error::ParseError;
use crate::password::{Password, Rounds};
use crate::private_key::public_half;
use crate::public_key::PublicKey;
use crate::{CredentialInput, given_text, jks, pkcs12};

/// An opened private key and its certificate.
pub(crate) struct Identity {
    pub(crate) alias: String,
    pub(crate) key: PublicKey,
    pub(crate) certificate: Certificate,
}

/// Opens a keystore, and the selected private key in it.
pub(crate) fn open(
    kind: Kind,
    format: KeystoreFormat,
    given: &CredentialInput<'_>,
) -> Result<Identity, CredentialError> {
    let refuse = |error: ParseError| error.refuse(kind);
    let text = given_text(given.password).unwrap_or_default();
    let mut rounds = Rounds::new();
    for password in Password::forms(text) {
        let opened = match format {
            KeystoreFormat::Pkcs12 => pkcs12::read(given.content, &password, &mut rounds),
            KeystoreFormat::Jks => jks::read(given.content, &password, &mut rounds),
        };
        let (contents, is_verified) = match opened.map_err(refuse)? {
            Opened::Verified(contents) => (contents, true),
            Opened::Unverified(contents) => (contents, false),
            Opened::WrongPassword => continue,
        };
        let key = contents.choose(given_text(given.alias), kind)?;
        let Some(plain) = open_key(key, &password, is_verified, given, &mut rounds, kind)? else {
            continue;
        };
        let public = public_half(&plain).map_err(refuse)?;
        let certificate = contents.certificate_of(key, &public, kind)?;
        return Ok(Identity {
            alias: key.alias.clone(),
            key: public,
            certificate,
        });
    }
    Err(if text.is_empty() {
        CredentialError::PasswordMissing { kind }
    } else {
        CredentialError::WrongPassword { kind }
    })
}

/// Opens a key with its own password, or else with the keystore's. `None`: the keystore's password may be wrong.
fn open_key(
    key: &StoredKey,
    password: &Password,
    is_verified: bool,
    given: &CredentialInput<'_>,
    rounds: &mut Rounds,
    kind: Kind,
) -> Result<Option<Zeroizing<Vec<u8>>>, CredentialError> {
    let mut open = |password: &Password| key.protected.open(password, rounds).map_err(|error| error.refuse(kind));
    let alias = || key.alias.clone();
    let Some(own) = given_text(given.key_password) else {
        return match open(password)? {
            None if is_verified => Err(CredentialError::KeyPasswordMissing { alias: alias() }),
            plain => Ok(plain),
        };
    };
    for own in Password::forms(own) {
        if let Some(plain) = open(&own)? {
            return Ok(Some(plain));
        }
    }
    let opens_by_store = open(password)?.is_some();
    Err(CredentialError::WrongKeyPassword {
        alias: alias(),
        opens_by_store,
    })
}
