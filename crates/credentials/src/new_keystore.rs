//! Makes an Android keystore: an RSA key with its own certificate, in a PKCS#12 file that Java, Gradle and this crate read.

mod certificate;
mod pkcs12_file;
mod rsa_key;

use launchway_domain::time::EpochMs;
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::RsaKeyPair;
use zeroize::Zeroizing;

use crate::password::Password;

/// The size of the modulus. Google Play accepts upload keys from 2048 bits on, and such a key is used for decades.
const KEY_BITS: u32 = 4096;
/// keytool and Gradle refuse shorter passwords.
const SHORTEST_PASSWORD: usize = 6;
/// The maximum length of alias and name, in characters: a common name has at most 64 (X.520).
const LONGEST_NAME: usize = 64;

/// What is made.
#[derive(Clone, Copy)]
pub struct NewKeystore<'a> {
    /// The name of the key in the file.
    pub alias: &'a str,
    /// The common name of the certificate.
    pub common_name: &'a str,
    /// The password of the file and of the key.
    pub password: &'a str,
    /// When the certificate begins to be valid.
    pub not_before: EpochMs,
    /// When the certificate expires.
    pub not_after: EpochMs,
}

/// Why a keystore is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NewKeystoreError {
    /// The password is too short, or longer than any program reads.
    #[error("the password must have at least {} characters", SHORTEST_PASSWORD)]
    Password,
    /// The alias is empty, too long or contains control characters.
    #[error("the alias must have 1 to {} visible characters", LONGEST_NAME)]
    Alias,
    /// The name is empty, too long or contains control characters.
    #[error("the name must have 1 to {} visible characters", LONGEST_NAME)]
    Name,
    /// The certificate would be valid at no time that a certificate can express.
    #[error("the certificate cannot be valid that long")]
    Validity,
    /// The system provided no randomness, or the key could not be used.
    #[error("cannot make a key")]
    Key,
}

impl From<Unspecified> for NewKeystoreError {
    fn from(_: Unspecified) -> Self {
        Self::Key
    }
}

/// The bytes of a new keystore.
///
/// # Errors
/// The alias, the name, the password or the validity cannot be used, or there is no randomness.
pub fn new_android_keystore(
    wanted: &NewKeystore<'_>,
    random: &SystemRandom,
) -> Result<Zeroizing<Vec<u8>>, NewKeystoreError> {
    let password = checked(wanted)?;
    let key = rsa_key::generate(KEY_BITS, random)?;
    let pair = RsaKeyPair::from_pkcs8(&key).map_err(|_| NewKeystoreError::Key)?;
    let certificate = certificate::self_signed(wanted, &pair, random)?;
    pkcs12_file::write(wanted.alias, &key, &certificate, &password, random)
}

/// The password in the encodings of PKCS#12, if everything can be used.
fn checked(wanted: &NewKeystore<'_>) -> Result<Password, NewKeystoreError> {
    let is_name = |name: &str| {
        let length = name.chars().count();
        (1..=LONGEST_NAME).contains(&length) && !name.trim().is_empty() && !name.contains(char::is_control)
    };
    if !is_name(wanted.alias) {
        return Err(NewKeystoreError::Alias);
    }
    if !is_name(wanted.common_name) {
        return Err(NewKeystoreError::Name);
    }
    if wanted.password.chars().count() < SHORTEST_PASSWORD {
        return Err(NewKeystoreError::Password);
    }
    Password::forms(wanted.password).pop().ok_or(NewKeystoreError::Password)
}

/// Random bytes.
fn random_bytes<const N: usize>(random: &SystemRandom) -> Result<[u8; N], Unspecified> {
    let mut bytes = [0; N];
    random.fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CredentialInput, Details, Facts, Kind, read};
    use launchway_domain::time::DAY;

    /// 2026-11-20.
    const NOW: EpochMs = 1_795_132_800_000;

    fn wanted() -> NewKeystore<'static> {
        NewKeystore {
            alias: "upload",
            common_name: "Übungs-App, Inc.",
            password: "geheim \u{1f511} 42",
            not_before: NOW - DAY,
            not_after: NOW + 30 * 365 * DAY,
        }
    }

    fn opened(content: &[u8], password: &str) -> Result<Facts, crate::CredentialError> {
        let given = CredentialInput {
            content,
            password: Some(password),
            ..CredentialInput::default()
        };
        read(Kind::AndroidKeystore, &given, NOW)
    }

    #[test]
    fn a_new_keystore_is_an_android_keystore() {
        let random = SystemRandom::new();
        let wanted = wanted();
        let file = new_android_keystore(&wanted, &random).expect("a keystore");
        let facts = opened(&file, wanted.password).expect("it is whole");
        assert_eq!(facts.expires_at, Some(wanted.not_after));
        let Details::AndroidKeystore(keystore) = facts.details else {
            panic!("an Android keystore");
        };
        assert_eq!(
            (keystore.alias.as_str(), keystore.key_size),
            ("upload", KEY_BITS as usize)
        );
        assert_eq!(keystore.subject, r"CN=Übungs-App\, Inc.");
        assert_eq!(keystore.not_before, wanted.not_before);
        let given = CredentialInput {
            content: &file,
            password: Some(wanted.password),
            ..CredentialInput::default()
        };
        assert_eq!(crate::kind_of_pkcs12(&given), Ok(Kind::AndroidKeystore));
        opened(&file, "another password").expect_err("the password is wrong");
    }

    #[test]
    fn what_cannot_be_used_is_refused_before_a_key_is_made() {
        let long = "x".repeat(LONGEST_NAME + 1);
        let rows = [
            (NewKeystore { alias: "", ..wanted() }, NewKeystoreError::Alias),
            (
                NewKeystore {
                    alias: &long,
                    ..wanted()
                },
                NewKeystoreError::Alias,
            ),
            (
                NewKeystore {
                    common_name: "a\nb",
                    ..wanted()
                },
                NewKeystoreError::Name,
            ),
            (
                NewKeystore {
                    common_name: "  ",
                    ..wanted()
                },
                NewKeystoreError::Name,
            ),
            (
                NewKeystore {
                    password: "12345",
                    ..wanted()
                },
                NewKeystoreError::Password,
            ),
        ];
        for (wanted, error) in rows {
            assert_eq!(checked(&wanted).err(), Some(error));
        }
        let endless = "x".repeat(2000);
        let wanted = NewKeystore {
            password: &endless,
            ..wanted()
        };
        assert_eq!(checked(&wanted).err(), Some(NewKeystoreError::Password));
    }
}
