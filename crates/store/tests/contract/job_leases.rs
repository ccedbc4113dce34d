//! Leases of jobs: one holder at a time, and another one after the lease expires.

use crate::records::NOW;

contract! {
    async fn one_holder_has_it_and_renews_it(db: &TestDb) {
        assert!(system_writes!(db, take_job_lease("clean-up", "a", NOW, NOW + 60)));
        assert!(!system_writes!(db, take_job_lease("clean-up", "b", NOW, NOW + 60)));
        assert!(system_writes!(db, take_job_lease("clean-up", "a", NOW + 20, NOW + 80)));
        assert!(!system_writes!(db, take_job_lease("clean-up", "b", NOW + 79, NOW + 139)), "it was renewed");
        assert!(system_writes!(db, take_job_lease("other", "b", NOW, NOW + 60)), "each job has its own");
    }

    async fn that_of_a_silent_holder_lapses(db: &TestDb) {
        assert!(system_writes!(db, take_job_lease("clean-up", "a", NOW, NOW + 60)));
        assert!(system_writes!(db, take_job_lease("clean-up", "b", NOW + 60, NOW + 120)));
        assert!(!system_writes!(db, take_job_lease("clean-up", "a", NOW + 61, NOW + 121)), "it is another's now");
    }

    async fn is_free_when_it_was_given_back(db: &TestDb) {
        assert!(system_writes!(db, take_job_lease("clean-up", "a", NOW, NOW + 60)));
        system_writes!(db, drop_job_lease("clean-up", "b"));
        system_writes!(db, drop_job_lease("other", "a"));
        assert!(!system_writes!(db, take_job_lease("clean-up", "b", NOW, NOW + 60)), "only its holder gives it back");
        system_writes!(db, drop_job_lease("clean-up", "a"));
        assert!(system_writes!(db, take_job_lease("clean-up", "b", NOW, NOW + 60)));
    }

    async fn one_of_many_at_once_gets_it(db: &TestDb) {
        for (now, round) in [(NOW, "fresh"), (NOW + 60, "lapsed")] {
            let held = db
                .at_once(8, |db, number| async move {
                    let holder = format!("{round} {number}");
                    system_writes!(db, take_job_lease("clean-up", &holder, now, now + 60))
                })
                .await;
            assert_eq!(held.iter().filter(|held| **held).count(), 1, "{round}");
        }
    }
}
