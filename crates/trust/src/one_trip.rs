//! The answer to `/tuf/{bundleId}/trust`: everything that is newer than what a client has, in one trip
//! (`docs/reference/trust.md#one-trip`). The server writes it, and nothing of it is trusted.

use std::collections::BTreeMap;

use crate::client::Refresh;
use crate::json::{self, JsonError, Value, object};
use crate::metadata::FormError;
use crate::metadata::fields::Fields;
use crate::role_error::RoleError;
use crate::workflow::FileRequest;

/// An answer has at most this many roots; who has more to go asks again.
pub const MAX_ROOTS_OF_ANSWER: usize = 16;
/// The most bytes that are read: all files at their limits, each escaped.
pub const ANSWER_LIMIT: usize = 2 << 20;

/// Files as the texts that were signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustAnswer {
    /// The roots above the client's, in order.
    pub roots: Vec<String>,
    /// The timestamp.
    pub timestamp: Option<String>,
    /// The snapshot.
    pub snapshot: Option<String>,
    /// The targets.
    pub targets: Option<String>,
    /// The delegated roles by name.
    pub delegated: BTreeMap<String, String>,
}

/// The bytes are not such an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// They are not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A field is not of its form.
    #[error(transparent)]
    Form(#[from] FormError),
}

/// How far a client came with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Everything is current.
    Done,
    /// There may be more roots: ask again from the version that is trusted now.
    AskAgain,
    /// The answer lacks this file: fetch it by its name, and continue with [`Refresh::take`].
    Lacks(FileRequest),
}

impl TrustAnswer {
    /// Reads an answer. Fields that are not known are left alone.
    ///
    /// # Errors
    /// See [`AnswerError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, AnswerError> {
        let mut fields = Fields::of(json::parse(bytes, ANSWER_LIMIT)?, "answer")?;
        let roots = if fields.has("roots") {
            fields.texts("roots")?
        } else {
            Vec::new()
        };
        if roots.len() > MAX_ROOTS_OF_ANSWER {
            return Err(FormError { field: "roots" })?;
        }
        let mut file = |name| fields.has(name).then(|| fields.text(name)).transpose();
        let (timestamp, snapshot, targets) = (file("timestamp")?, file("snapshot")?, file("targets")?);
        let mut delegated = BTreeMap::new();
        if fields.has("delegated") {
            for (name, value) in fields.object("delegated")? {
                let Value::Text(text) = value else {
                    return Err(FormError { field: "delegated" })?;
                };
                delegated.insert(name, text);
            }
        }
        Ok(Self {
            roots,
            timestamp,
            snapshot,
            targets,
            delegated,
        })
    }

    /// The answer's JSON.
    pub fn to_json(&self) -> String {
        let roots = self.roots.iter().map(|text| text.clone().into()).collect();
        let delegated = self
            .delegated
            .iter()
            .map(|(name, text)| (name.clone(), text.clone().into()));
        let mut members = object([
            ("roots", Value::Array(roots)),
            ("delegated", Value::Object(delegated.collect())),
        ]);
        let files = [
            ("timestamp", &self.timestamp),
            ("snapshot", &self.snapshot),
            ("targets", &self.targets),
        ];
        for (name, text) in files {
            if let Some(text) = text {
                members.insert(name.to_owned(), text.clone().into());
            }
        }
        json::to_text(&Value::Object(members))
    }
}

impl Refresh<'_> {
    /// Takes the files of an answer one after the other. Store [`Client::stored_trust`](crate::client::Client::stored_trust)
    /// afterwards, even if a file was refused.
    ///
    /// # Errors
    /// A file is refused; this run is over.
    pub fn take_answer(&mut self, answer: &TrustAnswer) -> Result<Progress, RoleError> {
        let mut roots = answer.roots.iter();
        loop {
            let Some(request) = self.next_request()? else {
                return Ok(Progress::Done);
            };
            let text = match &request {
                FileRequest::Root { .. } => roots.next(),
                FileRequest::Timestamp => answer.timestamp.as_ref(),
                FileRequest::Snapshot { .. } => answer.snapshot.as_ref(),
                FileRequest::Targets { .. } => answer.targets.as_ref(),
                FileRequest::Role { name, .. } => answer.delegated.get(name),
            };
            match (text, request) {
                (Some(text), _) => {
                    self.take(text.as_bytes())?;
                }
                (None, FileRequest::Root { .. }) if answer.roots.len() == MAX_ROOTS_OF_ANSWER => {
                    return Ok(Progress::AskAgain);
                }
                (None, FileRequest::Root { .. }) => self.report_missing()?,
                (None, request) => return Ok(Progress::Lacks(request)),
            }
        }
    }
}
