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
    /// The index of checks: the commit returns after it has followed this bundle.
    Updates(BundleId),
}

/// The signals of a change, each at most once, in the order of their first use.
#[derive(Debug, Default)]
pub struct Signals(Vec<Signal>);

impl Signals {
    /// Adds a signal, unless the change has it already. Returns whether it was new.
    pub fn add(&mut self, signal: Signal) -> bool {
        let is_new = !self.0.contains(&signal);
        if is_new {
            self.0.push(signal);
        }
        is_new
    }

    /// Sends them all. The index is followed last, because it is waited for.
    pub async fn send(self, app: &App) {
        let mut updates_changed = false;
        for signal in self.0 {
            match signal {
                Signal::Webhooks => {
                    app.webhooks.events.notify_one();
                    app.webhooks.deliveries.notify_one();
                }
                Signal::Runners => app.build_queue.notify_waiters(),
                Signal::Submissions => app.submissions.notify_one(),
                Signal::Build(id) => app.build_news.notify(id),
                Signal::Updates(_) => updates_changed = true,
            }
        }
        if updates_changed {
            // The change is durable regardless; the follower retries by itself.
            if let Err(error) = app.index.catch_up(&app.db).await {
                tracing::warn!(%error, "the index of checks is behind the database");
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
        let bundle = |name| Signal::Updates(BundleId::parse(name).expect("a bundle id"));
        let mut signals = Signals::default();
        assert!(signals.add(Signal::Webhooks));
        assert!(signals.add(bundle("com.example.a")));
        assert!(!signals.add(Signal::Webhooks));
        assert!(!signals.add(bundle("com.example.a")));
        assert!(signals.add(bundle("com.example.b")), "each bundle is one of its own");
        assert_eq!(signals.0.len(), 3);
    }
}
