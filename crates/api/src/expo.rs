//! What developers sign for an update of Expo (`docs/reference/expo.md#signed-updates`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A text with its signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedText {
    /// The text that was signed.
    pub body: String,
    /// The value of the header `expo-signature`.
    #[schema(example = "sig=\"…\", keyid=\"main\", alg=\"rsa-v1_5-sha256\"")]
    pub signature: String,
}

/// `expo` of `POST /update`: what was signed for an update of format `expo`, or for a return to the built-in content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedExpo {
    /// The manifest of the update, or the directive that returns to the built-in content.
    pub part: SignedText,
    /// What is served once the update is withdrawn; required for an update, and not for a directive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<SignedUndo>,
    /// The certificates between the key and the one in the app, in PEM, at most 16 KiB.
    #[schema(max_length = 16384)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_chain: Option<String>,
}

/// What is served once an update is withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedUndo {
    /// The manifest of the content before it, created one millisecond after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<SignedText>,
    /// The update whose content that is; required with `previous`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_update_id: Option<String>,
    /// The directive that returns to the built-in content, two milliseconds after it.
    pub embedded: SignedText,
}
