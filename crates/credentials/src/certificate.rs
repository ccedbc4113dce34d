//! Certificates (X.509, RFC 5280): names, validity, public key. Their signatures are not verified.

use launchway_domain::time::{EpochMs, MINUTE, SECOND, from_utc};
use ring::digest;

use crate::Kind;
use crate::asn1::{BIT_STRING, Element, INTEGER, OCTET_STRING, Reader, SEQUENCE, context, only};
use crate::error::CredentialError;
use crate::name::Name;
use crate::parse_error::{MalformedError, ParseError};
use crate::public_key::PublicKey;

pub(crate) const SUBJECT_KEY_IDENTIFIER: &str = "2.5.29.14";
/// Our clock may be behind that of the machine that has just created a certificate.
const CLOCK_SKEW: EpochMs = 5 * MINUTE;

/// The fields of a certificate.
#[derive(Clone, Debug)]
pub(crate) struct Certificate {
    pub(crate) der: Vec<u8>,
    /// The bytes of the INTEGER.
    pub(crate) serial: Vec<u8>,
    pub(crate) issuer: Name,
    pub(crate) subject: Name,
    pub(crate) not_before: EpochMs,
    pub(crate) not_after: EpochMs,
    pub(crate) key_id: Option<Vec<u8>>,
    /// The SubjectPublicKeyInfo, unparsed: a chain may contain keys of unsupported kinds that nobody uses.
    key_info: Vec<u8>,
}

impl Certificate {
    /// Parses a certificate in DER.
    pub(crate) fn read(der: &[u8]) -> Result<Self, MalformedError> {
        let mut certificate = only(der, SEQUENCE)?.children();
        let mut fields = certificate.take_sequence()?;
        certificate.take_algorithm()?;
        certificate.take(BIT_STRING)?;
        certificate.finish()?;

        fields.take_if(context(0))?;
        let serial = fields.take(INTEGER)?.content.to_vec();
        fields.take_algorithm()?;
        let issuer = Name::read(&fields.take(SEQUENCE)?)?;
        let mut validity = fields.take_sequence()?;
        let (not_before, not_after) = (time(&validity.next()?)?, time(&validity.next()?)?);
        let subject = Name::read(&fields.take(SEQUENCE)?)?;
        let key_info = fields.take(SEQUENCE)?.whole.to_vec();
        let mut key_id = None;
        while fields.peek().is_some() {
            let field = fields.next()?;
            if field.tag == context(3) {
                key_id = subject_key_identifier(&field)?;
            }
        }
        Ok(Self {
            der: der.to_vec(),
            serial,
            issuer,
            subject,
            not_before,
            not_after,
            key_id,
            key_info,
        })
    }

    /// The public key.
    pub(crate) fn public_key(&self) -> Result<PublicKey, ParseError> {
        PublicKey::from_info(&self.key_info)
    }

    /// The SHA-1 and SHA-256 of the certificate in lower-case hex.
    pub(crate) fn fingerprints(&self) -> (String, String) {
        (
            hex_digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &self.der),
            fingerprint(&self.der),
        )
    }

    /// Refuses a certificate that is not valid at the time `now`.
    pub(crate) fn check_time(&self, kind: Kind, now: EpochMs) -> Result<(), CredentialError> {
        check_time(kind, self.not_before, self.not_after, now)
    }
}

/// Refuses a credential that is not valid at the time `now`.
pub(crate) fn check_time(kind: Kind, from: EpochMs, until: EpochMs, now: EpochMs) -> Result<(), CredentialError> {
    if until <= now {
        return Err(CredentialError::Expired { kind, at: until });
    }
    if from > now.saturating_add(CLOCK_SKEW) {
        return Err(CredentialError::NotYetValid { kind, at: from });
    }
    Ok(())
}

/// The SHA-256 in lower-case hex.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    hex_digest(&digest::SHA256, bytes)
}

