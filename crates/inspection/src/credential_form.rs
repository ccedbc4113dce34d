//! The form in which a credential is sealed, and passed to an inspection process: JSON, with the file in base64.

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet, prelude::BASE64_STANDARD};
use launchway_api::secret::SecretText;
use launchway_credentials::CredentialInput;
use serde_json::json;
use zeroize::Zeroizing;

/// Accepts base64 with or without padding at the end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The content of a credential is not base64. The text is for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("content must be the file in base64")]
pub struct ContentError;

/// The opened secrets of a credential.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenedCredential {
    /// The file, in base64.
    pub content: SecretText,
    /// The password of the file.
    pub password: Option<SecretText>,
    /// The name of the key in the file.
    pub alias: Option<SecretText>,
    /// The password of the key.
    pub key_password: Option<SecretText>,
    /// The key id from the app store.
    pub key_id: Option<SecretText>,
    /// The issuer id from the app store.
    pub issuer_id: Option<SecretText>,
}

/// The secrets of a credential that a build or submission needs, to be sealed.
pub fn sealable(given: &CredentialInput<'_>) -> Zeroizing<Vec<u8>> {
    let content = Zeroizing::new(BASE64_STANDARD.encode(given.content));
    let whole = json!({
        "content": &*content, "password": given.password, "alias": given.alias, "keyPassword": given.key_password,
        "keyId": given.key_id, "issuerId": given.issuer_id,
    });
    Zeroizing::new(whole.to_string().into_bytes())
}

/// Decodes a file in base64, with or without padding and line breaks.
///
/// # Errors
/// It is not base64.
pub fn decode(content: &SecretText) -> Result<Zeroizing<Vec<u8>>, ContentError> {
    // Tools wrap base64 into lines.
    let solid: Zeroizing<Vec<u8>> = Zeroizing::new(
        content
            .reveal()
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect(),
    );
    let decoded = BASE64.decode(&*solid).map(Zeroizing::new);
    decoded.map_err(|_| ContentError)
}
