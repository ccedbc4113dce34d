//! Events: each fanned out once, oldest first, by any node, and deleted later.

use std::collections::HashSet;
use std::time::Duration;

use launchway_domain::id::{EventId, OrgId};
use launchway_store::EventRow;
use launchway_testing::wait::until;

use crate::records::{NOW, an_org, new_id};

fn event(kind: &str) -> EventRow {
    EventRow {
        id: new_id(),
        kind: kind.to_owned(),
        at: NOW,
        data: r#"{"id":"update_x","name":"é ' \" \\"}"#.to_owned(),
    }
}

contract! {
    async fn events_are_taken_oldest_first_whoever_they_belong_to(db: &TestDb) {
        let orgs = [an_org(db).await.id, an_org(db).await.id];
        assert!(!system_reads!(db, has_events_to_fan_out()));
        let made: Vec<(OrgId, EventRow)> = (0..5).map(|at| (orgs[at % 2], event("update.published"))).collect();
        for at in [3, 0, 4, 1, 2] {
            let (org, event) = &made[at];
            org_writes!(db, *org, add_event(event));
        }
        assert!(system_reads!(db, has_events_to_fan_out()));
        assert_eq!(system_writes!(db, take_events(3, NOW)), made[..3]);
        assert!(system_reads!(db, has_events_to_fan_out()));
        assert_eq!(system_writes!(db, take_events(3, NOW)), made[3..]);
        assert_eq!(system_writes!(db, take_events(3, NOW)), []);
        assert!(!system_reads!(db, has_events_to_fan_out()));
    }

    /// Ids contain the time before their transaction: a slow one commits after younger ids.
    async fn an_event_that_is_committed_late_is_not_passed_over(db: &TestDb) {
        let org = an_org(db).await.id;
        let (old, young) = (event("update.published"), event("update.changed"));
        org_writes!(db, org, add_event(&young));
        assert_eq!(system_writes!(db, take_events(10, NOW)), [(org, young)]);
        org_writes!(db, org, add_event(&old));
        assert_eq!(system_writes!(db, take_events(10, NOW)), [(org, old)]);
    }

    async fn what_a_node_took_and_did_not_commit_is_taken_again(db: &TestDb) {
        let org = an_org(db).await.id;
        let event = event("update.published");
        org_writes!(db, org, add_event(&event));
        let mut tx = db.write().await.unwrap();
        assert_eq!(tx.system("a test").take_events(10, NOW).await.unwrap().len(), 1);
        drop(tx);
        // The connection rolls back when it returns to the pool, a moment later.
        let (taken, _) = until(Duration::from_secs(60), "the connection is back", async || {
            Some(system_writes!(db, take_events(10, NOW))).filter(|taken| !taken.is_empty())
        })
        .await;
        assert_eq!(taken, [(org, event)]);
    }

    async fn many_nodes_take_each_event_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let made: HashSet<EventId> = {
            let mut ids = HashSet::new();
            for _ in 0..60 {
                let event = event("update.changed");
                org_writes!(db, org, add_event(&event));
                ids.insert(event.id);
            }
            ids
        };
        let taken = db
            .at_once(8, |db, _| async move {
                let mut ids = Vec::new();
                while system_reads!(db, has_events_to_fan_out()) {
                    ids.extend(system_writes!(db, take_events(3, NOW)).into_iter().map(|(_, event)| event.id));
                }
                ids
            })
            .await
            .concat();
        assert_eq!(taken.len(), made.len(), "none twice");
        assert_eq!(taken.into_iter().collect::<HashSet<_>>(), made);
    }

    async fn only_old_events_that_are_fanned_out_are_forgotten(db: &TestDb) {
        let org = an_org(db).await.id;
        for fanned_out in [NOW - 2, NOW - 1, NOW] {
            org_writes!(db, org, add_event(&event("update.changed")));
            assert_eq!(system_writes!(db, take_events(10, fanned_out)).len(), 1);
        }
        org_writes!(db, org, add_event(&event("update.changed")));
        assert_eq!(system_writes!(db, forget_events_before(NOW, 1)), 1);
        assert_eq!(system_writes!(db, forget_events_before(NOW, 10)), 1);
        assert_eq!(system_writes!(db, forget_events_before(NOW, 10)), 0);
        assert_eq!(db.rows_of("events").await.len(), 2);
        assert!(system_reads!(db, has_events_to_fan_out()));
    }
}
