//! What was signed for an update, as the server keeps it: the exact texts, so that clients verify what was signed.

use serde::{Deserialize, Serialize};

use super::response::{Part, Served};
use super::signature::{Signature, SignatureError};

/// A signed manifest or directive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredPart {
    /// The text that was signed.
    pub body: String,
    /// The header with its signature.
    pub signature: String,
    /// The certificates between its key and the one in the app, in PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
}

/// What is served once an update is withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredUndo {
    /// The manifest of the content before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<StoredPart>,
    /// The update whose content that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_update: Option<String>,
    /// The return to the built-in content.
    pub embedded: StoredPart,
}

impl StoredPart {
    fn part(&self) -> Result<Part, SignatureError> {
        Ok(Part {
            body: self.body.clone().into_bytes(),
            signature: Some(Signature::parse(&self.signature)?),
        })
    }

    /// Prepares it as a manifest.
    ///
    /// # Errors
    /// The header of the signature has another form.
    pub fn manifest(&self) -> Result<Served, SignatureError> {
        Ok(Served::manifest(&self.part()?, self.chain.as_deref()))
    }

    /// Prepares it as a directive.
    ///
    /// # Errors
    /// As [`StoredPart::manifest`].
    pub fn directive(&self) -> Result<Served, SignatureError> {
        Ok(Served::directive(&self.part()?, self.chain.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_signed_is_served_as_it_is() {
        let signature = Signature::new("main", vec![7; 256]).unwrap().header();
        let part = StoredPart {
            body: r#"{"type": "rollBackToEmbedded"}"#.to_owned(),
            signature,
            chain: None,
        };
        assert_eq!(part.directive().unwrap().part(), part.body.as_bytes());
        let undo = StoredUndo {
            previous: Some(part.clone()),
            previous_update: Some("update_1".to_owned()),
            embedded: part.clone(),
        };
        let json = serde_json::to_string(&undo).unwrap();
        assert_eq!(serde_json::from_str::<StoredUndo>(&json).unwrap(), undo);
        let other = StoredPart {
            signature: "sig=1".to_owned(),
            ..part
        };
        assert_eq!(other.manifest(), Err(SignatureError));
    }
}
