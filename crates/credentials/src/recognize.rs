//! Detects the format of a file from its first bytes, so that messages can name a wrong one.

use crate::Kind;
use crate::asn1::oid_text;
use crate::facts::KeystoreFormat;
use crate::{jks, pem};

/// A file format that is a credential, or is mistaken for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Keystore(KeystoreFormat),
    Jceks,
    BouncyCastle,
    /// CMS signed data, as in every provisioning profile.
    Signed,
    Certificate,
    CertificateRequest,
    PrivateKey,
    EncryptedPrivateKey,
    OtherPem,
    ServiceAccount,
    GoogleServices,
    Json,
    PropertyList,
    Zip,
    Base64,
}

/// What the first bytes of a credential tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognized {
    /// It can only be a credential of this kind.
    Kind(Kind),
    /// A PKCS#12 file: its certificate tells the kind, and the password opens it
    /// ([`kind_of_pkcs12`](crate::kind_of_pkcs12)).
    Pkcs12,
}

/// What a file is, if its first bytes reveal a kind of credential.
pub fn recognize(content: &[u8]) -> Option<Recognized> {
    match form_of(content)? {
        Form::Keystore(KeystoreFormat::Pkcs12) => Some(Recognized::Pkcs12),
        Form::Keystore(KeystoreFormat::Jks) => Some(Recognized::Kind(Kind::AndroidKeystore)),
        Form::Signed => Some(Recognized::Kind(Kind::ProvisioningProfile)),
        Form::ServiceAccount => Some(Recognized::Kind(Kind::GoogleServiceAccount)),
        _ => None,
    }
}

impl Form {
    /// The display name, with its article.
    pub(crate) fn with_article(self) -> &'static str {
        match self {
            Form::Keystore(KeystoreFormat::Pkcs12) => "a PKCS#12 file (.p12)",
            Form::Keystore(KeystoreFormat::Jks) => "a Java keystore (JKS)",
            Form::Jceks => "a Java keystore (JCEKS)",
            Form::BouncyCastle => "a Bouncy Castle keystore (BKS)",
            Form::Signed => "a provisioning profile",
            Form::Certificate => "a certificate without a private key",
            Form::CertificateRequest => "a certificate request",
            Form::PrivateKey => "a bare private key",
            Form::EncryptedPrivateKey => "an encrypted private key",
            Form::OtherPem => "a PEM file",
            Form::ServiceAccount => "a Google service account key",
            Form::GoogleServices => "a google-services.json",
            Form::Json => "a JSON file",
            Form::PropertyList => "a property list",
            Form::Zip => "a ZIP archive",
            Form::Base64 => "the Base64 text of a file",
        }
    }
}

/// The format of a file, if its first bytes reveal it. The file may be truncated.
pub(crate) fn form_of(content: &[u8]) -> Option<Form> {
    if content.starts_with(&jks::MAGIC) {
        return Some(Form::Keystore(KeystoreFormat::Jks));
    }
    if content.starts_with(&[0xce, 0xce, 0xce, 0xce]) {
        return Some(Form::Jceks);
    }
    // Version 1 or 2, then the length of the salt.
    if let [0, 0, 0, 1 | 2, 0, 0, 0, 8..=64, ..] = content {
        return Some(Form::BouncyCastle);
    }
    if content.starts_with(b"PK\x03\x04") {
        return Some(Form::Zip);
    }
    if content.first() == Some(&0x30) {
        return form_of_sequence(content);
    }
    form_of_text(content)
}

/// Detects the format by the first elements of the SEQUENCE. Lengths are ignored, as the file may be truncated.
fn form_of_sequence(content: &[u8]) -> Option<Form> {
    let inner = after_header(content)?;
    match inner {
        [0x02, 0x01, 3, ..] => Some(Form::Keystore(KeystoreFormat::Pkcs12)),
        [0x02, 0x01, 0 | 1, ..] => Some(Form::PrivateKey),
        [0x06, length, oid @ ..] => {
            let oid = oid_text(oid.get(..usize::from(*length))?).ok()?;
            (oid == "1.2.840.113549.1.7.2").then_some(Form::Signed)
        }
        [0x30, ..] => match after_header(inner)? {
            [0xa0 | 0x02, ..] => Some(Form::Certificate),
            _ => None,
        },
        _ => None,
    }
}

/// The bytes after the tag and the length of the first element.
fn after_header(bytes: &[u8]) -> Option<&[u8]> {
    let [_, length, rest @ ..] = bytes else { return None };
    let more = if *length > 0x80 { usize::from(length & 0x7f) } else { 0 };
    rest.get(more..)
}

fn form_of_text(content: &[u8]) -> Option<Form> {
    let text = text_of(content)?;
    if let Some(label) = pem::label(text) {
        return Some(match label {
            "PRIVATE KEY" | "EC PRIVATE KEY" | "RSA PRIVATE KEY" => Form::PrivateKey,
            "ENCRYPTED PRIVATE KEY" => Form::EncryptedPrivateKey,
            "CERTIFICATE" => Form::Certificate,
            "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => Form::CertificateRequest,
            _ => Form::OtherPem,
        });
    }
    let text = text.trim_start();
    if text.starts_with('{') {
        // These words suffice to name the format; its own reader checks the rest.
        return Some(if text.contains("\"service_account\"") {
            Form::ServiceAccount
        } else if text.contains("\"project_info\"") {
            Form::GoogleServices
        } else {
            Form::Json
        });
    }
    if ["<?xml", "<!DOCTYPE plist", "<plist"]
        .iter()
        .any(|start| text.starts_with(start))
    {
        return Some(Form::PropertyList);
    }
    // A SEQUENCE of more than 255 bytes, or the first bytes of JKS.
    ["MII", "/u3+7"]
        .iter()
        .any(|start| text.starts_with(start))
        .then_some(Form::Base64)
}

/// The text of a file without the byte order mark that some editors insert.
pub(crate) fn text_of(content: &[u8]) -> Option<&str> {
    let text = str::from_utf8(content).ok()?;
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}
