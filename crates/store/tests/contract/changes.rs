//! How nodes follow changes: revisions without gaps, nothing skipped under concurrent writes, and a notification.

use std::collections::BTreeSet;

use launchway_store::{Changes, Db, Watch};
use sqlx::sqlite::SqliteConnection;

use crate::records::{NOW, an_org, bundle};

async fn touch(db: &Db, org: launchway_domain::id::OrgId, name: &str, now: i64) -> i64 {
    org_writes!(db, org, touch_updates(&bundle(name), now))
}

fn changes(revision: i64, keys: &[&str]) -> Changes {
    Changes {
        revision,
        bundle_keys: Some(keys.iter().map(ToString::to_string).collect()),
        has_more: false,
    }
}

/// The counter of changes by others that a watch of SQLite reads.
async fn counter(connection: &mut SqliteConnection) -> i64 {
    sqlx::query_scalar("PRAGMA data_version")
        .fetch_one(connection)
        .await
        .unwrap()
}

contract! {
    async fn tells_each_changed_bundle_once(db: &TestDb) {
        let org = an_org(db).await.id;
        assert_eq!(system_reads!(db, revision()), 0);
        assert_eq!(system_reads!(db, changes_since(0, 100)), changes(0, &[]));
        for name in ["com.b", "com.a", "Com.B", "com.c"] {
            touch(db, org, name, NOW).await;
        }
        assert_eq!(system_reads!(db, revision()), 4);
        assert_eq!(system_reads!(db, changes_since(0, 100)), changes(4, &["com.a", "com.b", "com.c"]));
        assert_eq!(system_reads!(db, changes_since(2, 100)), changes(4, &["com.b", "com.c"]));
        assert_eq!(system_reads!(db, changes_since(4, 100)), changes(4, &[]));
    }

    async fn tells_a_long_backlog_in_parts(db: &TestDb) {
        let org = an_org(db).await.id;
        for name in ["com.b", "com.a", "com.b", "com.c", "com.d"] {
            touch(db, org, name, NOW).await;
        }
        let part = |revision, keys: &[&str]| Changes { has_more: true, ..changes(revision, keys) };
        assert_eq!(system_reads!(db, changes_since(0, 2)), part(2, &["com.a", "com.b"]));
        assert_eq!(system_reads!(db, changes_since(2, 2)), part(4, &["com.b", "com.c"]));
        assert_eq!(system_reads!(db, changes_since(4, 2)), changes(5, &["com.d"]));
        assert_eq!(system_reads!(db, changes_since(3, 2)), changes(5, &["com.c", "com.d"]), "exactly a part");
        assert_eq!(system_writes!(db, forget_changes_before(NOW + 1)), 5);
        let unknown = Changes { revision: 5, bundle_keys: None, has_more: false };
        assert_eq!(system_reads!(db, changes_since(0, 2)), unknown);
        assert_eq!(system_reads!(db, changes_since(6, 2)), unknown, "a replaced database is behind");
    }

    async fn cannot_tell_what_was_forgotten_or_never_was(db: &TestDb) {
        let org = an_org(db).await.id;
        for (name, now) in [("com.a", NOW), ("com.b", NOW + 1), ("com.c", NOW + 2)] {
            touch(db, org, name, now).await;
        }
        assert_eq!(system_writes!(db, forget_changes_before(NOW + 1)), 1);
        let unknown = Changes { revision: 3, bundle_keys: None, has_more: false };
        assert_eq!(system_reads!(db, changes_since(0, 100)), unknown);
        assert_eq!(system_reads!(db, changes_since(1, 100)), changes(3, &["com.b", "com.c"]));
        assert_eq!(system_writes!(db, forget_changes_before(i64::MAX)), 2);
        assert_eq!(system_reads!(db, changes_since(2, 100)), unknown);
        assert_eq!(system_reads!(db, changes_since(3, 100)), changes(3, &[]));
        assert_eq!(system_reads!(db, changes_since(4, 100)), unknown, "a replaced database is behind");
        assert_eq!(touch(db, org, "com.d", NOW).await, 4, "numbers go on");
    }

    async fn what_is_rolled_back_leaves_no_gap(db: &TestDb) {
        let org = an_org(db).await.id;
        touch(db, org, "com.a", NOW).await;
        let mut tx = db.write().await.unwrap();
        assert_eq!(tx.org(org).touch_updates(&bundle("com.gone"), NOW).await.unwrap(), 2);
        drop(tx);
        assert_eq!(touch(db, org, "com.b", NOW).await, 2);
        assert_eq!(system_reads!(db, changes_since(0, 100)), changes(2, &["com.a", "com.b"]));
    }

    async fn a_reader_misses_nothing_while_many_write(db: &TestDb) {
        const WRITERS: usize = 6;
        const EACH: usize = 8;
        let org = an_org(db).await.id;
        let (mut seen, mut keys) = (0, BTreeSet::new());
        let writers = db.at_once(WRITERS, |db, number| async move {
            let mut revisions = Vec::new();
            for round in 0..EACH {
                let mut tx = db.write().await.unwrap();
                let name = bundle(&format!("com.w{number}.r{round}"));
                let revision = tx.org(org).touch_updates(&name, NOW).await.unwrap();
                // A writer with more to do, which sometimes rolls back.
                tx.org(org).record().await.unwrap();
                if round % 4 != 3 {
                    tx.commit().await.unwrap();
                    revisions.push(revision);
                }
            }
            revisions
        });
        let reader = async {
            while seen < (WRITERS * EACH * 3 / 4) as i64 {
                let news = system_reads!(db, changes_since(seen, 100));
                assert!(news.revision >= seen);
                keys.extend(news.bundle_keys.expect("nothing is forgotten"));
                seen = news.revision;
            }
        };
        let (revisions, ()) = tokio::join!(writers, reader);
        let mut revisions = revisions.concat();
        revisions.sort_unstable();
        assert_eq!(revisions, (1..=seen).collect::<Vec<_>>());
        assert_eq!(keys.len() as i64, seen, "each revision had a bundle of its own");
    }

    async fn a_watch_wakes_when_another_process_writes(db: &TestDb) {
        let org = an_org(db).await.id;
        let other = db.again().await;
        let mut watch = db.watch().await.unwrap();
        // Drains what happened before the watch; on SQLite the first look always reports changes.
        watch.changed().await.unwrap();
        for round in 1..=3 {
            assert_eq!(touch(&other, org, "com.a", NOW).await, round);
            while system_reads!(db, changes_since(round - 1, 100)).revision < round {
                watch.changed().await.unwrap();
            }
            watch.changed().await.unwrap();
        }
        watch.close().await;
        other.close().await;
    }

    async fn a_watch_hears_of_commits_only(db: &TestDb) {
        let org = an_org(db).await.id;
        let other = db.again().await;
        let mut watch = db.watch().await.unwrap();
        watch.changed().await.unwrap();
        let mut given_up = other.write().await.unwrap();
        given_up.org(org).touch_updates(&bundle("com.a"), NOW).await.unwrap();
        drop(given_up);
        match &mut watch {
            Watch::Sqlite { connection, version } => {
                let before = *version;
                assert_eq!(counter(connection).await, before, "what is given up is no news");
                touch(&other, org, "com.b", NOW).await;
                assert_ne!(counter(connection).await, before);
                watch.changed().await.unwrap();
            }
            Watch::Postgres { listener } => {
                touch(&other, org, "com.b", NOW).await;
                touch(&other, org, "com.c", NOW).await;
                for revision in ["1", "2"] {
                    assert_eq!(listener.recv().await.unwrap().payload(), revision);
                }
            }
        }
        watch.close().await;
        other.close().await;
    }
}
