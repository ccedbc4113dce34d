//! Signed data (CMS, RFC 5652): the content, and whether every signature of it is valid according to the certificates
//! inside. Whether those certificates are trustworthy is not checked.

use std::borrow::Cow;

use ring::{digest, signature};

use crate::asn1::{Element, OCTET_STRING, Reader, SEQUENCE, SET, context, only};
use crate::certificate::Certificate;
use crate::parse_error::{MalformedError, ParseError};
use crate::public_key::{Curve, PublicKey};

const SIGNED_DATA: &str = "1.2.840.113549.1.7.2";
const CONTENT_TYPE: &str = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST: &str = "1.2.840.113549.1.9.4";
/// `[0]` in place of the tag of an OCTET STRING.
const KEY_IDENTIFIER: u8 = 0x80;

/// A profile has one signer; each costs a verification.
const MAX_SIGNERS: usize = 4;
/// Apple's chains have three certificates.
const MAX_CHAIN: usize = 8;

/// The signed content and its signer.
pub(crate) struct Signed<'a> {
    pub(crate) content: Cow<'a, [u8]>,
    /// The common name of the first signer.
    pub(crate) signer: String,
    /// The common name at the top of the signer's chain, as far as the certificates inside lead.
    pub(crate) root: String,
}

/// The result of the verification.
pub(crate) enum Outcome<'a> {
    Signed(Signed<'a>),
    /// Content and signature do not match.
    Changed,
}

/// Parses and verifies signed data.
pub(crate) fn read(bytes: &[u8]) -> Result<Outcome<'_>, ParseError> {
    let mut fields = signed_data(only(bytes, SEQUENCE)?)?;
    let mut encapsulated = fields.take_sequence()?;
    let content_type = encapsulated.take_oid()?;
    let content = encapsulated.take(context(0))?.children().take_octets(OCTET_STRING)?;
    let (certificates, mut infos) = signers(fields)?;

    let mut first = None;
    for _ in 0..MAX_SIGNERS {
        if infos.peek().is_none() {
            break;
        }
        let signer = Signer::read(&mut infos)?;
        let certificate = signer.find_in(&certificates)?;
        if !signer.signed(&content, &content_type, &certificate.public_key()?)? {
            return Ok(Outcome::Changed);
        }
        first = first.or(Some(certificate));
    }
    infos.finish()?;
    let signer = first.ok_or(MalformedError)?;
    let root = root_of(signer, &certificates);
    Ok(Outcome::Signed(Signed {
        content,
        signer: signer.subject.display_name(),
        root,
    }))
}

/// The certificate of the first signer. The content may be detached, the signature is not verified, and trailing bytes
/// are ignored.
pub(crate) fn first_signer(bytes: &[u8]) -> Result<Certificate, MalformedError> {
    let mut fields = signed_data(Reader::new(bytes).take(SEQUENCE)?)?;
    fields.take(SEQUENCE)?;
    let (certificates, mut infos) = signers(fields)?;
    Signer::read(&mut infos)?.find_in(&certificates).cloned()
}

/// The fields of signed data, starting with the content.
fn signed_data(info: Element<'_>) -> Result<Reader<'_>, MalformedError> {
    let mut info = info.children();
    if info.take_oid()? != SIGNED_DATA {
        return Err(MalformedError);
    }
    let mut fields = info.take(context(0))?.children().take_sequence()?;
    fields.take_number()?;
    fields.take(SET)?;
    Ok(fields)
}

/// The fields after the content: the certificates, and a reader of the signers.
fn signers(mut fields: Reader<'_>) -> Result<(Vec<Certificate>, Reader<'_>), MalformedError> {
    let certificates = match fields.take_if(context(0))? {
        Some(certificates) => certificates_in(&certificates)?,
        None => Vec::new(),
    };
    fields.take_if(context(1))?;
    Ok((certificates, fields.take(SET)?.children()))
}

/// Parses the X.509 certificates; other kinds are skipped.
fn certificates_in(set: &Element<'_>) -> Result<Vec<Certificate>, MalformedError> {
    let (mut certificates, mut elements) = (Vec::new(), set.children());
    while elements.peek().is_some() {
        let element = elements.next()?;
        if element.tag == SEQUENCE {
            certificates.push(Certificate::read(element.whole)?);
        }
    }
    Ok(certificates)
}

/// Follows the issuer names to the top of the chain.
fn root_of(signer: &Certificate, certificates: &[Certificate]) -> String {
    let mut top = signer;
    for _ in 0..MAX_CHAIN {
        let issuer = certificates
            .iter()
            .find(|one| one.subject.der == top.issuer.der && one.der != top.der);
        match issuer {
            Some(issuer) if top.issuer.der != top.subject.der => top = issuer,
            _ => break,
        }
    }
    top.issuer.display_name()
}

/// A SignerInfo.
struct Signer<'a> {
    /// The name of the issuer and the serial number, or the key identifier.
    id: Result<(&'a [u8], &'a [u8]), &'a [u8]>,
    digest: String,
    attributes: Option<Element<'a>>,
    algorithm: String,
    signature: Cow<'a, [u8]>,
}

