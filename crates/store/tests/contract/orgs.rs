//! Organizations and the facts of the installation.

use launchway_domain::org::Org;
use launchway_domain::tenancy::Tier;

use crate::records::{an_org, new_id, new_org};

contract! {
    async fn keeps_an_organization(db: &TestDb) {
        assert!(!system_reads!(db, has_orgs()), "a fresh database has none");
        assert_eq!(system_reads!(db, first_org()), None);
        for tier in Tier::ALL {
            let org = Org { tier, ..new_org() };
            system_writes!(db, create_org(&org));
            assert_eq!(org_reads!(db, org.id, record()), Some(org.clone()));
        }
        assert!(system_reads!(db, has_orgs()));
        assert!(system_reads!(db, first_org()).is_some());
    }

    async fn knows_no_other(db: &TestDb) {
        an_org(db).await;
        assert_eq!(org_reads!(db, new_id(), record()), None);
    }

    async fn changes_name_and_tier_of_one(db: &TestDb) {
        let (org, bystander) = (an_org(db).await, an_org(db).await);
        org_writes!(db, org.id, rename("Other name"));
        org_writes!(db, org.id, set_tier(Tier::Free));
        let changed = Org { name: "Other name".to_owned(), tier: Tier::Free, ..org };
        assert_eq!(org_reads!(db, changed.id, record()), Some(changed));
        assert_eq!(org_reads!(db, bystander.id, record()), Some(bystander));
    }

    async fn a_lock_orders_what_happens_behind_it(db: &TestDb) {
        let org = an_org(db).await;
        let mut first = db.write().await.unwrap();
        first.org(org.id).lock().await.unwrap();
        let (db2, id) = ((*db).clone(), org.id);
        let second = tokio::spawn(async move {
            let mut tx = db2.write().await.unwrap();
            tx.org(id).lock().await.unwrap();
            let seen = tx.org(id).record().await.unwrap().unwrap().name;
            tx.commit().await.unwrap();
            seen
        });
        db.until_one_waits().await;
        assert!(!second.is_finished(), "it must wait for the first");
        first.org(org.id).rename("renamed").await.unwrap();
        first.commit().await.unwrap();
        assert_eq!(second.await.unwrap(), "renamed");
        assert_eq!(org_reads!(db, org.id, record()), Some(Org { name: "renamed".to_owned(), ..org }));
    }

    async fn facts_are_kept_replaced_and_removed(db: &TestDb) {
        assert_eq!(system_reads!(db, meta("a")), None);
        assert_eq!(system_writes!(db, keep_meta("a", "1")), "1");
        assert_eq!(system_writes!(db, keep_meta("a", "2")), "1", "the first stays");
        assert_eq!(system_writes!(db, keep_meta("b", "3")), "3");
        system_writes!(db, set_meta("a", "4"));
        assert_eq!(system_reads!(db, meta("a")).as_deref(), Some("4"));
        system_writes!(db, set_meta("c", "5"));
        assert_eq!(system_reads!(db, meta("c")).as_deref(), Some("5"));
        system_writes!(db, drop_meta("a"));
        assert_eq!(system_reads!(db, meta("a")), None);
        assert_eq!(system_reads!(db, meta("b")).as_deref(), Some("3"));
    }

    async fn a_fact_can_be_held_until_the_end_of_a_transaction(db: &TestDb) {
        assert_eq!(system_writes!(db, lock_meta("a")), None);
        system_writes!(db, set_meta("a", "1"));
        let mut first = db.write().await.unwrap();
        assert_eq!(first.system("a test").lock_meta("a").await.unwrap().as_deref(), Some("1"));
        let db2 = (*db).clone();
        let second = tokio::spawn(async move { system_writes!(db2, lock_meta("a")) });
        db.until_one_waits().await;
        assert!(!second.is_finished(), "it must wait for the first");
        first.system("a test").set_meta("a", "2").await.unwrap();
        first.commit().await.unwrap();
        assert_eq!(second.await.unwrap().as_deref(), Some("2"));
    }

    async fn nodes_that_start_together_agree_on_a_fact(db: &TestDb) {
        let kept = db
            .at_once(8, |db, number| async move { system_writes!(db, keep_meta("check", &number.to_string())) })
            .await;
        let stands = system_reads!(db, meta("check")).unwrap();
        assert!(kept.iter().all(|value| *value == stands), "{kept:?} but {stands}");
    }
}
