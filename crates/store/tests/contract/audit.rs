//! The audit log: one chain for each owner, read newest first by its organization and oldest first by the verifier.

use launchway_store::{AuditFilter, AuditHead, AuditRow, ChainedRow, Link, Paging};

use crate::records::{ALL, NOW, an_org, new_id};

/// A line written for the operator.
pub fn audit_line(action: &str) -> AuditRow {
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

/// A hash that shows its inputs.
pub fn link(before: &str, seq: i64, row: &AuditRow) -> Link {
    let name = format!("{seq}.{}", row.action);
    Link {
        hash: format!("{name} after {before}"),
        end: format!("end {name}"),
    }
}

fn lines_of(rows: &[ChainedRow]) -> Vec<AuditRow> {
    rows.iter().map(|line| line.row.clone()).collect()
}

fn everything() -> AuditFilter {
    AuditFilter::default()
}

contract! {
    async fn is_read_newest_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let changed = AuditRow {
            before: Some(r#"{"name":"a"}"#.to_owned()),
            after: Some(r#"{"name":"é"}"#.to_owned()),
            ..audit_line("org.rename")
        };
        // The clock may go back: the order is that of insertion.
        let late = AuditRow { at: NOW - 10, ..audit_line("key.revoke") };
        let created = AuditRow { after: Some(String::new()), ..audit_line("key.create") };
        for row in [&created, &changed, &late] {
            org_writes!(db, org, add_audit(std::slice::from_ref(row), link));
        }
        let all = org_reads!(db, org, audit(&everything(), ALL));
        assert_eq!((lines_of(&all.items), all.total), (vec![late, changed.clone(), created], 3));
        let one = org_reads!(db, org, audit(&everything(), Paging { limit: 1, offset: 1 }));
        assert_eq!((lines_of(&one.items), one.total), (vec![changed], 3));
    }

    async fn each_line_is_chained_to_the_one_before(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        org_writes!(db, org, add_audit(&[audit_line("a"), audit_line("b")], link));
        org_writes!(db, other, add_audit(&[audit_line("x")], link));
        org_writes!(db, org, add_audit(&[], link));
        org_writes!(db, org, add_audit(&[audit_line("c")], link));
        let told = |rows: Vec<ChainedRow>| rows.into_iter().map(|line| (line.seq, line.hash)).collect::<Vec<_>>();
        let chain = told(system_reads!(db, audit_chain(Some(org), 0, 100)));
        let [a, b, c] = [(1, "1.a after "), (2, "2.b after end 1.a"), (3, "3.c after end 2.b")].map(|(seq, hash)| (seq, hash.to_owned()));
        assert_eq!(chain, [a, b.clone(), c]);
        assert_eq!(told(system_reads!(db, audit_chain(Some(org), 1, 1))), [b]);
        assert_eq!(told(system_reads!(db, audit_chain(Some(org), 3, 100))), []);
        let heads = system_reads!(db, audit_heads());
        let head = AuditHead { org_id: Some(org), seq: 3, hash: "end 3.c".to_owned() };
        assert!(heads.contains(&head), "{heads:?}");
        assert!(heads.contains(&AuditHead { org_id: Some(other), seq: 1, hash: "end 1.x".to_owned() }), "{heads:?}");
    }

    async fn the_installation_has_a_log_of_its_own(db: &TestDb) {
        let org = an_org(db).await.id;
        system_writes!(db, add_own_audit(&audit_line("master_key.rotate"), link));
        system_writes!(db, add_own_audit(&audit_line("backup"), link));
        let own = system_reads!(db, audit_chain(None, 0, 100));
        let lines = [audit_line("master_key.rotate"), audit_line("backup")];
        assert_eq!((lines_of(&own), own[1].seq), (lines.to_vec(), 2));
        assert_eq!(org_reads!(db, org, audit(&everything(), ALL)).total, 0);
    }

    /// A completely deleted chain is noticed, because every organization writes a line when it is created.
    async fn the_ends_of_all_chains_are_told(db: &TestDb) {
        let (silent, beheaded, gone) = (an_org(db).await.id, an_org(db).await.id, new_id());
        assert_eq!(system_reads!(db, audit_heads()).len(), 2, "the installation has none before its first line");
        org_writes!(db, beheaded, add_audit(&[audit_line("a")], link));
        db.raw("DELETE FROM audit_heads").await;
        org_writes!(db, gone, add_audit(&[audit_line("a")], link));
        system_writes!(db, add_own_audit(&audit_line("a"), link));
        let none = |org_id| AuditHead { org_id, seq: 0, hash: String::new() };
        let one = |org_id| AuditHead { org_id, seq: 1, hash: "end 1.a".to_owned() };
        let heads = [one(None), none(Some(silent)), none(Some(beheaded)), one(Some(gone))];
        assert_eq!(system_reads!(db, audit_heads()), heads);
    }

    async fn is_narrowed_by_each_field_and_by_all(db: &TestDb) {
        let org = an_org(db).await.id;
        let rows = [
            AuditRow { at: NOW, ..audit_line("a") },
            AuditRow { at: NOW + 1, actor: "user_x".to_owned(), ..audit_line("a") },
            AuditRow { at: NOW + 2, resource: "update_x".to_owned(), ..audit_line("b") },
        ];
        org_writes!(db, org, add_audit(&rows, link));
        let text = |text: &str| Some(text.to_owned());
        let cases = [
            (AuditFilter { actor: text("user_x"), ..everything() }, vec![2]),
            (AuditFilter { action: text("a"), ..everything() }, vec![2, 1]),
            (AuditFilter { resource: text("update_x"), ..everything() }, vec![3]),
            (AuditFilter { since: Some(NOW + 1), ..everything() }, vec![3, 2]),
            (AuditFilter { until: Some(NOW + 1), ..everything() }, vec![1]),
            (AuditFilter { since: Some(NOW + 1), until: Some(NOW + 2), action: text("a"), ..everything() }, vec![2]),
            (AuditFilter { actor: text("user_x"), action: text("b"), ..everything() }, vec![]),
            (AuditFilter { actor: text(""), ..everything() }, vec![]),
            (AuditFilter { actor_part: text("R_X"), ..everything() }, vec![2]),
            (AuditFilter { action_part: text("b"), ..everything() }, vec![3]),
            (AuditFilter { resource_part: text("date_"), action_part: text("B"), ..everything() }, vec![3]),
            (AuditFilter { resource_part: text("date%"), ..everything() }, vec![]),
        ];
        for (filter, wanted) in cases {
            let found = org_reads!(db, org, audit(&filter, ALL));
            let numbers: Vec<_> = found.items.iter().map(|line| line.seq).collect();
            assert_eq!((numbers, found.total), (wanted.clone(), wanted.len() as i64), "{filter:?}");
        }
    }

    async fn who_adds_at_once_adds_one_after_the_other(db: &TestDb) {
        let org = an_org(db).await.id;
        db.at_once(8, |db, _| async move {
            org_writes!(db, org, add_audit(&[audit_line("a"), audit_line("b")], link));
        })
        .await;
        let chain = system_reads!(db, audit_chain(Some(org), 0, 100));
        assert_eq!(chain.len(), 16);
        let mut before = String::new();
        for (at, line) in chain.into_iter().enumerate() {
            let linked = link(&before, line.seq, &line.row);
            assert_eq!((line.seq, line.hash), (at as i64 + 1, linked.hash));
            before = linked.end;
        }
    }
}
