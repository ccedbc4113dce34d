//! Totals of lists: after any history of writes, also those of an older release, each is the number of rows that match.

use launchway_domain::id::OrgId;
use launchway_store::{Db, FoldCursor, UpdateFilter};

use crate::builds::new_build;
use crate::database::TestDb;
use crate::deliveries::a_delivery;
use crate::list_lives::{FULL, Life};
use crate::records::{NOW, an_update, bundle, new_app, new_id};

/// What the migration added, so that it can run once more.
async fn undo_migration(db: &TestDb) {
    let tables = ["builds", "updates", "submissions", "deliveries", "audit"];
    match db.is_shared() {
        true => {
            let functions = "SELECT proname::text FROM pg_proc WHERE proname LIKE '%!_counted!_%' ESCAPE '!'";
            for name in db.raw_texts(functions).await {
                db.raw(&format!("DROP FUNCTION {name} CASCADE")).await;
            }
        }
        false => {
            for name in db
                .raw_texts("SELECT name FROM sqlite_master WHERE type = 'trigger'")
                .await
            {
                db.raw(&format!("DROP TRIGGER {name}")).await;
            }
        }
    }
    let indexes = match db.is_shared() {
        true => "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public'",
        false => "SELECT name FROM sqlite_master WHERE type = 'index'",
    };
    for name in db.raw_texts(indexes).await {
        let is_listed = tables.iter().any(|table| name.starts_with(&format!("{table}_listed")));
        if is_listed || name == "foreign_ids_named" {
            db.raw(&format!("DROP INDEX {name}")).await;
        }
    }
    db.raw("DROP TABLE list_totals").await;
    db.raw("DELETE FROM _sqlx_migrations WHERE version = 36").await;
}

contract! {
    async fn after_any_history_a_total_is_the_number_of_rows(db: &TestDb) {
        let mut life = Life::begin(db).await;
        life.check(db).await;
        for limit in [1000, 2, 9] {
            life.live(db, 80).await;
            life.check(db).await;
            life.fold(db, limit).await;
            life.check(db).await;
        }
        let unfolded = "SELECT list FROM list_totals WHERE folded <> 1";
        assert_eq!(db.raw_texts(unfolded).await, Vec::<String>::new());
        assert_eq!(db.raw_texts("SELECT list FROM list_totals WHERE n <= 0").await, Vec::<String>::new(), "zeros go");
    }

    async fn rows_from_before_the_migration_count(db: &TestDb) {
        let mut life = Life::begin(db).await;
        life.live(db, 100).await;
        undo_migration(db).await;
        life.live(db, 100).await;
        let again = db.again().await;
        life.check(&again).await;
        life.live(db, 40).await;
        life.check(&again).await;
        again.close().await;
    }

    /// A node of the release before writes while the first node of this one migrates, and goes on.
    async fn what_is_written_during_the_migration_counts_once(db: &TestDb) {
        let mut life = Life::begin(db).await;
        life.live(db, 40).await;
        undo_migration(db).await;
        let mut writing = db.write().await.unwrap();
        let build = new_build(life.org);
        writing.org(life.org).create_build(&build, &bundle(&build.bundle_id)).await.unwrap();
        let url = db.url.clone();
        let migrating = tokio::spawn(async move { Db::open(&url).await.unwrap() });
        db.until_one_waits().await;
        writing.commit().await.unwrap();
        let migrated = migrating.await.unwrap();
        life.check(&migrated).await;
        life.live(db, 40).await;
        life.check(&migrated).await;
        migrated.close().await;
    }

    async fn lists_with_many_totals_are_found(db: &TestDb) {
        let (busy, quiet) = (Life::begin(db).await, Life::begin(db).await);
        let add = async |org: OrgId, list: &str, folded: u8, rows: u32| {
            db.raw(&format!(
                "INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n) \
                 WITH RECURSIVE numbers (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM numbers WHERE x < {rows}) \
                 SELECT '{list}', '{org}', CAST(x AS TEXT), '', '', '', '', {folded}, 1 FROM numbers"
            ))
            .await;
        };
        add(busy.org, "builds", 0, 999).await;
        add(busy.org, "audit", 0, 1000).await;
        add(quiet.org, "builds", 0, 1500).await;
        add(quiet.org, "builds", 1, 1501).await;
        assert_eq!(system_reads!(db, unfolded_lists(9)), [busy.list("audit")]);
        add(busy.org, "builds", 0, 1).await;
        add(quiet.org, "builds", 0, 1).await;
        let mut all = [busy.list("audit"), busy.list("builds"), quiet.list("builds")];
        all.sort_by_key(|unfolded| (unfolded.org.to_string(), unfolded.list.clone()));
        assert_eq!(system_reads!(db, unfolded_lists(9)), all);
        assert_eq!(system_reads!(db, unfolded_lists(1)), all[..1]);
        system_writes!(db, fold_list(&all[0], &FoldCursor::default(), 9999));
        assert_eq!(system_reads!(db, unfolded_lists(9)), all[1..]);
    }

    async fn an_app_that_moves_takes_its_updates_along(db: &TestDb) {
        let (from, to) = (Life::begin(db).await, Life::begin(db).await);
        let name = bundle("com.example.app");
        org_writes!(db, from.org, claim_app(&name, &new_app(from.org, &name)));
        for number in 1..4 {
            let number: u32 = number;
            an_update(db, from.org, &name, |update| update.build_number = number.to_string().parse().unwrap()).await;
        }
        assert_eq!(system_writes!(db, transfer_app(&name, to.org, NOW)), Some(from.org));
        for (life, total) in [(&from, 0), (&to, 3)] {
            life.check(db).await;
            assert_eq!(org_reads!(db, life.org, updates(&UpdateFilter::default(), FULL)).total, total);
        }
    }

    async fn the_deliveries_of_a_deleted_webhook_go_with_it(db: &TestDb) {
        let life = Life::begin(db).await;
        for _ in 0..3 {
            a_delivery(db, &life.webhook).await;
        }
        db.raw(&format!("DELETE FROM webhooks WHERE id = '{}'", life.webhook.id)).await;
        life.check(db).await;
        life.fold(db, 1000).await;
        assert_eq!(db.rows_of("list_totals").await, Vec::<String>::new());
        assert_eq!(org_reads!(db, life.org, deliveries(new_id(), FULL)).total, 0);
    }

    async fn a_restored_database_counts_its_rows(db: &TestDb) {
        let mut life = Life::begin(db).await;
        life.live(db, 60).await;
        let mut lines = Vec::new();
        system_reads!(db, dump(&mut lines));
        let (other, _directory) = crate::dump::of_other_kind(db).await;
        crate::dump::restore(&other, &lines).await.unwrap();
        life.check(&other).await;
        other.close().await;
    }
}
