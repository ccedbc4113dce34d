//! Updates as releases: their sequence, their ids in other services' protocols, and what a node of an older release sees of them.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format, Protocol, ReleaseFacts, Sequence};
use launchway_domain::rollout::Rollout;
use launchway_domain::update::{Update, UpdateStatus};
use launchway_store::{Db, NewForeignId, NewIssue, UpdateChange, UpdateFilter};

use crate::records::{ALL, NOW, an_org, an_update, bundle, shown, unpublish};

/// Names an update for iOS as Capgo's clients do.
pub async fn a_foreign_id(db: &Db, org: OrgId, bundle: &BundleId, update_id: UpdateId, id: &str) {
    let id = id.parse().unwrap();
    let (protocol, platform) = (Protocol::Capgo, Platform::Ios);
    let new = NewForeignId {
        protocol,
        bundle,
        platform,
        id: &id,
        update_id,
        file_hash: Some("sig:AAAA"),
    };
    assert!(org_writes!(db, org, add_foreign_id(&new)));
}

/// Publishes an update with this build number.
async fn numbered(db: &Db, org: OrgId, name: &BundleId, build: &str, configuration: Option<&str>, at: i64) -> Update {
    an_update(db, org, name, |update| {
        update.build_number = build.parse().unwrap();
        update.configuration = configuration.map(|label| label.parse().unwrap());
        update.created_at = NOW + at;
    })
    .await
}

/// The sequences of all updates of an organization, by build number.
async fn sequences(db: &Db, org: OrgId) -> Vec<(String, Option<u64>)> {
    let updates = org_reads!(db, org, updates(&UpdateFilter::default(), ALL)).items;
    let place = |update: &Update| update.release.sequence.map(Sequence::number);
    let mut found: Vec<_> = updates
        .iter()
        .map(|update| (update.build_number.as_str().to_owned(), place(update)))
        .collect();
    found.sort();
    found
}

/// A package of CodePush for versions from 1.2 on.
fn codepush() -> ReleaseFacts {
    ReleaseFacts {
        format: Format::Codepush,
        sequence: Some(Sequence::new(3)),
        binary_range: BinaryRange::parse("^1.2.0").ok(),
        ..ReleaseFacts::ARCHIVE
    }
}

