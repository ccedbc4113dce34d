//! PKCS#12 files (RFC 7292), as OpenSSL, Java and Apple's programs write them: in BER, with old and new algorithms.

mod integrity;

use std::borrow::Cow;

use zeroize::Zeroizing;

use crate::asn1::{Element, OCTET_STRING, Reader, SEQUENCE, SET, context, is_one_sequence, only};
use crate::encryption::decrypt;
use crate::keystore_contents::{Contents, Opened, Protected, StoredCertificate};
use crate::name::utf16_text;
use crate::parse_error::{MalformedError, ParseError};
use crate::password::{Password, Rounds};
use integrity::is_intact;

pub(crate) const VERSION: u64 = 3;
pub(crate) const DATA: &str = "1.2.840.113549.1.7.1";
const SIGNED_DATA: &str = "1.2.840.113549.1.7.2";
const ENVELOPED_DATA: &str = "1.2.840.113549.1.7.3";
const ENCRYPTED_DATA: &str = "1.2.840.113549.1.7.6";
pub(crate) const FRIENDLY_NAME: &str = "1.2.840.113549.1.9.20";
pub(crate) const LOCAL_KEY_ID: &str = "1.2.840.113549.1.9.21";
pub(crate) const X509_CERTIFICATE: &str = "1.2.840.113549.1.9.22.1";
const KEY_BAG: &str = "1.2.840.113549.1.12.10.1.1";
pub(crate) const SHROUDED_KEY_BAG: &str = "1.2.840.113549.1.12.10.1.2";
pub(crate) const CERTIFICATE_BAG: &str = "1.2.840.113549.1.12.10.1.3";
const SAFE_CONTENTS_BAG: &str = "1.2.840.113549.1.12.10.1.6";

/// The maximum nesting of bags.
const MAX_DEPTH: usize = 4;

/// What the safes of a file contain.
#[derive(Default)]
struct SafeContents {
    contents: Contents,
    /// The number of safes that the password opened.
    opened: usize,
    /// The number of safes that it did not open.
    closed: usize,
}

/// Parses a file, and checks whether the password is its own.
pub(crate) fn read(content: &[u8], password: &Password, rounds: &mut Rounds) -> Result<Opened, ParseError> {
    let mut file = only(content, SEQUENCE)?.children();
    if file.take_number()? != VERSION {
        return Err(ParseError::MalformedError);
    }
    let safes = match content_info(&mut file)? {
        (kind, mut data) if kind == DATA => data.take_octets(OCTET_STRING)?,
        (kind, _) if kind == SIGNED_DATA => {
            return Err(ParseError::Unsupported("a signature in place of a password".to_owned()));
        }
        _ => return Err(ParseError::MalformedError),
    };
    let mac = file.take_if(SEQUENCE)?;
    file.finish()?;

    // The structure first: a truncated file must not be reported as a wrong password.
    let infos = infos_of(&safes)?;
    let intact = match mac {
        Some(mac) => Some(is_intact(&mac, &safes, password, rounds)?),
        None => None,
    };
    let gathered = gather(&infos, password, rounds)?;
    judge(intact, gathered, password, rounds)
}

/// The ContentInfos of an AuthenticatedSafe.
fn infos_of(bytes: &[u8]) -> Result<Vec<(String, Reader<'_>)>, MalformedError> {
    let mut list = only(bytes, SEQUENCE)?.children();
    let mut infos = Vec::new();
    while list.peek().is_some() {
        infos.push(content_info(&mut list)?);
    }
    Ok(infos)
}

/// A ContentInfo: its type, and the content of its `[0]`.
fn content_info<'a>(reader: &mut Reader<'a>) -> Result<(String, Reader<'a>), MalformedError> {
    let mut info = reader.take_sequence()?;
    let kind = info.take_oid()?;
    Ok((kind, info.take(context(0))?.children()))
}

/// Distinguishes a wrong password from a corrupt file if both are possible: a password that opens any part is right.
fn judge(
    intact: Option<bool>,
    gathered: SafeContents,
    password: &Password,
    rounds: &mut Rounds,
) -> Result<Opened, ParseError> {
    let SafeContents {
        contents,
        opened,
        closed,
    } = gathered;
    match intact {
        Some(true) if closed == 0 => return Ok(Opened::Verified(contents)),
        Some(true) => return Err(ParseError::MalformedError),
        None if closed == 0 => return Ok(Opened::Unverified(contents)),
        _ => {}
    }
    if opened > 0 {
        return Err(ParseError::MalformedError);
    }
    for key in &contents.keys {
        if matches!(key.protected, Protected::Encrypted(_)) && key.protected.open(password, rounds)?.is_some() {
            return Err(ParseError::MalformedError);
        }
    }
    Ok(Opened::WrongPassword)
}

