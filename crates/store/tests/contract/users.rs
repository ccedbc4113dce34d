//! Accounts, their passwords and the links that reset them.

use launchway_domain::org::User;

use crate::records::{NOW, a_user, new_id, new_session, new_user};

contract! {
    async fn keeps_an_account(db: &TestDb) {
        let user = new_user();
        assert!(system_writes!(db, create_user(&user, "$argon2id$hash")));
        assert_eq!(system_reads!(db, user(user.id)), Some(user.clone()));
        let found = system_reads!(db, user_by_email(&user.email));
        assert_eq!(found, Some((user, "$argon2id$hash".to_owned())));
        assert_eq!(system_reads!(db, user(new_id())), None);
        assert_eq!(system_reads!(db, user_by_email("nobody@example.com")), None);
    }

    async fn an_address_has_one_account(db: &TestDb) {
        let user = a_user(db).await;
        let twin = User { email: user.email.clone(), ..new_user() };
        assert!(!system_writes!(db, create_user(&twin, "other")));
        assert_eq!(system_reads!(db, user(twin.id)), None);
        assert_eq!(system_reads!(db, user_by_email(&user.email)), Some((user, "password hash".to_owned())));
    }

    async fn an_address_has_one_account_when_many_ask_at_once(db: &TestDb) {
        let made = db
            .at_once(8, |db, _| async move {
                let user = User { email: "ada@example.com".to_owned(), ..new_user() };
                system_writes!(db, create_user(&user, "hash"))
            })
            .await;
        assert_eq!(made.iter().filter(|made| **made).count(), 1);
    }

    async fn a_new_password_ends_sessions_and_links_of_that_user(db: &TestDb) {
        let (user, bystander) = (a_user(db).await, a_user(db).await);
        for (user, token) in [(&user, "a"), (&bystander, "b")] {
            system_writes!(db, create_session(&new_session(user.id), token));
            system_writes!(db, create_reset_link(user.id, token, NOW + 1));
        }
        system_writes!(db, set_password(user.id, "new hash"));
        assert_eq!(system_reads!(db, user_by_email(&user.email)).unwrap().1, "new hash");
        assert_eq!(system_reads!(db, session_by_token("a", NOW)), None);
        assert_eq!(system_reads!(db, reset_link_user("a", NOW)), None);
        assert_eq!(system_reads!(db, user_by_email(&bystander.email)).unwrap().1, "password hash");
        assert!(system_reads!(db, session_by_token("b", NOW)).is_some());
        assert_eq!(system_reads!(db, reset_link_user("b", NOW)), Some(bystander.id));
    }

    async fn a_reset_link_works_in_its_time_and_replaces_the_one_before(db: &TestDb) {
        let user = a_user(db).await;
        system_writes!(db, create_reset_link(user.id, "first", NOW + 10));
        assert_eq!(system_reads!(db, reset_link_user("first", NOW + 9)), Some(user.id));
        assert_eq!(system_reads!(db, reset_link_user("first", NOW + 10)), None, "its time is over");
        assert_eq!(system_reads!(db, reset_link_user("firs", NOW)), None);
        system_writes!(db, create_reset_link(user.id, "second", NOW + 20));
        assert_eq!(system_reads!(db, reset_link_user("first", NOW)), None);
        assert_eq!(system_reads!(db, reset_link_user("second", NOW)), Some(user.id));
    }
}
