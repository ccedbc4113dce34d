//! The certificate of a signature, for display. No signature is verified here.

use launchway_domain::time::EpochMs;

use crate::certificate::{Certificate, fingerprint};
use crate::cms;
use crate::parse_error::MalformedError;

/// The identifying facts of a signing certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningCertificate {
    /// The subject, in the format of RFC 4514.
    pub subject: String,
    /// The SHA-256 of the certificate in lower-case hex.
    pub sha256: String,
    /// The end of the validity.
    pub not_after: EpochMs,
}

impl SigningCertificate {
    /// Parses a certificate (X.509) in DER.
    ///
    /// # Errors
    /// [`MalformedError`] for anything else.
    pub fn from_der(der: &[u8]) -> Result<Self, MalformedError> {
        Certificate::read(der).map(|certificate| Self::new(&certificate))
    }

    /// The certificate of the first signer of signed data (CMS) in BER or DER. The content may be detached.
    ///
    /// # Errors
    /// [`MalformedError`] for anything else, and if the signer's certificate is not included.
    pub fn from_signed_data(bytes: &[u8]) -> Result<Self, MalformedError> {
        cms::first_signer(bytes).map(|certificate| Self::new(&certificate))
    }

    fn new(certificate: &Certificate) -> Self {
        Self {
            subject: certificate.subject.text(),
            sha256: fingerprint(&certificate.der),
            not_after: certificate.not_after,
        }
    }
}
