//! Totals of lists are folded in steps that are bounded, end, and may be anywhere when others write, fold or die.

use std::collections::BTreeSet;

use launchway_domain::id::OrgId;
use launchway_store::{Db, FoldCursor};

use crate::builds::{keep, new_build};
use crate::database::TestDb;
use crate::list_lives::Life;

/// Keys of which a list has several rows.
const SPLIT: &str = "SELECT list FROM list_totals \
    GROUP BY org_id, list, name, bundle_key, platform, configuration, status HAVING COUNT(*) > 1";

async fn rows(db: &TestDb) -> BTreeSet<String> {
    db.rows_of("list_totals").await.into_iter().collect()
}

/// Adds rows of the list `builds`, with so many names.
async fn add(db: &TestDb, org: OrgId, rows: u32, names: u32, n: i64) {
    db.raw(&format!(
        "INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n) \
         WITH RECURSIVE numbers (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM numbers WHERE x < {rows}) \
         SELECT 'builds', '{org}', CAST(x % {names} AS TEXT), '', '', '', '', 0, {n} FROM numbers"
    ))
    .await;
}

async fn step(db: &Db, life: &Life, from: &FoldCursor, limit: i64) -> Option<FoldCursor> {
    system_writes!(db, fold_list(&life.list("builds"), from, limit))
}

/// The totals of the list `builds` by name.
async fn totals(db: &TestDb, life: &Life) -> Vec<String> {
    db.raw_texts(&format!(
        "SELECT name || ': ' || CAST(SUM(n) AS TEXT) FROM list_totals WHERE org_id = '{}' AND list = 'builds' \
         GROUP BY name HAVING SUM(n) <> 0 ORDER BY name",
        life.org
    ))
    .await
}

contract! {
    /// Few keys of many rows, many keys of few, and rows that cancel each other.
    async fn each_step_is_bounded_and_the_last_one_comes(db: &TestDb) {
        for (names, limit) in [(1, 2), (1, 7), (3, 7), (20, 10), (97, 10), (150, 500)] {
            let life = Life::begin(db).await;
            add(db, life.org, 100, names, -1).await;
            add(db, life.org, 150, names, 1).await;
            let expected = totals(db, &life).await;
            let (mut cursor, mut steps, mut before) = (Some(FoldCursor::default()), 0, rows(db).await);
            while let Some(from) = cursor {
                cursor = step(db, &life, &from, limit).await;
                assert!(cursor.as_ref().is_none_or(|cursor| *cursor >= from), "never back");
                let after = rows(db).await;
                let (gone, new) = (before.difference(&after).count(), after.difference(&before).count());
                assert!(gone.max(new) <= limit as usize, "{gone} rows are replaced by {new}");
                assert_eq!(totals(db, &life).await, expected, "between steps");
                (before, steps) = (after, steps + 1);
            }
            // A step leaves at most its last key to the next one.
            assert!(steps <= 250 / (limit - 1) + 1, "{steps} steps for {names} names, {limit} rows each");
            assert_eq!(db.raw_texts(SPLIT).await, Vec::<String>::new());
            assert_eq!(db.raw_texts("SELECT list FROM list_totals WHERE folded <> 1").await, Vec::<String>::new());
        }
    }

    async fn others_write_between_the_steps(db: &TestDb) {
        let mut life = Life::begin(db).await;
        life.live(db, 60).await;
        let mut cursor = Some(FoldCursor::default());
        while let Some(from) = cursor {
            cursor = step(db, &life, &from, 8).await;
            life.live(db, 3).await;
        }
        life.check(db).await;
        life.fold(db, 8).await;
        life.check(db).await;
        assert_eq!(db.raw_texts(SPLIT).await, Vec::<String>::new());
    }

    async fn a_fold_that_was_interrupted_is_begun_anew(db: &TestDb) {
        let life = Life::begin(db).await;
        add(db, life.org, 1200, 1, 1).await;
        let cursor = step(db, &life, &FoldCursor::default(), 500).await;
        step(db, &life, &cursor.unwrap(), 500).await;
        assert_eq!(db.raw_texts(SPLIT).await.len(), 1, "two sums and the rest");
        add(db, life.org, 800, 1, 1).await;
        assert_eq!(system_reads!(db, unfolded_lists(9)), [life.list("builds")]);
        life.fold(db, 500).await;
        assert_eq!((totals(db, &life).await, rows(db).await.len()), (vec!["0: 2000".to_owned()], 1));
    }

    async fn two_nodes_that_fold_at_once_lose_nothing(db: &TestDb) {
        let mut life = Life::begin(db).await;
        for limit in [8, 1000] {
            life.live(db, 100).await;
            let list = life.list("builds");
            let (other, unfolded) = (db.again().await, list.clone());
            let mut first = db.write().await.unwrap();
            first.system("a test").fold_list(&list, &FoldCursor::default(), limit).await.unwrap();
            let second = tokio::spawn(async move {
                let mut tx = other.write().await.unwrap();
                tx.system("a test").fold_list(&unfolded, &FoldCursor::default(), limit).await.unwrap();
                tx.commit().await.unwrap();
                other.close().await;
            });
            db.until_one_waits().await;
            if db.is_shared() {
                // A third adds to the list meanwhile. On SQLite it would wait for both.
                keep(db, &new_build(life.org)).await;
            }
            first.commit().await.unwrap();
            second.await.unwrap();
            life.check(db).await;
            life.fold(db, limit).await;
            life.check(db).await;
            assert_eq!(db.raw_texts(SPLIT).await, Vec::<String>::new());
        }
    }

    async fn a_dropped_fold_changes_nothing(db: &TestDb) {
        let mut life = Life::begin(db).await;
        life.live(db, 60).await;
        let before = rows(db).await;
        let mut tx = db.write().await.unwrap();
        tx.system("a test").fold_list(&life.list("builds"), &FoldCursor::default(), 20).await.unwrap();
        drop(tx);
        assert_eq!(rows(db).await, before);
    }
}
