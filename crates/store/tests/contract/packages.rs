//! Packages: kept while an update names them, under concurrent changes of updates.

use launchway_domain::update::Update;
use launchway_store::StoreError;

use crate::records::{NOW, a_package, an_org, bundle, new_package, new_update, publish, unpublish};

/// An update of the same bytes with another build number.
fn of_build(number: u64, update: &Update) -> Update {
    Update {
        id: crate::records::new_id(),
        build_number: number.to_string().parse().unwrap(),
        ..update.clone()
    }
}

contract! {
    async fn keeps_a_package_that_no_update_names_yet(db: &TestDb) {
        let org = an_org(db).await.id;
        let package = a_package(db, org).await;
        assert!(system_reads!(db, is_blob_referenced(&package.blob_key)));
        assert!(!system_reads!(db, is_blob_referenced("packages/other")));
        assert_eq!(system_reads!(db, unused_packages(i64::MAX, 10)), [], "it may be on its way into an update");
        assert!(!system_writes!(db, retire_package(package.id)));
    }

    async fn its_list_of_files_can_be_computed_later(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let package = launchway_domain::app::Package { manifest: None, ..new_package(org) };
        org_writes!(db, org, create_package(&package, NOW));
        let update = new_update(&name, &package);
        assert!(publish(db, &name, &update).await);
        assert_eq!(org_reads!(db, org, update(update.id)).unwrap().manifest, None);
        org_writes!(db, org, set_package_manifest(package.id, "ef"));
        assert_eq!(org_reads!(db, org, update(update.id)).unwrap().manifest.as_deref(), Some("ef"));
    }

    async fn an_object_is_the_bytes_of_one_package(db: &TestDb) {
        let org = an_org(db).await.id;
        let package = a_package(db, org).await;
        let mut tx = db.write().await.unwrap();
        let twin = launchway_domain::app::Package { blob_key: package.blob_key, ..new_package(org) };
        let refused = tx.org(org).create_package(&twin, NOW).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }

    async fn goes_when_its_last_update_went(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let package = a_package(db, org).await;
        let first = new_update(&name, &package);
        let second = of_build(2, &first);
        assert!(publish(db, &name, &first).await && publish(db, &name, &second).await);
        unpublish(db, &name, &first, NOW + 1).await;
        assert_eq!(system_reads!(db, unused_packages(i64::MAX, 10)), [], "the second names it");
        unpublish(db, &name, &second, NOW + 2).await;
        assert_eq!(system_reads!(db, unused_packages(NOW + 1, 10)), []);
        assert_eq!(system_reads!(db, unused_packages(NOW + 2, 10)), std::slice::from_ref(&package));
        assert!(system_writes!(db, retire_package(package.id)));
        assert!(!system_writes!(db, retire_package(package.id)));
        assert!(!system_reads!(db, is_blob_referenced(&package.blob_key)));
        assert_eq!(system_reads!(db, unused_packages(i64::MAX, 10)), []);
    }

    async fn is_found_oldest_first(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let mut unused = Vec::new();
        for (build, late) in [(1, 3), (2, 1), (3, 2)] {
            let package = a_package(db, org).await;
            let update = of_build(build, &new_update(&name, &package));
            publish(db, &name, &update).await;
            unpublish(db, &name, &update, NOW + late).await;
            unused.push(package);
        }
        let [third, first, second] = [0, 1, 2].map(|at: usize| unused[at].clone());
        assert_eq!(system_reads!(db, unused_packages(NOW + 9, 2)), [first.clone(), second.clone()]);
        assert_eq!(system_reads!(db, unused_packages(NOW + 9, 10)), [first, second, third]);
    }

    async fn those_with_bytes_are_walked_by_their_ids(db: &TestDb) {
        let orgs = [an_org(db).await.id, an_org(db).await.id];
        let name = bundle("com.example.app");
        let mut made = Vec::new();
        for at in 0..5 {
            made.push(a_package(db, orgs[at % 2]).await);
        }
        let update = new_update(&name, &made[2]);
        publish(db, &name, &update).await;
        unpublish(db, &name, &update, NOW).await;
        assert_eq!(system_reads!(db, packages_after("", 10)), made, "an unused one has its bytes still");
        assert!(system_writes!(db, retire_package(made.remove(2).id)));
        assert_eq!(system_reads!(db, packages_after("", 10)), made);
        let after = made[0].id.to_string();
        assert_eq!(system_reads!(db, packages_after(&after, 2)), made[1..3]);
        let last = made[3].id.to_string();
        assert_eq!(system_reads!(db, packages_after(&last, 10)), []);
    }

    async fn is_used_again_when_an_update_names_it_again(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let package = a_package(db, org).await;
        let first = new_update(&name, &package);
        publish(db, &name, &first).await;
        unpublish(db, &name, &first, NOW).await;
        assert!(publish(db, &name, &of_build(2, &first)).await);
        assert_eq!(system_reads!(db, unused_packages(i64::MAX, 10)), []);
        assert!(!system_writes!(db, retire_package(package.id)), "clean-up comes too late");
        assert!(system_reads!(db, is_blob_referenced(&package.blob_key)));
    }

    async fn a_refused_update_does_not_name_it(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let package = a_package(db, org).await;
        let first = new_update(&name, &package);
        publish(db, &name, &first).await;
        unpublish(db, &name, &first, NOW).await;
        assert!(!publish(db, &name, &of_build(1, &first)).await, "its identity is taken");
        assert_eq!(system_reads!(db, unused_packages(NOW, 10)), [package]);
    }

    async fn survives_when_updates_come_and_go_at_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        let package = a_package(db, org).await;
        let first = new_update(&name, &package);
        let going: Vec<_> = (1..=5).map(|build| of_build(build, &first)).collect();
        for update in &going {
            publish(db, &name, update).await;
        }
        let coming = of_build(6, &first);
        db.at_once(6, |db, number| {
            let (name, update) = (name.clone(), going.get(number).unwrap_or(&coming).clone());
            async move {
                match number {
                    5 => assert!(publish(&db, &name, &update).await),
                    _ => unpublish(&db, &name, &update, NOW).await,
                }
            }
        })
        .await;
        assert_eq!(system_reads!(db, unused_packages(i64::MAX, 10)), [], "the one that came names it");
        unpublish(db, &name, &coming, NOW).await;
        assert_eq!(system_reads!(db, unused_packages(i64::MAX, 10)), [package]);
    }
}
