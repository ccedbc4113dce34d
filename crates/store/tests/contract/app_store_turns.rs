//! Turns in App Store Connect: one submission has each, the others wait in order of creation, and a submission that ends, fails
//! or is deleted frees its turn.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, SubmissionId};
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::record::Work;
use launchway_domain::submission::{Submission, SubmissionState, SubmissionStatus};
use launchway_store::{Turn, TurnHolder};

use crate::database::TestDb;
use crate::records::{NOW, an_org, bundle};
use crate::submissions::{new_submission, submit};

const LEASE: i64 = 90;

fn version(app: &BundleId, platform: Platform) -> Turn<'_> {
    Turn {
        bundle: app,
        platform,
        part: "version",
        after_others: true,
    }
}

/// A claimed submission to the App Store.
async fn claimed(db: &TestDb, org: OrgId, status: SubmissionStatus) -> Submission {
    let new = Submission {
        platform: Platform::Ios,
        destination: Destination::AppStore,
        state: SubmissionState {
            status,
            cancel_requested: false,
        },
        external: Default::default(),
        ..new_submission(org)
    };
    submit(db, &new).await;
    claim(db, new.id).await
}

async fn claim(db: &TestDb, id: SubmissionId) -> Submission {
    system_writes!(db, claim_submission(id, NOW, NOW + LEASE)).unwrap()
}

async fn take(db: &TestDb, turn: Turn<'_>, one: &Submission) -> Option<SubmissionId> {
    let holder = system_writes!(db, take_app_store_turn(turn, one.id, one.work.claim));
    assert_eq!(system_reads!(db, has_app_store_turn(turn, one.id)), holder.is_none());
    holder.map(|holder| holder.id)
}

async fn let_go(db: &TestDb, one: &Submission) {
    org_writes!(db, one.org_id, hold_submission(one.id, None));
}

/// The effect of a release without turns on a row: it counts claims, and changes nothing else.
async fn claim_by_an_older_node(db: &TestDb, one: &Submission) {
    db.raw(&format!(
        "UPDATE submissions SET claim = claim + 1 WHERE id = '{}'",
        one.id
    ))
    .await;
}

/// Records that the submission created a version in App Store Connect.
async fn make_version(db: &TestDb, one: &Submission, status: SubmissionStatus) {
    let mut new = one.clone();
    new.state.status = status;
    new.external.insert("appStoreVersionId".to_owned(), "1".to_owned());
    org_writes!(db, new.org_id, change_submission(&new));
}

