//! Counts of the current minute.

use launchway_store::FORGOTTEN_AT_ONCE;

contract! {
    async fn counts_each_subject_from_one_in_each_minute(db: &TestDb) {
        for expected in 1..=3 {
            assert_eq!(system_writes!(db, count_call("org_a", 100)), expected);
        }
        assert_eq!(system_writes!(db, count_call("org_b", 100)), 1);
        assert_eq!(system_writes!(db, count_call("org_a", 101)), 1);
        assert_eq!(system_writes!(db, count_call("org_a", 101)), 2);
        assert_eq!(system_writes!(db, count_call("org_b", 100)), 2);
    }

    async fn nodes_whose_clocks_differ_a_little_count_together(db: &TestDb) {
        // One node has begun the next minute, the other not yet.
        for (minute, expected) in [(101, 1), (100, 2), (101, 3), (100, 4), (102, 1), (101, 2)] {
            assert_eq!(system_writes!(db, count_call("org_a", minute)), expected, "{minute}");
        }
        assert_eq!(system_writes!(db, count_call("org_a", 100)), 1, "a clock set back does not lock anybody out");
    }

    async fn a_call_is_taken_back_in_its_own_minute_only(db: &TestDb) {
        for _ in 0..3 {
            system_writes!(db, count_call("org_a", 100));
        }
        system_writes!(db, uncount_call("org_a", 100));
        assert_eq!(system_writes!(db, count_call("org_a", 100)), 3);
        system_writes!(db, uncount_call("org_a", 99));
        system_writes!(db, uncount_call("org_b", 100));
        assert_eq!(system_writes!(db, count_call("org_a", 100)), 4);
        assert_eq!(system_writes!(db, count_call("org_b", 100)), 1);
        for _ in 0..3 {
            system_writes!(db, uncount_call("org_b", 100));
        }
        assert_eq!(system_writes!(db, count_call("org_b", 100)), 1, "never below nothing");
    }

    async fn past_minutes_are_forgotten(db: &TestDb) {
        system_writes!(db, count_call("org_a", 99));
        system_writes!(db, count_call("org_b", 100));
        assert_eq!(system_writes!(db, forget_counts_before(100)), 1);
        assert_eq!(system_writes!(db, count_call("org_a", 99)), 1);
        assert_eq!(system_writes!(db, count_call("org_b", 100)), 2);
    }

    /// After a long outage or a flood there are very many rows: no other writer waits for the deletion of all of them.
    async fn many_are_forgotten_some_at_a_time(db: &TestDb) {
        let numbers = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500) SELECT n FROM numbers";
        let insert = format!("INSERT INTO rate_counts (subject, minute, count) SELECT 's' || n, 1, 1 FROM ({numbers}) AS many");
        assert_eq!(db.raw(&insert).await, 2500);
        system_writes!(db, count_call("org_a", 100));
        for forgotten in [FORGOTTEN_AT_ONCE, FORGOTTEN_AT_ONCE, 500, 0] {
            assert_eq!(system_writes!(db, forget_counts_before(100)), forgotten);
        }
        assert_eq!(system_writes!(db, count_call("org_a", 100)), 2);
    }

    async fn nodes_count_together(db: &TestDb) {
        let mut counts: Vec<i64> = db
            .at_once(10, |db, _| async move {
                let mut counts = Vec::new();
                for _ in 0..5 {
                    counts.push(system_writes!(db, count_call("org_a", 100)));
                }
                counts
            })
            .await
            .concat();
        counts.sort_unstable();
        assert_eq!(counts, (1..=50).collect::<Vec<_>>());
    }

    async fn tells_whether_nodes_share_it(db: &TestDb) {
        assert_eq!(db.is_shared(), db.url.starts_with("postgres"));
    }
}
