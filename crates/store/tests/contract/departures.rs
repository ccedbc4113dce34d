//! What a user created in an organization, ended or listed when the user leaves; and that nobody leaves during a change.

use launchway_domain::build::Runner;
use launchway_domain::device_login::DeviceLoginStatus;
use launchway_domain::id::{OrgId, UserId};
use launchway_domain::key::Key;
use launchway_domain::org::{Invitation, SESSION_IDLE, SESSION_LIFE};
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;
use launchway_store::{Db, NewKey};

use crate::device_logins::new_device_login;
use crate::records::{ALL, NOW, a_user, an_org, new_id, new_invitation, new_key, new_session, unique};
use crate::runners::new_runner;

async fn a_member(db: &Db, org: OrgId, role: Role) -> UserId {
    let user = a_user(db).await.id;
    assert!(org_writes!(db, org, add_member(user, role, NOW)));
    user
}

async fn a_key(db: &Db, org: OrgId, change: impl FnOnce(&mut Key)) -> Key {
    let mut new: NewKey = new_key(org);
    change(&mut new.key);
    org_writes!(db, org, create_key(&new));
    new.key
}

async fn an_invitation(db: &Db, org: OrgId, by: &str, change: impl FnOnce(&mut Invitation)) -> Invitation {
    let mut invitation = new_invitation(org);
    change(&mut invitation);
    org_writes!(db, org, create_invitation(&invitation, &unique("token"), by));
    invitation
}