contract! {
    async fn one_has_a_turn_and_the_next_is_the_one_that_was_made_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let app = bundle("com.example.app");
        let turn = version(&app, Platform::Ios);
        let mut made = Vec::new();
        for _ in 0..4 {
            made.push(claimed(db, org, SubmissionStatus::Processing).await);
        }
        let holder = system_writes!(db, take_app_store_turn(turn, made[1].id, made[1].work.claim));
        assert_eq!(holder, None);
        assert_eq!(take(db, turn, &made[1]).await, None, "again by the same");
        for one in [&made[3], &made[0], &made[2]] {
            let holder = system_writes!(db, take_app_store_turn(turn, one.id, one.work.claim));
            let wanted = TurnHolder {
                org_id: org,
                id: made[1].id,
                version: made[1].version.clone(),
                build_number: made[1].build_number.clone(),
            };
            assert_eq!(holder, Some(wanted));
            let later = Submission { work: Work { due_at: Some(NOW + 60), ..one.work.clone() }, ..one.clone() };
            org_writes!(db, org, change_submission(&later));
            let_go(db, one).await;
        }
        assert_eq!(take(db, Turn { part: "upload 1.2.3 42", ..turn }, &made[3]).await, None, "another part");
        assert_eq!(take(db, version(&app, Platform::Visionos), &made[3]).await, None, "another platform");
        assert!(!system_writes!(db, end_app_store_turns(made[1].id, Some("version"), NOW + 1)), "it is kept");
        assert_eq!(take(db, turn, &made[0]).await, Some(made[1].id));
        assert!(system_writes!(db, end_app_store_turns(made[1].id, None, NOW + 1)));
        assert!(system_reads!(db, has_app_store_turn(turn, made[0].id)), "handed to the first");
        let due = org_reads!(db, org, submission(made[0].id)).unwrap().work.due_at;
        assert_eq!(due, Some(NOW + 1), "and it goes on now");
        assert_eq!(take(db, turn, &made[2]).await, Some(made[0].id));
        assert_eq!(take(db, turn, &made[1]).await, Some(made[0].id), "nobody takes it back");
    }

    async fn of_many_that_take_a_turn_at_once_one_does(db: &TestDb) {
        let org = an_org(db).await.id;
        let taken = db
            .at_once(6, move |db, _| async move {
                let new = Submission { platform: Platform::Ios, destination: Destination::AppStore, ..new_submission(org) };
                org_writes!(db, org, create_submission(&new, &bundle("com.example.app")));
                let app = bundle("com.example.app");
                system_writes!(db, take_app_store_turn(version(&app, Platform::Ios), new.id, 0)).is_none()
            })
            .await;
        assert_eq!(taken.into_iter().filter(|taken| *taken).count(), 1);
    }

    async fn what_is_over_released_or_deleted_has_no_turn(db: &TestDb) {
        let org = an_org(db).await.id;
        let app = bundle("com.example.app");
        let turn = version(&app, Platform::Ios);
        let other = claimed(db, org, SubmissionStatus::Processing).await;
        for status in SubmissionStatus::ALL {
            let one = claimed(db, org, SubmissionStatus::Processing).await;
            db.raw("DELETE FROM app_store_turns").await;
            assert_eq!(take(db, turn, &one).await, None);
            org_writes!(db, org, change_submission(&Submission {
                state: SubmissionState { status, cancel_requested: false },
                ..one.clone()
            }));
            let holds = ["queued", "validating", "uploading", "processing", "in_review"].contains(&status.as_str());
            assert_eq!(take(db, turn, &other).await, holds.then_some(one.id), "{status}");
            assert!(org_writes!(db, org, delete_submission(one.id)));
            assert_eq!(take(db, turn, &other).await, None, "{status}");
        }
    }

    async fn what_an_older_node_has_under_way_comes_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let app = bundle("com.example.app");
        let turn = version(&app, Platform::Ios);
        let (theirs, ours) = (
            claimed(db, org, SubmissionStatus::Processing).await,
            claimed(db, org, SubmissionStatus::Processing).await,
        );
        for (status, counts) in [
            (SubmissionStatus::Processing, true),
            (SubmissionStatus::InReview, true),
            (SubmissionStatus::RollingOut, false),
        ] {
            db.raw("DELETE FROM app_store_turns").await;
            make_version(db, &theirs, status).await;
            let wanted = counts.then_some(theirs.id);
            assert_eq!(take(db, version(&app, Platform::Visionos), &ours).await, None, "of another platform");
            assert_eq!(take(db, turn, &ours).await, wanted, "{status}");
            assert_eq!(take(db, Turn { after_others: false, ..turn }, &ours).await, wanted, "{status}: handed to it");
        }
        // A waiting submission has nothing in progress, although an earlier attempt created a version, until an older node
        // worked on it.
        let waits = claimed(db, org, SubmissionStatus::Processing).await;
        db.raw("DELETE FROM app_store_turns").await;
        assert_eq!(take(db, turn, &ours).await, None);
        assert_eq!(take(db, turn, &waits).await, Some(ours.id));
        make_version(db, &waits, SubmissionStatus::Processing).await;
        let_go(db, &waits).await;
        let waits = claim(db, waits.id).await;
        assert_eq!(take(db, turn, &ours).await, None, "it waits also while it is looked at");
        claim_by_an_older_node(db, &waits).await;
        assert_eq!(take(db, turn, &ours).await, Some(waits.id));
    }
}
