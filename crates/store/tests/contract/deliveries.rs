//! Deliveries: each is claimed by one node at a time, an outdated claim has no effect, and reported attempts are stored.

use std::collections::HashMap;

use launchway_domain::id::DeliveryId;
use launchway_domain::time::{DAY, MINUTE};
use launchway_domain::webhook::{Delivery, DeliveryAttempt, DeliveryStatus, Webhook, WebhookStatus};
use launchway_domain::webhook_retry::NextStep;
use launchway_store::{AttemptReport, ClaimedDelivery, Db, Paging};

use crate::records::{ALL, NOW, an_org, new_id};
use crate::webhooks::{a_webhook, plain_url};

/// A delivery that is due immediately, not stored yet.
pub fn new_delivery(webhook: &Webhook) -> Delivery {
    Delivery {
        id: new_id(),
        org_id: webhook.org_id,
        webhook_id: webhook.id,
        event_id: new_id(),
        kind: "update.published".to_owned(),
        body: r#"{"type":"update.published","data":{"a":"é"}}"#.to_owned(),
        status: DeliveryStatus::Pending,
        reason: None,
        tries: 0,
        due_at: NOW,
        created_at: NOW,
    }
}

/// Stores a delivery that is due immediately.
pub async fn a_delivery(db: &Db, webhook: &Webhook) -> Delivery {
    let delivery = new_delivery(webhook);
    assert!(org_writes!(db, webhook.org_id, add_delivery(&delivery)));
    delivery
}

/// A report of an attempt under a claim.
pub fn a_report(delivery: &Delivery, claim: i64, next: NextStep) -> AttemptReport {
    let error = (next != NextStep::Done).then(|| "The receiver responded with status 500".to_owned());
    AttemptReport {
        id: delivery.id,
        claim,
        tried: DeliveryAttempt {
            at: NOW,
            took_ms: 17,
            response_status: Some(if error.is_some() { 500 } else { 204 }),
            error,
        },
        next,
    }
}

const LAPSE: i64 = NOW + MINUTE;

fn ids(claimed: &[ClaimedDelivery]) -> Vec<DeliveryId> {
    claimed.iter().map(|claimed| claimed.id).collect()
}

