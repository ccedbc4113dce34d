//! The repositories of signed updates: one of each app, what a node reads of them, and what is due.

use launchway_domain::app::App;
use launchway_domain::id::OrgId;
use launchway_domain::time::DAY;
use launchway_domain::update::{AWAITING_LIFE, Update, UpdateStatus};
use launchway_store::{Db, ExpiringRole, TrustRepository};

use crate::records::{NOW, an_org, an_update, bundle, new_app, unpublish};
use crate::trust_files::{REPOSITORY, a_file, add_file};

/// The record of an app with a root, whose roles all have version 1.
pub fn new_repository(bundle_id: &str) -> TrustRepository {
    TrustRepository {
        bundle_id: bundle_id.to_owned(),
        repository: REPOSITORY.to_owned(),
        root_version: 1,
        snapshot_version: 1,
        timestamp_version: 1,
        online_key_id: "ab".repeat(32),
        other_formats: false,
        began_at: NOW,
        changed_at: NOW,
    }
}

/// Claims an app and gives it a root.
pub async fn an_app_with_a_root(db: &Db, org: OrgId, bundle_id: &str) -> App {
    let name = bundle(bundle_id);
    let app = new_app(org, &name);
    org_writes!(db, org, claim_app(&name, &app));
    assert!(org_writes!(
        db,
        org,
        put_trust_repository(&name, &new_repository(bundle_id))
    ));
    app
}

/// Stores an update that awaits a signature of a role.
async fn awaiting(db: &Db, org: OrgId, bundle_id: &str, build: &str, role: &str) -> Update {
    an_update(db, org, &bundle(bundle_id), |update| {
        update.build_number = build.parse().unwrap();
        update.status = UpdateStatus::AwaitingSignature;
        update.trust_role = Some(role.to_owned());
        update.created_at = NOW + update.build_number.value() as i64;
    })
    .await
}

