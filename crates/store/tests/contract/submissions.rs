//! Submissions: stored completely, changed while locked, claimed by one node at a time, one change at a time for an app of
//! Google Play, and their files.

use launchway_domain::id::OrgId;
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::error::{SubmissionError, SubmissionErrorCode};
use launchway_domain::submission::record::{Change, Note, Options, Spec, Work};
use launchway_domain::submission::{FileKind, Store, Submission, SubmissionFile, SubmissionState, SubmissionStatus};
use launchway_store::{BuildFile, Lane, PendingChange, SubmissionFilter, SubmittedBinary};

use crate::database::TestDb;
use crate::records::{ALL, NOW, an_org, bundle, new_id, unique};

const APP: &str = "com.example.App";

/// A submission to Google Play, not stored yet.
pub fn new_submission(org: OrgId) -> Submission {
    let mut new = Submission {
        id: new_id(),
        org_id: org,
        state: SubmissionState::new(),
        build_id: Some(new_id()),
        bundle_id: APP.to_owned(),
        platform: Platform::Android,
        destination: Destination::parse(Platform::Android, "production").unwrap(),
        version: Some("1.2.3".to_owned()),
        build_number: Some("42".to_owned()),
        sha256: "ab".repeat(32),
        rollout: 20,
        spec: Spec {
            notes: vec![Note {
                locale: "en-US".to_owned(),
                text: "Faster.".to_owned(),
            }],
            options: Options {
                priority: Some(3),
                ..Options::default()
            },
        },
        credential_id: Some(new_id()),
        external: [("editId".to_owned(), "7".to_owned())].into(),
        change: None,
        error: None,
        events: Vec::new(),
        work: Work {
            due_at: Some(NOW),
            since: NOW,
            ..Work::default()
        },
        created_by: "user_x".to_owned(),
        created_at: NOW,
        finished_at: None,
    };
    new.add_event(NOW, "It waits for its turn.");
    new
}

/// A file, not stored yet.
pub fn new_file() -> SubmissionFile {
    SubmissionFile {
        kind: FileKind::App,
        blob_key: unique("submissions/s"),
        file_name: "app.aab".to_owned(),
        size: 4711,
        sha256: "ab".repeat(32),
    }
}

/// Stores a submission.
pub async fn submit(db: &TestDb, new: &Submission) {
    org_writes!(db, new.org_id, create_submission(new, &bundle(&new.bundle_id)));
}

