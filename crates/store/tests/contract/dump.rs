//! Dumping the whole database as lines, and restoring it into an empty one of either kind.

use std::collections::BTreeSet;

use launchway_store::{Db, DumpError, KeptForm};
use launchway_testing::postgres::Postgres;

use crate::audit::{audit_line, link};
use crate::database::{TestDb, on_postgres, on_sqlite};
use crate::records::{NOW, an_org};
use crate::tenants::a_tenant;

/// The tables that a backup omits: the log of changes, the counts of the current minute and day, the leases of jobs, the
/// locks and turns of apps, the turns of organizations and when they were last served, forms that wait for a sign-in, and the
/// totals of lists.
const LEFT_BEHIND: [&str; 10] = [
    "changes",
    "rate_counts",
    "failed_tries",
    "job_leases",
    "package_locks",
    "app_store_turns",
    "org_turns",
    "served_orgs",
    "kept_forms",
    "list_totals",
];

/// The lines of a database with a row in each table, and texts that are hard to encode.
async fn filled(db: &TestDb) -> Vec<u8> {
    let theirs = a_tenant(db, "com.example.theirs").await;
    org_writes!(db, theirs.id, rename("ä \"'\\ \n \u{1F600} \u{2028} {\"table\": 1}"));
    a_tenant(db, "com.example.ours").await;
    system_writes!(db, set_meta("name", ""));
    system_writes!(db, create_session(&crate::records::new_session(theirs.user), "token"));
    system_writes!(db, create_reset_link(theirs.user, "token", i64::MAX));
    let login = crate::device_logins::new_device_login();
    system_writes!(db, create_device_login(&login, "device", "user"));
    system_writes!(db, begin_two_factor(theirs.user, "sealed", NOW));
    system_writes!(
        db,
        confirm_two_factor(theirs.user, "sealed", 1, NOW, &["hash".to_owned()])
    );
    let form = KeptForm {
        id: "form".to_owned(),
        user_id: theirs.user,
        sealed: "sealed".to_owned(),
        expires_at: NOW,
    };
    system_writes!(db, keep_form(&form, 1));
    system_writes!(db, count_call("org", 1));
    db.raw("INSERT INTO app_store_turns VALUES ('app', 'ios', 'version', 'submission')")
        .await;
    system_writes!(db, count_failed_try("code:user", 1));
    system_writes!(db, take_job_lease("clean-up", "a", NOW, NOW));
    fill_later_tables(db, &theirs.id.to_string()).await;
    for table in db.tables().await {
        assert!(
            !db.rows_of(&table).await.is_empty(),
            "{table} must have a row for this test"
        );
    }
    lines_of(db).await
}

/// Adds a row to each table that no function of the store writes yet.
async fn fill_later_tables(db: &TestDb, org: &str) {
    for (table, values) in [
        (
            "env_vars",
            "'e1', '{org}', 'A', 'variable', NULL, 'secret', '', '', '', '', 's', 'u', 1, 2",
        ),
        (
            "credentials",
            "'c1', '{org}', 'k', 'n', NULL, 'f', '{}', 's', NULL, NULL, 'u', 1, 2, 3",
        ),
    ] {
        let values = values.replace("{org}", org);
        db.raw(&format!("INSERT INTO {table} VALUES ({values})")).await;
    }
}

async fn lines_of(db: &Db) -> Vec<u8> {
    let mut lines = Vec::new();
    let rows = system_reads!(db, dump(&mut lines));
    assert_eq!(rows, lines.iter().filter(|byte| **byte == b'\n').count() as u64);
    lines
}

pub async fn restore(db: &Db, mut lines: &[u8]) -> Result<u64, DumpError> {
    let mut tx = db.write().await.unwrap();
    let rows = tx.system("a test").restore_dump(&mut lines).await?;
    tx.commit().await.unwrap();
    Ok(rows)
}

