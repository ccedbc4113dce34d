//! Directives: what a client is told instead of an update (`docs/reference/expo.md#directives`).

use launchway_domain::time::{EpochMs, from_iso, iso};
use serde_json::{Value, json};

use super::manifest::{Manifest, UNDO_SPAN};

/// The largest directive, in bytes.
const MAX_DIRECTIVE_BYTES: usize = 64 * 1024;

/// Something that a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Return to the content of the installed app.
    RollBack(RollBack),
    /// There is nothing new. We answer 204 instead, which needs no signature.
    NoUpdate,
}

/// The return to the content of the installed app. A client obeys if it is later than what it runs, and takes the content of the
/// app as created then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollBack {
    /// When it was decided, in epoch milliseconds.
    pub commit_time: EpochMs,
}

/// The bytes are not a directive. The message follows the name of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a directive of type rollBackToEmbedded or noUpdateAvailable, with a commitTime such as 2026-11-20T10:00:00.000Z"
)]
pub struct DirectiveError;

impl RollBack {
    /// The return from an update, later than the undo of that update.
    pub fn from(undone: &Manifest) -> RollBack {
        RollBack {
            commit_time: undone.created_at + UNDO_SPAN,
        }
    }
}

impl Directive {
    /// Reads a directive.
    ///
    /// # Errors
    /// A client would refuse it.
    pub fn parse(bytes: &[u8]) -> Result<Directive, DirectiveError> {
        if bytes.len() > MAX_DIRECTIVE_BYTES {
            return Err(DirectiveError);
        }
        let json: Value = serde_json::from_slice(bytes).map_err(|_| DirectiveError)?;
        match json["type"].as_str() {
            Some("noUpdateAvailable") => Ok(Directive::NoUpdate),
            Some("rollBackToEmbedded") => {
                let commit_time = json["parameters"]["commitTime"].as_str().and_then(from_iso);
                let commit_time = commit_time.ok_or(DirectiveError)?;
                Ok(Directive::RollBack(RollBack { commit_time }))
            }
            _ => Err(DirectiveError),
        }
    }

    /// The bytes to sign and serve.
    pub fn to_json(&self) -> Vec<u8> {
        let json = match self {
            Directive::RollBack(roll_back) => {
                json!({"type": "rollBackToEmbedded", "parameters": {"commitTime": iso(roll_back.commit_time)}})
            }
            Directive::NoUpdate => json!({"type": "noUpdateAvailable"}),
        };
        json.to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_is_read_as_it_is_written() {
        for directive in [
            Directive::NoUpdate,
            Directive::RollBack(RollBack {
                commit_time: 1_795_514_400_123,
            }),
        ] {
            assert_eq!(Directive::parse(&directive.to_json()), Ok(directive));
        }
    }

    #[test]
    fn other_documents_are_refused() {
        for json in [
            "",
            "[]",
            r#"{"type": "other"}"#,
            r#"{"type": "rollBackToEmbedded"}"#,
            r#"{"type": "rollBackToEmbedded", "parameters": {"commitTime": 5}}"#,
            r#"{"type": "rollBackToEmbedded", "parameters": {"commitTime": "2026-11-24"}}"#,
        ] {
            assert_eq!(Directive::parse(json.as_bytes()), Err(DirectiveError), "{json}");
        }
    }
}
