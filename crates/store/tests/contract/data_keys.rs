//! The sealed keys of organizations and of the installation.

use crate::records::{NOW, an_org};

contract! {
    async fn each_owner_keeps_its_first_key(db: &TestDb) {
        let org = an_org(db).await.id;
        assert_eq!(system_reads!(db, data_key(None)), None);
        assert_eq!(system_writes!(db, keep_data_key(None, "installation", NOW)), "installation");
        assert_eq!(system_writes!(db, keep_data_key(Some(org), "first", NOW)), "first");
        assert_eq!(system_writes!(db, keep_data_key(Some(org), "second", NOW)), "first");
        assert_eq!(system_reads!(db, data_key(Some(org))).as_deref(), Some("first"));
        assert_eq!(system_reads!(db, data_key(None)).as_deref(), Some("installation"));
    }

    async fn nodes_that_need_a_key_at_once_agree_on_one(db: &TestDb) {
        let org = an_org(db).await.id;
        let kept = db
            .at_once(8, |db, number| async move {
                system_writes!(db, keep_data_key(Some(org), &number.to_string(), NOW))
            })
            .await;
        let stands = system_reads!(db, data_key(Some(org))).unwrap();
        assert!(kept.iter().all(|sealed| *sealed == stands), "{kept:?} but {stands}");
    }

    async fn all_of_them_can_be_sealed_anew(db: &TestDb) {
        let orgs = [an_org(db).await.id, an_org(db).await.id];
        system_writes!(db, keep_data_key(Some(orgs[1]), "b", NOW));
        system_writes!(db, keep_data_key(None, "own", NOW));
        system_writes!(db, keep_data_key(Some(orgs[0]), "a", NOW));
        let told = |a: &str, b: &str, own: &str| {
            [(None, own.to_owned()), (Some(orgs[0]), a.to_owned()), (Some(orgs[1]), b.to_owned())]
        };
        assert_eq!(system_reads!(db, data_keys()), told("a", "b", "own"));
        system_writes!(db, reseal_data_key(Some(orgs[1]), "b anew"));
        system_writes!(db, reseal_data_key(None, "own anew"));
        assert_eq!(system_reads!(db, data_keys()), told("a", "b anew", "own anew"));
    }
}
