//! Certificates that sign apps for Apple's platforms: a PKCS#12 file with the private key and Apple's certificate.

use launchway_domain::time::EpochMs;

use crate::Kind;
use crate::asn1::without_leading_zeros;
use crate::certificate::Certificate;
use crate::error::CredentialError;
use crate::facts::{AppleCertificate, CertificateUse, Details, Facts, KeystoreFormat};
use crate::keystore;
use crate::name::{COMMON_NAME, ORGANIZATION, ORGANIZATIONAL_UNIT};
use crate::recognize::{Form, form_of};
use crate::{CredentialInput, format_error};

const KIND: Kind = Kind::AppleCertificate;

pub(crate) fn read(given: &CredentialInput<'_>, now: EpochMs) -> Result<Facts, CredentialError> {
    let format = match form_of(given.content) {
        Some(Form::Keystore(format @ KeystoreFormat::Pkcs12)) => format,
        Some(Form::Certificate) => return Err(CredentialError::CertificateAlone),
        form => return Err(format_error(KIND, form, given.content)),
    };
    let keystore::Identity { key, certificate, .. } = keystore::open(KIND, format, given)?;
    let Some(certificate_use) = signing_use(&certificate) else {
        return Err(CredentialError::NotForSigning {
            name: certificate.subject.display_name(),
        });
    };
    let team_id = certificate
        .subject
        .get(ORGANIZATIONAL_UNIT)
        .filter(|unit| is_team_id(unit));
    let team_id = team_id.ok_or(CredentialError::FieldMissing {
        kind: KIND,
        field: "team id",
    })?;
    certificate.check_time(KIND, now)?;
    let (sha1_fingerprint, fingerprint) = certificate.fingerprints();
    Ok(Facts {
        fingerprint,
        expires_at: Some(certificate.not_after),
        details: Details::AppleCertificate(AppleCertificate {
            team_id: team_id.to_owned(),
            common_name: certificate.subject.display_name(),
            certificate_use,
            issuer: certificate.issuer.display_name(),
            serial_number: hex::encode(without_leading_zeros(&certificate.serial)),
            sha1_fingerprint,
            not_before: certificate.not_before,
            key_algorithm: key.algorithm(),
            key_size: key.size(),
        }),
    })
}

/// The purpose of an Apple certificate, by the name that Apple gives to such certificates. `None`: not for signing
/// apps.
pub(crate) fn signing_use(certificate: &Certificate) -> Option<CertificateUse> {
    let (kind, _) = certificate.subject.get(COMMON_NAME)?.split_once(": ")?;
    match kind {
        "Apple Development" | "iPhone Developer" => Some(CertificateUse::Development),
        "Apple Distribution" | "iPhone Distribution" => Some(CertificateUse::Distribution),
        _ => None,
    }
}

/// Whether Apple issued the certificate, or names it so: for signing apps or for anything else.
pub(crate) fn is_from_apple(certificate: &Certificate) -> bool {
    let issuer = certificate.issuer.get(ORGANIZATION);
    signing_use(certificate).is_some() || issuer == Some("Apple Inc.")
}

/// Apple's team ids are 10 upper-case letters and digits.
pub(crate) fn is_team_id(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}
