//! Android keystores: PKCS#12 or JKS files with the private key that signs an app.

use launchway_domain::time::EpochMs;

use crate::Kind;
use crate::apple_certificate::signing_use;
use crate::error::CredentialError;
use crate::facts::{AndroidKeystore, Details, Facts};
use crate::keystore;
use crate::recognize::{Form, form_of};
use crate::{CredentialInput, format_error};

const KIND: Kind = Kind::AndroidKeystore;

pub(crate) fn read(given: &CredentialInput<'_>, now: EpochMs) -> Result<Facts, CredentialError> {
    let format = match form_of(given.content) {
        Some(Form::Keystore(format)) => format,
        Some(form @ (Form::Jceks | Form::BouncyCastle)) => {
            return Err(CredentialError::KeystoreFormat {
                found: form.with_article(),
            });
        }
        form => return Err(format_error(KIND, form, given.content)),
    };
    let keystore::Identity {
        alias,
        key,
        certificate,
    } = keystore::open(KIND, format, given)?;
    if signing_use(&certificate).is_some() {
        return Err(CredentialError::AnotherKind {
            kind: KIND,
            found: "an Apple certificate",
        });
    }
    certificate.check_time(KIND, now)?;
    let (sha1_fingerprint, fingerprint) = certificate.fingerprints();
    Ok(Facts {
        fingerprint,
        expires_at: Some(certificate.not_after),
        details: Details::AndroidKeystore(AndroidKeystore {
            format,
            alias,
            subject: certificate.subject.text(),
            sha1_fingerprint,
            not_before: certificate.not_before,
            key_algorithm: key.algorithm(),
            key_size: key.size(),
        }),
    })
}