contract! {
    async fn invitations_of_a_user_and_for_the_address_end(db: &TestDb) {
        let org = an_org(db).await.id;
        let ada = a_member(db, org, Role::Admin).await;
        let key = a_key(db, org, |key| key.created_by = ada.to_string()).await;
        let by_user = an_invitation(db, org, &ada.to_string(), |_| {}).await;
        let by_key = an_invitation(db, org, &key.id.to_string(), |_| {}).await;
        let own = an_invitation(db, org, "operator", |own| own.email = "ada@example.com".to_owned()).await;
        let other = an_invitation(db, org, "operator", |_| {}).await;
        let taken = an_invitation(db, org, &ada.to_string(), |_| {}).await;
        assert!(system_writes!(db, accept_invitation(taken.id, NOW)));
        let mut ended: Vec<_> = org_writes!(db, org, end_invitations(ada, Some("ada@example.com")))
            .into_iter().map(|ended| ended.id).collect();
        ended.sort_unstable();
        assert_eq!(ended, [by_user.id, by_key.id, own.id]);
        let left: Vec<_> = org_reads!(db, org, invitations(ALL)).items.into_iter().map(|left| left.id).collect();
        assert_eq!(left, [taken.id, other.id]);
        assert!(org_writes!(db, org, end_invitations(ada, None)).is_empty());
    }

    /// A node of an earlier release removes members without ending anything.
    async fn what_a_former_admin_made_opens_nothing(db: &TestDb) {
        let org = an_org(db).await.id;
        let ada = a_member(db, org, Role::Owner).await;
        let (member, owner) = (Role::Member, Role::Owner);
        let first = an_invitation(db, org, &ada.to_string(), |first| first.role = member).await;
        let second = an_invitation(db, org, &ada.to_string(), |second| second.role = owner).await;
        system_writes!(db, create_runner_token("token", Some(org), &ada.to_string(), NOW, NOW + 10));
        let login = Some(new_id());
        let key = a_key(db, org, |key| (key.created_by, key.device_login) = (ada.to_string(), login)).await;
        let other = a_member(db, org, Role::Owner).await;
        assert!(org_reads!(db, org, is_active_key(key.id, NOW)));
        assert!(system_reads!(db, is_valid_runner_token("token", NOW)));
        org_writes!(db, org, set_role(ada, Role::Admin)).unwrap();
        assert!(!system_writes!(db, accept_invitation(second.id, NOW)), "an admin invites no owner");
        org_writes!(db, org, set_role(ada, Role::Member)).unwrap();
        assert_eq!(system_reads!(db, invitation_by_email(&first.email, NOW)), None);
        assert!(!system_writes!(db, accept_invitation(first.id, NOW)));
        assert!(!system_reads!(db, is_valid_runner_token("token", NOW)));
        assert_eq!(system_writes!(db, use_runner_token("token", NOW)), None);
        assert!(!org_reads!(db, org, is_active_key(key.id, NOW)));
        assert!(!org_writes!(db, org, hold_key(key.id, NOW)));
        org_writes!(db, org, set_role(ada, Role::Admin)).unwrap();
        assert!(system_writes!(db, accept_invitation(first.id, NOW)));
        assert_ne!(ada, other);
    }

    async fn tokens_and_approved_sign_ins_of_a_user_end(db: &TestDb) {
        let org = an_org(db).await.id;
        let (ada, bob) = (a_member(db, org, Role::Admin).await, a_member(db, org, Role::Admin).await);
        for (token, by) in [("ada's", ada), ("bob's", bob)] {
            system_writes!(db, create_runner_token(token, Some(org), &by.to_string(), NOW, NOW + 10));
        }
        assert_eq!(org_writes!(db, org, end_runner_tokens(ada)), 1);
        assert!(!system_reads!(db, is_valid_runner_token("ada's", NOW)));
        assert!(system_reads!(db, is_valid_runner_token("bob's", NOW)));
        let mut logins = Vec::new();
        for (number, (by, status)) in [
            (ada, DeviceLoginStatus::Approved), (ada, DeviceLoginStatus::Denied), (bob, DeviceLoginStatus::Approved),
        ].into_iter().enumerate() {
            let login = new_device_login();
            system_writes!(db, create_device_login(&login, &format!("device {number}"), &format!("user {number}")));
            assert!(system_writes!(db, decide_device_login(login.id, status, org, by, NOW)));
            logins.push(login.id);
        }
        assert_eq!(org_writes!(db, org, end_device_logins(ada)), [logins[0]]);
        assert!(org_writes!(db, org, end_device_logins(ada)).is_empty());
        assert!(!system_writes!(db, use_device_login(logins[0], NOW)));
        assert!(system_writes!(db, use_device_login(logins[2], NOW)));
    }

    async fn keys_and_runners_of_a_user_are_listed(db: &TestDb) {
        let org = an_org(db).await.id;
        let (ada, bob) = (a_member(db, org, Role::Admin).await, a_member(db, org, Role::Admin).await);
        let by = |user: UserId| move |key: &mut Key| key.created_by = user.to_string();
        let direct = a_key(db, org, by(ada)).await;
        let through = a_key(db, org, |key| key.created_by = direct.id.to_string()).await;
        let browser = a_key(db, org, |key| (key.created_by, key.device_login) = (ada.to_string(), Some(new_id()))).await;
        let expired = a_key(db, org, |key| (key.created_by, key.expires_at) = (ada.to_string(), Some(NOW))).await;
        let revoked = a_key(db, org, by(ada)).await;
        assert!(org_writes!(db, org, revoke_key(revoked.id, NOW)));
        let bobs = a_key(db, org, by(bob)).await;
        let of_browser = a_key(db, org, |key| key.created_by = browser.id.to_string()).await;
        assert_eq!(org_reads!(db, org, browser_keys(ada, NOW)), std::slice::from_ref(&browser));
        let made = [of_browser.clone(), browser.clone(), through, direct.clone()];
        assert_eq!(org_reads!(db, org, keys_made_by(ada, NOW, 9)), made);
        assert_eq!(org_reads!(db, org, keys_made_by(ada, NOW, 1)), std::slice::from_ref(&of_browser));
        assert!(org_reads!(db, org, keys_made_by(ada, NOW - 1, 9)).contains(&expired));
        assert!(org_reads!(db, org, keys_of_former_admins(NOW, 9)).is_empty());
        org_writes!(db, org, set_role(bob, Role::Owner)).unwrap();
        org_writes!(db, org, remove_member(ada)).unwrap();
        assert_eq!(org_reads!(db, org, keys_of_former_admins(NOW, 9)), [of_browser, browser, direct]);
        org_writes!(db, org, add_member(ada, Role::Admin, NOW));
        org_writes!(db, org, set_role(bob, Role::Member)).unwrap_err();
        assert_eq!(org_reads!(db, org, keys_made_by(bob, NOW, 9)), [bobs]);

        let own = Runner { created_by: ada.to_string(), ..new_runner(Some(org)) };
        let revoked = Runner { created_by: ada.to_string(), ..new_runner(Some(org)) };
        for runner in [&own, &revoked, &new_runner(Some(org))] {
            system_writes!(db, create_runner(runner, &unique("token")));
        }
        assert!(org_writes!(db, org, revoke_runner(revoked.id, NOW)));
        assert_eq!(org_reads!(db, org, runners_made_by(ada, 9)), [own]);
    }

    async fn a_session_reaches_the_organizations_of_its_user(db: &TestDb) {
        let (org, other) = (an_org(db).await.id, an_org(db).await.id);
        let ada = a_member(db, org, Role::Admin).await;
        a_member(db, org, Role::Owner).await;
        let session = new_session(ada);
        system_writes!(db, create_session(&session, "token"));
        let end = NOW + SESSION_IDLE;
        for (org, now, role) in [(org, end - 1, Some(Role::Admin)), (org, end, None), (other, NOW, None)] {
            assert_eq!(org_reads!(db, org, session_role(session.id, now)), role);
            assert_eq!(org_writes!(db, org, hold_session(session.id, now)), role);
        }
        let over = session.created_at + SESSION_LIFE;
        system_writes!(db, note_sessions_used(&[(session.id, over - 1)]));
        for (now, role) in [(over - 1, Some(Role::Admin)), (over, None)] {
            assert_eq!(org_reads!(db, org, session_role(session.id, now)), role, "however often it is used");
            assert_eq!(org_writes!(db, org, hold_session(session.id, now)), role);
        }
        assert_eq!(org_writes!(db, org, hold_member(ada)), Some(Role::Admin));
        org_writes!(db, org, remove_member(ada)).unwrap();
        assert_eq!(org_reads!(db, org, session_role(session.id, NOW)), None);
        assert_eq!(org_writes!(db, org, hold_member(ada)), None);
        org_writes!(db, org, add_member(ada, Role::Member, NOW));
        assert_eq!(org_reads!(db, org, session_role(session.id, NOW)), Some(Role::Member));
        assert!(system_writes!(db, delete_session(ada, session.id)));
        assert_eq!(org_writes!(db, org, hold_session(session.id, NOW)), None);
    }

    async fn a_key_works_until_it_is_revoked_or_expires(db: &TestDb) {
        let org = an_org(db).await.id;
        let key = a_key(db, org, |key| key.expires_at = Some(NOW + 5)).await;
        for (now, works) in [(NOW + 4, true), (NOW + 5, false)] {
            assert_eq!(org_reads!(db, org, is_active_key(key.id, now)), works);
            assert_eq!(org_writes!(db, org, hold_key(key.id, now)), works);
        }
        assert!(!org_reads!(db, org, is_active_key(new_id(), NOW)));
        assert!(org_writes!(db, org, revoke_key(key.id, NOW)));
        assert!(!org_reads!(db, org, is_active_key(key.id, NOW)));
        assert!(!org_writes!(db, org, hold_key(key.id, NOW)));
    }

    /// What begins while the member is present ends before the member leaves.
    /// To a node of an earlier release, `admin` among the scopes of a key would mean the rights of an owner.
    async fn a_browser_key_has_the_role_of_its_user(db: &TestDb) {
        let org = an_org(db).await.id;
        let (ada, _) = (a_member(db, org, Role::Owner).await, a_member(db, org, Role::Owner).await);
        let key = a_key(db, org, |key| {
            (key.created_by, key.device_login) = (ada.to_string(), Some(new_id()));
            (key.scopes, key.expires_at) = (vec![Scope::Update, Scope::Admin], Some(NOW + 9));
        })
        .await;
        assert_eq!(org_reads!(db, org, key(key.id)), Some(key.clone()));
        assert_eq!(db.raw_texts(&format!("SELECT scopes FROM api_keys WHERE id = '{}'", key.id)).await, ["update"]);
        for (role, now, found) in [
            (Role::Owner, NOW, Some(Role::Owner)),
            (Role::Owner, NOW + 9, None),
            (Role::Admin, NOW, Some(Role::Admin)),
            (Role::Member, NOW, None),
        ] {
            org_writes!(db, org, set_role(ada, role)).unwrap();
            assert_eq!(org_reads!(db, org, browser_key_role(key.id, now)), found);
        }
        org_writes!(db, org, set_role(ada, Role::Admin)).unwrap();
        let by_operator = a_key(db, org, |key| key.scopes = vec![Scope::Admin]).await;
        assert_eq!(org_reads!(db, org, browser_key_role(by_operator.id, NOW)), None);
        assert_eq!(org_reads!(db, org, key(by_operator.id)), Some(by_operator));
        assert!(org_writes!(db, org, revoke_key(key.id, NOW)));
        assert_eq!(org_reads!(db, org, browser_key_role(key.id, NOW)), None);
    }

    async fn nobody_goes_who_is_held(db: &TestDb) {
        let org = an_org(db).await.id;
        let ada = a_member(db, org, Role::Admin).await;
        a_member(db, org, Role::Owner).await;
        let session = new_session(ada);
        system_writes!(db, create_session(&session, "token"));
        let other = db.again().await;
        let mut tx = db.write().await.unwrap();
        assert_eq!(tx.org(org).hold_session(session.id, NOW).await.unwrap(), Some(Role::Admin));
        let removal = tokio::spawn(async move {
            let mut tx = other.write().await.unwrap();
            let mut door = tx.org(org);
            door.lock_member(ada).await.unwrap();
            let ended = door.end_invitations(ada, None).await.unwrap();
            door.remove_member(ada).await.unwrap().unwrap();
            tx.commit().await.unwrap();
            other.close().await;
            ended.len()
        });
        db.until_one_waits().await;
        let invitation = new_invitation(org);
        tx.org(org).create_invitation(&invitation, "link", &ada.to_string()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(removal.await.unwrap(), 1, "the removal saw what was made meanwhile");
        assert_eq!(org_writes!(db, org, hold_session(session.id, NOW)), None);
    }
}
