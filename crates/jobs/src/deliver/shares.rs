//! Fair scheduling of deliveries: a free place goes to the organization that uses the fewest, then to its webhook that
//! uses the fewest, then to the one that waits longest. So slow receivers of one organization delay nobody else's.

use std::collections::HashMap;

use launchway_domain::id::{OrgId, WebhookId};
use launchway_store::DueWebhook;

/// Concurrent tries of one webhook.
pub const OF_ONE: usize = 8;

/// The number of places in use, by organization and webhook.
#[derive(Clone, Debug, Default)]
pub struct Load {
    orgs: HashMap<OrgId, usize>,
    webhooks: HashMap<WebhookId, usize>,
}

impl Load {
    /// Counts the places in use.
    pub fn of<'p>(places: impl IntoIterator<Item = &'p (OrgId, WebhookId)>) -> Load {
        let mut load = Load::default();
        for (org, webhook) in places {
            load.take(*org, *webhook);
        }
        load
    }

    fn take(&mut self, org: OrgId, webhook: WebhookId) {
        *self.orgs.entry(org).or_default() += 1;
        *self.webhooks.entry(webhook).or_default() += 1;
    }

    fn used(&self, webhook: &DueWebhook) -> (usize, usize) {
        let count = |used: Option<&usize>| used.copied().unwrap_or(0);
        (
            count(self.orgs.get(&webhook.org_id)),
            count(self.webhooks.get(&webhook.id)),
        )
    }
}

/// Distributes `free` places among webhooks, which are in the order of their waiting. Returns how many each gets. Those
/// with the fewest places come first.
pub fn share<'d>(due: &'d [DueWebhook], load: &Load, free: usize) -> Vec<(&'d DueWebhook, i64)> {
    let mut load = load.clone();
    let mut shares = vec![0; due.len()];
    for _ in 0..free {
        let open = due
            .iter()
            .enumerate()
            .filter(|(_, webhook)| load.used(webhook).1 < OF_ONE);
        let Some((next, webhook)) = open.min_by_key(|(at, webhook)| (load.used(webhook), *at)) else {
            break;
        };
        load.take(webhook.org_id, webhook.id);
        shares[next] += 1;
    }
    due.iter().zip(shares).filter(|(_, places)| *places > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_domain::webhook::WebhookType;
    use launchway_store::{StoredUrl, WebhookSecrets};
    use proptest::prelude::*;

    fn webhook(org: u8, number: u8) -> DueWebhook {
        DueWebhook {
            id: WebhookId::new(1, [org, number, 0, 0, 0, 0, 0, 0, 0, 0]),
            org_id: OrgId::new(1, [org; 10]),
            kind: WebhookType::Generic,
            url: StoredUrl::Plain(String::new()),
            secrets: WebhookSecrets {
                sealed: String::new(),
                old: Vec::new(),
            },
        }
    }

    fn shares(due: &[DueWebhook], taken: &[(&DueWebhook, usize)], free: usize) -> Vec<(usize, i64)> {
        let taken = taken
            .iter()
            .flat_map(|(webhook, places)| std::iter::repeat_n((webhook.org_id, webhook.id), *places));
        let taken: Vec<_> = taken.collect();
        let place = |shared: &DueWebhook| due.iter().position(|webhook| webhook.id == shared.id).unwrap();
        share(due, &Load::of(&taken), free)
            .into_iter()
            .map(|(webhook, places)| (place(webhook), places))
            .collect()
    }

    #[test]
    fn places_are_shared_evenly() {
        let due = [webhook(1, 1), webhook(2, 1), webhook(2, 2)];
        assert_eq!(shares(&due, &[], 1), [(0, 1)], "who waits longest");
        assert_eq!(
            shares(&due, &[], 4),
            [(0, 2), (1, 1), (2, 1)],
            "each organization as much"
        );
        assert_eq!(
            shares(&due, &[], 100),
            [(0, 8), (1, 8), (2, 8)],
            "and no webhook more than its part"
        );
        assert_eq!(shares(&due, &[], 0), []);
    }

    #[test]
    fn who_has_many_places_waits() {
        let due = [webhook(1, 1), webhook(1, 2), webhook(2, 1)];
        assert_eq!(shares(&due, &[(&due[0], 8)], 1), [(2, 1)]);
        assert_eq!(shares(&due, &[(&due[0], 8)], 9), [(1, 1), (2, 8)]);
        let slow: Vec<DueWebhook> = (0..50).map(|number| webhook(1, number)).collect();
        let busy: Vec<_> = slow.iter().map(|webhook| (webhook, 1)).collect();
        let mut due = slow.clone();
        due.push(webhook(2, 1));
        assert_eq!(
            shares(&due, &busy, 1),
            [(50, 1)],
            "another organization is not held up by fifty slow ones"
        );
    }

    proptest! {
        #[test]
        fn nobody_gets_too_much_and_no_place_stays_free(orgs in prop::collection::vec(0u8..4, 0..20), free in 0usize..70) {
            let due: Vec<DueWebhook> = orgs.iter().zip(0..).map(|(org, number)| webhook(*org, number)).collect();
            let shared = shares(&due, &[], free);
            let given: usize = shared.iter().map(|(_, places)| *places as usize).sum();
            prop_assert_eq!(given, free.min(due.len() * OF_ONE));
            prop_assert!(shared.iter().all(|(_, places)| (1..=OF_ONE as i64).contains(places)));
        }
    }
}
