//! What a page of a list reads does not grow with the list: each filter has an index in the order of the list. The statements are
//! those that the store runs.

use launchway_domain::build::{Build, BuildStatus};
use launchway_domain::id::OrgId;
use launchway_domain::platform::Platform;
use launchway_domain::release::Protocol;
use launchway_domain::submission::SubmissionStatus;
use launchway_domain::update::UpdateStatus;
use launchway_store::{
    AuditFilter, BuildFilter, FoldCursor, Lane, Paging, SubmissionFilter, UnfoldedList, UpdateFilter,
};

use crate::builds::new_build;
use crate::database::{Plan, TestDb};
use crate::records::{NOW, an_org, bundle, new_id};

const PAGE: Paging = Paging { limit: 9, offset: 0 };

/// The steps of a plan that read a whole table or list.
const READS_ALL: [&str; 4] = ["SCAN ", "USE TEMP B-TREE", "Seq Scan", "Sort"];

/// The plan of the only statement that is about a table.
fn about(plans: Vec<Plan>, table: &str) -> Plan {
    let mut about = plans
        .into_iter()
        .filter(|plan| plan.sql.contains(&format!("FROM {table} ")));
    let plan = about.next().expect("a statement about the table");
    assert!(about.next().is_none(), "several statements about the table");
    plan
}

impl Plan {
    fn uses(&self, index: &str) {
        assert!(self.steps.contains(index), "{index}: {self:#?}");
        assert!(!READS_ALL.iter().any(|step| self.steps.contains(step)), "{self:#?}");
    }
}

/// A page of the updates with each filter that has an index of its own, and the index.
async fn pages_of_updates(db: &TestDb, org: OrgId) -> Vec<(Plan, &'static str)> {
    let all = UpdateFilter::default;
    let configuration = "beta".parse().unwrap();
    let mut pages = Vec::new();
    for (filter, index) in [
        (
            UpdateFilter {
                platform: Some(Platform::Ios),
                ..all()
            },
            "updates_listed_platform",
        ),
        (
            UpdateFilter {
                bundle: Some(bundle("com.rare")),
                ..all()
            },
            "updates_listed_bundle",
        ),
        (
            UpdateFilter {
                configuration: Some(configuration),
                ..all()
            },
            "updates_listed_configuration",
        ),
        (
            UpdateFilter {
                status: Some(UpdateStatus::Paused),
                ..all()
            },
            "updates_listed_status",
        ),
        (
            UpdateFilter {
                foreign_id: Some((Protocol::Expo, "x".parse().unwrap())),
                ..all()
            },
            "foreign_ids_named",
        ),
    ] {
        let plans = db
            .plans(&[], async || drop(org_reads!(db, org, updates(&filter, PAGE))))
            .await;
        pages.push((about(plans, "updates u"), index));
    }
    pages
}

/// Like [`pages_of_updates`].
async fn pages_of_submissions(db: &TestDb, org: OrgId) -> Vec<(Plan, &'static str)> {
    let all = SubmissionFilter::default;
    let mut pages = Vec::new();
    for (filter, index) in [
        (
            SubmissionFilter {
                status: Some(SubmissionStatus::Failed),
                ..all()
            },
            "submissions_listed_status",
        ),
        (
            SubmissionFilter {
                platform: Some(Platform::Ios),
                ..all()
            },
            "submissions_listed_platform",
        ),
        (
            SubmissionFilter {
                bundle: Some(bundle("com.rare")),
                ..all()
            },
            "submissions_listed_bundle",
        ),
        (
            SubmissionFilter {
                build: Some(new_id()),
                ..all()
            },
            "submissions_listed_build",
        ),
    ] {
        let plans = db
            .plans(&[], async || drop(org_reads!(db, org, submissions(&filter, PAGE))))
            .await;
        pages.extend(plans.into_iter().take(1).map(|plan| (plan, index)));
    }
    pages
}

