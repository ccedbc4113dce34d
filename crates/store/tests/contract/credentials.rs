//! Credentials: their metadata is in clear, the secret part is sealed; each expiry notice is sent once.

use launchway_domain::credential::Credential;
use launchway_domain::id::OrgId;
use launchway_store::StoreEventsRow;
use serde_json::json;

use crate::records::{ALL, NOW, an_org, new_id, unique};

/// A credential, not stored yet.
pub fn new_credential(org: OrgId) -> Credential {
    Credential {
        id: new_id(),
        org_id: org,
        kind: "android_keystore".to_owned(),
        name: unique("keystore"),
        bundle_id: Some("com.Example.app".parse().unwrap()),
        fingerprint: "ab".repeat(32),
        facts: json!({"alias": "release", "keySize": 2048}),
        expires_at: Some(NOW + 1000),
        told_days: None,
        created_by: "user_x".to_owned(),
        created_at: NOW,
    }
}

contract! {
    async fn keeps_what_was_read_and_what_is_sealed(db: &TestDb) {
        let org = an_org(db).await.id;
        let first = new_credential(org);
        let second = Credential { bundle_id: None, expires_at: None, ..new_credential(org) };
        org_writes!(db, org, create_credential(&first, "sealed one"));
        org_writes!(db, org, create_credential(&second, "sealed two"));
        assert_eq!(org_reads!(db, org, credential(first.id)), Some(first.clone()));
        let listed = org_reads!(db, org, credentials(ALL));
        assert_eq!((listed.items, listed.total), (vec![second.clone(), first.clone()], 2));
        assert_eq!(org_reads!(db, org, sealed_credential(second.id)).as_deref(), Some("sealed two"));
        let names = [(first.id, first.name.clone()), (second.id, second.name.clone())].into();
        assert_eq!(org_reads!(db, org, credential_names(&[second.id, new_id(), first.id, second.id])), names);
        assert!(org_reads!(db, org, credential_names(&[])).is_empty());
        let of_first = || StoreEventsRow { org, rotations: 0, rotated_at: 0 };
        assert_eq!(system_writes!(db, store_events_of(first.id)), Some(of_first()));
        assert!(org_writes!(db, org, delete_credential(first.id)));
        assert_eq!(system_writes!(db, store_events_of(first.id)), None);
        assert!(!org_writes!(db, org, delete_credential(first.id)));
        assert_eq!(org_reads!(db, org, credential(first.id)), None);
        assert_eq!(org_reads!(db, org, sealed_credential(first.id)), None);
    }

    async fn the_secret_of_store_events_is_replaced_by_its_owner(db: &TestDb) {
        let [org, other] = [an_org(db).await.id, an_org(db).await.id];
        let credential = new_credential(org);
        org_writes!(db, org, create_credential(&credential, ""));
        assert_eq!(org_writes!(db, other, rotate_store_events(credential.id, NOW)), None);
        for rotations in 1..3 {
            let now = NOW + rotations;
            assert_eq!(org_writes!(db, org, rotate_store_events(credential.id, now)), Some(rotations));
            let row = StoreEventsRow { org, rotations, rotated_at: now };
            assert_eq!(system_writes!(db, store_events_of(credential.id)), Some(row));
        }
    }

    async fn a_notice_is_given_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let credential = new_credential(org);
        org_writes!(db, org, create_credential(&credential, ""));
        let mut answers = Vec::new();
        for days in [30, 30, 7, 30, 7] {
            answers.push(org_writes!(db, org, record_expiry_notice(credential.id, days)));
        }
        assert_eq!(answers, [true, false, true, false, false]);
        assert_eq!(org_reads!(db, org, credential(credential.id)).unwrap().told_days, Some(7));
    }

    async fn those_that_end_are_found_page_by_page(db: &TestDb) {
        let orgs = [an_org(db).await.id, an_org(db).await.id];
        let mut made = Vec::new();
        for (at, end) in [Some(10), Some(30), None, Some(11), Some(29), Some(9)].into_iter().enumerate() {
            let org = orgs[at % 2];
            let credential = Credential { expires_at: end.map(|end| NOW + end), ..new_credential(org) };
            org_writes!(db, org, create_credential(&credential, ""));
            made.push((org, credential));
        }
        let wanted = vec![made[1].clone(), made[3].clone(), made[4].clone()];
        assert_eq!(system_reads!(db, expiring_credentials(NOW + 10, NOW + 30, "", 10)), wanted);
        assert_eq!(system_reads!(db, expiring_credentials(NOW + 10, NOW + 30, "", 2)), wanted[..2]);
        let after = wanted[1].1.id.to_string();
        assert_eq!(system_reads!(db, expiring_credentials(NOW + 10, NOW + 30, &after, 2)), wanted[2..]);
    }
}
