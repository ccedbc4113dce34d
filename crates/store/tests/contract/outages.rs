//! Outages: a lock that another connection holds for too long, a server that goes away, and recovery afterwards.

use launchway_store::{Db, StoreError, Tx};
use launchway_testing::postgres::Postgres;

use crate::database::{on_sqlite, run_async};
use crate::errors::kind_of;
use crate::records::{NOW, an_org, bundle};

/// The kind of error of a transaction that must not begin.
fn told(begun: Result<Tx, StoreError>) -> &'static str {
    begun.map_or_else(|error| kind_of(&error), |_| "begun")
}

contract! {
    /// Takes as long as a caller's timeout.
    async fn who_waits_too_long_for_another_writer_is_told(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.a");
        let other = db.again().await;
        let mut slow = other.write().await.unwrap();
        slow.org(org).touch_updates(&name, NOW).await.unwrap();
        let told = async {
            let mut tx = db.write().await?;
            tx.org(org).touch_updates(&name, NOW).await
        };
        let error = told.await.unwrap_err();
        assert_eq!(kind_of(&error), "unavailable", "{error:?}");
        slow.commit().await.unwrap();
        assert_eq!(org_writes!(db, org, touch_updates(&name, NOW)), 2, "the slow one's change stands");
        other.close().await;
    }
}

/// The same within one process, where the writer's only connection is awaited.
#[test]
fn who_waits_too_long_for_the_writer_is_told() {
    on_sqlite(async |db| {
        let org = an_org(db).await.id;
        let slow = db.write().await.unwrap();
        assert_eq!(told(db.write().await), "unavailable");
        drop(slow);
        org_writes!(db, org, rename("free again"));
    });
}

#[test]
fn a_crashed_server_is_reported_and_works_again_when_back() {
    let mut server = Postgres::start_own();
    let url = server.fresh_database();
    run_async(async {
        let db = Db::open(&url).await.unwrap();
        let org = an_org(&db).await;
        let mut watch = db.watch().await.unwrap();
        let mut open = db.write().await.unwrap();
        open.org(org.id).rename("never committed").await.unwrap();
        let mut reader = db.read().await.unwrap();
        reader.org(org.id).record().await.unwrap();

        server.stop();
        let broken = [
            open.org(org.id).rename("later").await.unwrap_err(),
            reader.org(org.id).record().await.unwrap_err(),
            open.commit().await.unwrap_err(),
        ];
        for error in &broken {
            assert_eq!(kind_of(error), "unavailable", "{error:?}");
        }
        drop(reader);
        let (write, read) = tokio::join!(db.write(), db.read());
        assert_eq!((told(write), told(read)), ("unavailable", "unavailable"));

        server.start();
        assert_eq!(org_reads!(db, org.id, record()), Some(org.clone()));
        org_writes!(db, org.id, rename("after the crash"));
        assert_eq!(org_reads!(db, org.id, record()).unwrap().name, "after the crash");
        // A watch either continues by itself or reports that it is broken, and then a new one is created.
        if let Err(error) = watch.changed().await {
            assert_eq!(kind_of(&error), "unavailable", "{error:?}");
            watch = db.watch().await.unwrap();
        }
        org_writes!(db, org.id, touch_updates(&bundle("com.a"), NOW));
        watch.changed().await.unwrap();
        watch.close().await;
        db.close().await;
    });
}

#[test]
fn what_was_committed_before_a_crash_is_there_after_it() {
    let mut server = Postgres::start_own();
    let url = server.fresh_database();
    run_async(async {
        let db = Db::open(&url).await.unwrap();
        let mut made = Vec::new();
        for _ in 0..20 {
            made.push(an_org(&db).await);
        }
        server.restart();
        for org in made {
            assert_eq!(org_reads!(db, org.id, record()), Some(org));
        }
        db.close().await;
    });
}
