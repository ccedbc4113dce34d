//! Accounts, their passwords and the links that reset them.

use launchway_domain::org::User;

use crate::records::{NOW, a_user, new_id, new_session, new_user};

contract! {
    async fn the_provider_proves_an_account_once(db: &TestDb) {
        let (user, other) = (a_user(db).await, a_user(db).await);
        assert!(!system_reads!(db, is_proven_user(user.id)));
        let id = user.id;
        let proven = db.at_once(6, move |db, _| async move { system_writes!(db, prove_user(id, NOW)) }).await;
        assert_eq!(proven.iter().filter(|first| **first).count(), 1);
        assert!(system_reads!(db, is_proven_user(user.id)));
        assert!(!system_reads!(db, is_proven_user(other.id)));
        assert!(!system_writes!(db, prove_user(new_id(), NOW)), "nobody");
    }

    async fn a_password_is_held_while_it_is_the_users(db: &TestDb) {
        let user = a_user(db).await;
        assert!(system_writes!(db, hold_password(user.id, "password hash")));
        system_writes!(db, set_password(user.id, "another"));
        assert!(!system_writes!(db, hold_password(user.id, "password hash")));
        assert!(system_writes!(db, hold_password(user.id, "another")));
        assert!(!system_writes!(db, hold_password(new_id(), "another")));
    }

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
        assert_eq!(system_reads!(db, reset_link_user("first", NOW + 10)), None, "it has expired");
        assert_eq!(system_reads!(db, reset_link_user("firs", NOW)), None);
        system_writes!(db, create_reset_link(user.id, "second", NOW + 20));
        assert_eq!(system_reads!(db, reset_link_user("first", NOW)), None);
        assert_eq!(system_reads!(db, reset_link_user("second", NOW)), Some(user.id));
        assert_eq!(system_writes!(db, use_reset_link("first", NOW)), None);
        assert_eq!(system_writes!(db, use_reset_link("second", NOW + 20)), None, "it has expired");
        assert_eq!(system_writes!(db, use_reset_link("second", NOW)), Some(user.id));
    }

    async fn a_reset_link_is_used_by_one_of_many_at_once(db: &TestDb) {
        let user = a_user(db).await;
        system_writes!(db, create_reset_link(user.id, "link", NOW + 10));
        let used = db.at_once(6, |db, _| async move { system_writes!(db, use_reset_link("link", NOW)) }).await;
        assert_eq!(used.into_iter().flatten().collect::<Vec<_>>(), [user.id]);
    }

    /// The sign-in provider takes over the account while someone else sets a password with an older link.
    async fn a_reset_link_does_not_outlive_another_new_password(db: &TestDb) {
        let user = a_user(db).await;
        system_writes!(db, create_reset_link(user.id, "link", NOW + 10));
        let other = db.again().await;
        let mut tx = db.write().await.unwrap();
        tx.system("a test").hold_password(user.id, "password hash").await.unwrap();
        let reset = tokio::spawn(async move {
            let used = system_writes!(other, use_reset_link("link", NOW));
            other.close().await;
            used
        });
        db.until_one_waits().await;
        tx.system("a test").set_password(user.id, "the owner's").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(reset.await.unwrap(), None);
    }
}
