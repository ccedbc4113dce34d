//! Private keys: ECDSA P-256 as PKCS#8, plain in memory and encrypted on disk
//! (`docs/reference/trust.md#private-keys`).

use pkcs8::pkcs5::pbes2::{EncryptionScheme, Kdf, Parameters};
use pkcs8::pkcs5::{EncryptionScheme as Scheme, scrypt};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SecretDocument};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use zeroize::Zeroizing;

use crate::key::PublicKey;
use crate::pem;

const PLAIN_LABEL: &str = "PRIVATE KEY";
const ENCRYPTED_LABEL: &str = "ENCRYPTED PRIVATE KEY";
/// Files of one key are far shorter.
const MAX_PEM_BYTES: usize = 16 << 10;
/// scrypt's cost for new files: 2^17 blocks of 1 KiB, so 128 MiB for each guess.
const LOG_N: u8 = 17;
const BLOCK_SIZE: u32 = 8;
/// The most memory, in bytes, that reading a file takes.
const MAX_SCRYPT_MEMORY: u64 = 256 << 20;
const MAX_SCRYPT_PARALLELIZATION: u16 = 4;

/// A private key. `Debug` shows the public key only.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    public: PublicKey,
    document: SecretDocument,
}

/// Why a private key cannot be used. Nothing of the key is in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningKeyError {
    /// The text is not a PKCS#8 private key in PEM.
    #[error("the file is not a private key in PKCS#8 PEM format")]
    Malformed,
    /// It is not an ECDSA key on P-256 with its public key.
    #[error("the key is not an ECDSA P-256 key")]
    Unsupported,
    /// The file is encrypted, and no passphrase was given.
    #[error("the key is encrypted: its passphrase is required")]
    Encrypted,
    /// It is encrypted otherwise than by scrypt and AES-256.
    #[error("the key is not encrypted with scrypt and AES-256")]
    Encryption,
    /// The passphrase is wrong.
    #[error("the passphrase of the key is wrong")]
    Passphrase,
    /// The system gives no randomness, or the library failed.
    #[error("the system cannot sign now")]
    System,
}

impl SigningKey {
    /// Makes a new key.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn generate(random: &SystemRandom) -> Result<Self, SigningKeyError> {
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, random)
            .map_err(|_| SigningKeyError::System)?;
        Self::from_pkcs8(document.as_ref())
    }

    /// Reads a key in DER of PKCS#8.
    ///
    /// # Errors
    /// It is not a key, or has another algorithm or curve.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, SigningKeyError> {
        let document = SecretDocument::try_from(der).map_err(|_| SigningKeyError::Malformed)?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, der, &SystemRandom::new())
            .map_err(|_| SigningKeyError::Unsupported)?;
        let public = PublicKey::from_point(pair.public_key().as_ref()).map_err(|_| SigningKeyError::Unsupported)?;
        Ok(Self { pair, public, document })
    }

    /// Reads PEM of PKCS#8, encrypted or plain. A passphrase for a plain file is ignored.
    ///
    /// # Errors
    /// See [`SigningKeyError`].
    pub fn from_pem(text: &str, passphrase: Option<&str>) -> Result<Self, SigningKeyError> {
        if text.len() > MAX_PEM_BYTES {
            return Err(SigningKeyError::Malformed);
        }
        let (label, document) = pem::decode(text).ok_or(SigningKeyError::Malformed)?;
        match label {
            PLAIN_LABEL => Self::from_pkcs8(&document),
            ENCRYPTED_LABEL => {
                let passphrase = passphrase.ok_or(SigningKeyError::Encrypted)?;
                let info = EncryptedPrivateKeyInfoRef::try_from(document.as_slice())
                    .map_err(|_| SigningKeyError::Malformed)?;
                check_encryption(&info.encryption_algorithm)?;
                let plain = info.decrypt(passphrase).map_err(|_| SigningKeyError::Passphrase)?;
                Self::from_pkcs8(plain.as_bytes())
            }
            _ => Err(SigningKeyError::Malformed),
        }
    }

    /// The key in DER of PKCS#8, to be sealed.
    pub fn as_pkcs8(&self) -> &[u8] {
        self.document.as_bytes()
    }

    /// The key as plain PEM, for the settings of a CI system.
    pub fn to_pem(&self) -> Zeroizing<String> {
        pem::encode(PLAIN_LABEL, self.document.as_bytes())
    }

    /// The key as PEM that this passphrase opens.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn to_encrypted_pem(
        &self,
        passphrase: &str,
        random: &SystemRandom,
    ) -> Result<Zeroizing<String>, SigningKeyError> {
        let (mut salt, mut iv) = ([0; 16], [0; 16]);
        random.fill(&mut salt).map_err(|_| SigningKeyError::System)?;
        random.fill(&mut iv).map_err(|_| SigningKeyError::System)?;
        let cost = scrypt::Params::new(LOG_N, BLOCK_SIZE, 1).map_err(|_| SigningKeyError::System)?;
        let parameters = Parameters::generate_scrypt_aes256cbc(cost, &salt, iv).map_err(|_| SigningKeyError::System)?;
        let info = PrivateKeyInfoRef::try_from(self.document.as_bytes()).map_err(|_| SigningKeyError::Malformed)?;
        let encrypted = info
            .encrypt_with_params(parameters, passphrase)
            .map_err(|_| SigningKeyError::System)?;
        Ok(pem::encode(ENCRYPTED_LABEL, encrypted.as_bytes()))
    }

    /// Its public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// A signature over `message`, in DER.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn sign(&self, message: &[u8], random: &SystemRandom) -> Result<Vec<u8>, SigningKeyError> {
        let signature = self.pair.sign(random, message).map_err(|_| SigningKeyError::System)?;
        Ok(signature.as_ref().to_vec())
    }
}

/// The public key alone.
impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public).finish()
    }
}

/// Refuses weak encryption, and costs that would exhaust memory.
fn check_encryption(scheme: &Scheme) -> Result<(), SigningKeyError> {
    let Scheme::Pbes2(parameters) = scheme else {
        return Err(SigningKeyError::Encryption);
    };
    let Kdf::Scrypt(kdf) = &parameters.kdf else {
        return Err(SigningKeyError::Encryption);
    };
    let memory = kdf
        .cost_parameter
        .checked_mul(128 * u64::from(kdf.block_size))
        .ok_or(SigningKeyError::Encryption)?;
    let affordable = memory <= MAX_SCRYPT_MEMORY && kdf.parallelization <= MAX_SCRYPT_PARALLELIZATION;
    let aes_256 = matches!(
        parameters.encryption,
        EncryptionScheme::Aes256Cbc { .. } | EncryptionScheme::Aes256Gcm { .. }
    );
    if affordable && aes_256 {
        Ok(())
    } else {
        Err(SigningKeyError::Encryption)
    }
}
