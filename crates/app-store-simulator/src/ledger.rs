//! The effects in the app stores, to prove that nothing is uploaded, committed or released twice.

use serde_json::{Value, json};

/// One effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kind of effect, such as `release`.
    pub what: &'static str,
    /// The subject, such as the app and its version.
    pub subject: String,
}

/// All effects, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: Vec<Entry>,
}

impl Ledger {
    pub(crate) fn note(&mut self, what: &'static str, subject: impl Into<String>) {
        let subject = subject.into();
        self.entries.push(Entry { what, subject });
    }

    /// All effects, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The number of effects of this kind.
    pub fn count(&self, what: &str) -> usize {
        self.entries.iter().filter(|entry| entry.what == what).count()
    }

    pub(crate) fn json(&self) -> Value {
        let entries = self.entries.iter();
        let entries: Vec<Value> = entries
            .map(|entry| json!({"what": entry.what, "subject": entry.subject}))
            .collect();
        json!({"entries": entries})
    }
}
