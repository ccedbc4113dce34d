//! Transactions: atomic, invisible until they are durable, and released whatever happens to their caller.

use launchway_domain::id::OrgId;
use launchway_store::{NewUpdate, StoreError};

use crate::records::{ALL, NOW, an_org, bundle, new_app, new_id, new_key, new_org, new_package, new_update};

contract! {
    async fn a_dropped_one_leaves_nothing(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut before = Vec::new();
        for table in db.tables().await {
            before.push((db.rows_of(&table).await, table));
        }
        let name = bundle("com.example.app");
        let package = new_package(org);
        let update = new_update(&name, &package);
        let mut tx = db.write().await.unwrap();
        tx.system("a test").create_org(&new_org()).await.unwrap();
        let mut door = tx.org(org);
        door.rename("gone").await.unwrap();
        door.claim_app(&name, &new_app(org, &name)).await.unwrap();
        door.touch_updates(&name, NOW).await.unwrap();
        door.create_package(&package, NOW).await.unwrap();
        assert!(door.create_update(&NewUpdate { update: &update, bundle: &name }).await.unwrap());
        assert!(door.update(update.id).await.unwrap().is_some(), "it sees its own writes");
        drop(tx);
        for (rows, table) in before {
            assert_eq!(db.rows_of(&table).await, rows, "{table}");
        }
    }

    async fn a_refused_statement_leaves_nothing_of_its_transaction(db: &TestDb) {
        let org = an_org(db).await.id;
        let (first, twin) = (new_key(org), new_key(org));
        org_writes!(db, org, create_key(&twin));
        let mut tx = db.write().await.unwrap();
        tx.org(org).create_key(&first).await.unwrap();
        let refused = tx.org(org).create_key(&twin).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
        drop(tx);
        assert_eq!(org_reads!(db, org, keys(ALL)).total, 1);
    }

    async fn nobody_sees_what_is_not_committed(db: &TestDb) {
        let org = an_org(db).await;
        let other = db.again().await;
        let mut tx = db.write().await.unwrap();
        tx.org(org.id).rename("new name").await.unwrap();
        for db in [&**db, &other] {
            assert_eq!(org_reads!(db, org.id, record()).unwrap().name, org.name);
        }
        tx.commit().await.unwrap();
        for db in [&**db, &other] {
            assert_eq!(org_reads!(db, org.id, record()).unwrap().name, "new name", "at once, also for readers");
        }
        other.close().await;
    }

    async fn a_reader_stays_in_its_moment(db: &TestDb) {
        let org = an_org(db).await;
        let mut reader = db.read().await.unwrap();
        assert_eq!(reader.org(org.id).record().await.unwrap(), Some(org.clone()));
        org_writes!(db, org.id, rename("new name"));
        let key = new_key(org.id);
        org_writes!(db, org.id, create_key(&key));
        assert_eq!(reader.org(org.id).record().await.unwrap(), Some(org.clone()));
        assert_eq!(reader.org(org.id).keys(ALL).await.unwrap().total, 0);
        drop(reader);
        assert_eq!(org_reads!(db, org.id, keys(ALL)).total, 1);
    }

    async fn one_abandoned_while_it_begins_leaves_its_connection_clean(db: &TestDb) {
        let org = an_org(db).await;
        for polls in (0..8).cycle().take(200) {
            let mut reader = Box::pin(db.read());
            // Stop here: the caller is dropped.
            for _ in 0..polls {
                if futures::poll!(reader.as_mut()).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(reader);
            org_writes!(db, org.id, rename("written"));
        }
    }

    async fn a_reader_cannot_write(db: &TestDb) {
        let org = an_org(db).await;
        let mut reader = db.read().await.unwrap();
        let refused = reader.org(org.id).rename("written").await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
        drop(reader);
        assert_eq!(org_reads!(db, org.id, record()), Some(org));
    }

    async fn readers_do_not_wait_for_a_writer(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut writer = db.write().await.unwrap();
        writer.org(org).touch_updates(&bundle("com.a"), NOW).await.unwrap();
        for _ in 0..20 {
            assert_eq!(system_reads!(db, revision()), 0);
        }
        writer.commit().await.unwrap();
        assert_eq!(system_reads!(db, revision()), 1);
    }

    async fn what_is_committed_is_there_after_opening_anew(db: &TestDb) {
        let org = an_org(db).await;
        db.close().await;
        let again = db.again().await;
        assert_eq!(org_reads!(again, org.id, record()), Some(org));
        again.close().await;
    }

    async fn a_closed_database_is_not_available(db: &TestDb) {
        let other = db.again().await;
        other.close().await;
        assert!(matches!(other.write().await, Err(StoreError::Unavailable(_))));
        assert!(matches!(other.read().await, Err(StoreError::Unavailable(_))));
        assert!(matches!(other.watch().await, Err(StoreError::Unavailable(_))));
    }

    async fn callers_that_go_away_leave_nothing_behind(db: &TestDb) {
        let org: OrgId = an_org(db).await.id;
        // More than there are connections; each is dropped at another point of its work.
        for steps in 0..60_usize {
            let mut work = std::pin::pin!(async {
                let mut tx = db.write().await.unwrap();
                tx.org(org).create_key(&new_key(org)).await.unwrap();
                tx.org(org).rename("gone").await.unwrap();
                // Never reached: only committed changes count.
                std::future::pending::<()>().await;
                tx.commit().await.unwrap();
            });
            for _ in 0..steps / 4 {
                assert!(futures::poll!(work.as_mut()).is_pending());
                // Any response of the database lets the task take its next step.
                system_reads!(db, revision());
            }
        }
        assert_eq!(org_reads!(db, org, keys(ALL)).total, 0);
        let key = new_key(org);
        org_writes!(db, org, create_key(&key));
        assert_eq!(org_reads!(db, org, key(key.key.id)), Some(key.key));
        assert_eq!(org_reads!(db, org, key(new_id())), None);
    }
}
