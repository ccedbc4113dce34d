//! The certificate that something was signed with, for those who show it. No signature is checked here.

use launchway_domain::time::EpochMs;

use crate::certificate::{Certificate, fingerprint};
use crate::cms;
use crate::fault::MalformedError;

/// What people know a signing certificate by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningCertificate {
    /// Who it is for, as RFC 4514 writes it.
    pub subject: String,
    /// Lower-case hex SHA-256 of the certificate.
    pub sha256: String,
    /// When it ends.
    pub not_after: EpochMs,
}

impl SigningCertificate {
    /// Reads a certificate (X.509) in DER.
    ///
    /// # Errors
    /// [`MalformedError`] for anything else.
    pub fn from_der(der: &[u8]) -> Result<Self, MalformedError> {
        Certificate::read(der).map(|certificate| Self::new(&certificate))
    }

    /// The certificate of the first signer of signed data (CMS) in BER or DER, whose content may lie elsewhere.
    ///
    /// # Errors
    /// [`MalformedError`] for anything else, and where the signer's certificate is not inside.
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