contract! {
    async fn comes_back_as_it_was_kept(db: &TestDb) {
        let org = an_org(db).await.id;
        let (webhook, other) = (a_webhook(db, org).await, a_webhook(db, org).await);
        assert_eq!(org_reads!(db, org, last_deliveries(&[webhook.id])), HashMap::new());
        let (mut made, mut last_other) = (Vec::new(), None);
        for _ in 0..3 {
            made.insert(0, a_delivery(db, &webhook).await);
            last_other = Some(a_delivery(db, &other).await);
        }
        let ended = Delivery {
            status: DeliveryStatus::Canceled,
            reason: Some("why".to_owned()),
            ..new_delivery(&webhook)
        };
        assert!(org_writes!(db, org, add_delivery(&ended)));
        made.insert(0, ended);
        for (limit, offset, range) in [(100, 0, 0..4), (2, 1, 1..3), (2, 4, 4..4)] {
            let rows = org_reads!(db, org, deliveries(webhook.id, Paging { limit, offset }));
            assert_eq!((rows.items.as_slice(), rows.total), (&made[range], 4));
        }
        assert_eq!(org_reads!(db, org, delivery(made[2].id)), Some(made[2].clone()));
        let last = HashMap::from([(webhook.id, made[0].clone()), (other.id, last_other.unwrap())]);
        assert_eq!(org_reads!(db, org, last_deliveries(&[webhook.id, new_id(), other.id])), last);
        assert_eq!(org_reads!(db, org, delivery(new_id())), None);
        assert_eq!(org_reads!(db, org, deliveries(new_id(), ALL)).total, 0);
        let strange = Delivery { webhook_id: new_id(), ..new_delivery(&webhook) };
        assert!(!org_writes!(db, org, add_delivery(&strange)));
    }

    async fn webhooks_with_due_deliveries_come_longest_waiting_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let [late, early, later, disabled, _idle] = [
            a_webhook(db, org).await,
            a_webhook(db, an_org(db).await.id).await,
            a_webhook(db, org).await,
            a_webhook(db, org).await,
            a_webhook(db, org).await,
        ];
        for (webhook, due_at) in [(&late, 5), (&late, 9), (&early, 1), (&early, 9), (&later, 8), (&disabled, 0)] {
            let delivery = Delivery { due_at: NOW + due_at, ..new_delivery(webhook) };
            assert!(org_writes!(db, webhook.org_id, add_delivery(&delivery)));
        }
        org_writes!(db, org, change_webhook(&Webhook { status: WebhookStatus::Disabled, ..disabled }));
        for (now, limit, wanted) in [
            (NOW, 9, vec![]),
            (NOW + 1, 9, vec![&early]),
            (NOW + 7, 9, vec![&early, &late]),
            (NOW + 8, 9, vec![&early, &late, &later]),
            (NOW + 8, 2, vec![&early, &late]),
        ] {
            let due = system_reads!(db, due_webhooks(now, limit));
            let found: Vec<_> = due.iter().map(|due| (due.id, due.org_id)).collect();
            let wanted: Vec<_> = wanted.iter().map(|webhook| (webhook.id, webhook.org_id)).collect();
            assert_eq!(found, wanted, "{}", now - NOW);
        }
        let due = &system_reads!(db, due_webhooks(NOW + 1, 9))[0];
        assert_eq!((&due.url, due.kind, due.secrets.sealed.as_str()), (&plain_url(), early.kind, "sealed"));
    }

    async fn a_claim_holds_until_it_lapses(db: &TestDb) {
        let org = an_org(db).await.id;
        let (webhook, other) = (a_webhook(db, org).await, a_webhook(db, org).await);
        let (first, second) = (a_delivery(db, &webhook).await, a_delivery(db, &webhook).await);
        a_delivery(db, &other).await;
        let not_yet = Delivery { due_at: NOW + 1, ..new_delivery(&webhook) };
        assert!(org_writes!(db, org, add_delivery(&not_yet)));
        let claimed = system_writes!(db, claim_deliveries(webhook.id, NOW, LAPSE, 1));
        let wanted = ClaimedDelivery { id: first.id, event_id: first.event_id, body: first.body.clone(), tries: 0, claim: 1 };
        assert_eq!(claimed, [wanted]);
        assert_eq!(ids(&system_writes!(db, claim_deliveries(webhook.id, NOW, LAPSE, 9))), [second.id]);
        assert_eq!(system_writes!(db, claim_deliveries(webhook.id, NOW, LAPSE, 9)), []);
        let later = system_writes!(db, claim_deliveries(webhook.id, LAPSE - 1, LAPSE + 1, 9));
        assert_eq!(ids(&later), [not_yet.id]);
        let again = system_writes!(db, claim_deliveries(webhook.id, LAPSE, LAPSE + MINUTE, 9));
        assert_eq!(ids(&again), [first.id, second.id]);
        assert!(again.iter().all(|claimed| claimed.claim == 2 && claimed.tries == 0));
    }

    async fn many_nodes_claim_each_delivery_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let webhook = a_webhook(db, org).await;
        for _ in 0..60 {
            a_delivery(db, &webhook).await;
        }
        let claimed = db
            .at_once(8, |db, _| async move {
                let mut claimed = Vec::new();
                while !system_reads!(db, due_webhooks(NOW, 1)).is_empty() {
                    claimed.extend(system_writes!(db, claim_deliveries(webhook.id, NOW, LAPSE, 3)));
                }
                claimed
            })
            .await
            .concat();
        let mut times: HashMap<DeliveryId, u32> = HashMap::new();
        for one in &claimed {
            *times.entry(one.id).or_default() += 1;
        }
        assert_eq!((times.len(), claimed.len()), (60, 60));
    }

    async fn what_is_told_of_a_try_is_kept(db: &TestDb) {
        let org = an_org(db).await.id;
        let webhook = a_webhook(db, org).await;
        let delivery = a_delivery(db, &webhook).await;
        let mut tried = Vec::new();
        for (claim, next, status, due_at) in [
            (1, NextStep::RetryAt(NOW + 5), DeliveryStatus::Pending, NOW + 5),
            (2, NextStep::RetryAt(NOW + 9), DeliveryStatus::Pending, NOW + 9),
            (3, NextStep::Done, DeliveryStatus::Succeeded, LAPSE),
        ] {
            assert_eq!(system_writes!(db, claim_deliveries(webhook.id, NOW + 9, LAPSE, 1))[0].claim, claim);
            let report = a_report(&delivery, claim, next);
            assert!(org_writes!(db, org, report_attempt(&report)));
            assert!(!org_writes!(db, org, report_attempt(&a_report(&delivery, claim - 1, NextStep::Done))), "an older claim");
            let now = org_reads!(db, org, delivery(delivery.id)).unwrap();
            assert_eq!((now.status, now.tries, now.due_at), (status, claim, due_at));
            tried.push(report.tried);
            assert_eq!(org_reads!(db, org, delivery_attempts(&[delivery.id])), HashMap::from([(delivery.id, tried.clone())]));
        }
        assert!(!org_writes!(db, org, report_attempt(&a_report(&delivery, 3, NextStep::RetryAt(NOW)))), "it has ended");
        assert_eq!(system_writes!(db, claim_deliveries(webhook.id, LAPSE + DAY, LAPSE, 9)), []);

        let earlier = delivery;
        let delivery = a_delivery(db, &webhook).await;
        let silent = DeliveryAttempt { response_status: None, ..a_report(&delivery, 0, NextStep::GivenUp).tried };
        let report = AttemptReport { tried: silent.clone(), ..a_report(&delivery, 0, NextStep::GivenUp) };
        assert!(org_writes!(db, org, report_attempt(&report)));
        assert_eq!(org_reads!(db, org, delivery(delivery.id)).unwrap().status, DeliveryStatus::Failed);
        let attempts = HashMap::from([(earlier.id, tried), (delivery.id, vec![silent])]);
        assert_eq!(org_reads!(db, org, delivery_attempts(&[delivery.id, earlier.id, new_id()])), attempts);
    }

    async fn pending_ones_are_canceled(db: &TestDb) {
        let org = an_org(db).await.id;
        let (webhook, other) = (a_webhook(db, org).await, a_webhook(db, org).await);
        let [waiting, claimed, done] = [
            a_delivery(db, &webhook).await,
            a_delivery(db, &webhook).await,
            a_delivery(db, &webhook).await,
        ];
        let bystander = a_delivery(db, &other).await;
        assert!(org_writes!(db, org, report_attempt(&a_report(&done, 0, NextStep::Done))));
        assert_eq!(system_writes!(db, claim_deliveries(webhook.id, NOW, LAPSE, 1)).len(), 1);
        assert_eq!(org_writes!(db, org, cancel_deliveries(webhook.id, "why")), 2);
        assert_eq!(org_writes!(db, org, cancel_deliveries(webhook.id, "again")), 0);
        for delivery in [waiting, claimed] {
            let now = org_reads!(db, org, delivery(delivery.id)).unwrap();
            assert_eq!((now.status, now.reason.as_deref()), (DeliveryStatus::Canceled, Some("why")));
            assert!(!org_writes!(db, org, report_attempt(&a_report(&delivery, 1, NextStep::Done))));
        }
        assert_eq!(org_reads!(db, org, delivery(bystander.id)), Some(bystander));
        assert_eq!(system_reads!(db, due_webhooks(NOW + DAY, 9)).len(), 1);
    }

    async fn only_old_ones_that_ended_are_forgotten(db: &TestDb) {
        let org = an_org(db).await.id;
        let webhook = a_webhook(db, org).await;
        let mut made = Vec::new();
        for (created_at, next) in [
            (NOW - 3, NextStep::Done),
            (NOW - 2, NextStep::GivenUp),
            (NOW - 1, NextStep::RetryAt(NOW)),
            (NOW, NextStep::Done),
        ] {
            let delivery = Delivery { created_at, ..new_delivery(&webhook) };
            assert!(org_writes!(db, org, add_delivery(&delivery)));
            assert!(org_writes!(db, org, report_attempt(&a_report(&delivery, 0, next))));
            made.push(delivery.id);
        }
        assert_eq!(system_writes!(db, forget_deliveries_before(NOW, 1)), 1);
        assert_eq!(org_reads!(db, org, delivery(made[0])), None);
        assert_eq!(system_writes!(db, forget_deliveries_before(NOW, 9)), 1);
        assert_eq!(system_writes!(db, forget_deliveries_before(NOW, 9)), 0);
        let left: Vec<_> = org_reads!(db, org, deliveries(webhook.id, ALL)).items;
        assert_eq!(left.iter().map(|delivery| delivery.id).collect::<Vec<_>>(), [made[3], made[2]]);
        assert_eq!(db.rows_of("delivery_tries").await.len(), 2, "tries go with their delivery");
    }
}