contract! {
    async fn what_is_under_way_can_be_made_due(db: &TestDb) {
        let org = an_org(db).await.id;
        let begun = |due_at| {
            let mut new = new_submission(org);
            new.work.due_at = due_at;
            new
        };
        let (early, late, over, fresh) = (begun(Some(NOW - 9)), begun(Some(NOW + 9)), begun(None), begun(Some(NOW)));
        for new in [&early, &late, &over, &fresh] {
            submit(db, new).await;
        }
        for new in [&early, &late, &over] {
            let mut reached = new.clone();
            reached.work.sealed_progress = Some("sealed".to_owned());
            org_writes!(db, org, change_submission(&reached));
        }
        let under_way = org_reads!(db, org, submissions_under_way(Store::GooglePlay));
        let sealed = |new: &Submission| (new.id, "sealed".to_owned());
        assert_eq!(under_way, [sealed(&late), sealed(&early)]);
        assert_eq!(org_reads!(db, org, submissions_under_way(Store::AppStore)), []);
        for (new, wanted) in [(&early, Some(NOW - 9)), (&late, Some(NOW)), (&over, None)] {
            org_writes!(db, org, make_submission_due(new.id, NOW));
            let due_at = org_reads!(db, org, submission(new.id)).unwrap().work.due_at;
            assert_eq!(due_at, wanted);
        }
    }

    async fn what_is_kept_is_read(db: &TestDb) {
        let org = an_org(db).await.id;
        let first = new_submission(org);
        let plain = Submission {
            build_id: None,
            version: None,
            build_number: None,
            credential_id: None,
            platform: Platform::Visionos,
            destination: Destination::AppStore,
            external: Default::default(),
            spec: Spec::default(),
            events: Vec::new(),
            ..new_submission(org)
        };
        submit(db, &first).await;
        submit(db, &plain).await;
        assert_eq!(org_reads!(db, org, submission(first.id)), Some(first.clone()));
        let listed = org_reads!(db, org, submissions(&SubmissionFilter::default(), ALL));
        assert_eq!((listed.items, listed.total), (vec![plain.clone(), first.clone()], 2));
        for (filter, wanted) in [
            (SubmissionFilter { platform: Some(Platform::Visionos), ..Default::default() }, Some(&plain)),
            (SubmissionFilter { build: first.build_id, ..Default::default() }, Some(&first)),
            (SubmissionFilter { status: Some(SubmissionStatus::Failed), ..Default::default() }, None),
            (SubmissionFilter { bundle: Some(bundle("com.example.other")), ..Default::default() }, None),
            (SubmissionFilter { bundle_part: Some("example.other".to_owned()), ..Default::default() }, None),
            (SubmissionFilter { build_part: Some(first.build_id.unwrap().to_string()[8..].to_uppercase()), ..Default::default() }, Some(&first)),
        ] {
            let listed = org_reads!(db, org, submissions(&filter, ALL));
            assert_eq!((listed.items.first(), listed.total), (wanted, i64::from(wanted.is_some())), "{filter:?}");
        }
        let filter = SubmissionFilter { bundle: Some(bundle("com.example.APP")), ..Default::default() };
        assert_eq!(org_reads!(db, org, submissions(&filter, ALL)).total, 2, "whatever the letter case");
        assert!(org_writes!(db, org, delete_submission(first.id)));
        assert!(!org_writes!(db, org, delete_submission(first.id)));
        assert_eq!(org_reads!(db, org, submission(first.id)), None);
    }

    async fn a_change_is_kept_whole(db: &TestDb) {
        let org = an_org(db).await.id;
        let old = new_submission(org);
        submit(db, &old).await;
        let mut new = old.clone();
        new.state = SubmissionState { status: SubmissionStatus::Halted, cancel_requested: true };
        new.rollout = 50;
        new.credential_id = None;
        new.external.insert("appId".to_owned(), "1".to_owned());
        new.change = Some(Change { rollout: Some(60), halted: Some(false) });
        new.error = Some(SubmissionError::new(SubmissionErrorCode::Conflict, "why"));
        new.add_event(NOW + 1, "It is halted.");
        new.work = Work {
            sealed_progress: Some("sealed".to_owned()),
            due_at: None,
            claim: 0,
            failures: 3,
            failing_since: NOW + 2,
            since: NOW + 3,
            is_deleted: false,
            is_urgent: true,
        };
        new.finished_at = Some(NOW + 4);
        org_writes!(db, org, change_submission(&new));
        assert_eq!(org_writes!(db, org, lock_submission(old.id)), Some(new.clone()));
        new.work.is_deleted = true;
        org_writes!(db, org, change_submission(&new));
        assert_eq!(org_reads!(db, org, submission(old.id)), None);
        assert_eq!(org_reads!(db, org, submissions(&SubmissionFilter::default(), ALL)).total, 0);
        assert_eq!(org_writes!(db, org, lock_submission(old.id)), Some(new), "its work goes on");
    }

    async fn an_older_node_reads_the_code_of_every_error(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut new = new_submission(org);
        submit(db, &new).await;
        for code in SubmissionErrorCode::ALL {
            new.error = Some(SubmissionError::new(code, "why"));
            org_writes!(db, org, change_submission(&new));
            assert_eq!(org_writes!(db, org, lock_submission(new.id)), Some(new.clone()));
            let column = db.raw_texts(&format!("SELECT error_code FROM submissions WHERE id = '{}'", new.id)).await;
            assert_eq!(column, [code.for_older_nodes().as_str()]);
            assert_eq!(code.for_older_nodes().for_older_nodes(), code.for_older_nodes());
        }
        // An older node has replaced the error, and does not know the other column.
        new.error = Some(SubmissionError::new(SubmissionErrorCode::IconMissing, "why"));
        org_writes!(db, org, change_submission(&new));
        db.raw(&format!("UPDATE submissions SET error_code = 'CONFLICT' WHERE id = '{}'", new.id)).await;
        let read = org_writes!(db, org, lock_submission(new.id)).unwrap();
        assert_eq!(read.error, Some(SubmissionError::new(SubmissionErrorCode::Conflict, "why")));
    }

    async fn a_step_is_claimed_by_one_until_the_claim_lapses(db: &TestDb) {
        let org = an_org(db).await.id;
        let new = new_submission(org);
        submit(db, &new).await;
        let id = new.id;
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW - 1, 9, 10)), []);
        assert_eq!(system_writes!(db, claim_submission(id, NOW - 1, NOW)), None);
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW, 9, 10)), [(org, id)]);
        let first = system_writes!(db, claim_submission(id, NOW, NOW + 90)).unwrap();
        assert_eq!((first.id, first.work.claim), (id, 1));
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW + 89, 9, 10)), []);
        assert_eq!(system_writes!(db, claim_submission(id, NOW + 89, NOW + 200)), None);
        assert!(system_writes!(db, renew_submission(id, 1, NOW + 100)));
        assert_eq!(system_writes!(db, claim_submission(id, NOW + 99, NOW + 200)), None);
        let second = system_writes!(db, claim_submission(id, NOW + 100, NOW + 200)).unwrap();
        assert_eq!(second.work.claim, 2);
        assert!(!system_writes!(db, renew_submission(id, 1, NOW + 300)), "it is the second's");
        org_writes!(db, org, hold_submission(id, Some(NOW + 400)));
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW + 399, 9, 10)), []);
        org_writes!(db, org, hold_submission(id, None));
        assert!(!system_writes!(db, renew_submission(id, 2, NOW + 300)), "it was given up");
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW + 1, 9, 10)), [(org, id)]);
        let done = Submission { work: Work { due_at: None, ..second.work.clone() }, ..second };
        org_writes!(db, org, change_submission(&done));
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW + 1000, 9, 10)), []);
    }

    async fn of_many_that_claim_at_once_one_does(db: &TestDb) {
        let org = an_org(db).await.id;
        let new = new_submission(org);
        submit(db, &new).await;
        let id = new.id;
        let claimed = db
            .at_once(6, move |db, _| async move { system_writes!(db, claim_submission(id, NOW, NOW + 90)).is_some() })
            .await;
        assert_eq!(claimed.into_iter().filter(|claimed| *claimed).count(), 1);
    }

    async fn an_app_is_changed_by_one_at_a_time_in_google_play(db: &TestDb) {
        let org = an_org(db).await.id;
        let (one, other) = (new_submission(org), new_submission(org));
        let apple = Submission { platform: Platform::Ios, destination: Destination::AppStore, ..new_submission(org) };
        for new in [&one, &other, &apple] {
            submit(db, new).await;
        }
        let app = bundle("com.example.app");
        assert!(system_writes!(db, lock_package(&app, one.id, NOW, NOW + 90)));
        assert!(system_writes!(db, lock_package(&app, one.id, NOW, NOW + 90)), "again by the same");
        assert!(!system_writes!(db, lock_package(&app, other.id, NOW + 89, NOW + 300)));
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW + 89, 9, 10)), [(org, apple.id)]);
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW + 90, 9, 10)).len(), 3);
        let other_org = an_org(db).await.id;
        let late = Submission { work: Work { due_at: Some(NOW + 1), ..Work::default() }, ..new_submission(other_org) };
        submit(db, &late).await;
        let shares = [(org, one.id), (org, other.id), (other_org, late.id)];
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, NOW + 90, 2, 10)), shares, "nobody keeps the others waiting");
        org_writes!(db, other_org, delete_submission(late.id));
        system_writes!(db, claim_submission(one.id, NOW, NOW + 90)).unwrap();
        assert!(system_writes!(db, renew_submission(one.id, 1, NOW + 200)));
        assert!(!system_writes!(db, lock_package(&app, other.id, NOW + 199, NOW + 300)), "renewed with the claim");
        org_writes!(db, org, hold_submission(one.id, None));
        assert!(system_writes!(db, lock_package(&app, other.id, NOW, NOW + 300)), "given up with the claim");
    }

    async fn what_is_urgent_is_found_apart_from_the_rest(db: &TestDb) {
        let (org, other_org) = (an_org(db).await.id, an_org(db).await.id);
        let usual = new_submission(org);
        submit(db, &usual).await;
        let change = Change { rollout: None, halted: Some(true) };
        let mut urgent = Vec::new();
        for place in 0..4 {
            let at = if place == 3 { other_org } else { org };
            let mut new = Submission { work: Work { due_at: Some(NOW + place), ..Work::default() }, ..new_submission(at) };
            submit(db, &new).await;
            match place {
                0 => new.change = Some(change),
                1 => new.work.is_urgent = true,
                _ => new.state.cancel_requested = true,
            }
            org_writes!(db, at, change_submission(&new));
            urgent.push((at, new.id));
        }
        let later = NOW + 9;
        assert_eq!(system_reads!(db, due_submissions(Lane::Usual, later, 9, 10)), [(org, usual.id)]);
        assert_eq!(system_reads!(db, due_submissions(Lane::Urgent, later, 9, 10)), urgent);
        let shares = [urgent[0], urgent[1], urgent[3]];
        assert_eq!(system_reads!(db, due_submissions(Lane::Urgent, later, 2, 10)), shares, "of each organization");
        assert_eq!(system_reads!(db, changes_for_claimed(later)), [], "nobody works on them");
        for (_, id) in [urgent[0], urgent[1], urgent[3]] {
            system_writes!(db, claim_submission(id, later, later + 90)).unwrap();
        }
        let wanted = [
            PendingChange { id: urgent[0].1, change: Some(change), cancel: false },
            PendingChange { id: urgent[3].1, change: None, cancel: true },
        ];
        assert_eq!(system_reads!(db, changes_for_claimed(later)), wanted);
        assert_eq!(system_reads!(db, changes_for_claimed(later + 90)), [], "the claims have lapsed");
        let app = bundle("com.example.app");
        assert_eq!(system_reads!(db, blocking_submissions(later)), []);
        assert!(system_writes!(db, lock_package(&app, usual.id, later, later + 90)));
        assert_eq!(system_reads!(db, blocking_submissions(later)), [usual.id]);
        assert!(system_writes!(db, lock_package(&app, urgent[2].1, later + 90, later + 200)));
        org_writes!(db, org, hold_submission(urgent[2].1, Some(later + 200)));
        assert_eq!(system_reads!(db, blocking_submissions(NOW - 1)), [], "nothing is due");
    }

    async fn of_many_that_lock_an_app_at_once_one_does(db: &TestDb) {
        an_org(db).await;
        let locked = db
            .at_once(6, |db, _| async move {
                system_writes!(db, lock_package(&bundle("com.example.app"), new_id(), NOW, NOW + 90))
            })
            .await;
        assert_eq!(locked.into_iter().filter(|locked| *locked).count(), 1);
    }

    async fn files_are_named_until_they_are_forgotten(db: &TestDb) {
        let org = an_org(db).await.id;
        let new = new_submission(org);
        submit(db, &new).await;
        let (app, mapping) = (new_file(), SubmissionFile { kind: FileKind::Mapping, ..new_file() });
        org_writes!(db, org, add_submission_file(new.id, 1, &mapping));
        org_writes!(db, org, add_submission_file(new.id, 0, &app));
        assert_eq!(org_reads!(db, org, submission_files(new.id)), [app.clone(), mapping.clone()]);
        assert!(system_reads!(db, has_submission_blob(&app.blob_key)));
        assert!(system_reads!(db, is_blob_referenced(&mapping.blob_key)));
        let file = |file: &SubmissionFile| BuildFile {
            blob_key: file.blob_key.clone(),
            sha256: Some(file.sha256.clone()),
        };
        assert_eq!(system_reads!(db, build_files_after("", 10)), [file(&app), file(&mapping)]);
        assert_eq!(system_reads!(db, submissions_ended_before(NOW + 9, 10)), [], "it has not ended");
        org_writes!(db, org, change_submission(&Submission { finished_at: Some(NOW + 5), ..new.clone() }));
        assert_eq!(system_reads!(db, submissions_ended_before(NOW + 5, 10)), []);
        assert_eq!(system_reads!(db, submissions_ended_before(NOW + 6, 10)), [(org, new.id)]);
        org_writes!(db, org, forget_submission_files(new.id));
        assert_eq!(org_reads!(db, org, submission_files(new.id)), []);
        assert_eq!(system_reads!(db, submissions_ended_before(NOW + 6, 10)), []);
        assert!(!system_reads!(db, is_blob_referenced(&app.blob_key)));
        org_writes!(db, org, add_submission_file(new.id, 0, &app));
        assert!(org_writes!(db, org, delete_submission(new.id)));
        assert!(!system_reads!(db, is_blob_referenced(&app.blob_key)), "gone with its submission");
    }

    async fn submissions_of_the_same_bytes_come_with_their_store_ids(db: &TestDb) {
        let org = an_org(db).await.id;
        let (one, other) = (new_submission(org), Submission { external: Default::default(), ..new_submission(org) });
        let others_bytes = Submission { sha256: "cd".repeat(32), ..new_submission(org) };
        let ios = Submission { platform: Platform::Ios, destination: Destination::AppStore, ..new_submission(org) };
        for new in [&one, &other, &others_bytes, &ios] {
            submit(db, new).await;
        }
        let told = org_reads!(db, org, submissions_of_binary(&bundle("com.example.APP"), Platform::Android, &one.sha256));
        assert_eq!(
            told,
            [(SubmissionStatus::Queued, other.external), (SubmissionStatus::Queued, one.external)]
        );
        assert_eq!(org_reads!(db, org, submissions_of_binary(&bundle("com.b"), Platform::Android, &one.sha256)), []);
    }

    async fn what_was_handed_to_a_store_is_told(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut kept = Vec::new();
        for (status, number) in [
            (SubmissionStatus::Uploading, "1"),
            (SubmissionStatus::Rejected, "2"),
            (SubmissionStatus::Success, "3"),
            (SubmissionStatus::Failed, "4"),
        ] {
            let new = Submission {
                state: SubmissionState { status, cancel_requested: false },
                build_number: Some(number.to_owned()),
                ..new_submission(org)
            };
            submit(db, &new).await;
            kept.push(new);
        }
        let told = |place: usize, is_there| SubmittedBinary {
            version: kept[place].version.clone(),
            build_number: kept[place].build_number.clone(),
            sha256: kept[place].sha256.clone(),
            destination: "production".to_owned(),
            is_there,
        };
        let app = bundle("com.example.app");
        let all = org_reads!(db, org, submitted_binaries(&app, Platform::Android, new_id()));
        assert_eq!(all, [told(2, true), told(1, false)]);
        let others = org_reads!(db, org, submitted_binaries(&app, Platform::Android, kept[2].id));
        assert_eq!(others, [told(1, false)]);
        assert_eq!(org_reads!(db, org, submitted_binaries(&app, Platform::Ios, new_id())), []);
    }
}
