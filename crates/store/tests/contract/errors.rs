//! Errors of the databases, classified: not available, full, not readable, or a defect.

use launchway_store::{Db, StoreError};
use sqlx::AssertSqlSafe;

use crate::database::{on_postgres, on_sqlite};
use crate::records::{ALL, an_org, bundle, new_app, new_key};

contract! {
    /// Corrupts each value that is parsed into a type, one after the other.
    async fn a_value_that_cannot_be_read_names_its_column(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let app = new_app(org, &name);
        org_writes!(db, org, claim_app(&name, &app));
        let key = new_key(org);
        org_writes!(db, org, create_key(&key));
        db.raw("UPDATE apps SET id = 'app_1'").await;
        db.raw("UPDATE api_keys SET id = 'key'").await;
        db.raw("UPDATE orgs SET tier = 'gold'").await;
        let mut tx = db.read().await.unwrap();
        let corrupt = [
            tx.org(org).record().await.map(|_| ()).unwrap_err(),
            tx.org(org).apps(ALL).await.map(|_| ()).unwrap_err(),
            tx.system("a test").key_by_hash(&key.hash).await.map(|_| ()).unwrap_err(),
        ];
        for (error, column) in corrupt.iter().zip(["orgs.tier", "apps.id", "api_keys.id"]) {
            assert!(matches!(error, StoreError::Corrupt(named) if *named == column), "{column}: {error:?}");
        }
    }
}

/// The errors that PostgreSQL returns for a statement, produced by a trigger that raises its codes.
#[test]
fn codes_of_postgres_are_told_apart() {
    on_postgres(async |db| {
        let org = an_org(db).await.id;
        for (code, kind) in [
            ("53100", "full"),
            ("53300", "unavailable"),
            ("53200", "unavailable"),
            ("08006", "unavailable"),
            ("57P01", "unavailable"),
            ("57P02", "unavailable"),
            ("57P03", "unavailable"),
            ("40001", "unavailable"),
            ("40P01", "unavailable"),
            ("55P03", "unavailable"),
            ("00005", "refused"),
            ("23505", "refused"),
            ("42P01", "refused"),
            ("P0001", "refused"),
        ] {
            db.raw(&format!(
                "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'as told' USING ERRCODE = '{code}'; END $$"
            ))
            .await;
            db.raw("CREATE OR REPLACE TRIGGER fails BEFORE UPDATE ON orgs EXECUTE FUNCTION fail()")
                .await;
            let mut tx = db.write().await.unwrap();
            let error = tx.org(org).rename("x").await.unwrap_err();
            assert_eq!(kind_of(&error), kind, "{code}: {error:?}");
        }
    });
}

/// While another server takes over, for one.
#[test]
fn a_database_that_takes_no_changes_is_not_available() {
    on_postgres(async |db| {
        let name = db
            .url
            .rsplit('/')
            .next()
            .and_then(|name| name.split('?').next())
            .unwrap();
        db.raw(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"))
            .await;
        let error = Db::open(&db.url).await.unwrap_err();
        assert!(error.is_unavailable(), "{error}");
    });
}

#[test]
fn a_time_that_is_over_means_not_available() {
    assert_eq!(kind_of(&StoreError::timed_out()), "unavailable");
}

#[test]
fn a_full_disk_under_sqlite_is_told() {
    on_sqlite(async |db| {
        let org = an_org(db).await.id;
        let Db::Sqlite { writer, .. } = &**db else {
            unreachable!()
        };
        let (pages,): (i64,) = sqlx::query_as("PRAGMA page_count").fetch_one(writer).await.unwrap();
        sqlx::query(AssertSqlSafe(format!("PRAGMA max_page_count = {pages}")))
            .execute(writer)
            .await
            .unwrap();
        let mut tx = db.write().await.unwrap();
        let error = tx.org(org).rename(&"x".repeat(100_000)).await.unwrap_err();
        assert_eq!(kind_of(&error), "full", "{error:?}");
        drop(tx);
        org_writes!(db, org, rename("short enough"));
        assert_eq!(org_reads!(db, org, record()).unwrap().name, "short enough");
    });
}

/// The kind of an error in one word.
pub fn kind_of(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unavailable(_) => "unavailable",
        StoreError::Full(_) => "full",
        StoreError::Corrupt(_) | StoreError::CorruptUpdate { .. } => "corrupt",
        StoreError::Refused(_) => "refused",
    }
}
