//! Build numbers: reserved without gaps or duplicates, never below one that was named.

use launchway_domain::platform::Platform;
use launchway_store::Db;

use crate::records::{an_org, bundle, new_app};

async fn next(db: &Db, org: launchway_domain::id::OrgId, name: &str, platform: Platform) -> u64 {
    org_writes!(db, org, next_build_number(&bundle(name), platform))
}

/// The highest build number.
const HIGHEST: u64 = 999_999_999_999_999_999;

contract! {
    async fn begins_at_one_for_each_bundle_and_platform(db: &TestDb) {
        let org = an_org(db).await.id;
        for expected in 1..=3 {
            assert_eq!(next(db, org, "com.example.app", Platform::Ios).await, expected);
        }
        assert_eq!(next(db, org, "COM.example.app", Platform::Ios).await, 4, "the letter case makes no other app");
        assert_eq!(next(db, org, "com.example.app", Platform::Android).await, 1);
        assert_eq!(next(db, org, "com.example.other", Platform::Ios).await, 1);
    }

    async fn a_named_number_only_raises_the_highest(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        for (named, expected) in [(41, 42), (7, 43), (43, 44), (0, 45)] {
            org_writes!(db, org, note_build_number(&name, Platform::Ios, named));
            assert_eq!(next(db, org, "com.example.app", Platform::Ios).await, expected, "after {named}");
        }
        org_writes!(db, org, note_build_number(&name, Platform::Ios, HIGHEST - 1));
        assert_eq!(next(db, org, "com.example.app", Platform::Ios).await, HIGHEST);
        assert_eq!(next(db, org, "com.example.app", Platform::Android).await, 1);
    }

    async fn numbers_reserved_at_once_are_distinct_without_gap(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        org_writes!(db, org, claim_app(&name, &new_app(org, &name)));
        let mut numbers: Vec<u64> = db
            .at_once(12, |db, number| async move {
                let mut numbers = Vec::new();
                for round in 0..5 {
                    let mut tx = db.write().await.unwrap();
                    let reserved = tx.org(org).next_build_number(&bundle("com.example.app"), Platform::Ios).await.unwrap();
                    // A number that is given up is reused.
                    if (number + round) % 4 == 0 {
                        drop(tx);
                    } else {
                        tx.commit().await.unwrap();
                        numbers.push(reserved);
                    }
                }
                numbers
            })
            .await
            .concat();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=45).collect::<Vec<_>>());
    }
}
