//! Opening: what is refused, and migrations that run twice, concurrently, and in an older program.

use std::path::Path;

use launchway_domain::id::OrgId;
use launchway_store::{Db, OpenError};
use launchway_testing::net::free_port;
use launchway_testing::postgres::Postgres;

use crate::database::{TestDb, run_async};
use crate::errors::kind_of;
use crate::records::{an_org, new_org};

async fn refused(url: &str) -> OpenError {
    match Db::open(url).await {
        Ok(_) => panic!("{url} must be refused"),
        Err(error) => error,
    }
}

#[test]
fn a_bad_url_is_told() {
    run_async(async {
        for url in [
            "",
            "launchway.db",
            "mysql://root@localhost/launchway",
            "SQLITE:launchway.db",
            "postgres:launchway",
            "postgres://host:port/database",
            "sqlite:launchway.db?mode=sideways",
        ] {
            let error = refused(url).await;
            assert!(matches!(error, OpenError::BadUrl), "{url}: {error:?}");
        }
    });
}

/// As `.cargo/config.toml` says.
#[test]
fn sqlite_is_compiled_with_our_options() {
    run_async(async {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("launchway.db").display());
        let Db::Sqlite { writer, .. } = Db::open(&url).await.unwrap() else {
            panic!("{url} is another database");
        };
        let options: Vec<String> = sqlx::query_scalar("PRAGMA compile_options")
            .fetch_all(&writer)
            .await
            .unwrap();
        for wanted in ["ENABLE_QPSG", "DEFAULT_MEMSTATUS=0"] {
            assert!(
                options.iter().any(|option| option == wanted),
                "{wanted} is not in {options:?}"
            );
        }
        assert!(
            !options.iter().any(|option| option == "ENABLE_MEMORY_MANAGEMENT"),
            "{options:?}"
        );
    });
}

#[test]
fn a_file_that_cannot_be_opened_is_told() {
    run_async(async {
        let directory = tempfile::tempdir().unwrap();
        let no_database = directory.path().join("no-database");
        std::fs::write(&no_database, "This is a text, and a long one. ".repeat(100)).unwrap();
        for path in [
            directory.path().join("missing/launchway.db"),
            directory.path().to_owned(),
            no_database.clone(),
        ] {
            let error = refused(&format!("sqlite:{}", path.display())).await;
            assert!(matches!(error, OpenError::Connect(_)), "{}: {error:?}", path.display());
        }
        assert!(
            std::fs::read_to_string(no_database)
                .unwrap()
                .starts_with("This is a text"),
            "left as it was"
        );
    });
}

/// The organizations that a copy of the file alone has.
async fn are_in_copy(directory: &Path, orgs: &[OrgId]) -> Vec<bool> {
    let copy = directory.join("copy.db");
    std::fs::copy(directory.join("launchway.db"), &copy).unwrap();
    let db = Db::open(&format!("sqlite:{}", copy.display())).await.unwrap();
    let mut tx = db.read().await.unwrap();
    let mut found = Vec::new();
    for id in orgs {
        found.push(tx.org(*id).record().await.unwrap().is_some());
    }
    drop(tx);
    db.close().await;
    std::fs::remove_file(copy).unwrap();
    found
}

/// What people copy is the file alone. A watch is a connection that does not write, and is the last one.
#[test]
fn the_file_of_a_closed_database_is_whole() {
    run_async(async {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("launchway.db").display());
        let db = Db::open(&url).await.unwrap();
        let watch = db.watch().await.unwrap();
        let org = an_org(&db).await.id;
        assert_eq!(are_in_copy(directory.path(), &[org]).await, [false], "it is in the log");
        db.close().await;
        assert_eq!(are_in_copy(directory.path(), &[org]).await, [true]);
        watch.close().await;
    });
}

#[test]
fn another_process_that_reads_does_not_hold_up_the_end() {
    run_async(async {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("launchway.db").display());
        let (db, other) = (Db::open(&url).await.unwrap(), Db::open(&url).await.unwrap());
        let first = an_org(&db).await.id;
        let mut reading = other.read().await.unwrap();
        assert!(reading.org(first).record().await.unwrap().is_some());
        let second = an_org(&db).await.id;
        db.close().await;
        assert!(
            reading.org(second).record().await.unwrap().is_none(),
            "it reads an older state"
        );
        drop(reading);
        other.close().await;
        assert_eq!(are_in_copy(directory.path(), &[first, second]).await, [true, true]);
    });
}

