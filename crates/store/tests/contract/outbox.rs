//! Events: in the order they were written.

use launchway_domain::id::OrgId;
use launchway_store::EventRow;

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
    async fn events_are_read_oldest_first_whoever_they_belong_to(db: &TestDb) {
        let orgs = [an_org(db).await.id, an_org(db).await.id];
        let made: Vec<(OrgId, EventRow)> = (0..5).map(|at| (orgs[at % 2], event("update.published"))).collect();
        for at in [3, 0, 4, 1, 2] {
            let (org, event) = &made[at];
            org_writes!(db, *org, add_event(event));
        }
        assert_eq!(system_reads!(db, events_after("", 100)), made);
        let after = made[1].1.id.to_string();
        assert_eq!(system_reads!(db, events_after(&after, 2)), made[2..4]);
        let last = made[4].1.id.to_string();
        assert_eq!(system_reads!(db, events_after(&last, 100)), []);
    }
}
