//! API keys: stored as their hash, revoked once, listed forever.

use std::collections::HashMap;

use launchway_domain::key::Key;
use launchway_domain::scope::Scope;
use launchway_store::{NewKey, Paging, StoreError};

use crate::records::{ALL, NOW, an_org, new_id, new_key};

contract! {
    async fn keeps_a_key_and_finds_it_by_its_hash(db: &TestDb) {
        let org = an_org(db).await.id;
        for (scopes, expires_at) in [(vec![Scope::Admin], Some(NOW + 1)), (vec![], None), (Scope::ALL.to_vec(), None)] {
            let new = new_key(org);
            let new = NewKey { key: Key { scopes, expires_at, ..new.key }, ..new };
            org_writes!(db, org, create_key(&new));
            assert_eq!(org_reads!(db, org, key(new.key.id)), Some(new.key.clone()));
            assert_eq!(system_reads!(db, key_by_hash(&new.hash)), Some(new.key));
        }
        assert_eq!(org_reads!(db, org, key(new_id())), None);
        assert_eq!(system_reads!(db, key_by_hash("hash")), None);
    }

    async fn names_the_keys_of_a_page(db: &TestDb) {
        let org = an_org(db).await.id;
        let mut names = HashMap::new();
        // Around the powers of two to which the list of a statement is padded.
        for count in [0, 1, 2, 3, 4, 5, 99, 100] {
            while names.len() < count {
                let new = new_key(org);
                org_writes!(db, org, create_key(&new));
                names.insert(new.key.id, new.key.name);
            }
            let ids: Vec<_> = names.keys().copied().collect();
            assert_eq!(org_reads!(db, org, key_names(&ids)), names);
        }
    }

    async fn a_hash_is_one_key(db: &TestDb) {
        let org = an_org(db).await.id;
        let new = new_key(org);
        org_writes!(db, org, create_key(&new));
        let mut tx = db.write().await.unwrap();
        let refused = tx.org(org).create_key(&NewKey { hash: new.hash, ..new_key(org) }).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }

    async fn revokes_a_key_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let (new, bystander) = (new_key(org), new_key(org));
        org_writes!(db, org, create_key(&new));
        org_writes!(db, org, create_key(&bystander));
        assert!(org_writes!(db, org, revoke_key(new.key.id, NOW + 1)));
        assert!(!org_writes!(db, org, revoke_key(new.key.id, NOW + 2)));
        assert!(!org_writes!(db, org, revoke_key(new_id(), NOW)));
        let revoked = Key { revoked_at: Some(NOW + 1), ..new.key };
        assert_eq!(system_reads!(db, key_by_hash(&new.hash)), Some(revoked), "the first time stands");
        assert_eq!(org_reads!(db, org, key(bystander.key.id)), Some(bystander.key));
    }

    async fn lists_the_newest_first_with_revoked_ones(db: &TestDb) {
        let org = an_org(db).await.id;
        let made: Vec<_> = (0..4).map(|_| new_key(org)).collect();
        for at in [3, 1, 0, 2] {
            org_writes!(db, org, create_key(&made[at]));
        }
        org_writes!(db, org, revoke_key(made[2].key.id, NOW));
        let ids = |keys: &[Key]| keys.iter().map(|key| key.id).collect::<Vec<_>>();
        let newest_first: Vec<_> = made.iter().rev().map(|new| new.key.id).collect();
        assert_eq!(ids(&org_reads!(db, org, keys(ALL)).items), newest_first);
        let page = org_reads!(db, org, keys(Paging { limit: 2, offset: 1 }));
        assert_eq!((ids(&page.items).as_slice(), page.total), (&newest_first[1..3], 4));
    }

    async fn last_use_only_goes_forward(db: &TestDb) {
        let org = an_org(db).await.id;
        let (used, unused) = (new_key(org), new_key(org));
        org_writes!(db, org, create_key(&used));
        org_writes!(db, org, create_key(&unused));
        for (noted, expected) in [(NOW, NOW), (NOW + 60, NOW + 60), (NOW + 30, NOW + 60)] {
            system_writes!(db, note_keys_used(&[(new_id(), noted), (used.key.id, noted)]));
            assert_eq!(org_reads!(db, org, key(used.key.id)).unwrap().last_used_at, Some(expected));
        }
        assert_eq!(org_reads!(db, org, key(unused.key.id)).unwrap().last_used_at, None);
    }
}
