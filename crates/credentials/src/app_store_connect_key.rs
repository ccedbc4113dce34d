//! Keys for the App Store Connect API: the .p8 file, and the ids that App Store Connect shows with it.

use crate::Kind;
use crate::certificate::fingerprint;
use crate::error::CredentialError;
use crate::facts::{AppStoreConnectKey, Details, Facts};
use crate::parse_error::ParseError;
use crate::pem;
use crate::private_key::public_half;
use crate::public_key::{Curve, PublicKey};
use crate::recognize::{Form, form_of, text_of};
use crate::{CredentialInput, format_error, given_text};

const KIND: Kind = Kind::AppStoreConnectKey;
const LABEL: &str = "PRIVATE KEY";
/// The positions of the dashes in a UUID.
const DASHES: [usize; 4] = [8, 13, 18, 23];

pub(crate) fn read(given: &CredentialInput<'_>) -> Result<Facts, CredentialError> {
    let refuse = |error: ParseError| error.refuse(KIND);
    let text = text_of(given.content).unwrap_or_default();
    if pem::label(text) != Some(LABEL) {
        let form = form_of(given.content);
        // The key itself in another encoding: App Store Connect issues only one.
        return Err(if form == Some(Form::PrivateKey) {
            CredentialError::NotP256
        } else {
            format_error(KIND, form, given.content)
        });
    }
    let pkcs8 = pem::decode(text, LABEL).map_err(|error| refuse(error.into()))?;
    let public = match public_half(&pkcs8) {
        Ok(public @ PublicKey::Ec { curve: Curve::P256, .. }) => public,
        Ok(_) | Err(ParseError::Unsupported(_)) => return Err(CredentialError::NotP256),
        Err(error) => return Err(refuse(error)),
    };
    let key_id = given_text(given.key_id).ok_or(CredentialError::KeyIdMissing)?;
    if key_id.len() != 10
        || !key_id
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    {
        return Err(CredentialError::KeyIdMalformed);
    }
    let issuer_id = given_text(given.issuer_id).map(str::to_ascii_lowercase);
    if issuer_id.as_deref().is_some_and(|issuer_id| !is_uuid(issuer_id)) {
        return Err(CredentialError::IssuerIdMalformed);
    }
    Ok(Facts {
        fingerprint: fingerprint(&public.info()),
        expires_at: None,
        details: Details::AppStoreConnectKey(AppStoreConnectKey {
            key_id: key_id.to_owned(),
            individual: issuer_id.is_none(),
            issuer_id,
        }),
    })
}

fn is_uuid(text: &str) -> bool {
    let is_right = |(at, byte): (usize, u8)| {
        if DASHES.contains(&at) {
            byte == b'-'
        } else {
            byte.is_ascii_hexdigit()
        }
    };
    text.len() == 36 && text.bytes().enumerate().all(is_right)
}