impl<'a> Signer<'a> {
    fn read(infos: &mut Reader<'a>) -> Result<Self, MalformedError> {
        let mut info = infos.take_sequence()?;
        info.take_number()?;
        let id = match info.take_if(KEY_IDENTIFIER)? {
            Some(id) => Err(id.content),
            None => {
                let mut names = info.take_sequence()?;
                Ok((names.take(SEQUENCE)?.whole, names.next()?.content))
            }
        };
        let (digest, _) = info.take_algorithm()?;
        let attributes = info.take_if(context(0))?;
        let (algorithm, _) = info.take_algorithm()?;
        Ok(Self {
            id,
            digest,
            attributes,
            algorithm,
            signature: info.take_octets(OCTET_STRING)?,
        })
    }

    fn is(&self, certificate: &Certificate) -> bool {
        match self.id {
            Ok((issuer, serial)) => certificate.issuer.der == issuer && certificate.serial == serial,
            Err(key_id) => certificate.key_id.as_deref() == Some(key_id),
        }
    }

    /// The signer's certificate among `certificates`.
    fn find_in<'c>(&self, certificates: &'c [Certificate]) -> Result<&'c Certificate, MalformedError> {
        certificates
            .iter()
            .find(|certificate| self.is(certificate))
            .ok_or(MalformedError)
    }

    /// Whether the signature is valid for this content.
    fn signed(&self, content: &[u8], content_type: &str, key: &PublicKey) -> Result<bool, ParseError> {
        let hash = hash_of(&self.digest)?;
        let Some(attributes) = self.attributes else {
            return verify(key, hash, &self.algorithm, content, &self.signature);
        };
        let (mut digests, mut types) = (Vec::new(), Vec::new());
        let mut list = attributes.children();
        while list.peek().is_some() {
            let mut attribute = list.take_sequence()?;
            let kind = attribute.take_oid()?;
            let mut values = attribute.take(SET)?.children();
            match kind.as_str() {
                MESSAGE_DIGEST => digests.push(values.take(OCTET_STRING)?.content),
                CONTENT_TYPE => types.push(values.take_oid()?),
                _ => {}
            }
        }
        let actual = digest::digest(hash, content);
        if digests != [actual.as_ref()] || types != [content_type] {
            return Ok(false);
        }
        // The signed bytes are the SET in DER, whose tag the `[0]` replaces (RFC 5652, 5.4).
        let (_, rest) = attributes.whole.split_first().ok_or(MalformedError)?;
        let signed = [&[SET], rest].concat();
        verify(key, hash, &self.algorithm, &signed, &self.signature)
    }
}

fn hash_of(name: &str) -> Result<&'static digest::Algorithm, ParseError> {
    match name {
        "1.3.14.3.2.26" => Ok(&digest::SHA1_FOR_LEGACY_USE_ONLY),
        "2.16.840.1.101.3.4.2.1" => Ok(&digest::SHA256),
        "2.16.840.1.101.3.4.2.2" => Ok(&digest::SHA384),
        "2.16.840.1.101.3.4.2.3" => Ok(&digest::SHA512),
        other => Err(ParseError::Unsupported(format!("the digest {other}"))),
    }
}

fn verify(
    key: &PublicKey,
    hash: &'static digest::Algorithm,
    algorithm: &str,
    message: &[u8],
    signature: &[u8],
) -> Result<bool, ParseError> {
    let verification = verification(key, hash, algorithm)?;
    Ok(signature::UnparsedPublicKey::new(verification, key.bit_string())
        .verify(message, signature)
        .is_ok())
}

/// The verification of a signature algorithm. Its name may include the digest, which must then be the same.
fn verification(
    key: &PublicKey,
    hash: &'static digest::Algorithm,
    algorithm: &str,
) -> Result<&'static dyn signature::VerificationAlgorithm, ParseError> {
    let said = match algorithm {
        "1.2.840.113549.1.1.1" => hash,
        "1.2.840.113549.1.1.5" => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        "1.2.840.113549.1.1.11" | "1.2.840.10045.4.3.2" => &digest::SHA256,
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => &digest::SHA384,
        "1.2.840.113549.1.1.13" => &digest::SHA512,
        "1.2.840.113549.1.1.10" => return Err(ParseError::Unsupported("a signature by RSA-PSS".to_owned())),
        other => return Err(ParseError::Unsupported(format!("the signature {other}"))),
    };
    if said != hash {
        return Err(ParseError::MalformedError);
    }
    let is_rsa = algorithm.starts_with("1.2.840.113549.");
    match key {
        PublicKey::Rsa { .. } if is_rsa && *hash == digest::SHA1_FOR_LEGACY_USE_ONLY => {
            Ok(&signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY)
        }
        PublicKey::Rsa { .. } if is_rsa && *hash == digest::SHA256 => {
            Ok(&signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY)
        }
        PublicKey::Rsa { .. } if is_rsa && *hash == digest::SHA384 => Ok(&signature::RSA_PKCS1_2048_8192_SHA384),
        PublicKey::Rsa { .. } if is_rsa => Ok(&signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY),
        PublicKey::Ec { curve, .. } if !is_rsa => match (curve, *hash == digest::SHA256) {
            (Curve::P256, true) => Ok(&signature::ECDSA_P256_SHA256_ASN1),
            (Curve::P256, false) => Ok(&signature::ECDSA_P256_SHA384_ASN1),
            (Curve::P384, true) => Ok(&signature::ECDSA_P384_SHA256_ASN1),
            (Curve::P384, false) => Ok(&signature::ECDSA_P384_SHA384_ASN1),
            (Curve::P521, _) => Err(ParseError::Unsupported("a signature on the curve P-521".to_owned())),
        },
        _ => Err(ParseError::MalformedError),
    }
}
