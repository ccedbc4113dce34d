//! Keys of Google service accounts: the JSON file that the Google Cloud console issues.

use std::borrow::Cow;

use serde::Deserialize;

use crate::Kind;
use crate::certificate::fingerprint;
use crate::error::CredentialError;
use crate::facts::{Details, Facts, GoogleServiceAccount};
use crate::pem;
use crate::private_key::public_half;
use crate::public_key::PublicKey;
use crate::recognize::{Form, form_of, text_of};
use crate::{CredentialInput, format_error};

const KIND: Kind = Kind::GoogleServiceAccount;

/// The required fields. Google adds others.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    client_email: Option<Cow<'a, str>>,
    #[serde(borrow)]
    project_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    private_key_id: Option<Cow<'a, str>>,
    private_key: Option<zeroize::Zeroizing<String>>,
    #[serde(borrow)]
    token_uri: Option<Cow<'a, str>>,
}

pub(crate) fn read(given: &CredentialInput<'_>) -> Result<Facts, CredentialError> {
    let form = form_of(given.content);
    let (Some(Form::ServiceAccount | Form::Json), Some(text)) = (form, text_of(given.content)) else {
        return Err(format_error(KIND, form, given.content));
    };
    // The message of serde may quote the file.
    let file: File<'_> = serde_json::from_str(text).map_err(|_| CredentialError::Damaged { kind: KIND })?;
    if required("type", file.kind)? != "service_account" {
        return Err(malformed("type", "service_account"));
    }
    let client_email = required("client_email", file.client_email)?;
    if !is_plain(&client_email) || !client_email.contains('@') {
        return Err(malformed("client_email", "an address"));
    }
    let project_id = required("project_id", file.project_id)?;
    let private_key_id = required("private_key_id", file.private_key_id)?;
    let token_uri = required("token_uri", file.token_uri)?;
    let Some(local_token_uri) = is_local(&token_uri) else {
        return Err(malformed("token_uri", "an https URL"));
    };
    let private_key = file.private_key.ok_or(CredentialError::FieldMissing {
        kind: KIND,
        field: "private_key",
    })?;
    let pkcs8 = pem::decode(&private_key, "PRIVATE KEY");
    let pkcs8 = pkcs8.map_err(|_| malformed("private_key", "a whole PEM block"))?;
    let public = public_half(&pkcs8).map_err(|error| error.refuse(KIND))?;
    let PublicKey::Rsa { .. } = public else {
        return Err(malformed("private_key", "an RSA key"));
    };
    Ok(Facts {
        fingerprint: fingerprint(&public.info()),
        expires_at: None,
        details: Details::GoogleServiceAccount(GoogleServiceAccount {
            client_email,
            project_id,
            private_key_id,
            token_uri,
            local_token_uri,
            key_size: public.size(),
        }),
    })
}

fn required(field: &'static str, value: Option<Cow<'_, str>>) -> Result<String, CredentialError> {
    let value = value.filter(|value| !value.is_empty());
    value
        .map(Cow::into_owned)
        .ok_or(CredentialError::FieldMissing { kind: KIND, field })
}

fn malformed(field: &'static str, form: &'static str) -> CredentialError {
    CredentialError::FieldMalformed {
        kind: KIND,
        field,
        form,
    }
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a URL is on this machine, as a simulator's is. `None`: neither such a URL nor https.
fn is_local(url: &str) -> Option<bool> {
    let (scheme, rest) = url.split_once("://").filter(|_| is_plain(url))?;
    let (authority, _) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let port = authority.rfind(':').filter(|colon| !authority[*colon..].contains(']'));
    let (host, port) = authority.split_at(port.unwrap_or(authority.len()));
    let is_port = port.strip_prefix(':').unwrap_or("0").parse::<u16>().is_ok();
    if host.is_empty() || host.contains(['@', '\\']) || !is_port {
        return None;
    }
    let is_local = ["127.0.0.1", "localhost", "[::1]"].contains(&host);
    (scheme == "https" || (scheme == "http" && is_local)).then_some(is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_by_https_or_from_this_machine() {
        for (url, expected) in [
            ("https://oauth2.googleapis.com/token", Some(false)),
            ("https://example.com:8443", Some(false)),
            ("https://localhost/token", Some(true)),
            ("http://127.0.0.1:4000/token", Some(true)),
            ("http://localhost?x", Some(true)),
            ("http://[::1]:80/token", Some(true)),
            ("http://example.com/token", None),
            ("http://localhost.example.com/token", None),
            ("http://127.0.0.1@example.com/token", None),
            ("http://127.0.0.1:1@example.com/token", None),
            ("https://", None),
            ("https://:1", None),
            ("https://a:b", None),
            ("https://exa mple.com", None),
            ("https://ex\\a", None),
            ("ftp://example.com", None),
            ("token", None),
        ] {
            assert_eq!(is_local(url), expected, "{url}");
        }
    }
}
