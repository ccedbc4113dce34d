//! What a page of a list reads does not grow with the list: each filter has an index in the order of the list.

use launchway_domain::build::Build;
use launchway_domain::platform::Platform;

use crate::builds::new_build;
use crate::records::{an_org, bundle};

/// The condition of `updates.rs`, which an index has.
const STATE: &str =
    "COALESCE(u.release_status, CASE WHEN u.awaiting_since IS NULL THEN u.status ELSE 'awaiting_signature' END)";
const UPDATES: &str = "updates u JOIN packages p ON p.id = u.package_id WHERE u.deleted_at IS NULL AND u.org_id = 'o'";

/// The steps of a plan that read a whole table or list.
const READS_ALL: [&str; 4] = ["SCAN ", "USE TEMP B-TREE", "Seq Scan", "Sort"];

contract! {
    async fn a_rare_build_is_found_by_an_index(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut tx = db.write().await.unwrap();
        for number in 0..300 {
            let mut build = new_build(org);
            if number == 0 {
                build = Build { platform: Platform::Ios, bundle_id: "com.rare".to_owned(), ..build };
                build.configuration = Some("beta".parse().unwrap());
            }
            tx.org(org).create_build(&build, &bundle(&build.bundle_id)).await.unwrap();
        }
        tx.commit().await.unwrap();
        db.raw("ANALYZE builds").await;
        for (condition, index) in [
            ("platform = 'ios'", "builds_listed_platform"),
            ("bundle_key = 'com.rare'", "builds_listed_bundle"),
            ("configuration = 'beta'", "builds_listed_configuration"),
            ("branch = 'rare'", "builds_listed_branch"),
            ("(status || '') = 'queued' AND platform = 'ios'", "builds_listed_platform"),
        ] {
            let sql = format!("SELECT * FROM builds WHERE org_id = '{org}' AND {condition} ORDER BY id DESC LIMIT 9");
            let plan = db.plan(&sql).await;
            assert!(plan.contains(index), "{sql}: {plan}");
            assert!(!READS_ALL.iter().any(|step| plan.contains(step)), "{sql}: {plan}");
        }
    }

    async fn each_filter_of_other_lists_has_an_index(db: &TestDb) {
        if db.is_shared() {
            // The choice of PostgreSQL's planner in an empty table means nothing.
            return;
        }
        let submissions = "submissions WHERE deleted = 0 AND org_id = 'o'";
        let audit = "audit WHERE org_id = 'o'";
        for (rows, condition, order, index) in [
            (UPDATES, "u.platform = 'x'", "u.id", "updates_listed_platform"),
            (UPDATES, "u.bundle_key = 'x'", "u.id", "updates_listed_bundle"),
            (UPDATES, "u.configuration = 'x'", "u.id", "updates_listed_configuration"),
            (UPDATES, &format!("{STATE} = 'x'"), "u.id", "updates_listed_status"),
            (submissions, "status = 'x'", "id", "submissions_listed_status"),
            (submissions, "platform = 'x'", "id", "submissions_listed_platform"),
            (submissions, "bundle_key = 'x'", "id", "submissions_listed_bundle"),
            (submissions, "build_id = 'x'", "id", "submissions_listed_build"),
            ("deliveries WHERE org_id = 'o'", "webhook_id = 'x'", "id", "deliveries_webhook"),
            (audit, "actor = 'x'", "seq", "audit_listed_actor"),
            (audit, "action = 'x'", "seq", "audit_listed_action"),
            (audit, "resource = 'x'", "seq", "audit_listed_resource"),
        ] {
            let sql = format!("SELECT * FROM {rows} AND {condition} ORDER BY {order} DESC LIMIT 9");
            let plan = db.plan(&sql).await;
            assert!(plan.contains(index), "{sql}: {plan}");
            assert!(!READS_ALL.iter().any(|step| plan.contains(step)), "{sql}: {plan}");
        }
        let ids = "SELECT f.update_id FROM foreign_ids f WHERE f.org_id = 'o' AND f.protocol = 'p' AND f.foreign_id = 'i'";
        let plan = db.plan(ids).await;
        assert!(plan.contains("foreign_ids_named"), "{plan}");
    }

    /// As `index_rows.rs` reads them, of one bundle and of all.
    async fn retired_updates_are_read_by_their_own_index(db: &TestDb) {
        if db.is_shared() {
            // The choice of PostgreSQL's planner in an empty table means nothing.
            return;
        }
        let retired = "FROM updates WHERE (deleted_at IS NOT NULL OR status = 'withdrawn') AND awaiting_since IS NULL";
        let plan = db.plan(&format!("SELECT id, version {retired} AND bundle_key = 'b' ORDER BY id DESC LIMIT 9")).await;
        assert!(plan.contains("updates_retired (bundle_key=?)"), "{plan}");
        assert!(!READS_ALL.iter().any(|step| plan.contains(step)), "{plan}");
        let places = "ROW_NUMBER() OVER (PARTITION BY bundle_key ORDER BY id DESC) AS place";
        let plan = db.plan(&format!("SELECT id FROM (SELECT id, {places} {retired}) AS placed WHERE place <= 9")).await;
        assert!(plan.contains("SCAN updates USING INDEX updates_retired"), "{plan}");
    }

    /// As `submission_work/due.rs` finds what is due.
    async fn the_first_due_submissions_are_read_by_an_index(db: &TestDb) {
        if db.is_shared() {
            // The choice of PostgreSQL's planner in an empty table means nothing.
            return;
        }
        let urgent = "(s.change IS NOT NULL OR s.cancel_requested = 1 OR s.urgent = 1)";
        let due = "FROM submissions s WHERE s.due_at <= 1 AND (s.claimed_until IS NULL OR s.claimed_until <= 1) AND";
        for (sql, index) in [
            ("SELECT MIN(s.org_id) FROM submissions s WHERE s.due_at IS NOT NULL AND s.org_id > 'o'".to_owned(),
             "COVERING INDEX submissions_due_of_org (org_id>?)"),
            (format!("SELECT s.id {due} s.org_id = 'o' AND NOT {urgent} ORDER BY s.due_at, s.id LIMIT 9"),
             "submissions_due_of_org (org_id=? AND due_at<?)"),
            (format!("SELECT s.org_id, s.id {due} {urgent}"), "submissions_urgent (due_at<?)"),
        ] {
            let plan = db.plan(&sql).await;
            assert!(plan.contains(index), "{sql}: {plan}");
            assert!(!READS_ALL.iter().any(|step| plan.contains(step)), "{sql}: {plan}");
        }
    }

    /// As `folding.rs` reads a slice.
    async fn a_slice_of_totals_is_read_in_the_order_of_an_index(db: &TestDb) {
        let key = "name, bundle_key, platform, configuration, status";
        let sql = format!(
            "SELECT id FROM list_totals WHERE org_id = 'o' AND list = 'l' AND ({key}) >= ('a', 'b', 'c', 'd', 'e') \
             ORDER BY {key}, n LIMIT 9"
        );
        let plan = db.plan(&sql).await;
        assert!(plan.contains("list_totals_key"), "{plan}");
        let range = if db.is_shared() { "ROW(name, " } else { "(name,bundle_key,platform,configuration,status)>" };
        assert!(plan.contains(range), "{plan}");
        assert!(!READS_ALL.iter().any(|step| plan.contains(step)), "{plan}");
    }
}
