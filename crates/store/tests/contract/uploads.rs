//! Uploads: announced, used once, deleted when they expire.

use launchway_domain::app::Upload;

use crate::records::{NOW, an_org, new_id, new_upload};

contract! {
    async fn keeps_an_announced_upload(db: &TestDb) {
        let org = an_org(db).await.id;
        let upload = new_upload(org);
        org_writes!(db, org, create_upload(&upload, "key_x"));
        assert_eq!(org_reads!(db, org, upload(upload.id)), Some(upload.clone()));
        assert!(system_reads!(db, is_open_upload(upload.id)));
        assert_eq!(org_reads!(db, org, upload(new_id())), None);
        assert!(!system_reads!(db, is_open_upload(new_id())));
        assert!(system_reads!(db, has_upload(upload.id)));
        assert!(!system_reads!(db, has_upload(new_id())));
    }

    async fn is_used_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let (upload, bystander) = (new_upload(org), new_upload(org));
        org_writes!(db, org, create_upload(&upload, "key_x"));
        org_writes!(db, org, create_upload(&bystander, "key_x"));
        assert!(org_writes!(db, org, use_upload(upload.id)));
        assert!(!org_writes!(db, org, use_upload(upload.id)));
        assert!(!org_writes!(db, org, use_upload(new_id())));
        assert!(!system_reads!(db, is_open_upload(upload.id)), "a signed URL of it is refused");
        assert!(system_reads!(db, has_upload(upload.id)), "it is there until its time is over");
        assert_eq!(org_reads!(db, org, upload(upload.id)), Some(Upload { used: true, ..upload }));
        assert_eq!(org_reads!(db, org, upload(bystander.id)), Some(bystander));
    }

    async fn is_used_by_one_of_many_at_once(db: &TestDb) {
        let org = an_org(db).await.id;
        let upload = new_upload(org);
        org_writes!(db, org, create_upload(&upload, "key_x"));
        let used = db.at_once(12, |db, _| async move { org_writes!(db, org, use_upload(upload.id)) }).await;
        assert_eq!(used.iter().filter(|used| **used).count(), 1);
    }

    async fn expired_ones_are_found_oldest_first_and_forgotten(db: &TestDb) {
        let org = an_org(db).await.id;
        let made: Vec<_> = [3, 1, 2].map(|late| Upload { expires_at: NOW + late, ..new_upload(org) }).into();
        for upload in &made {
            org_writes!(db, org, create_upload(upload, "key_x"));
        }
        assert_eq!(system_reads!(db, expired_uploads(NOW, 10)), []);
        let expired = system_reads!(db, expired_uploads(NOW + 2, 10));
        assert_eq!(expired, [made[1].clone(), made[2].clone()]);
        assert_eq!(system_reads!(db, expired_uploads(NOW + 3, 1)), [made[1].clone()]);
        system_writes!(db, forget_upload(made[1].id));
        assert_eq!(org_reads!(db, org, upload(made[1].id)), None);
        assert_eq!(system_reads!(db, expired_uploads(NOW + 3, 10)), [made[2].clone(), made[0].clone()]);
    }
}
