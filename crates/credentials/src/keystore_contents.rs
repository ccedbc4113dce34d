//! The contents of a keystore of either format: private keys, and the certificates among which theirs are.

use zeroize::Zeroizing;

use crate::Kind;
use crate::certificate::Certificate;
use crate::encryption::decrypt_key;
use crate::error::CredentialError;
use crate::parse_error::ParseError;
use crate::password::{Password, Rounds};
use crate::public_key::PublicKey;

/// The private keys and certificates of a keystore.
#[derive(Default)]
pub(crate) struct Contents {
    pub(crate) keys: Vec<StoredKey>,
    pub(crate) certificates: Vec<StoredCertificate>,
}

/// A private key with its name and the id that links it to its certificates.
pub(crate) struct StoredKey {
    pub(crate) alias: String,
    pub(crate) id: Option<Vec<u8>>,
    pub(crate) protected: Protected,
}

/// A certificate, and the id of its key, if the file contains it.
pub(crate) struct StoredCertificate {
    pub(crate) id: Option<Vec<u8>>,
    pub(crate) der: Vec<u8>,
}

/// A private key as stored in the file.
pub(crate) enum Protected {
    /// PKCS#8.
    Plain(Zeroizing<Vec<u8>>),
    /// An EncryptedPrivateKeyInfo of PKCS#8.
    Encrypted(Vec<u8>),
}

/// The result of opening a keystore with a password.
pub(crate) enum Opened {
    /// The keystore confirms the password.
    Verified(Contents),
    /// The keystore has no integrity check for the password; the keys may have one.
    Unverified(Contents),
    WrongPassword,
}

impl Contents {
    /// Adds a key. One without a name gets its number as its name, as in Java.
    pub(crate) fn add_key(&mut self, name: Option<String>, id: Option<Vec<u8>>, protected: Protected) {
        let alias = name.unwrap_or_else(|| (self.keys.len() + 1).to_string());
        self.keys.push(StoredKey { alias, id, protected });
    }

    /// The key with this name, ignoring letter case as Java does; or the only key.
    pub(crate) fn choose(&self, alias: Option<&str>, kind: Kind) -> Result<&StoredKey, CredentialError> {
        let aliases = || self.keys.iter().map(|key| key.alias.clone()).collect();
        match (alias, self.keys.as_slice()) {
            (_, []) => Err(CredentialError::NoPrivateKey { kind }),
            (None, [key]) => Ok(key),
            (None, _) => Err(CredentialError::SeveralKeys {
                kind,
                aliases: aliases(),
            }),
            (Some(alias), keys) => {
                let wanted = alias.to_lowercase();
                let found = keys.iter().find(|key| key.alias.to_lowercase() == wanted);
                found.ok_or_else(|| CredentialError::UnknownAlias {
                    kind,
                    alias: alias.to_owned(),
                    aliases: aliases(),
                })
            }
        }
    }

    /// The certificate of the key's public half: among those linked to the key, or else among all.
    pub(crate) fn certificate_of(
        &self,
        key: &StoredKey,
        public: &PublicKey,
        kind: Kind,
    ) -> Result<Certificate, CredentialError> {
        let tied = |stored: &&StoredCertificate| key.id.is_some() && stored.id == key.id;
        let is_tied = self.certificates.iter().any(|stored| tied(&stored));
        let candidates = self.certificates.iter().filter(|stored| !is_tied || tied(stored));
        let mut is_empty = true;
        for stored in candidates {
            is_empty = false;
            let certificate = Certificate::read(&stored.der).map_err(|error| ParseError::from(error).refuse(kind))?;
            if certificate.public_key().is_ok_and(|other| other == *public) {
                return Ok(certificate);
            }
        }
        let alias = key.alias.clone();
        Err(if is_empty {
            CredentialError::NoCertificate { kind, alias }
        } else {
            CredentialError::ForeignCertificate { kind, alias }
        })
    }
}

impl Protected {
    /// The key in PKCS#8. `None`: the password is wrong, or the key corrupt.
    pub(crate) fn open(
        &self,
        password: &Password,
        rounds: &mut Rounds,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, ParseError> {
        match self {
            Self::Plain(key) => Ok(Some(key.clone())),
            Self::Encrypted(bytes) => decrypt_key(bytes, password, rounds),
        }
    }
}