contract! {
    async fn keeps_the_newest_state_of_an_app(db: &TestDb) {
        let org = an_org(db).await.id;
        an_app_with_a_root(db, org, "com.Example.App").await;
        let name = bundle("com.example.APP");
        assert_eq!(org_reads!(db, org, trust_repository(&name)), Some(new_repository("com.Example.App")));
        let later = TrustRepository {
            repository: "9f".repeat(16),
            root_version: 7,
            snapshot_version: 1_795_255_201,
            timestamp_version: (1 << 53) - 1,
            online_key_id: "cd".repeat(32),
            other_formats: true,
            began_at: NOW + 1,
            changed_at: NOW + 2,
            ..new_repository("com.Example.App")
        };
        assert!(org_writes!(db, org, put_trust_repository(&name, &later)));
        assert_eq!(org_reads!(db, org, trust_repository(&name)), Some(later));
        assert_eq!(org_reads!(db, org, trust_repository(&bundle("com.example"))), None);
    }

    async fn only_who_claimed_the_app_gives_it_a_root(db: &TestDb) {
        let (ours, theirs) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.example.app");
        let ours_wants = new_repository("com.example.app");
        assert!(!org_writes!(db, ours, put_trust_repository(&name, &ours_wants)), "nobody claimed it");
        let app = an_app_with_a_root(db, theirs, "com.example.app").await;
        assert!(!org_writes!(db, ours, put_trust_repository(&name, &ours_wants)));
        org_writes!(db, theirs, delete_app(app.id, NOW));
        assert!(!org_writes!(db, ours, put_trust_repository(&name, &ours_wants)), "it stays with who deleted it");
        assert!(org_reads!(db, theirs, trust_repository(&name)).is_some());
    }

    async fn a_node_reads_one_app_or_all_of_them(db: &TestDb) {
        let org = an_org(db).await.id;
        for name in ["com.Example.a", "com.example.b"] {
            an_app_with_a_root(db, org, name).await;
            for role in ["root", "timestamp", "c-production"] {
                add_file(db, org, &a_file(name, role, 1)).await;
            }
        }
        add_file(db, org, &a_file("com.example.a", "root", 2)).await;
        let mut of_old = a_file("com.example.a", "targets", 5);
        of_old.repository = "of another repository".to_owned();
        add_file(db, org, &of_old).await;

        let read = system_reads!(db, trust_for_index("com.example.a")).unwrap();
        assert_eq!(read.repository, new_repository("com.Example.a"));
        let named: Vec<_> = read.files.iter().map(|file| (file.role.as_str(), file.version)).collect();
        assert_eq!(named, [("c-production", 1), ("root", 1), ("root", 2), ("timestamp", 1)]);
        assert_eq!(system_reads!(db, trust_for_index("com.example.none")), None);

        let (mut repositories, mut files) = (Vec::new(), Vec::new());
        system_reads!(db, for_each_trust_repository(|key, repository| repositories.push((key, repository.bundle_id))));
        system_reads!(db, for_each_trust_file(|key, file| files.push((key, file))));
        repositories.sort();
        assert_eq!(repositories[0], ("com.example.a".to_owned(), "com.Example.a".to_owned()));
        assert_eq!(repositories.len(), 2);
        assert_eq!(files.len(), 7);
        files.retain(|(key, _)| key == "com.example.a");
        files.sort_by(|(_, one), (_, other)| (&one.role, one.version).cmp(&(&other.role, other.version)));
        assert_eq!(files.into_iter().map(|(_, file)| file).collect::<Vec<_>>(), read.files);
    }

    async fn the_timestamp_that_expires_first_is_due_first(db: &TestDb) {
        let org = an_org(db).await.id;
        for (at, name) in ["com.example.c", "com.example.a", "com.example.b"].into_iter().enumerate() {
            an_app_with_a_root(db, org, name).await;
            for role in ["timestamp", "snapshot"] {
                let mut file = a_file(name, role, 1);
                file.expires_at = NOW + at as i64;
                add_file(db, org, &file).await;
            }
        }
        let due = async |time| {
            let apps = system_reads!(db, online_roles_due(time, None, 9));
            assert!(apps.iter().all(|due| due.org_id == org));
            apps.iter().map(|due| due.bundle.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(due(NOW).await, [""; 0]);
        assert_eq!(due(NOW + 2).await, ["com.example.c", "com.example.a"]);
        // A new version replaces it, and the repository names that one.
        let mut renewed = a_file("com.example.c", "timestamp", 2);
        renewed.expires_at = NOW + 100;
        add_file(db, org, &renewed).await;
        let state = TrustRepository { timestamp_version: 2, ..new_repository("com.example.c") };
        org_writes!(db, org, put_trust_repository(&bundle("com.example.c"), &state));
        assert_eq!(due(NOW + 2).await, ["com.example.a"]);
    }

    /// An app that cannot be renewed stays due, and must not hold up the others.
    async fn whoever_asks_again_gets_those_that_follow(db: &TestDb) {
        let org = an_org(db).await.id;
        for (name, at) in [("com.example.b", 1), ("com.example.a", 1), ("com.Example.c", 0), ("com.example.d", 2)] {
            an_app_with_a_root(db, org, name).await;
            let mut file = a_file(name, "timestamp", 1);
            file.expires_at = NOW + at;
            add_file(db, org, &file).await;
        }
        let (mut seen, mut last) = (Vec::new(), None);
        for _ in 0..4 {
            let page = system_reads!(db, online_roles_due(NOW + 9, last.as_ref(), 1));
            last = page.into_iter().next();
            seen.extend(last.iter().map(|due| due.bundle.to_string()));
        }
        assert_eq!(seen, ["com.Example.c", "com.example.a", "com.example.b", "com.example.d"]);
        assert_eq!(system_reads!(db, online_roles_due(NOW + 9, last.as_ref(), 9)), []);
    }

    async fn a_deleted_app_keeps_its_root_and_is_renewed(db: &TestDb) {
        let org = an_org(db).await.id;
        let app = an_app_with_a_root(db, org, "com.example.app").await;
        add_file(db, org, &a_file("com.example.app", "timestamp", 1)).await;
        add_file(db, org, &a_file("com.example.app", "root", 1)).await;
        org_writes!(db, org, delete_app(app.id, NOW));
        assert_eq!(system_reads!(db, online_roles_due(i64::MAX, None, 9)).len(), 1, "its phones still check");
        assert_eq!(system_reads!(db, trust_for_index("com.example.app")).unwrap().files.len(), 2);
        assert!(org_reads!(db, org, trust_repository(&bundle("com.example.app"))).is_some());
    }

    async fn a_role_is_announced_when_its_notice_is_due(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        an_app_with_a_root(db, org, "com.example.app").await;
        for (role, days) in [("c-production", 40), ("targets", 35), ("snapshot", 1), ("timestamp", 1)] {
            let mut file = a_file("com.example.app", role, 3);
            file.expires_at = NOW + days * DAY;
            add_file(db, org, &file).await;
        }
        let due = async |now| {
            let roles: Vec<ExpiringRole> = system_reads!(db, trust_expiring(now, 9));
            assert!(roles.iter().all(|role| role.org_id == org && role.bundle_id == "com.example.app" && role.version == 3));
            roles.into_iter().map(|role| (role.role, (role.expires_at - NOW) / DAY)).collect::<Vec<_>>()
        };
        assert_eq!(due(NOW + 5 * DAY - 1).await, [], "what the server renews has no notice");
        assert_eq!(due(NOW + 5 * DAY).await, [("targets".to_owned(), 35)]);
        assert_eq!(due(NOW + 10 * DAY).await, [("targets".to_owned(), 35), ("c-production".to_owned(), 40)]);
        let next = Some(NOW + 28 * DAY);
        assert!(org_writes!(db, org, set_trust_notice(&name, "targets", 3, next)));
        assert!(!org_writes!(db, org, set_trust_notice(&name, "targets", 3, next)), "another node was faster");
        assert!(!org_writes!(db, org, set_trust_notice(&name, "targets", 2, next)), "of an older version");
        assert_eq!(due(NOW + 28 * DAY - 1).await, [("c-production".to_owned(), 40)]);
        assert!(org_writes!(db, org, set_trust_notice(&name, "targets", 3, None)));
        assert!(!org_writes!(db, org, set_trust_notice(&name, "targets", 3, None)));
        assert_eq!(due(i64::MAX).await, [("c-production".to_owned(), 40)]);
        // A new version of a role ends the notices about the old one.
        let mut renewed = a_file("com.example.app", "c-production", 4);
        renewed.expires_at = NOW + 220 * DAY;
        add_file(db, org, &renewed).await;
        assert_eq!(due(NOW + 100 * DAY).await, []);
    }

    async fn an_update_awaits_its_signature_until_it_is_released(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.example.app");
        an_app_with_a_root(db, org, "com.example.app").await;
        let one = awaiting(db, org, "com.example.app", "1", "c-production").await;
        let two = awaiting(db, org, "com.example.app", "2", "c-production").await;
        awaiting(db, org, "com.example.app", "3", "any").await;
        awaiting(db, org, "com.example.other", "4", "c-production").await;
        let gone = awaiting(db, org, "com.example.app", "5", "c-production").await;
        unpublish(db, &name, &gone, NOW).await;
        let of_role = async |role: &str| {
            let rows = org_reads!(db, org, awaiting_updates(&name, role));
            assert!(rows.iter().all(|update| update.status == UpdateStatus::AwaitingSignature));
            rows.into_iter().map(|update| update.id).collect::<Vec<_>>()
        };
        assert_eq!(of_role("c-production").await, [two.id, one.id]);
        assert_eq!(of_role("c-staging").await, []);
        assert!(org_writes!(db, org, release_update(one.id, NOW + 50)));
        assert!(!org_writes!(db, org, release_update(one.id, NOW + 60)), "it is released once");
        assert!(!org_writes!(db, org, release_update(gone.id, NOW)), "it is deleted");
        assert_eq!(of_role("c-production").await, [two.id]);
        let released = org_reads!(db, org, update(one.id)).unwrap();
        assert_eq!((released.status, released.published_at), (UpdateStatus::Published, Some(NOW + 50)));
        let offered = system_reads!(db, offered_updates("com.example.app"));
        assert_eq!(offered.len(), 1);
        assert_eq!((offered[0].created_at, offered[0].trust_role.as_deref()), (NOW + 50, Some("c-production")));
    }

    async fn an_update_that_nobody_signs_is_withdrawn(db: &TestDb) {
        let org = an_org(db).await.id;
        an_app_with_a_root(db, org, "com.example.app").await;
        let mut waiting = Vec::new();
        for build in ["1", "2", "3"] {
            waiting.push(awaiting(db, org, "com.example.app", build, "any").await);
        }
        unpublish(db, &bundle("com.example.app"), &waiting[2], NOW).await;
        let later = NOW + AWAITING_LIFE;
        assert_eq!(system_reads!(db, awaiting_before(NOW + 1, 9)), []);
        assert_eq!(system_reads!(db, awaiting_before(NOW + 2, 9)), [(org, waiting[0].id)]);
        assert_eq!(system_reads!(db, awaiting_before(later, 9)), [(org, waiting[0].id), (org, waiting[1].id)]);
        assert_eq!(system_reads!(db, awaiting_before(later, 1)).len(), 1);
        assert!(org_writes!(db, org, withdraw_awaiting_update(waiting[0].id)));
        assert!(!org_writes!(db, org, withdraw_awaiting_update(waiting[0].id)));
        assert!(!org_writes!(db, org, release_update(waiting[0].id, NOW)), "it is withdrawn for good");
        let withdrawn = org_reads!(db, org, update(waiting[0].id)).unwrap();
        assert_eq!((withdrawn.status, withdrawn.published_at), (UpdateStatus::Withdrawn, None));
        assert_eq!(system_reads!(db, awaiting_before(later, 9)), [(org, waiting[1].id)]);
    }

    async fn one_of_many_at_once_ends_the_wait(db: &TestDb) {
        let org = an_org(db).await.id;
        an_app_with_a_root(db, org, "com.example.app").await;
        let update = awaiting(db, org, "com.example.app", "1", "any").await.id;
        let ended = db
            .at_once(8, |db, number| async move {
                match number % 2 {
                    0 => org_writes!(db, org, release_update(update, NOW)),
                    _ => org_writes!(db, org, withdraw_awaiting_update(update)),
                }
            })
            .await;
        assert_eq!(ended.iter().filter(|ended| **ended).count(), 1);
    }
}
