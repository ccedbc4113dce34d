//! The answer that brings a client everything newer in one trip (`docs/reference/trust.md#one-trip`).

use std::collections::BTreeMap;

use launchway_trust::one_trip::{MAX_ROOTS_OF_ANSWER, TrustAnswer};

use super::{Listing, TrustSet, file_name};

/// What a client has, and which roles it follows.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrustQuery<'q> {
    /// The version of its root; 0 for none.
    pub root: u64,
    /// The version of its snapshot; 0 for none.
    pub snapshot: u64,
    /// The configuration that its app was built with.
    pub configuration: Option<&'q str>,
}

impl TrustSet {
    /// What is newer than what a client has, as JSON, in the order in which it takes the files. A client whose chain of
    /// roots does not end here gets roots only, because it asks again before it reads anything else.
    pub fn answer(&self, query: &TrustQuery<'_>) -> String {
        let next = query.root.saturating_add(1);
        let roots = (next..=self.root).map_while(|version| self.text("root", version));
        let roots: Vec<String> = roots.take(MAX_ROOTS_OF_ANSWER).collect();
        if roots.len() == MAX_ROOTS_OF_ANSWER {
            return TrustAnswer {
                roots,
                ..TrustAnswer::default()
            }
            .to_json();
        }
        let listing = &self.current;
        // After a new root a client forgets what its keys did not sign.
        let known = if roots.is_empty() {
            self.listing(query.snapshot)
        } else {
            None
        };
        let has = |role: &str| known.is_some_and(|known| known.roles.get(role) == listing.roles.get(role));
        // New targets may name other keys of the delegated roles.
        let has_targets = has("targets");
        let own = query.configuration.map(|label| format!("c-{label}"));
        let wanted = own.into_iter().chain(["any".to_owned()]);
        let missing = wanted.filter(|role| !(has_targets && has(role)));
        let delegated: BTreeMap<String, String> = missing
            .filter_map(|role| self.listed_text(&role).map(|text| (role, text)))
            .collect();
        let has_snapshot = known.is_some_and(|known| known.snapshot == listing.snapshot);
        TrustAnswer {
            roots,
            timestamp: self.text("timestamp", 0),
            snapshot: (!has_snapshot)
                .then(|| self.text("snapshot", listing.snapshot))
                .flatten(),
            targets: (!has_targets).then(|| self.listed_text("targets")).flatten(),
            delegated,
        }
        .to_json()
    }

    /// What a client with this snapshot has, if that is known here.
    fn listing(&self, snapshot: u64) -> Option<&Listing> {
        let mut known = [Some(&self.current), self.previous.as_ref()].into_iter().flatten();
        known.find(|listing| listing.snapshot == snapshot)
    }

    /// The file of a role that the current snapshot lists.
    fn listed_text(&self, role: &str) -> Option<String> {
        self.text(role, *self.current.roles.get(role)?)
    }

    fn text(&self, role: &str, version: u64) -> Option<String> {
        let file = self.files.get(&*file_name(role, version))?;
        String::from_utf8(file.bytes.to_vec()).ok()
    }
}