fn gather(
    infos: &[(String, Reader<'_>)],
    password: &Password,
    rounds: &mut Rounds,
) -> Result<SafeContents, ParseError> {
    let mut gathered = SafeContents::default();
    for (kind, data) in infos {
        let mut data = *data;
        match kind.as_str() {
            DATA => bags(&data.take_octets(OCTET_STRING)?, &mut gathered.contents, MAX_DEPTH)?,
            ENCRYPTED_DATA => match open_safe(data, password, rounds)? {
                Some(plain) => {
                    gathered.opened += 1;
                    bags(&plain, &mut gathered.contents, MAX_DEPTH)?;
                }
                None => gathered.closed += 1,
            },
            ENVELOPED_DATA => {
                return Err(ParseError::Unsupported(
                    "encryption to a certificate in place of a password".to_owned(),
                ));
            }
            _ => return Err(ParseError::MalformedError),
        }
    }
    Ok(gathered)
}

/// Decrypts an EncryptedData (RFC 5652).
fn open_safe(
    mut data: Reader<'_>,
    password: &Password,
    rounds: &mut Rounds,
) -> Result<Option<Zeroizing<Vec<u8>>>, ParseError> {
    let mut fields = data.take_sequence()?;
    fields.take_number()?;
    let mut info = fields.take_sequence()?;
    if info.take_oid()? != DATA {
        return Err(ParseError::MalformedError);
    }
    let (algorithm, parameters) = info.take_algorithm()?;
    // [0] IMPLICIT OCTET STRING.
    let hidden = info.take_octets(0x80)?;
    decrypt(&algorithm, parameters, &hidden, password, rounds)
}

/// Parses the bags of a SafeContents.
fn bags(bytes: &[u8], contents: &mut Contents, depth: usize) -> Result<(), MalformedError> {
    let mut list = only(bytes, SEQUENCE)?.children();
    while list.peek().is_some() {
        let mut bag = list.take_sequence()?;
        let kind = bag.take_oid()?;
        let value = bag.take(context(0))?;
        let (name, id) = match bag.take_if(SET)? {
            Some(attributes) => attributes_of(&attributes)?,
            None => (None, None),
        };
        match kind.as_str() {
            KEY_BAG => contents.add_key(name, id, Protected::Plain(Zeroizing::new(key_in(&value)?))),
            SHROUDED_KEY_BAG => contents.add_key(name, id, Protected::Encrypted(key_in(&value)?)),
            CERTIFICATE_BAG => {
                if let Some(der) = certificate_in(&value)? {
                    contents.certificates.push(StoredCertificate {
                        id,
                        der: der.into_owned(),
                    });
                }
            }
            SAFE_CONTENTS_BAG if depth > 1 => bags(value.content, contents, depth - 1)?,
            SAFE_CONTENTS_BAG => return Err(MalformedError),
            // Revocation lists and secrets are not needed.
            _ => {}
        }
    }
    Ok(())
}

fn key_in(value: &Element<'_>) -> Result<Vec<u8>, MalformedError> {
    if is_one_sequence(value.content) {
        Ok(value.content.to_vec())
    } else {
        Err(MalformedError)
    }
}

/// The bytes of a certificate, if it is an X.509 one.
fn certificate_in<'a>(value: &Element<'a>) -> Result<Option<Cow<'a, [u8]>>, MalformedError> {
    let mut bag = value.children().take_sequence()?;
    let kind = bag.take_oid()?;
    let mut inner = bag.take(context(0))?.children();
    if kind == X509_CERTIFICATE {
        inner.take_octets(OCTET_STRING).map(Some)
    } else {
        Ok(None)
    }
}

/// The name and the id that link a key to its certificate.
fn attributes_of(attributes: &Element<'_>) -> Result<(Option<String>, Option<Vec<u8>>), MalformedError> {
    let (mut name, mut id) = (None, None);
    let mut attributes = attributes.children();
    while attributes.peek().is_some() {
        let mut attribute = attributes.take_sequence()?;
        let kind = attribute.take_oid()?;
        let mut values = attribute.take(SET)?.children();
        match kind.as_str() {
            FRIENDLY_NAME => name = Some(utf16_text(values.next()?.content)),
            LOCAL_KEY_ID => id = Some(values.take_octets(OCTET_STRING)?.into_owned()),
            _ => {}
        }
    }
    Ok((name, id))
}
