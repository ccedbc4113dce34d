//! Stored forms: for their user only, a few for each, for a while.

use launchway_domain::id::UserId;
use launchway_store::KeptForm;

use crate::records::{NOW, a_user, new_id};

fn form(id: &str, user_id: UserId, expires_at: i64) -> KeptForm {
    KeptForm {
        id: id.to_owned(),
        user_id,
        sealed: format!("sealed {id}"),
        expires_at,
    }
}

contract! {
    async fn a_form_is_kept_for_its_user_and_its_time(db: &TestDb) {
        let (user, other) = (a_user(db).await.id, a_user(db).await.id);
        assert!(system_writes!(db, keep_form(&form("a", user, NOW + 10), 3)));
        assert_eq!(system_reads!(db, kept_form("a", user, NOW)).as_deref(), Some("sealed a"));
        assert_eq!(system_reads!(db, kept_form("a", other, NOW)), None);
        assert_eq!(system_reads!(db, kept_form("b", user, NOW)), None);
        assert_eq!(system_reads!(db, kept_form("a", user, NOW + 10)), None, "it has expired");
        assert!(!system_writes!(db, keep_form(&form("c", new_id(), NOW + 10), 3)), "nobody is there");
        assert_eq!(system_writes!(db, forget_kept_forms(NOW + 9)), 0);
        assert_eq!(system_writes!(db, forget_kept_forms(NOW + 10)), 1);
    }

    async fn no_user_fills_the_table(db: &TestDb) {
        let (user, other) = (a_user(db).await.id, a_user(db).await.id);
        system_writes!(db, keep_form(&form("other", other, NOW + 1), 3));
        for number in 0..10 {
            system_writes!(db, keep_form(&form(&number.to_string(), user, NOW + 10 + number), 3));
        }
        for number in 0..10 {
            let kept = system_reads!(db, kept_form(&number.to_string(), user, NOW)).is_some();
            assert_eq!(kept, number >= 7, "{number}");
        }
        assert!(system_reads!(db, kept_form("other", other, NOW)).is_some());
    }
}
