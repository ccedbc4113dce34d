//! What really happened in the stores: to show that nothing is uploaded, committed or released twice.

use serde_json::{Value, json};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What, such as `release`.
    pub what: &'static str,
    /// Of what, such as the app and its version.
    pub subject: String,
}

/// Everything that happened, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: Vec<Entry>,
}

impl Ledger {
    pub(crate) fn note(&mut self, what: &'static str, subject: impl Into<String>) {
        let subject = subject.into();
        self.entries.push(Entry { what, subject });
    }

    /// Everything, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How often something happened.
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