/// The lines as a set, because a dump does not promise an order.
fn unordered(lines: &[u8]) -> BTreeSet<String> {
    String::from_utf8(lines.to_vec())
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// An empty database of the other kind; a file is deleted with the directory.
pub async fn of_other_kind(db: &TestDb) -> (Db, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let url = match db.is_shared() {
        true => format!("sqlite:{}", directory.path().join("other.db").display()),
        false => Postgres::shared().fresh_database(),
    };
    (Db::open(&url).await.unwrap(), directory)
}

contract! {
    async fn every_table_but_three_is_in_it(db: &TestDb) {
        let lines = filled(db).await;
        let named: BTreeSet<_> = unordered(&lines)
            .iter()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["table"].as_str().unwrap().to_owned())
            .collect();
        let tables = db.tables().await.into_iter().filter(|table| !LEFT_BEHIND.contains(&table.as_str()));
        assert_eq!(named, tables.collect());
    }

    async fn a_database_of_the_other_kind_takes_it_and_gives_it_back(db: &TestDb) {
        let lines = filled(db).await;
        let (other, _directory) = of_other_kind(db).await;
        assert_eq!(restore(&other, &lines).await.unwrap(), unordered(&lines).len() as u64);
        assert_eq!(unordered(&lines_of(&other).await), unordered(&lines));
        other.close().await;
    }

    async fn a_restored_database_goes_on(db: &TestDb) {
        let (source, _directory) = of_other_kind(db).await;
        let org = an_org(&source).await.id;
        for action in ["first", "second"] {
            org_writes!(source, org, add_audit(&[audit_line(action)], link));
        }
        let name = crate::records::bundle("com.a");
        org_writes!(source, org, touch_updates(&name, NOW));
        restore(db, &lines_of(&source).await).await.unwrap();
        source.close().await;

        org_writes!(db, org, add_audit(&[audit_line("third")], link));
        let chain = system_reads!(db, audit_chain(Some(org), 0, 10));
        let hashes: Vec<_> = chain.iter().map(|line| line.hash.as_str()).collect();
        assert_eq!(hashes, ["1.first after ", "2.second after end 1.first", "3.third after end 2.second"]);
        assert_eq!(org_writes!(db, org, touch_updates(&name, NOW)), 2, "revisions go on");
        assert_eq!(system_reads!(db, changes_since(0, 100)).bundle_keys, None, "who knows nothing reads all");
    }

    async fn only_an_empty_database_takes_it(db: &TestDb) {
        an_org(db).await;
        let refused = restore(db, b"").await;
        assert!(matches!(refused, Err(DumpError::NotEmpty)), "{refused:?}");
    }

    async fn a_damaged_line_is_told_and_nothing_is_restored(db: &TestDb) {
        let good = r#"{"table":"meta","row":{"name":"a","value":"1"}}"#;
        for bad in [
            "",
            "{",
            "[]",
            r#"{"table":"sqlite_master","row":{"name":"a"}}"#,
            r#"{"table":"changes","row":{"revision":1}}"#,
            r#"{"table":"meta"}"#,
            r#"{"table":"meta","row":{}}"#,
            r#"{"table":"meta","row":[]}"#,
            r#"{"table":"meta","row":{"name":"b","value":1.5}}"#,
            r#"{"table":"meta","row":{"name":"b","value":true}}"#,
            r#"{"table":"meta","row":{"name":"b","value":{}}}"#,
            r#"{"table":"meta","row":{"name) VALUES ('b', 'c'); --":"b"}}"#,
        ] {
            let refused = restore(db, format!("{good}\n{bad}\n").as_bytes()).await;
            assert!(matches!(refused, Err(DumpError::Line(2))), "{bad}: {refused:?}");
            assert_eq!(system_reads!(db, meta("a")), None);
        }
        let cut = restore(db, &good.as_bytes()[..good.len() - 1]).await;
        assert!(matches!(cut, Err(DumpError::Line(1))), "{cut:?}");
        let unknown = restore(db, br#"{"table":"meta","row":{"name":"a","value":"1","of_the_future":1}}"#).await;
        assert!(matches!(unknown, Err(DumpError::Store(_))), "{unknown:?}");
        assert_eq!(system_reads!(db, revision()), 0, "the database is as it was");
    }
}

/// A writer that is full reports an error, and so does a broken reader.
#[test]
fn what_goes_wrong_with_the_file_is_told() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("broken"))
        }
    }
    let broken = async |db: &TestDb| {
        an_org(db).await;
        let mut tx = db.read().await.unwrap();
        let mut full: &mut [u8] = &mut [];
        let refused = tx.system("a test").dump(&mut full).await;
        assert!(matches!(refused, Err(DumpError::Io(_))), "{refused:?}");
        drop(tx);
        db.raw("DELETE FROM orgs").await;
        let mut tx = db.write().await.unwrap();
        let refused = tx
            .system("a test")
            .restore_dump(&mut std::io::BufReader::new(Broken))
            .await;
        assert!(matches!(refused, Err(DumpError::Io(_))), "{refused:?}");
    };
    on_sqlite(broken);
    on_postgres(broken);
}
