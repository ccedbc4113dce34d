//! Usage: exact under concurrent counting, read by month, newest first.

use launchway_domain::id::OrgId;
use launchway_domain::usage::{Counter, Month, Usage};
use launchway_store::Paging;

use crate::records::{ALL, NOW, an_org, bundle, new_app, new_id};

/// The month of [`NOW`].
fn november() -> Month {
    Month::of(NOW)
}

fn used(month: Month, counts: &[(Counter, i64)]) -> Usage {
    let mut usage = Usage::none(month);
    for (counter, value) in counts {
        usage.set(*counter, *value);
    }
    usage
}

contract! {
    async fn counts_each_counter_of_each_month(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        let december = november().next();
        assert_eq!(org_writes!(db, org, count_usage(Counter::Updates, november(), 1)), 1);
        assert_eq!(org_writes!(db, org, count_usage(Counter::Updates, november(), 2)), 3);
        assert_eq!(org_writes!(db, org, count_usage(Counter::Bytes, november(), i64::MAX / 2)), i64::MAX / 2);
        assert_eq!(org_writes!(db, org, count_usage(Counter::Updates, december, 5)), 5);
        assert_eq!(org_writes!(db, other, count_usage(Counter::Updates, november(), 9)), 9);
        let of_november = used(november(), &[(Counter::Updates, 3), (Counter::Bytes, i64::MAX / 2)]);
        assert_eq!(org_reads!(db, org, usage_of(november())), Some(of_november.clone()));
        assert_eq!(org_reads!(db, org, usage_of(december.next())), None);
        let of_december = used(december, &[(Counter::Updates, 5)]);
        let months = org_reads!(db, org, usage(ALL));
        assert_eq!((months.items, months.total), (vec![of_december, of_november], 2));
    }

    async fn every_counter_comes_back(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut all = Usage::none(november());
        for (at, counter) in Counter::ALL.into_iter().enumerate() {
            all.set(counter, at as i64 + 1);
            org_writes!(db, org, count_usage(counter, november(), at as i64 + 1));
        }
        assert_eq!(org_reads!(db, org, usage_of(november())), Some(all));
    }

    async fn a_page_holds_whole_months(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut month = november();
        for value in 1..=5 {
            for counter in [Counter::Updates, Counter::Bytes] {
                org_writes!(db, org, count_usage(counter, month, value));
            }
            month = month.next();
        }
        let page = org_reads!(db, org, usage(Paging { limit: 2, offset: 1 }));
        let values: Vec<_> = page.items.iter().map(|usage| (usage.get(Counter::Updates), usage.get(Counter::Bytes))).collect();
        assert_eq!((values, page.total), (vec![(4, 4), (3, 3)], 5));
    }

    async fn who_counts_at_once_sees_each_value_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut seen = db
            .at_once(12, |db, _| async move { org_writes!(db, org, count_usage(Counter::Updates, november(), 1)) })
            .await;
        seen.sort_unstable();
        assert_eq!(seen, (1..=12).collect::<Vec<i64>>());
    }

    async fn what_is_rolled_back_is_not_counted(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut tx = db.write().await.unwrap();
        assert_eq!(tx.org(org).count_usage(Counter::Updates, november(), 1).await.unwrap(), 1);
        drop(tx);
        assert_eq!(org_reads!(db, org, usage_of(november())), None);
        assert_eq!(org_writes!(db, org, count_usage(Counter::Updates, november(), 1)), 1);
    }

    /// Nodes that add the same organizations in different orders do not deadlock.
    async fn checks_of_many_organizations_are_added_at_once(db: &TestDb) {
        let mut orgs: Vec<OrgId> = Vec::new();
        for _ in 0..5 {
            orgs.push(an_org(db).await.id);
        }
        db.at_once(8, |db, number| {
            let mut checks: Vec<_> = orgs.iter().map(|org| (*org, november(), 2)).collect();
            checks.rotate_left(number % 5);
            async move { system_writes!(db, add_checks(&checks)) }
        })
        .await;
        for org in orgs {
            assert_eq!(org_reads!(db, org, usage_of(november())), Some(used(november(), &[(Counter::Checks, 16)])));
        }
    }

    async fn a_bundle_has_one_owner_also_when_its_app_is_deleted(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.Example.App");
        assert_eq!(system_reads!(db, bundle_owner("com.example.app")), None);
        let app = new_app(org, &name);
        org_writes!(db, org, claim_app(&name, &app));
        assert_eq!(system_reads!(db, bundle_owner(&name.key())), Some(org));
        org_writes!(db, org, delete_app(app.id, NOW));
        assert_eq!(system_reads!(db, bundle_owner(&name.key())), Some(org));
        system_writes!(db, transfer_app(&name, other, NOW));
        assert_eq!(system_reads!(db, bundle_owner(&name.key())), Some(other));
        assert_eq!(org_reads!(db, new_id(), usage(ALL)).total, 0);
    }
}
