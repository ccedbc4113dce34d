//! The probe says what a start will find in a database, and changes nothing there.

use launchway_store::{OpenError, Probe, ProbeError, Schema};
use launchway_testing::net::free_port;
use launchway_testing::postgres::Postgres;

use crate::database::run_async;

async fn refused(url: &str) -> ProbeError {
    match Probe::of(url).await {
        Ok(probe) => panic!("{url} must be refused: {probe:?}"),
        Err(error) => error,
    }
}

contract! {
    async fn a_probe_reports_the_schema_and_the_facts(db: &TestDb) {
        system_writes!(db, set_meta("shade", "green"));
        let Schema::Current(known) = Probe::of(&db.url).await.unwrap().schema else { panic!("the schema is current") };
        let versions = crate::schema::versions();
        let [.., before, newest] = versions.as_slice() else { panic!("there are several migrations") };
        assert_eq!(known.to_string(), *newest);
        db.raw(&format!("DELETE FROM _sqlx_migrations WHERE version = {known}")).await;
        let probe = Probe::of(&db.url).await.unwrap();
        assert_eq!(probe.schema, Schema::Older { found: before.parse().unwrap(), known });
        assert_eq!(probe.facts["shade"], "green");
        db.raw("UPDATE _sqlx_migrations SET version = 9999 WHERE version = 1").await;
        let probe = Probe::of(&db.url).await.unwrap();
        assert_eq!(probe.schema, Schema::Newer { found: 9999, known });
        db.raw("INSERT INTO meta (name, value) VALUES ('needed_schema', '9999')").await;
        let error = refused(&db.url).await;
        assert!(matches!(error, ProbeError::Open(OpenError::TooNew { needed: 9999, .. })), "{error:?}");
    }

    async fn a_probe_leaves_no_transaction_open(db: &TestDb) {
        for _ in 0..3 {
            Probe::of(&db.url).await.unwrap();
            system_writes!(db, set_meta("shade", "green"));
        }
    }
}

#[test]
fn a_probe_creates_neither_a_file_nor_tables() {
    run_async(async {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("launchway.db");
        let url = format!("sqlite:{}", file.display());
        assert_eq!(Probe::of(&url).await.unwrap().schema, Schema::Missing);
        assert!(!file.exists());
        std::fs::write(&file, "").unwrap();
        assert_eq!(Probe::of(&url).await.unwrap().schema, Schema::Empty);
        assert_eq!(std::fs::read(&file).unwrap(), b"");

        let url = Postgres::shared().fresh_database();
        for _ in 0..2 {
            assert_eq!(Probe::of(&url).await.unwrap().schema, Schema::Empty);
        }
    });
}

#[test]
fn a_probe_tells_why_a_start_would_fail() {
    run_async(async {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("text.db");
        std::fs::write(&text, "This is a text, and a long one. ".repeat(100)).unwrap();
        for url in [
            format!("sqlite:{}", text.display()),
            format!("sqlite:{}", directory.path().display()),
            format!("postgres://launchway@127.0.0.1:{}/launchway", free_port()),
        ] {
            let error = refused(&url).await;
            assert!(
                matches!(error, ProbeError::Open(OpenError::Connect(_))),
                "{url}: {error:?}"
            );
        }
        for url in ["mysql://root@localhost/launchway", "postgres://host:port/database"] {
            let error = refused(url).await;
            assert!(matches!(error, ProbeError::Open(OpenError::BadUrl)), "{url}: {error:?}");
        }
    });
}

#[test]
fn rights_that_a_start_needs_are_tried() {
    run_async(async {
        let postgres = Postgres::shared();
        let url = postgres.fresh_database();
        let reader = format!("reader_{}", std::process::id());
        let sql = |statement: &str| postgres.run_sql(&url, statement).unwrap();
        sql(&format!("CREATE ROLE {reader} LOGIN"));
        sql("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        let as_reader = format!("{url}{}user={reader}", if url.contains('?') { '&' } else { '?' });
        let error = refused(&as_reader).await;
        assert!(matches!(error, ProbeError::NoTables), "{error:?}");

        launchway_store::Db::open(&url).await.unwrap().close().await;
        sql(&format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}"));
        let error = refused(&as_reader).await;
        assert!(matches!(error, ProbeError::ReadOnly(_)), "{error:?}");

        sql(&format!("ALTER ROLE {reader} SET default_transaction_read_only = on"));
        let error = refused(&as_reader).await;
        assert!(matches!(error, ProbeError::Standby), "{error:?}");
        sql(&format!("DROP OWNED BY {reader}"));
        sql(&format!("DROP ROLE {reader}"));
    });
}
