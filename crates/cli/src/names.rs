//! The names of what ids stand for, so that people read them beside the ids
//! (`docs/reference/conventions.md#names-beside-ids`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use launchway_api::names::MAX_IDS;
use launchway_client::Client;

use crate::context::Context;

/// A result is not kept back for longer than this because of names.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Names by id.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// Asks the server for the names of these ids. Without an answer, such as from an older server, the ids stand alone;
    /// results as JSON have no names, so nothing is asked for them.
    pub async fn read<'i>(ids: impl IntoIterator<Item = &'i str>, client: &Client, context: &Context) -> Self {
        if context.printer.is_json() {
            return Self::default();
        }
        // Such as `service` or `operator`.
        let is_id = |id: &&str| id.contains('_');
        let ids: BTreeSet<&str> = ids.into_iter().filter(is_id).collect();
        let ids: Vec<&str> = ids.into_iter().take(MAX_IDS).collect();
        if ids.is_empty() {
            return Self::default();
        }
        let answer = tokio::time::timeout(TIMEOUT, client.names(&ids)).await;
        Self(
            answer
                .ok()
                .and_then(Result::ok)
                .map(|answer| answer.value.names)
                .unwrap_or_default(),
        )
    }

    /// One name that is already known.
    pub fn one(id: String, name: String) -> Self {
        Self(BTreeMap::from([(id, name)]))
    }

    /// The id with its name, as far as known.
    pub fn label(&self, id: &str) -> String {
        match self.0.get(id) {
            Some(name) => label(name, id),
            None => id.to_owned(),
        }
    }
}

/// An id with a name that is already known.
pub fn label(name: &str, id: &str) -> String {
    format!("{name} ({id})")
}
