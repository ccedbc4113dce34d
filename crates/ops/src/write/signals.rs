//! What a change wakes in this process once it is durable. Other nodes poll the database.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::BuildId;

use crate::app::App;

/// What a durable change wakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The fan-out of events, and the delivery of webhooks.
    Webhooks,
    /// Runners that wait for a build.
    Runners,
    /// The job for submissions.
    Submissions,
    /// Followers of a build.
    Build(BuildId),
}

/// The signals of a change, each at most once, in the order of their first use.
#[derive(Debug, Default)]
pub struct Signals {
    signals: Vec<Signal>,
    /// The bundles whose updates changed, and the revision of each: the commit returns after the index of checks has followed them.
    updates: Vec<(BundleId, i64)>,
}

impl Signals {
    /// Adds a signal, unless the change has it already. Returns whether it was new.
    pub fn add(&mut self, signal: Signal) -> bool {
        let is_new = !self.signals.contains(&signal);
        if is_new {
            self.signals.push(signal);
        }
        is_new
    }

    /// Whether the updates of a bundle change.
    pub fn has_updates(&self, bundle: &BundleId) -> bool {
        self.updates.iter().any(|(known, _)| known == bundle)
    }

    /// Adds the updates of a bundle, and the revision of the change.
    pub fn add_updates(&mut self, bundle: BundleId, revision: i64) {
        self.updates.push((bundle, revision));
    }

    /// Sends them all. The index is followed last, because it is waited for.
    pub async fn send(self, app: &App) {
        for signal in self.signals {
            match signal {
                Signal::Webhooks => {
                    app.webhooks.events.notify_one();
                    app.webhooks.deliveries.notify_one();
                }
                Signal::Runners => app.build_queue.notify_waiters(),
                Signal::Submissions => app.submissions.notify_one(),
                Signal::Build(id) => app.build_news.notify(id),
            }
        }
        if !self.updates.is_empty() {
            let (index, db) = (app.index.clone(), app.db.clone());
            // Goes on without the client of the request, because what it withdrew may have to be hidden.
            let followed = tokio::spawn(async move { index.catch_up_with(&db, &self.updates).await });
            // The change is durable regardless; the follower retries by itself.
            match followed.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "the index of checks is behind the database"),
                Err(error) => tracing::error!(%error, "following a change of updates failed"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use launchway_domain::bundle_id::BundleId;

    use super::{Signal, Signals};

    #[test]
    fn a_signal_is_sent_once_however_often_it_is_named() {
        let mut signals = Signals::default();
        assert!(signals.add(Signal::Webhooks));
        assert!(signals.add(Signal::Runners));
        assert!(!signals.add(Signal::Webhooks));
        assert_eq!(signals.signals.len(), 2);
    }

    #[test]
    fn the_updates_of_a_bundle_are_known_in_any_spelling() {
        let bundle = |name| BundleId::parse(name).expect("a bundle id");
        let mut signals = Signals::default();
        assert!(!signals.has_updates(&bundle("com.example.a")));
        signals.add_updates(bundle("com.example.a"), 7);
        assert!(signals.has_updates(&bundle("com.example.a")) && signals.has_updates(&bundle("com.Example.a")));
        assert!(!signals.has_updates(&bundle("com.example.b")));
    }
}