contract! {
    /// Updates of a configuration, and those of every one, share callers; updates of two configurations do not.
    async fn updates_of_an_older_release_are_numbered_by_creation(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        for (build, configuration, at) in
            [("1", None, 30), ("2", Some("a"), 10), ("3", Some("b"), 20), ("4", Some("a"), 40), ("5", None, 50)]
        {
            numbered(db, org, &name, build, configuration, at).await;
        }
        let gone = numbered(db, org, &name, "6", Some("a"), 60).await;
        unpublish(db, &name, &gone, NOW + 61).await;
        assert_eq!(system_reads!(db, unnumbered_bundles(9)), ["com.example.app"]);
        assert_eq!(system_writes!(db, number_updates("com.example.app")), 6);
        assert_eq!(system_writes!(db, number_updates("com.example.app")), 0);
        assert!(system_reads!(db, unnumbered_bundles(9)).is_empty());
        let expected = [("1", 2), ("2", 1), ("3", 1), ("4", 3), ("5", 4)];
        assert_eq!(sequences(db, org).await, expected.map(|(build, place)| (build.to_owned(), Some(place))));
        let next = |configuration: &'static str| configuration.parse().ok();
        assert_eq!(org_writes!(db, org, next_sequence(&name, Platform::Ios, next("a").as_ref())), Sequence::new(6));
        assert_eq!(org_writes!(db, org, next_sequence(&name, Platform::Ios, next("b").as_ref())), Sequence::new(5));
        assert_eq!(org_writes!(db, org, next_sequence(&name, Platform::Ios, None)), Sequence::new(6));
        assert_eq!(org_writes!(db, org, next_sequence(&name, Platform::Android, None)), Sequence::new(1));
    }

    async fn a_publish_numbers_what_has_no_sequence_yet(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        numbered(db, org, &name, "1", None, 0).await;
        assert_eq!(org_writes!(db, org, next_sequence(&name, Platform::Ios, None)), Sequence::new(2));
        assert_eq!(sequences(db, org).await, [("1".to_owned(), Some(1))]);
    }

    async fn an_update_for_other_clients_stands_apart_from_the_check(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let update = an_update(db, org, &name, |update| update.release = codepush()).await;
        let stored = org_reads!(db, org, update(update.id)).unwrap();
        assert_eq!(stored.status, UpdateStatus::Published);
        // The package of the test is an archive.
        assert_eq!(stored.release, ReleaseFacts { format: Format::Archive, ..codepush() });
        assert!(system_reads!(db, offered_updates("com.example.app")).is_empty());
        let columns: Vec<String> = db.rows_of("updates").await;
        assert!(columns[0].contains("withdrawn"), "what a node of 0.1.0 reads");
        let change = UpdateChange {
            status: UpdateStatus::Paused,
            rollout: Rollout::FULL,
            mandatory: true,
            release_notes: String::new(),
        };
        org_writes!(db, org, change_update(update.id, &change));
        assert_eq!(org_reads!(db, org, update(update.id)).unwrap().status, UpdateStatus::Paused);
        for (status, count) in
            [(UpdateStatus::Paused, 1), (UpdateStatus::Withdrawn, 0), (UpdateStatus::AwaitingSignature, 0)]
        {
            let filter = UpdateFilter { status: Some(status), ..Default::default() };
            assert_eq!(org_reads!(db, org, updates(&filter, ALL)).total, count, "{status}");
        }
        org_writes!(db, org, change_update(update.id, &UpdateChange { status: UpdateStatus::Withdrawn, ..change }));
        assert_eq!(org_reads!(db, org, update(update.id)).unwrap().status, UpdateStatus::Withdrawn);
        assert!(system_reads!(db, retired_updates("com.example.app", 9)).is_empty(), "no app of ours runs it");
    }

    async fn an_id_names_one_update_of_its_protocol_and_platform(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let first = numbered(db, org, &name, "1", None, 0).await;
        let second = numbered(db, org, &name, "2", None, 1).await;
        a_foreign_id(db, org, &name, first.id, "1.0.0").await;
        let id = "1.0.0".parse().unwrap();
        let taken = NewForeignId {
            protocol: Protocol::Capgo,
            bundle: &name,
            platform: Platform::Ios,
            id: &id,
            update_id: second.id,
            file_hash: None,
        };
        assert!(!org_writes!(db, org, add_foreign_id(&taken)));
        assert!(org_writes!(db, org, add_foreign_id(&NewForeignId { platform: Platform::Android, ..taken })));
        assert!(org_writes!(db, org, add_foreign_id(&NewForeignId { protocol: Protocol::Expo, ..taken })));
        assert_eq!(org_reads!(db, org, highest_foreign_id(Protocol::Capgo, &name, Platform::Ios)).as_deref(), Some("1.0.0"));
        let filter = UpdateFilter { foreign_id: Some((Protocol::Capgo, id.clone())), ..Default::default() };
        let named = org_reads!(db, org, updates(&filter, ALL)).items;
        assert_eq!(named.iter().map(|update| update.id).collect::<Vec<_>>(), [second.id, first.id]);
        org_writes!(db, org, move_foreign_id(&taken));
        assert_eq!(org_reads!(db, org, foreign_ids(first.id)), []);
        let expected = [Protocol::Capgo, Protocol::Capgo, Protocol::Expo].map(|protocol| (protocol, "1.0.0".to_owned()));
        assert_eq!(org_reads!(db, org, foreign_ids(second.id)), expected);
        assert_eq!(shown(&second), shown(&org_reads!(db, org, update(second.id)).unwrap()));
    }

    async fn other_clients_are_answered_from_releases_with_ids_and_keys(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let ours = numbered(db, org, &name, "1", None, 0).await;
        system_writes!(db, number_updates("com.example.app"));
        assert!(system_reads!(db, foreign_bundles()).is_empty());
        assert_eq!(system_reads!(db, foreign_bundle("com.example.app")).org_id, None);
        let theirs = an_update(db, org, &name, |update| {
            update.release = codepush();
            update.build_number = "2".parse().unwrap();
        })
        .await;
        a_foreign_id(db, org, &name, theirs.id, "/v3").await;
        let key = crate::deployment_keys::new_deployment_key(org, "com.example.app");
        assert!(org_writes!(db, org, create_deployment_key(&name, &key)));
        assert_eq!(system_reads!(db, foreign_bundles()), ["com.example.app"]);
        let rows = system_reads!(db, foreign_bundle("com.example.app"));
        assert_eq!(rows.org_id, Some(org));
        assert_eq!(rows.keys, [(key.key, Platform::Android, Some("production".to_owned()))]);
        let [release] = &rows.releases[..] else { panic!("{:?}", rows.releases) };
        assert_eq!((release.id, release.status, release.sequence), (theirs.id, UpdateStatus::Published, Sequence::new(3)));
        assert_eq!(release.ids, [(Protocol::Capgo, "/v3".to_owned())]);
        assert_eq!(release.file_hash.as_deref(), Some("sig:AAAA"));
        // An update that is only ours is none of theirs; a deleted one is still named by apps that run it.
        assert_ne!(release.id, ours.id);
        unpublish(db, &name, &theirs, NOW + 9).await;
        let rows = system_reads!(db, foreign_bundle("com.example.app"));
        assert_eq!(rows.releases[0].status, UpdateStatus::Withdrawn);
    }

    async fn many_bundles_are_read_like_one(db: &TestDb) {
        let org = an_org(db).await.id;
        let keys = ["com.example.a", "com.example.b", "com.example.c", "com.example.d"];
        for (number, key) in keys.into_iter().enumerate() {
            let name = bundle(key);
            for build in 0..number {
                let update = an_update(db, org, &name, |update| {
                    update.release = codepush();
                    update.build_number = build.to_string().parse().unwrap();
                })
                .await;
                a_foreign_id(db, org, &name, update.id, &format!("/v{build}")).await;
                let issue = NewIssue {
                    bundle: &name,
                    platform: Platform::Android,
                    update_id: update.id,
                    id: &format!("issue {build}"),
                    created_at: NOW + build as i64,
                    undoes: None,
                };
                assert!(org_writes!(db, org, add_issue(&issue)));
            }
            system_writes!(db, number_updates(key));
        }
        // This one has a key and no release.
        let key = crate::deployment_keys::new_deployment_key(org, keys[0]);
        assert!(org_writes!(db, org, create_deployment_key(&bundle(keys[0]), &key)));
        assert_eq!(system_reads!(db, foreign_bundles()), keys);
        let all = system_reads!(db, foreign_bundles_between(keys[0], keys[2]));
        assert_eq!(all.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), keys[..3]);
        for (key, rows) in all {
            let alone = system_reads!(db, foreign_bundle(&key));
            assert_eq!(format!("{rows:?}"), format!("{alone:?}"));
        }
    }
}