/// Like [`pages_of_updates`].
async fn pages_of_the_audit(db: &TestDb, org: OrgId) -> Vec<(Plan, &'static str)> {
    let all = AuditFilter::default;
    let text = || Some("x".to_owned());
    let mut pages = Vec::new();
    for (filter, index) in [
        (AuditFilter { actor: text(), ..all() }, "audit_listed_actor"),
        (
            AuditFilter {
                action: text(),
                ..all()
            },
            "audit_listed_action",
        ),
        (
            AuditFilter {
                resource: text(),
                ..all()
            },
            "audit_listed_resource",
        ),
    ] {
        let plans = db
            .plans(&[], async || drop(org_reads!(db, org, audit(&filter, PAGE))))
            .await;
        pages.extend(plans.into_iter().take(1).map(|plan| (plan, index)));
    }
    pages
}

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
        let id = org.to_string();
        let all = BuildFilter::default;
        for (filter, values, index) in [
            (BuildFilter { platform: Some(Platform::Ios), ..all() }, &["ios"][..], "builds_listed_platform"),
            (BuildFilter { bundle: Some(bundle("com.rare")), ..all() }, &["com.rare"], "builds_listed_bundle"),
            (BuildFilter { configuration: Some("beta".parse().unwrap()), ..all() }, &["beta"], "builds_listed_configuration"),
            (BuildFilter { branch: Some("rare".to_owned()), ..all() }, &["rare"], "builds_listed_branch"),
            (BuildFilter { status: Some(BuildStatus::Queued), platform: Some(Platform::Ios), ..all() }, &["queued", "ios"],
             "builds_listed_platform"),
        ] {
            let values = [&[&*id][..], values, &["9", "0"]].concat();
            let plans = db.plans(&values, async || drop(org_reads!(db, org, builds(&filter, PAGE)))).await;
            about(plans, "builds").uses(index);
        }
    }

    async fn each_filter_of_other_lists_has_an_index(db: &TestDb) {
        if db.is_shared() {
            // The choice of PostgreSQL's planner in an empty table means nothing.
            return;
        }
        let org = new_id();
        let mut pages = pages_of_updates(db, org).await;
        pages.extend(pages_of_submissions(db, org).await);
        pages.extend(pages_of_the_audit(db, org).await);
        assert_eq!(pages.len(), 12);
        for (plan, index) in pages {
            plan.uses(index);
        }
        let deliveries = db.plans(&[], async || drop(org_reads!(db, org, deliveries(new_id(), PAGE)))).await;
        deliveries[0].uses("deliveries_webhook");
    }

    async fn retired_updates_are_read_by_their_own_index(db: &TestDb) {
        if db.is_shared() {
            // The choice of PostgreSQL's planner in an empty table means nothing.
            return;
        }
        let of_one = db.plans(&[], async || drop(system_reads!(db, retired_updates("b", 9)))).await;
        about(of_one, "updates").uses("updates_retired (bundle_key=?)");
        let of_all = db.plans(&[], async || system_reads!(db, for_each_retired_update(9, |_, _| ()))).await;
        let plan = about(of_all, "updates");
        assert!(plan.steps.contains("SCAN updates USING INDEX updates_retired"), "{plan:#?}");
    }

    async fn the_first_due_submissions_are_read_by_an_index(db: &TestDb) {
        if db.is_shared() {
            // The choice of PostgreSQL's planner in an empty table means nothing.
            return;
        }
        for (lane, indexes) in [
            (Lane::Usual, &["COVERING INDEX submissions_due_of_org (org_id>?)", "submissions_due_of_org (org_id=? AND due_at<?)"][..]),
            (Lane::Urgent, &["submissions_urgent (due_at<?)"]),
        ] {
            for plan in db.plans(&[], async || drop(system_reads!(db, due_submissions(lane, NOW, 9, 9)))).await {
                assert!(indexes.iter().all(|index| plan.steps.contains(index)), "{plan:#?}");
                // Of all submissions, only what those indexes give is read and sorted.
                for reads_all in ["SCAN s\n", "SCAN submissions\n"] {
                    assert!(!plan.steps.contains(reads_all), "{plan:#?}");
                }
            }
        }
    }

    async fn a_slice_of_totals_is_read_in_the_order_of_an_index(db: &TestDb) {
        let list = UnfoldedList { org: new_id(), list: "l".to_owned() };
        let values = [&*list.org.to_string(), "l", "a", "b", "c", "d", "e", "9"];
        let plans = db.plans(&values, async || drop(system_writes!(db, fold_list(&list, &FoldCursor::default(), 9)))).await;
        let plan = about(plans, "list_totals");
        assert!(plan.steps.contains("list_totals_key"), "{plan:#?}");
        let range = if db.is_shared() { "ROW(name, " } else { "(name,bundle_key,platform,configuration,status)>" };
        assert!(plan.steps.contains(range), "{plan:#?}");
        for reads_all in ["SCAN list_totals", "USE TEMP B-TREE", "Seq Scan", "Sort "] {
            assert!(!plan.steps.contains(reads_all), "{plan:#?}");
        }
    }
}
