//! Updates: their identity, their changes and their list.

use launchway_domain::build::Build;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::update::{MAX_RELEASE_NOTES, Update, UpdateStatus};
use launchway_store::{Db, NewUpdate, Paging, StoreError, UpdateChange, UpdateFilter};

use crate::builds::{keep, new_build};
use crate::records::{
    ALL, NOW, a_package, an_org, an_update, bundle, new_id, new_package, new_update, publish, shown, unpublish,
};

async fn listed(db: &Db, org: OrgId, filter: UpdateFilter) -> Vec<UpdateId> {
    let rows = org_reads!(db, org, updates(&filter, ALL));
    assert_eq!(rows.total, rows.items.len() as i64, "the page holds all: {filter:?}");
    rows.items.iter().map(|update| update.id).collect()
}

/// The identity of an update: the part that must be unique.
fn identity(update: &mut Update, (platform, configuration, version, build): (Platform, &str, &str, &str)) {
    update.platform = platform;
    update.configuration = (!configuration.is_empty()).then(|| configuration.parse().unwrap());
    update.version = version.parse().unwrap();
    update.version_text = version.to_owned();
    update.build_number = build.parse().unwrap();
}

contract! {
    async fn keeps_every_field(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.Example.App");
        let plain = an_update(db, org, &name, |_| ()).await;
        let full = an_update(db, org, &name, |update| {
            identity(update, (Platform::Visionos, "Staging-2", "1.2.3-rc.1+build.5", "000000000000000007"));
            update.status = UpdateStatus::Paused;
            update.fingerprint = Some("f".repeat(128).parse().unwrap());
            update.build_id = Some("build_x".to_owned());
            update.source_update_id = Some(plain.id);
            update.release_notes = "é".repeat(MAX_RELEASE_NOTES / 2);
            update.mandatory = true;
            update.rollout = Rollout::new(0).unwrap();
            update.trust_role = Some("c-Staging-2".to_owned());
            update.created_by = "key_x".to_owned();
            update.created_at = NOW + 5;
        })
        .await;
        for update in [plain, full] {
            let kept = org_reads!(db, org, update(update.id)).unwrap();
            assert_eq!(shown(&kept), shown(&update));
        }
        assert!(org_reads!(db, org, update(new_id())).is_none());
    }

    async fn short_versions_are_the_long_ones(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let update = an_update(db, org, &name, |update| identity(update, (Platform::Ios, "", "1.2", "1"))).await;
        let kept = org_reads!(db, org, update(update.id)).unwrap();
        assert_eq!((kept.version_text.as_str(), kept.version), ("1.2", "1.2.0".parse().unwrap()));
    }

    async fn an_identity_is_taken_once_for_ever(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let package = a_package(db, org).await;
        let with = |parts| {
            let mut update = new_update(&name, &package);
            identity(&mut update, parts);
            update
        };
        let first = with((Platform::Ios, "", "1.2.0", "7"));
        assert!(publish(db, &name, &first).await);
        let same = [("1.2.0", "7"), ("1.2", "7"), ("1.2.0+other", "7"), ("1.2.0", "007")];
        for (version, build) in same {
            let twin = with((Platform::Ios, "", version, build));
            assert!(!publish(db, &name, &twin).await, "{version} {build}");
            assert!(!publish(db, &bundle("COM.example.app"), &twin).await, "{version} {build}");
        }
        unpublish(db, &name, &first, NOW).await;
        assert!(!publish(db, &name, &with((Platform::Ios, "", "1.2.0", "7"))).await, "also by a deleted one");
        let others = [
            (Platform::Android, "", "1.2.0", "7"),
            (Platform::Ios, "production", "1.2.0", "7"),
            (Platform::Ios, "Production", "1.2.0", "7"),
            (Platform::Ios, "", "1.2.1", "7"),
            (Platform::Ios, "", "1.2.0-rc.1", "7"),
            (Platform::Ios, "", "1.2.0", "8"),
        ];
        for parts in others {
            assert!(publish(db, &name, &with(parts)).await, "{parts:?}");
        }
        assert!(publish(db, &bundle("com.example.other"), &with((Platform::Ios, "", "1.2.0", "7"))).await);
    }

    async fn an_identity_is_taken_by_one_of_many_at_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let package = a_package(db, org).await;
        // Without the order that `touch_updates` provides: the identity is unique by itself.
        let made = db
            .at_once(12, |db, _| {
                let (name, update): (BundleId, Update) = (name.clone(), new_update(&name, &package));
                async move { org_writes!(db, org, create_update(&NewUpdate { update: &update, bundle: &name })) }
            })
            .await;
        assert_eq!(made.iter().filter(|made| **made).count(), 1);
        assert_eq!(listed(db, org, UpdateFilter::default()).await.len(), 1);
    }

    async fn has_a_package(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let update = new_update(&name, &new_package(org));
        let mut tx = db.write().await.unwrap();
        let refused = tx.org(org).create_update(&NewUpdate { update: &update, bundle: &name }).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }

    async fn changes_what_may_change(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let (update, bystander) = (
            an_update(db, org, &name, |_| ()).await,
            an_update(db, org, &name, |update| update.build_number = "2".parse().unwrap()).await,
        );
        for status in [UpdateStatus::Paused, UpdateStatus::Withdrawn, UpdateStatus::Published] {
            let change = UpdateChange {
                status,
                rollout: Rollout::new(42).unwrap(),
                mandatory: status == UpdateStatus::Paused,
                release_notes: format!("now {status}"),
            };
            org_writes!(db, org, change_update(update.id, &change));
            let changed = Update {
                status,
                rollout: change.rollout,
                mandatory: change.mandatory,
                release_notes: change.release_notes.clone(),
                ..update.clone()
            };
            assert_eq!(shown(&org_reads!(db, org, update(update.id)).unwrap()), shown(&changed));
        }
        assert_eq!(shown(&org_reads!(db, org, update(bystander.id)).unwrap()), shown(&bystander));
    }

    async fn one_that_awaits_its_signature_does_not_change(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let update = an_update(db, org, &name, |update| update.status = UpdateStatus::AwaitingSignature).await;
        assert_eq!(shown(&org_reads!(db, org, update(update.id)).unwrap()), shown(&update));
        let change = UpdateChange {
            status: UpdateStatus::Published,
            rollout: Rollout::FULL,
            mandatory: true,
            release_notes: "changed".to_owned(),
        };
        org_writes!(db, org, change_update(update.id, &change));
        assert_eq!(shown(&org_reads!(db, org, update(update.id)).unwrap()), shown(&update));
        // What a node of an older release sees.
        assert_eq!(db.raw_texts("SELECT status FROM updates").await, ["withdrawn"]);
    }

    async fn a_deleted_one_is_gone_and_cannot_change(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let update = an_update(db, org, &name, |_| ()).await;
        unpublish(db, &name, &update, NOW).await;
        assert!(org_reads!(db, org, update(update.id)).is_none());
        assert_eq!(listed(db, org, UpdateFilter::default()).await, []);
        let rows = db.rows_of("updates").await;
        let change = UpdateChange {
            status: UpdateStatus::Paused,
            rollout: Rollout::FULL,
            mandatory: true,
            release_notes: "changed".to_owned(),
        };
        org_writes!(db, org, change_update(update.id, &change));
        org_writes!(db, org, delete_update(&update, NOW + 1));
        assert_eq!(db.rows_of("updates").await, rows);
    }

    async fn lists_the_newest_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let package = a_package(db, org).await;
        let made: Vec<_> = (0..5)
            .map(|build| Update { build_number: build.to_string().parse().unwrap(), ..new_update(&name, &package) })
            .collect();
        for at in [2, 4, 0, 3, 1] {
            assert!(publish(db, &name, &made[at]).await);
        }
        let newest_first: Vec<_> = made.iter().rev().map(|update| update.id).collect();
        assert_eq!(listed(db, org, UpdateFilter::default()).await, newest_first);
        let page = org_reads!(db, org, updates(&UpdateFilter::default(), Paging { limit: 2, offset: 1 }));
        assert_eq!(page.items.iter().map(|update| update.id).collect::<Vec<_>>(), newest_first[1..3]);
        assert_eq!(page.total, 5);
        let behind = org_reads!(db, org, updates(&UpdateFilter::default(), Paging { limit: 2, offset: 999_999_999 }));
        assert_eq!((behind.items.len(), behind.total), (0, 5));
    }

    async fn the_configurations_in_use_are_known(db: &TestDb) {
        let org = an_org(db).await.id;
        assert!(org_reads!(db, org, configurations()).is_empty());
        for (label, build) in [("staging", "1"), ("", "1"), ("production", "1"), ("staging", "2")] {
            let bundle = bundle("com.example.app");
            an_update(db, org, &bundle, |update| identity(update, (Platform::Ios, label, "1.0.0", build))).await;
        }
        assert_eq!(org_reads!(db, org, configurations()), ["production", "staging"]);
        keep(db, &Build { configuration: Some("beta".parse().unwrap()), ..new_build(org) }).await;
        keep(db, &Build { configuration: None, ..new_build(org) }).await;
        assert_eq!(org_reads!(db, org, configurations()), ["beta", "production", "staging"]);
    }

    async fn filters_narrow_the_list_alone_and_together(db: &TestDb) {
        let org = an_org(db).await.id;
        let (name, other_name) = (bundle("com.Example.app"), bundle("com.example.other"));
        let ios = an_update(db, org, &name, |update| {
            identity(update, (Platform::Ios, "production", "1.0.0", "1"));
        })
        .await
        .id;
        let android = an_update(db, org, &name, |update| {
            identity(update, (Platform::Android, "", "1.0.0", "1"));
            update.status = UpdateStatus::Paused;
        })
        .await
        .id;
        let other = an_update(db, org, &other_name, |update| {
            identity(update, (Platform::Ios, "Production", "1.0.0", "1"));
            update.status = UpdateStatus::Withdrawn;
        })
        .await
        .id;
        let waiting = an_update(db, org, &other_name, |update| {
            identity(update, (Platform::Visionos, "waiting", "1.0.0", "1"));
            update.status = UpdateStatus::AwaitingSignature;
        })
        .await
        .id;
        let configuration = |label: &str| UpdateFilter { configuration: Some(label.parse().unwrap()), ..Default::default() };
        let of_bundle = |text| UpdateFilter { bundle: Some(bundle(text)), ..Default::default() };
        let of_platform = |platform| UpdateFilter { platform: Some(platform), ..Default::default() };
        let of_status = |status| UpdateFilter { status: Some(status), ..Default::default() };
        let together = UpdateFilter {
            bundle: Some(name.clone()),
            platform: Some(Platform::Ios),
            configuration: Some("production".parse().unwrap()),
            status: Some(UpdateStatus::Published),
            ..Default::default()
        };
        for (filter, expected) in [
            (UpdateFilter::default(), vec![waiting, other, android, ios]),
            (of_bundle("COM.example.APP"), vec![android, ios]),
            (of_bundle("com.example"), vec![]),
            (of_bundle("com.exampl_.app"), vec![]),
            (of_platform(Platform::Ios), vec![other, ios]),
            (of_platform(Platform::Visionos), vec![waiting]),
            (of_status(UpdateStatus::Paused), vec![android]),
            (of_status(UpdateStatus::Withdrawn), vec![other]),
            (of_status(UpdateStatus::AwaitingSignature), vec![waiting]),
            (UpdateFilter { status: Some(UpdateStatus::AwaitingSignature), ..of_platform(Platform::Ios) }, vec![]),
            (configuration("production"), vec![ios]),
            (configuration("PRODUCTION"), vec![]),
            (configuration("productio_"), vec![]),
            (UpdateFilter { configuration_part: Some("ODUCT".to_owned()), ..Default::default() }, vec![other, ios]),
            (UpdateFilter { bundle_part: Some("MPLE.app".to_owned()), ..Default::default() }, vec![android, ios]),
            (UpdateFilter { bundle_part: Some("mple_app".to_owned()), ..Default::default() }, vec![]),
            (UpdateFilter { status: Some(UpdateStatus::Paused), ..together.clone() }, vec![]),
            (UpdateFilter { platform: Some(Platform::Android), ..together.clone() }, vec![]),
            (UpdateFilter { bundle: Some(other_name), ..together.clone() }, vec![]),
            (together, vec![ios]),
        ] {
            assert_eq!(listed(db, org, filter.clone()).await, expected, "{filter:?}");
        }
    }

    async fn touching_gives_the_next_revision(db: &TestDb) {
        let org = an_org(db).await.id;
        for expected in 1..=3 {
            assert_eq!(org_writes!(db, org, touch_updates(&bundle("Com.Example.App"), NOW)), expected);
        }
        assert_eq!(system_reads!(db, changes_since(0, 100)).bundle_keys, Some(vec!["com.example.app".to_owned()]));
    }
}
