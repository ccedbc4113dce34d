//! The updates that signed metadata names, and versions that count from below again.

use launchway_domain::build_number::BuildNumber;
use launchway_domain::platform::Platform;
use launchway_domain::update::UpdateStatus;
use launchway_store::NamedTarget;

use crate::records::{a_package, an_org, an_update, bundle, new_update, publish};
use crate::trust_files::{REPOSITORY, a_file, add_file};
use crate::trust_repositories::an_app_with_a_root;

contract! {
    async fn a_target_names_the_update_with_its_identity(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.Example.App");
        let published = an_update(db, org, &name, |update| {
            update.platform = Platform::Ios;
            update.version = "1.2.0+build.5".parse().unwrap();
            update.version_text = "1.2.0+build.5".to_owned();
            update.build_number = "007".parse().unwrap();
            update.configuration = Some("Production".parse().unwrap());
        })
        .await;
        let (version, configuration) = ("1.2.0".parse().unwrap(), "Production".parse().unwrap());
        let named = NamedTarget {
            bundle: &bundle("com.example.app"),
            platform: Platform::Ios,
            configuration: Some(&configuration),
            version: &version,
            build: 7,
        };
        let found = org_reads!(db, org, update_of_target(&named)).map(|update| update.id);
        assert_eq!(found, Some(published.id));
        let (other_version, other_label) = ("1.2.1".parse().unwrap(), "production".parse().unwrap());
        let others = [
            NamedTarget { bundle: &bundle("com.example.ap"), ..named },
            NamedTarget { platform: Platform::Android, ..named },
            NamedTarget { configuration: None, ..named },
            NamedTarget { configuration: Some(&other_label), ..named },
            NamedTarget { version: &other_version, ..named },
            NamedTarget { build: 70, ..named },
            NamedTarget { build: u64::MAX, ..named },
        ];
        for other in others {
            assert!(org_reads!(db, org, update_of_target(&other)).is_none(), "{other:?}");
        }
        let stranger = an_org(db).await.id;
        assert!(org_reads!(db, stranger, update_of_target(&named)).is_none());
        org_writes!(db, org, delete_update(&published, 1));
        assert!(org_reads!(db, org, update_of_target(&named)).is_none(), "it is deleted");
    }

    async fn updates_of_a_package_are_those_not_withdrawn(db: &TestDb) {
        let (org, stranger) = (an_org(db).await.id, an_org(db).await.id);
        let (name, package) = (bundle("com.example.app"), a_package(db, org).await);
        let mut expected = Vec::new();
        for (build, status) in (1..).zip(UpdateStatus::ALL) {
            let mut update = new_update(&name, &package);
            update.status = status;
            update.build_number = BuildNumber::from_value(build).unwrap();
            assert!(publish(db, &name, &update).await);
            if status != UpdateStatus::Withdrawn {
                expected.push(update.id.to_string());
            }
        }
        expected.sort();
        expected.reverse();
        let found = org_reads!(db, org, updates_of_package(&name, &package.sha256));
        let found: Vec<_> = found.iter().map(|update| update.id.to_string()).collect();
        assert_eq!((found.len(), found), (3, expected), "one that waits can be revoked too");
        assert!(org_reads!(db, org, updates_of_package(&name, &"0".repeat(64))).is_empty());
        assert!(org_reads!(db, org, updates_of_package(&bundle("com.example.b"), &package.sha256)).is_empty());
        assert!(org_reads!(db, stranger, updates_of_package(&name, &package.sha256)).is_empty());
    }

    async fn versions_of_a_role_can_begin_below_again(db: &TestDb) {
        let (org, stranger) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.example.app");
        an_app_with_a_root(db, org, "com.example.app").await;
        for (role, version) in [("c-production", 900), ("c-production", 901), ("any", 900)] {
            add_file(db, org, &a_file("com.example.app", role, version)).await;
        }
        org_writes!(db, stranger, delete_trust_files_from(&name, REPOSITORY, "c-production", 1));
        let current = org_reads!(db, org, trust_file(&name, REPOSITORY, "c-production")).map(|file| file.version);
        assert_eq!(current, Some(901));
        org_writes!(db, org, delete_trust_files_from(&name, REPOSITORY, "c-production", 5));
        add_file(db, org, &a_file("com.example.app", "c-production", 5)).await;
        let files = org_reads!(db, org, trust_files(&name, REPOSITORY));
        let versions: Vec<_> = files.iter().map(|file| (file.role.as_str(), file.version)).collect();
        assert_eq!(versions, [("any", 900), ("c-production", 5)]);
    }
}
