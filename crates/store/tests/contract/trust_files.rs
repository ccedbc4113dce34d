//! The metadata of signed updates: which versions stay, and that their bytes do.

use launchway_domain::id::OrgId;
use launchway_domain::time::{DAY, EpochMs};
use launchway_store::{Db, NewTrustFile, StoreError, TrustFileRow};

use crate::records::{NOW, an_org, bundle};
use crate::trust_repositories::an_app_with_a_root;

/// The id of the repository of each app.
pub const REPOSITORY: &str = "0123456789abcdef0123456789abcdef";

/// A file to add.
pub struct File {
    pub bundle_id: String,
    pub repository: String,
    pub role: String,
    pub version: u64,
    pub content: String,
    pub expires_at: EpochMs,
}

/// A version of a role that expires in a year.
pub fn a_file(bundle_id: &str, role: &str, version: u64) -> File {
    File {
        bundle_id: bundle_id.to_owned(),
        repository: REPOSITORY.to_owned(),
        role: role.to_owned(),
        version,
        content: format!("{{\"{role}\": {version}}}\n"),
        expires_at: NOW + 365 * DAY,
    }
}

/// Stores a version of a role.
pub async fn add_file(db: &Db, org: OrgId, file: &File) {
    assert!(try_to_add(db, org, file).await.is_ok());
}

async fn try_to_add(db: &Db, org: OrgId, file: &File) -> Result<(), StoreError> {
    let name = bundle(&file.bundle_id);
    let new = NewTrustFile {
        bundle: &name,
        repository: &file.repository,
        role: &file.role,
        version: file.version,
        content: &file.content,
        expires_at: file.expires_at,
        accepted_at: NOW,
        accepted_by: "key_x",
    };
    let mut tx = db.write().await.unwrap();
    tx.org(org).add_trust_file(&new).await?;
    tx.commit().await
}

/// The row of a file.
fn row(file: &File) -> TrustFileRow {
    TrustFileRow {
        role: file.role.clone(),
        version: file.version,
        content: file.content.clone(),
        expires_at: file.expires_at,
        accepted_at: NOW,
        accepted_by: "key_x".to_owned(),
    }
}

contract! {
    async fn all_roots_stay_and_of_other_roles_two_versions(db: &TestDb) {
        let org = an_org(db).await.id;
        an_app_with_a_root(db, org, "com.example.app").await;
        an_app_with_a_root(db, org, "com.example.other").await;
        for role in ["root", "targets", "timestamp", "c-production", "c-Production"] {
            add_file(db, org, &a_file("com.example.other", role, 1)).await;
            for version in [1, 2, 5, 9] {
                add_file(db, org, &a_file("com.example.app", role, version)).await;
            }
        }
        let kept = system_reads!(db, trust_for_index("com.example.app")).unwrap().files;
        let kept: Vec<_> = kept.iter().map(|file| (file.role.as_str(), file.version)).collect();
        let roots = [("root", 1), ("root", 2), ("root", 5), ("root", 9)];
        let others = [("targets", 5), ("targets", 9), ("timestamp", 9)];
        let first = [("c-Production", 5), ("c-Production", 9), ("c-production", 5), ("c-production", 9)];
        assert_eq!(kept, [&first[..], &roots, &others].concat());
        assert_eq!(system_reads!(db, trust_for_index("com.example.other")).unwrap().files.len(), 5);
    }

    async fn the_current_version_is_the_highest(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.Example.app");
        an_app_with_a_root(db, org, "com.example.app").await;
        let files = [
            a_file("com.example.app", "root", 1),
            a_file("com.example.app", "root", 10),
            a_file("com.example.app", "snapshot", 9),
            a_file("com.example.app", "snapshot", 1_795_255_201),
        ];
        for file in &files {
            add_file(db, org, file).await;
        }
        let current = async |role| org_reads!(db, org, trust_file(&name, REPOSITORY, role));
        assert_eq!(current("root").await, Some(row(&files[1])));
        assert_eq!(current("snapshot").await, Some(row(&files[3])));
        assert_eq!(current("timestamp").await, None);
        assert_eq!(org_reads!(db, org, trust_files(&name, REPOSITORY)), [row(&files[1]), row(&files[3])]);
        assert_eq!(org_reads!(db, org, trust_files(&name, "another")), []);
        let roots = async |from, limit| {
            let rows = org_reads!(db, org, trust_roots(&name, REPOSITORY, from, limit));
            rows.into_iter().map(|root| root.version).collect::<Vec<_>>()
        };
        assert_eq!(roots(1, 9).await, [1, 10]);
        assert_eq!(roots(2, 9).await, [10]);
        assert_eq!(roots(1, 1).await, [1]);
        assert_eq!(roots(11, 9).await, [0; 0]);
    }

    async fn the_versions_of_all_apps_are_read_at_once(db: &TestDb) {
        let org = an_org(db).await.id;
        for name in ["com.example.b", "com.Example.a"] {
            an_app_with_a_root(db, org, name).await;
            for (role, version) in [("root", 1), ("root", 3), ("c-production", 17), ("snapshot", 5), ("timestamp", 5)] {
                add_file(db, org, &a_file(name, role, version)).await;
            }
        }
        let read = system_reads!(db, signed_versions());
        let read: Vec<_> = read.iter().map(|row| (row.bundle_id.as_str(), row.role.as_str(), row.version)).collect();
        let (first, second) = ("com.Example.a", "com.example.b");
        let versions = |name| [(name, "c-production", 17), (name, "root", 3)];
        assert_eq!(read, [versions(first), versions(second)].concat());
    }

    async fn a_version_is_stored_once_and_byte_for_byte(db: &TestDb) {
        let org = an_org(db).await.id;
        an_app_with_a_root(db, org, "com.example.app").await;
        let mut file = a_file("com.example.app", "targets", 1);
        file.content = "{ \"b\":1,\r\n\t\"a\" : \"ä 😀 \\u0000\" }\n\n".repeat(1000);
        add_file(db, org, &file).await;
        let kept = org_reads!(db, org, trust_file(&bundle("com.example.app"), REPOSITORY, "targets"));
        assert_eq!(kept, Some(row(&file)));
        file.content = "other".to_owned();
        let refused = try_to_add(db, org, &file).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }

    async fn only_who_claimed_the_app_adds_to_it(db: &TestDb) {
        let (ours, theirs) = (an_org(db).await.id, an_org(db).await.id);
        an_app_with_a_root(db, theirs, "com.example.app").await;
        let refused = try_to_add(db, ours, &a_file("com.example.app", "c-production", 9)).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
        assert!(system_reads!(db, trust_for_index("com.example.app")).unwrap().files.is_empty());
    }

    async fn of_a_replaced_repository_only_the_roots_stay(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        an_app_with_a_root(db, org, "com.example.app").await;
        let mut next = a_file("com.example.app", "targets", 1);
        next.repository = "next".to_owned();
        add_file(db, org, &next).await;
        for role in ["root", "targets", "snapshot", "timestamp", "any"] {
            add_file(db, org, &a_file("com.example.app", role, 1)).await;
        }
        org_writes!(db, org, retire_trust_repository(&name, REPOSITORY));
        let kept = org_reads!(db, org, trust_files(&name, REPOSITORY));
        assert_eq!(kept, [row(&a_file("com.example.app", "root", 1))]);
        assert_eq!(system_reads!(db, trust_expiring(i64::MAX, 9)), [], "nobody hears of its roots any more");
        assert_eq!(org_reads!(db, org, trust_files(&name, "next")), [row(&next)]);
    }
}
