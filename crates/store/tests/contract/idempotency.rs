//! Responses stored for `Idempotency-Key`: one per request, and a duplicate waits for the first.

use launchway_domain::id::OrgId;
use launchway_store::{Db, KeptAnswer, RequestKey};
use tokio::task::JoinHandle;

use crate::records::{NOW, an_org};

const SINCE: i64 = NOW - 100;

fn request() -> RequestKey {
    RequestKey {
        caller: "key_x".to_owned(),
        method: "POST".to_owned(),
        path: "/api/update".to_owned(),
        key: "7f1c '\"%_".to_owned(),
        body_hash: "first body".to_owned(),
    }
}

fn answer(body: &str) -> Option<KeptAnswer> {
    Some(KeptAnswer {
        body_hash: "first body".to_owned(),
        status: 201,
        body: body.to_owned(),
    })
}

async fn answer_request(db: &Db, org: OrgId, request: &RequestKey, body: &str, now: i64) -> bool {
    let mut tx = db.write().await.unwrap();
    let claimed = tx.org(org).claim_answer(request, now, SINCE).await.unwrap();
    if claimed {
        tx.org(org).keep_answer(request, 201, body).await.unwrap();
    }
    tx.commit().await.unwrap();
    claimed
}

/// A second request with the same key in flight: whether it may proceed, and the stored response once it knows.
fn twin(db: &Db, org: OrgId) -> JoinHandle<(bool, Option<KeptAnswer>)> {
    let db = db.clone();
    tokio::spawn(async move {
        let mut tx = db.write().await.unwrap();
        let claimed = tx.org(org).claim_answer(&request(), NOW + 1, SINCE).await.unwrap();
        let kept = tx.org(org).kept_answer(&request(), SINCE).await.unwrap();
        tx.commit().await.unwrap();
        (claimed, kept)
    })
}

contract! {
    async fn the_first_answer_is_kept(db: &TestDb) {
        let org = an_org(db).await.id;
        assert_eq!(org_reads!(db, org, kept_answer(&request(), SINCE)), None);
        assert!(answer_request(db, org, &request(), "first é", NOW).await);
        assert!(!answer_request(db, org, &request(), "second", NOW + 1).await);
        assert_eq!(org_reads!(db, org, kept_answer(&request(), SINCE)), answer("first é"));
        let other_body = RequestKey { body_hash: "other body".to_owned(), ..request() };
        assert_eq!(org_reads!(db, org, kept_answer(&other_body, SINCE)), answer("first é"), "so that it can be refused");
        assert!(!answer_request(db, org, &other_body, "third", NOW + 2).await);
    }

    async fn another_caller_path_or_key_is_another_request(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        answer_request(db, org, &request(), "first", NOW).await;
        let others = [
            RequestKey { caller: "key_y".to_owned(), ..request() },
            RequestKey { method: "PUT".to_owned(), ..request() },
            RequestKey { path: "/api/uploads".to_owned(), ..request() },
            RequestKey { key: "7F1C '\"%_".to_owned(), ..request() },
        ];
        for request in &others {
            assert_eq!(org_reads!(db, org, kept_answer(request, SINCE)), None, "{request:?}");
            assert!(answer_request(db, org, request, "other", NOW).await, "{request:?}");
        }
        assert_eq!(org_reads!(db, other, kept_answer(&request(), SINCE)), None);
        assert!(answer_request(db, other, &request(), "of the other", NOW).await);
        assert_eq!(org_reads!(db, org, kept_answer(&request(), SINCE)), answer("first"));
    }

    async fn an_answer_is_over_after_its_time(db: &TestDb) {
        let org = an_org(db).await.id;
        answer_request(db, org, &request(), "old", SINCE).await;
        assert_eq!(org_reads!(db, org, kept_answer(&request(), SINCE)), None);
        assert_eq!(org_reads!(db, org, kept_answer(&request(), SINCE - 1)), answer("old"));
        let again = RequestKey { body_hash: "other body".to_owned(), ..request() };
        assert!(answer_request(db, org, &again, "new", NOW).await);
        let kept = KeptAnswer { body_hash: "other body".to_owned(), status: 201, body: "new".to_owned() };
        assert_eq!(org_reads!(db, org, kept_answer(&request(), SINCE)), Some(kept));
    }

    async fn old_answers_are_forgotten(db: &TestDb) {
        let org = an_org(db).await.id;
        let newer = RequestKey { key: "newer".to_owned(), ..request() };
        answer_request(db, org, &request(), "old", NOW - 1).await;
        answer_request(db, org, &newer, "new", NOW).await;
        assert_eq!(system_writes!(db, forget_answers_before(NOW)), 1);
        assert_eq!(org_reads!(db, org, kept_answer(&request(), SINCE)), None);
        assert!(org_reads!(db, org, kept_answer(&newer, SINCE)).is_some());
    }

    async fn a_twin_waits_for_the_first_and_sees_its_answer(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut first = db.write().await.unwrap();
        assert!(first.org(org).claim_answer(&request(), NOW, SINCE).await.unwrap());
        let twin = twin(db, org);
        db.until_one_waits().await;
        assert!(!twin.is_finished(), "it must wait for the first");
        first.org(org).keep_answer(&request(), 201, "first").await.unwrap();
        first.commit().await.unwrap();
        assert_eq!(twin.await.unwrap(), (false, answer("first")));
    }

    async fn a_twin_goes_on_when_the_first_gives_up(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut first = db.write().await.unwrap();
        assert!(first.org(org).claim_answer(&request(), NOW, SINCE).await.unwrap());
        let twin = twin(db, org);
        db.until_one_waits().await;
        assert!(!twin.is_finished(), "it must wait for the first");
        drop(first);
        let claimed = Some(KeptAnswer { status: 0, ..answer("").unwrap() });
        assert_eq!(twin.await.unwrap(), (true, claimed));
    }

    async fn one_of_many_at_once_is_answered(db: &TestDb) {
        let org = an_org(db).await.id;
        let answered = db
            .at_once(12, |db, number| async move { answer_request(&db, org, &request(), &number.to_string(), NOW).await })
            .await;
        let first = answered.iter().position(|answered| *answered).unwrap();
        assert_eq!(answered.iter().filter(|answered| **answered).count(), 1);
        assert_eq!(org_reads!(db, org, kept_answer(&request(), SINCE)), answer(&first.to_string()));
    }

    async fn one_of_many_takes_the_place_of_an_old_answer(db: &TestDb) {
        let org = an_org(db).await.id;
        answer_request(db, org, &request(), "old", SINCE - 1).await;
        let answered = db
            .at_once(12, |db, _| async move { answer_request(&db, org, &request(), "new", NOW).await })
            .await;
        assert_eq!(answered.iter().filter(|answered| **answered).count(), 1);
    }
}
