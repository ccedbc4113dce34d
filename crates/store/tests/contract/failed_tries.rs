//! Counts of wrong passwords and codes per day.

contract! {
    async fn tries_are_counted_by_subject_and_day(db: &TestDb) {
        for expected in 1..=3 {
            assert_eq!(system_writes!(db, count_failed_try("code:a", 100)), expected);
        }
        assert_eq!(system_writes!(db, count_failed_try("code:b", 100)), 1);
        assert_eq!(system_writes!(db, count_failed_try("code:a", 101)), 1, "a new day begins from one");
        assert_eq!(system_writes!(db, count_failed_try("code:a", 100)), 2, "a clock that lags counts in the new day");
        assert_eq!(system_reads!(db, failed_tries()), [("code:a".to_owned(), 2), ("code:b".to_owned(), 1)]);
        assert_eq!(system_writes!(db, count_failed_try("code:a", 99)), 1, "a clock set back does not lock anybody out");
    }

    async fn a_right_try_is_taken_back_on_its_own_day(db: &TestDb) {
        for _ in 0..2 {
            system_writes!(db, count_failed_try("code:a", 100));
        }
        system_writes!(db, uncount_failed_try("code:a", 101));
        system_writes!(db, uncount_failed_try("code:b", 100));
        assert_eq!(system_writes!(db, count_failed_try("code:a", 100)), 3);
        for _ in 0..5 {
            system_writes!(db, uncount_failed_try("code:a", 100));
        }
        assert_eq!(system_writes!(db, count_failed_try("code:a", 100)), 1, "never below nothing");
        system_writes!(db, uncount_failed_try("code:a", 99));
        assert_eq!(system_writes!(db, count_failed_try("code:a", 100)), 1, "a lagging clock takes back where it counted");
    }

    async fn tries_of_a_subject_and_of_past_days_are_forgotten(db: &TestDb) {
        system_writes!(db, count_failed_try("code:a", 99));
        system_writes!(db, count_failed_try("code:b", 100));
        system_writes!(db, count_failed_try("code:c", 100));
        system_writes!(db, forget_failed_tries("code:c"));
        assert_eq!(system_writes!(db, forget_failed_tries_before(100)), 1);
        assert_eq!(system_writes!(db, count_failed_try("code:a", 99)), 1);
        assert_eq!(system_writes!(db, count_failed_try("code:b", 100)), 2);
        assert_eq!(system_writes!(db, count_failed_try("code:c", 100)), 1);
    }

    async fn nodes_count_tries_together(db: &TestDb) {
        let mut counts: Vec<i64> = db
            .at_once(10, |db, _| async move {
                let mut counts = Vec::new();
                for _ in 0..5 {
                    counts.push(system_writes!(db, count_failed_try("code:a", 100)));
                }
                counts
            })
            .await
            .concat();
        counts.sort_unstable();
        assert_eq!(counts, (1..=50).collect::<Vec<_>>());
    }
}
