//! Two-factor codes: a secret waits for its first code, each step and each recovery code is accepted once.

use launchway_domain::id::UserId;
use launchway_store::{Db, TwoFactor};

use crate::records::{NOW, a_user};

fn hashes() -> Vec<String> {
    vec!["first".to_owned(), "second".to_owned()]
}

/// A user with two-factor codes; the last one accepted was of step 7.
async fn enrolled(db: &Db) -> UserId {
    let user = a_user(db).await.id;
    assert!(system_writes!(db, begin_two_factor(user, "sealed", NOW)));
    assert!(system_writes!(
        db,
        confirm_two_factor(user, "sealed", 7, NOW, &hashes())
    ));
    user
}

contract! {
    async fn a_secret_waits_for_its_first_code(db: &TestDb) {
        let (user, bystander) = (a_user(db).await.id, enrolled(db).await);
        assert_eq!(system_reads!(db, two_factor(user)), None);
        assert!(system_writes!(db, begin_two_factor(user, "old", NOW)));
        assert!(system_writes!(db, begin_two_factor(user, "new", NOW)), "another secret takes its place");
        let waiting = TwoFactor { sealed: "new".to_owned(), last_step: 0, created_at: NOW, confirmed_at: None };
        assert_eq!(system_reads!(db, two_factor(user)), Some(waiting.clone()));
        assert!(!system_writes!(db, take_two_factor_step(user, 5)), "nobody is asked yet");
        assert!(!system_writes!(db, confirm_two_factor(user, "old", 5, NOW, &hashes())), "another was looked at");
        assert_eq!(system_reads!(db, recovery_codes_left(user)), 0);
        assert!(system_writes!(db, confirm_two_factor(user, "new", 5, NOW, &hashes())));
        let confirmed = TwoFactor { last_step: 5, confirmed_at: Some(NOW), ..waiting };
        assert_eq!(system_reads!(db, two_factor(user)), Some(confirmed.clone()));
        assert_eq!(system_reads!(db, recovery_codes_left(user)), 2);
        assert!(!system_writes!(db, begin_two_factor(user, "third", NOW)), "it is removed first");
        assert!(!system_writes!(db, confirm_two_factor(user, "new", 6, NOW, &[])));
        assert_eq!(system_reads!(db, two_factor(user)), Some(confirmed));
        assert_eq!(system_reads!(db, two_factor(bystander)).unwrap().last_step, 7);
    }

    async fn the_code_of_a_step_is_taken_once(db: &TestDb) {
        let (user, bystander) = (enrolled(db).await, enrolled(db).await);
        for (step, taken) in [(6, false), (7, false), (8, true), (8, false), (10, true), (9, false)] {
            assert_eq!(system_writes!(db, take_two_factor_step(user, step)), taken, "{step}");
        }
        assert_eq!(system_reads!(db, two_factor(bystander)).unwrap().last_step, 7);
    }

    async fn one_of_many_takes_a_code(db: &TestDb) {
        let user = enrolled(db).await;
        let steps = db
            .at_once(8, move |db, _| async move { system_writes!(db, take_two_factor_step(user, 8)) })
            .await;
        assert_eq!(steps.into_iter().filter(|taken| *taken).count(), 1);
        let codes = db
            .at_once(8, move |db, _| async move { system_writes!(db, take_recovery_code(user, "first")) })
            .await;
        assert_eq!(codes.into_iter().filter(|taken| *taken).count(), 1);
    }

    async fn a_recovery_code_is_taken_once_and_by_its_user(db: &TestDb) {
        let (user, bystander, other) = (enrolled(db).await, enrolled(db).await, a_user(db).await.id);
        assert!(!system_writes!(db, take_recovery_code(other, "first")));
        assert!(!system_writes!(db, take_recovery_code(user, "firs")));
        assert!(system_writes!(db, take_recovery_code(user, "first")));
        assert!(!system_writes!(db, take_recovery_code(user, "first")));
        assert_eq!(system_reads!(db, recovery_codes_left(user)), 1);
        assert_eq!(system_reads!(db, recovery_codes_left(bystander)), 2);
    }

    async fn it_is_removed_with_its_recovery_codes(db: &TestDb) {
        let (user, bystander) = (enrolled(db).await, enrolled(db).await);
        assert!(system_writes!(db, remove_two_factor(user)));
        assert!(!system_writes!(db, remove_two_factor(user)));
        assert_eq!(system_reads!(db, two_factor(user)), None);
        assert_eq!(system_reads!(db, recovery_codes_left(user)), 0);
        assert!(system_reads!(db, two_factor(bystander)).is_some());
        assert_eq!(system_reads!(db, recovery_codes_left(bystander)), 2);
        assert!(system_writes!(db, begin_two_factor(user, "again", NOW)));
    }
}
