//! Updates of Expo: their ids with times, and which of them can be issued again.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::release::{Format, ReleaseFacts, RuntimeVersion, Sequence};
use launchway_domain::update::{Update, UpdateStatus};
use launchway_store::{Db, IssueGroup, NewIssue};

use crate::records::{an_org, an_update, bundle};

/// Gives an update for iOS an id with a time.
pub async fn an_issue(db: &Db, org: OrgId, bundle: &BundleId, update_id: UpdateId, id: &str, created_at: i64) {
    let new = NewIssue {
        bundle,
        platform: Platform::Ios,
        update_id,
        id,
        created_at,
        undoes: None,
    };
    assert!(org_writes!(db, org, add_issue(&new)));
}

/// Publishes an update for a runtime and configuration.
async fn released(
    db: &Db,
    org: OrgId,
    name: &BundleId,
    place: u64,
    runtime: &str,
    configuration: Option<&str>,
) -> Update {
    let update = an_update(db, org, name, |update| {
        update.build_number = place.to_string().parse().unwrap();
        update.status = UpdateStatus::Published;
        update.configuration = configuration.map(|label| label.parse().unwrap());
        update.release = ReleaseFacts {
            format: Format::Expo,
            sequence: Some(Sequence::new(place)),
            runtime_version: RuntimeVersion::parse(runtime).ok(),
            ..ReleaseFacts::ARCHIVE
        };
    });
    update.await
}

contract! {
    async fn the_newest_time_is_that_of_the_group(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        for (place, runtime, configuration, time) in
            [(1, "1", None, 10), (2, "1", Some("a"), 30), (3, "1", Some("b"), 20), (4, "2", Some("a"), 40)]
        {
            let update = released(db, org, &name, place, runtime, configuration).await;
            an_issue(db, org, &name, update.id, &place.to_string(), time).await;
            let undo = NewIssue {
                bundle: &name,
                platform: Platform::Ios,
                update_id: update.id,
                id: &format!("{place} undone"),
                created_at: 1000,
                undoes: Some(update.id),
            };
            assert!(org_writes!(db, org, add_issue(&undo)));
            assert!(!org_writes!(db, org, add_issue(&undo)), "an id names one update");
        }
        let one = RuntimeVersion::parse("1").unwrap();
        let (a, b) = ("a".parse().unwrap(), "b".parse().unwrap());
        for (runtime_version, configuration, expected) in [
            (None, None, Some(40)),
            (Some(&one), None, Some(30)),
            (Some(&one), Some(&b), Some(20)),
            (Some(&one), Some(&a), Some(30)),
            (None, Some(&b), Some(20)),
        ] {
            let group = IssueGroup { bundle: &name, platform: Platform::Ios, runtime_version, configuration };
            assert_eq!(org_reads!(db, org, newest_issue(&group)), expected, "{runtime_version:?} {configuration:?}");
            let other = IssueGroup { platform: Platform::Android, ..group };
            assert_eq!(org_reads!(db, org, newest_issue(&other)), None);
        }
    }

    async fn a_release_says_whether_its_files_are_known(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let [one, two] = [1, 2].map(|place| released(db, org, &name, place, "1", None));
        let (one, two) = (one.await, two.await);
        an_issue(db, org, &name, one.id, "1", 10).await;
        an_issue(db, org, &name, two.id, "2", 20).await;
        org_writes!(db, org, set_package_export(two.package_id, "[]"));
        let key = name.key();
        let alone = system_reads!(db, foreign_bundle(&key));
        let among = system_reads!(db, foreign_bundles_between(&key, &key));
        for rows in [&alone, &among[0].1] {
            let known: Vec<_> = rows.releases.iter().map(|row| (row.id, row.has_files)).collect();
            assert_eq!(known, [(two.id, true), (one.id, false)]);
        }
    }

    async fn only_what_was_signed_is_kept_with_its_undo(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let update = released(db, org, &name, 1, "1", None).await;
        assert_eq!(org_reads!(db, org, signed_part(update.id)), None);
        org_writes!(db, org, set_signed_part(update.id, "part", Some("sealed")));
        assert_eq!(org_reads!(db, org, signed_part(update.id)), Some(("part".to_owned(), Some("sealed".to_owned()))));
        assert_eq!(system_reads!(db, signed_of_update(update.id)), (Some("part".to_owned()), None));
        org_writes!(db, org, set_undo(update.id, "undo"));
        assert_eq!(system_reads!(db, signed_of_update(update.id)), (Some("part".to_owned()), Some("undo".to_owned())));
        assert_eq!(system_reads!(db, export_of_update(update.id)), None);
        org_writes!(db, org, set_package_export(update.package_id, "{}"));
        assert_eq!(system_reads!(db, export_of_update(update.id)), Some("{}".to_owned()));
        assert_eq!(org_reads!(db, org, package_export(update.package_id)), Some("{}".to_owned()));
    }
}
