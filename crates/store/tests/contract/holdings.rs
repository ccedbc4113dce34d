//! What an organization holds: summed from the rows, exact for transactions that take turns, and filled in for an older
//! release.

use launchway_domain::submission::SubmissionFile;
use launchway_store::LogSegment;

use crate::build_outputs::new_artifact;
use crate::builds::{an_archive, keep, new_build};
use crate::records::{NOW, a_package, an_org, an_update, bundle, new_app, new_upload};
use crate::submissions::{new_file, new_submission};

fn segment(start: i64, size: i64) -> LogSegment {
    LogSegment {
        start,
        size,
        blob_key: format!("logs/{start}"),
        index_size: 0,
    }
}

contract! {
    async fn every_object_counts_while_a_row_names_it(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        let stored = async || org_reads!(db, org, stored_bytes());
        assert_eq!(stored().await, 0);
        let upload = new_upload(org);
        org_writes!(db, org, create_upload(&upload, "key_x"));
        let mut sum = upload.size;
        assert_eq!(stored().await, sum, "an announced upload");
        assert!(org_writes!(db, org, use_upload(upload.id)));
        assert_eq!(stored().await, 0, "a used upload");
        let name = bundle("com.example.app");
        let update = an_update(db, org, &name, |_| ()).await;
        sum = update.size;
        assert_eq!(stored().await, sum, "a package");

        let mut build = new_build(org);
        build.spec.source = an_archive("sources/x");
        keep(db, &build).await;
        let source = match &build.spec.source {
            launchway_domain::build::SourceRecord::Archive { size, .. } => *size,
            other => panic!("{other:?}"),
        };
        sum += source;
        assert_eq!(stored().await, sum, "a source");
        let mut retried = new_build(org);
        retried.spec.source = build.spec.source.clone();
        keep(db, &retried).await;
        assert_eq!(stored().await, sum, "a source that two builds share");
        let artifact = new_artifact(build.id);
        org_writes!(db, org, create_artifact(&artifact));
        sum += artifact.size;
        org_writes!(db, org, seal_log_segment(build.id, &segment(0, 1000)));
        org_writes!(db, org, seal_log_segment(build.id, &segment(1000, 500)));
        sum += 1500;
        assert_eq!(stored().await, sum, "an artifact and parts of a log");
        let submission = new_submission(org);
        org_writes!(db, org, create_submission(&submission, &name));
        let file = SubmissionFile { size: 77, ..new_file() };
        org_writes!(db, org, add_submission_file(submission.id, 0, &file));
        sum += 77;
        assert_eq!(stored().await, sum, "a file of a submission");
        assert_eq!(org_reads!(db, other, stored_bytes()), 0, "another organization");

        org_writes!(db, org, forget_submission_files(submission.id));
        assert!(org_writes!(db, org, delete_build(build.id)));
        assert_eq!(stored().await, update.size + source, "the other build has the source");
        assert!(org_writes!(db, org, delete_build(retried.id)));
        let gone = org_reads!(db, org, update(update.id)).unwrap();
        org_writes!(db, org, delete_update(&gone, NOW));
        assert_eq!(stored().await, update.size, "until the clean-up removes it");
        for package in system_reads!(db, unused_packages(NOW, 10)) {
            assert!(system_writes!(db, retire_package(package.id)));
        }
        assert_eq!(stored().await, 0);
    }

    /// A node of an older release omits the columns it does not know.
    async fn what_an_older_release_wrote_counts_when_it_is_filled_in(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut build = new_build(org);
        build.spec.source = an_archive("sources/x");
        keep(db, &build).await;
        org_writes!(db, org, seal_log_segment(build.id, &segment(0, 1000)));
        let submission = new_submission(org);
        org_writes!(db, org, create_submission(&submission, &bundle("com.example.app")));
        org_writes!(db, org, add_submission_file(submission.id, 0, &new_file()));
        let known = org_reads!(db, org, stored_bytes());
        assert_eq!(system_writes!(db, fill_holdings(100)), 0);
        for statement in [
            "UPDATE log_segments SET org_id = ''",
            "UPDATE submission_files SET org_id = ''",
            "UPDATE builds SET source_size = 0",
        ] {
            db.raw(statement).await;
        }
        assert_eq!(org_reads!(db, org, stored_bytes()), 0);
        assert_eq!(system_writes!(db, fill_holdings(100)), 3);
        assert_eq!(org_reads!(db, org, stored_bytes()), known);
        assert_eq!(system_writes!(db, fill_holdings(100)), 0);
    }

    /// The first clean-up after an upgrade finds every row: it processes them in batches, even if the process dies.
    async fn rows_of_an_older_release_are_filled_in_by_batches(db: &TestDb) {
        let org = an_org(db).await.id;
        let build = new_build(org);
        keep(db, &build).await;
        let submission = new_submission(org);
        org_writes!(db, org, create_submission(&submission, &bundle("com.example.app")));
        for number in 0..7 {
            org_writes!(db, org, seal_log_segment(build.id, &segment(number * 10, 10)));
            let mut source = new_build(org);
            source.spec.source = an_archive(&format!("sources/{number}"));
            keep(db, &source).await;
            if number < 5 {
                org_writes!(db, org, add_submission_file(submission.id, number, &new_file()));
            }
        }
        let known = org_reads!(db, org, stored_bytes());
        for statement in [
            "UPDATE log_segments SET org_id = ''",
            "UPDATE submission_files SET org_id = ''",
            "UPDATE builds SET source_size = 0",
        ] {
            db.raw(statement).await;
        }
        assert_eq!(system_writes!(db, fill_holdings(3)), 9);
        let begun = org_reads!(db, org, stored_bytes());
        assert!(0 < begun && begun < known, "{begun} of {known}");
        // The process dies before the commit.
        let mut tx = db.write().await.unwrap();
        assert_eq!(tx.system("a test").fill_holdings(3).await.unwrap(), 8);
        drop(tx);
        assert_eq!(org_reads!(db, org, stored_bytes()), begun);
        for filled in [8, 2, 0] {
            assert_eq!(system_writes!(db, fill_holdings(3)), filled);
        }
        assert_eq!(org_reads!(db, org, stored_bytes()), known);
    }

    async fn who_takes_turns_sees_what_those_before_have_stored(db: &TestDb) {
        let org = an_org(db).await.id;
        let most = 3 * new_upload(org).size;
        let taken = db
            .at_once(9, |db, _| async move {
                let upload = new_upload(org);
                let mut tx = db.write().await.unwrap();
                let mut rows = tx.org(org);
                rows.take_turn().await.unwrap();
                let fits = rows.stored_bytes().await.unwrap() + upload.size <= most;
                if fits {
                    rows.create_upload(&upload, "key_x").await.unwrap();
                }
                tx.commit().await.unwrap();
                fits
            })
            .await;
        assert_eq!(taken.into_iter().filter(|fits| *fits).count(), 3);
        assert_eq!(org_reads!(db, org, stored_bytes()), most);
    }

    async fn a_claimed_bundle_counts_also_when_its_app_is_deleted(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        for name in ["com.example.a", "com.example.b"] {
            let name = bundle(name);
            let app = new_app(org, &name);
            assert!(!org_reads!(db, org, has_claimed(&name)));
            org_writes!(db, org, claim_app(&name, &app));
            assert!(org_writes!(db, org, delete_app(app.id, NOW)));
            assert!(org_reads!(db, org, has_claimed(&name)) && !org_reads!(db, other, has_claimed(&name)));
        }
        assert_eq!((org_reads!(db, org, claimed_bundles()), org_reads!(db, other, claimed_bundles())), (2, 0));
        system_writes!(db, transfer_app(&bundle("com.example.a"), other, NOW));
        assert_eq!((org_reads!(db, org, claimed_bundles()), org_reads!(db, other, claimed_bundles())), (1, 1));
        a_package(db, other).await;
    }
}
