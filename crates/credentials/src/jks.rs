//! Java's own keystore format (JKS), as `sun.security.provider.JavaKeyStore` defines it.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY as SHA1, SHA1_OUTPUT_LEN};
use subtle::ConstantTimeEq;

use crate::keystore_contents::{Contents, Opened, Protected, StoredCertificate, StoredKey};
use crate::parse_error::{MalformedError, ParseError};
use crate::password::{Password, Rounds};

/// The first four bytes of a file.
pub(crate) const MAGIC: [u8; 4] = [0xfe, 0xed, 0xfe, 0xed];

/// Hashed between the password and the file for the digest at the end.
const WHITENER: &[u8] = b"Mighty Aphrodite";
const PRIVATE_KEY: u32 = 1;
const TRUSTED_CERTIFICATE: u32 = 2;
const MAX_VERSION: u32 = 2;

/// Parses a keystore, and checks whether the password is its own.
pub(crate) fn read(content: &[u8], password: &Password, rounds: &mut Rounds) -> Result<Opened, ParseError> {
    let contents = contents(content)?;
    let (body, digest) = content.split_last_chunk::<SHA1_OUTPUT_LEN>().ok_or(MalformedError)?;
    let mut context = Context::new(&SHA1);
    context.update(&password.utf16);
    context.update(WHITENER);
    context.update(body);
    if bool::from(context.finish().as_ref().ct_eq(&digest[..])) {
        return Ok(Opened::Verified(contents));
    }
    // If the password opens a key, it is right, and the rest of the file is corrupt.
    for key in &contents.keys {
        if key.protected.open(password, rounds)?.is_some() {
            return Err(ParseError::MalformedError);
        }
    }
    Ok(Opened::WrongPassword)
}

fn contents(content: &[u8]) -> Result<Contents, MalformedError> {
    let mut bytes = Bytes(content);
    if bytes.take(4)? != MAGIC {
        return Err(MalformedError);
    }
    let version = bytes.number()?;
    if !(1..=MAX_VERSION).contains(&version) {
        return Err(MalformedError);
    }
    let mut contents = Contents::default();
    for entry in 0..bytes.number()? {
        let kind = bytes.number()?;
        let alias = bytes.text()?;
        let _created = bytes.take(8)?;
        let id = entry.to_be_bytes().to_vec();
        let count = match kind {
            PRIVATE_KEY => {
                let protected = Protected::Encrypted(bytes.block()?.to_vec());
                contents.keys.push(StoredKey {
                    alias,
                    id: Some(id.clone()),
                    protected,
                });
                bytes.number()?
            }
            TRUSTED_CERTIFICATE => 1,
            _ => return Err(MalformedError),
        };
        for _ in 0..count {
            if version > 1 {
                bytes.text()?;
            }
            contents.certificates.push(StoredCertificate {
                id: Some(id.clone()),
                der: bytes.block()?.to_vec(),
            });
        }
    }
    if bytes.0.len() == SHA1_OUTPUT_LEN {
        Ok(contents)
    } else {
        Err(MalformedError)
    }
}

/// Reads the format of Java's `DataOutputStream`: big endian, length-prefixed texts and blocks.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], MalformedError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(MalformedError)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, MalformedError> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn block(&mut self) -> Result<&'a [u8], MalformedError> {
        let length = usize::try_from(self.number()?).map_err(|_| MalformedError)?;
        self.take(length)
    }

    /// Java's modified UTF-8 encodes surrogates separately and zero in two bytes; such characters become replacement
    /// characters.
    fn text(&mut self) -> Result<String, MalformedError> {
        let length = self.take(2)?;
        let text = self.take(usize::from(u16::from_be_bytes([length[0], length[1]])))?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}