fn hex_digest(algorithm: &'static digest::Algorithm, bytes: &[u8]) -> String {
    hex::encode(digest::digest(algorithm, bytes))
}

fn subject_key_identifier(extensions: &Element<'_>) -> Result<Option<Vec<u8>>, MalformedError> {
    let mut extensions = extensions.children().take_sequence()?;
    while extensions.peek().is_some() {
        let mut extension = extensions.take_sequence()?;
        if extension.take_oid()? == SUBJECT_KEY_IDENTIFIER {
            // An optional `critical` flag comes first.
            let mut value = extension.next()?;
            if value.tag != OCTET_STRING {
                value = extension.take(OCTET_STRING)?;
            }
            return Ok(Some(Reader::new(value.content).take(OCTET_STRING)?.content.to_vec()));
        }
    }
    Ok(None)
}

/// A UTCTime or GeneralizedTime in UTC, in whole seconds.
fn time(element: &Element<'_>) -> Result<EpochMs, MalformedError> {
    let text = str::from_utf8(element.content).map_err(|_| MalformedError)?;
    let digits = text.strip_suffix('Z').ok_or(MalformedError)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(MalformedError);
    }
    let number = |from: usize, to: usize| {
        digits
            .get(from..to)
            .and_then(|digits| digits.parse().ok())
            .ok_or(MalformedError)
    };
    let (year, rest): (i16, usize) = match (element.tag, digits.len()) {
        // Two-digit years are 1950 to 2049. Old programs omit the seconds.
        (0x17, 10 | 12) => match number(0, 2)? {
            year @ 0..50 => (2000 + year, 2),
            year => (1900 + year, 2),
        },
        (0x18, 14) => (number(0, 4)?, 4),
        _ => return Err(MalformedError),
    };
    let pair = |at: usize| number(rest + at, rest + at + 2).map(|pair| pair as i8);
    let second = if digits.len() == 10 { 0 } else { pair(8)? };
    let minute = from_utc(year, pair(0)?, pair(2)?, pair(4)?, pair(6)?).ok_or(MalformedError)?;
    // 60 is a leap second.
    if second > 60 {
        return Err(MalformedError);
    }
    Ok(minute + EpochMs::from(second) * SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_domain::time::iso;

    #[test]
    fn times_are_read() {
        for (tag, text, expected) in [
            (0x17, "700101000000Z", Some("1970-01-01T00:00:00.000Z")),
            (0x17, "491231235959Z", Some("2049-12-31T23:59:59.000Z")),
            (0x17, "500101000000Z", Some("1950-01-01T00:00:00.000Z")),
            (0x17, "2002291200Z", Some("2020-02-29T12:00:00.000Z")),
            (0x18, "20000229010203Z", Some("2000-02-29T01:02:03.000Z")),
            (0x18, "99991231235959Z", Some("9999-12-31T23:59:59.000Z")),
            (0x18, "21000301000000Z", Some("2100-03-01T00:00:00.000Z")),
            (0x18, "00000101000000Z", Some("0000-01-01T00:00:00.000Z")),
            (0x17, "20000229010203Z", None),
            (0x18, "20001329010203Z", None),
            (0x18, "20010229010203Z", None),
            (0x17, "260431000000Z", None),
            (0x17, "260400000000Z", None),
            (0x17, "260430240000Z", None),
            (0x17, "260430006000Z", None),
            (0x17, "260430000061Z", None),
            (0x17, "161231235960Z", Some("2017-01-01T00:00:00.000Z")),
            (0x17, "700101000000", None),
            (0x17, "70010100000+Z", None),
            (0x17, "7001010000é0Z", None),
            (0x17, "", None),
        ] {
            let element = Element {
                tag,
                content: text.as_bytes(),
                whole: &[],
            };
            assert_eq!(time(&element).ok().map(iso).as_deref(), expected, "{text:?}");
        }
    }
}
