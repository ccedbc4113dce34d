//! Events and audit rows: in the order they were written.

use launchway_domain::id::OrgId;
use launchway_store::{AuditRow, EventRow};

use crate::records::{NOW, an_org, new_id};

fn event(kind: &str) -> EventRow {
    EventRow {
        id: new_id(),
        kind: kind.to_owned(),
        at: NOW,
        data: r#"{"id":"update_x","name":"é ' \" \\"}"#.to_owned(),
    }
}

fn audit_row(action: &str) -> AuditRow {
    AuditRow {
        at: NOW,
        actor: "operator".to_owned(),
        action: action.to_owned(),
        resource: "key_x".to_owned(),
        before: None,
        after: None,
        address: "2001:db8::7".to_owned(),
        request_id: "request".to_owned(),
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

    async fn the_audit_log_is_read_newest_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let changed = AuditRow {
            before: Some(r#"{"name":"a"}"#.to_owned()),
            after: Some(r#"{"name":"é"}"#.to_owned()),
            ..audit_row("org.rename")
        };
        // The clock may go back: the order is that of writing.
        let late = AuditRow { at: NOW - 10, ..audit_row("key.revoke") };
        let created = AuditRow { after: Some(String::new()), ..audit_row("key.create") };
        for row in [&created, &changed, &late] {
            org_writes!(db, org, add_audit(row));
        }
        assert_eq!(org_reads!(db, org, audit(10)), [late.clone(), changed.clone(), created]);
        assert_eq!(org_reads!(db, org, audit(2)), [late, changed]);
    }
}
