//! The server's keys for snapshot and timestamp: their states, and their move with an app.

use launchway_domain::trust::OnlineKeyState;
use launchway_store::{NewOnlineKey, NewTrustDraft, OnlineKeyRow, StoreError};

use crate::records::{NOW, an_org, bundle, unique};
use crate::trust_drafts::new_draft;
use crate::trust_files::{a_file, add_file};
use crate::trust_repositories::an_app_with_a_root;

/// A key in a state.
pub fn new_online_key(state: OnlineKeyState) -> OnlineKeyRow {
    OnlineKeyRow {
        id: unique("0123"),
        public_key: "-----BEGIN PUBLIC KEY-----\n".to_owned(),
        sealed: "sealed".to_owned(),
        state,
        created_at: NOW,
    }
}

contract! {
    async fn the_newest_of_a_state_counts(db: &TestDb) {
        let org = an_org(db).await.id;
        let name = bundle("com.Example.app");
        an_app_with_a_root(db, org, "com.example.app").await;
        let old = new_online_key(OnlineKeyState::Pending);
        let new = OnlineKeyRow { created_at: NOW + 1, ..new_online_key(OnlineKeyState::Pending) };
        for key in [&new, &old] {
            org_writes!(db, org, add_trust_online_key(&NewOnlineKey { bundle: &name, key }));
        }
        let of_state = async |state| org_reads!(db, org, trust_online_key(&name, state));
        assert_eq!(of_state(OnlineKeyState::Pending).await, Some(new.clone()));
        assert_eq!(of_state(OnlineKeyState::Current).await, None);
        assert!(org_writes!(db, org, set_trust_online_key_state(&new.id, OnlineKeyState::Current)));
        assert!(!org_writes!(db, org, set_trust_online_key_state("none", OnlineKeyState::Current)));
        let current = OnlineKeyRow { state: OnlineKeyState::Current, ..new };
        assert_eq!(of_state(OnlineKeyState::Current).await, Some(current.clone()));
        assert_eq!(of_state(OnlineKeyState::Pending).await, Some(old));
        org_writes!(db, org, delete_pending_trust_online_keys(&name));
        assert_eq!(of_state(OnlineKeyState::Pending).await, None);
        assert_eq!(of_state(OnlineKeyState::Current).await, Some(current));
    }

    async fn only_who_claimed_the_app_gets_a_key(db: &TestDb) {
        let (ours, theirs) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.example.app");
        an_app_with_a_root(db, theirs, "com.example.app").await;
        let key = new_online_key(OnlineKeyState::Pending);
        let mut tx = db.write().await.unwrap();
        let refused = tx.org(ours).add_trust_online_key(&NewOnlineKey { bundle: &name, key: &key }).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }

    /// The app's trust is the app's: whoever gets the app gets it, and the keys are then sealed for the new organization.
    async fn the_trust_of_an_app_moves_with_it(db: &TestDb) {
        let (from, to) = (an_org(db).await.id, an_org(db).await.id);
        let name = bundle("com.Example.app");
        for org_and_app in [(from, "com.example.app"), (from, "com.example.other")] {
            let (org, app) = org_and_app;
            an_app_with_a_root(db, org, app).await;
            add_file(db, org, &a_file(app, "root", 1)).await;
            let (draft, key) = (new_draft("any"), new_online_key(OnlineKeyState::Current));
            let app = bundle(app);
            org_writes!(db, org, put_trust_draft(&NewTrustDraft { bundle: &app, draft: &draft }));
            org_writes!(db, org, add_trust_online_key(&NewOnlineKey { bundle: &app, key: &key }));
        }
        let kept = org_reads!(db, from, trust_repository(&name)).unwrap();
        system_writes!(db, transfer_app(&name, to, NOW));
        for (org, count) in [(from, 0), (to, 1)] {
            let repository = org_reads!(db, org, trust_repository(&name));
            assert_eq!(repository.into_iter().count(), count, "{org}");
            assert_eq!(org_reads!(db, org, trust_files(&name, &kept.repository)).len(), count, "{org}");
            assert_eq!(org_reads!(db, org, trust_drafts(&name)).len(), count, "{org}");
            let key = org_reads!(db, org, trust_online_key(&name, OnlineKeyState::Current));
            assert_eq!(key.into_iter().count(), count, "{org}");
        }
        assert!(org_reads!(db, from, trust_repository(&bundle("com.example.other"))).is_some());

        let keys = system_reads!(db, sealed_trust_online_keys(&name));
        let [(id, sealed)] = &keys[..] else { panic!("one key: {keys:?}") };
        assert_eq!(sealed, "sealed");
        system_writes!(db, reseal_trust_online_key(id, "sealed again"));
        let key = org_reads!(db, to, trust_online_key(&name, OnlineKeyState::Current)).unwrap();
        assert_eq!(key.sealed, "sealed again");
        let other = system_reads!(db, sealed_trust_online_keys(&bundle("com.example.other")));
        assert_eq!(other[0].1, "sealed");
    }
}