#[test]
fn an_unreachable_server_is_told() {
    run_async(async {
        let error = refused(&format!("postgres://launchway@127.0.0.1:{}/launchway", free_port())).await;
        assert!(matches!(error, OpenError::Connect(_)), "{error:?}");
        assert!(error.is_unavailable(), "{error:?}");
    });
}

#[test]
fn a_missing_database_of_a_server_is_told() {
    run_async(async {
        let url = Postgres::shared().fresh_database();
        let error = refused(&format!("{url}_missing")).await;
        assert!(matches!(error, OpenError::Connect(_)), "{error:?}");
        assert!(!error.is_unavailable(), "it answers: {error:?}");
    });
}

#[test]
fn a_database_that_arrives_later_is_away_until_then() {
    run_async(async {
        let later = Db::later();
        let clone = later.clone();
        for error in [
            later.read().await.err(),
            later.write().await.err(),
            later.watch().await.err(),
        ] {
            assert_eq!(error.as_ref().map(kind_of), Some("unavailable"), "{error:?}");
        }
        assert!(later.is_shared() && !later.has_arrived());
        let directory = tempfile::tempdir().unwrap();
        let embedded = format!("sqlite:{}", directory.path().join("launchway.db").display());
        let embedded = Db::open(&embedded).await.unwrap();
        assert!(!later.arrive(&embedded) && !later.has_arrived(), "only PostgreSQL");
        embedded.close().await;

        let opened = Db::open(&Postgres::shared().fresh_database()).await.unwrap();
        assert!(later.arrive(&opened) && clone.has_arrived());
        assert!(!later.arrive(&opened), "only once");
        let org = an_org(&clone).await.id;
        assert!(org_reads!(opened, org, record()).is_some());
        clone.watch().await.unwrap().close().await;
        later.close().await;
        assert!(opened.read().await.is_err(), "they share their connections");
    });
}

/// Records a migration that only a newer program has.
async fn of_the_future(db: &TestDb) {
    db.raw(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         SELECT 9999, 'of the future', success, checksum, execution_time FROM _sqlx_migrations WHERE version = 1",
    )
    .await;
}

contract! {
    async fn migrating_again_changes_nothing(db: &TestDb) {
        let org = an_org(db).await;
        for _ in 0..2 {
            let again = db.again().await;
            assert_eq!(org_reads!(again, org.id, record()), Some(org.clone()));
            again.close().await;
        }
        let done = db.raw_texts("SELECT CAST(version AS TEXT) FROM _sqlx_migrations ORDER BY _sqlx_migrations.version").await;
        assert_eq!(done, crate::schema::versions());
    }

    async fn processes_that_open_a_fresh_database_at_once_all_get_in(db: &TestDb) {
        for round in 0..4 {
            let url = if db.is_shared() {
                Postgres::shared().fresh_database()
            } else {
                format!("{}-{round}", db.url)
            };
            let opened = db
                .at_once(6, |_, _| {
                    let url = url.clone();
                    async move { Db::open(&url).await }
                })
                .await;
            for db in opened {
                let db = db.unwrap();
                system_writes!(db, create_org(&new_org()));
                db.close().await;
            }
        }
    }

    /// A node of this release that restarts while a newer one is rolled out.
    async fn a_program_older_than_the_database_works_on_it(db: &TestDb) {
        let org = an_org(db).await;
        of_the_future(db).await;
        db.raw("ALTER TABLE orgs ADD COLUMN of_the_future BIGINT NOT NULL DEFAULT 7").await;
        let again = db.again().await;
        assert_eq!(org_reads!(again, org.id, record()), Some(org.clone()));
        system_writes!(again, create_org(&new_org()));
        again.close().await;
    }

    async fn a_program_older_than_the_schema_is_refused(db: &TestDb) {
        of_the_future(db).await;
        for needed in ["9999", "a later form"] {
            db.raw("DELETE FROM meta WHERE name = 'needed_schema'").await;
            db.raw(&format!("INSERT INTO meta (name, value) VALUES ('needed_schema', '{needed}')")).await;
            let error = refused(&db.url).await;
            assert!(matches!(error, OpenError::TooNew { .. }), "{error:?}");
            assert!(error.to_string().contains("start the newer release"), "{error}");
        }
        db.raw("UPDATE meta SET value = '8' WHERE name = 'needed_schema'").await;
        db.again().await.close().await;
    }

    async fn a_migration_changed_afterwards_is_refused(db: &TestDb) {
        let other = if db.is_shared() { "'\\x00'" } else { "x'00'" };
        db.raw(&format!("UPDATE _sqlx_migrations SET checksum = {other}")).await;
        let error = refused(&db.url).await;
        assert!(matches!(error, OpenError::Migrate(_)), "{error:?}");
    }
}
