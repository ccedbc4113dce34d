//! `/orgs/members`: roles `owner` > `admin` > `member` (`docs/reference/callers.md#roles`); the last owner cannot leave
//! (`docs/reference/callers.md#the-last-owner`).

use launchway_domain::tenancy::Role::{self, Admin, Member, Owner};
use launchway_domain::tenancy::Tier;
use launchway_domain::time::{MINUTE, iso};
use serde_json::json;

use super::{EMAIL, get, member, user_id};
use crate::support::{Fields, START, TestApp};

const OWNERS_ONLY: &str = "Only an owner can add or remove owners";
const LAST_OWNER: &str = "The organization needs an owner. Make another member an owner first.";
const NEEDS_ADMIN: &str = "This requires the role admin in the organization, but your role is member";

#[tokio::test]
async fn members_are_listed_newest_first() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let cookie = app.user(org, EMAIL, Owner).await;
    app.advance(MINUTE);
    let bob = member(&app, org, "bob@example.com", Member).await;
    let list = get(&app, &cookie, "/orgs/members").await.ok();
    let view = |id: &str, email: &str, role: &str, at: i64| json!({"id": id, "status": "active", "email": email, "role": role, "createdAt": iso(at)});
    let ada = view(&user_id(&app, &cookie).await, EMAIL, "owner", START);
    let bob = view(&bob, "bob@example.com", "member", START + MINUTE);
    assert_eq!(list, json!({"items": [bob, ada], "total": 2, "limit": 10, "offset": 0}));
    assert_eq!(get(&app, &cookie, &format!("/orgs/members?id={}", bob.id())).await.ok(), bob);
    let page = get(&app, &cookie, "/orgs/members?limit=1&offset=1").await.ok();
    assert_eq!(page["items"], json!([ada]));
}

/// Who may change whom to which role.
#[tokio::test]
async fn roles_change_as_far_as_the_callers_role_reaches() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let mut number = 0;
    for actor in Role::ALL {
        let cookie = app.user(org, &format!("{actor}@example.com"), actor).await;
        for before in Role::ALL {
            for after in Role::ALL {
                // A separate minute for each, so that the tier's limit is not reached.
                app.advance(MINUTE);
                number += 1;
                let id = member(&app, org, &format!("user{number}@example.com"), before).await;
                let path = format!("/orgs/members?id={id}");
                let answer = app.patch(&cookie, &path, json!({"role": after})).await;
                let touches_owners = before != after && (before == Owner || after == Owner);
                let refusal = match actor {
                    Member => Some(NEEDS_ADMIN),
                    Admin if touches_owners => Some(OWNERS_ONLY),
                    _ => None,
                };
                let has = if let Some(message) = refusal {
                    answer.refused(403, message);
                    before
                } else {
                    assert_eq!(answer.ok()["role"], json!(after));
                    after
                };
                let read = get(&app, &cookie, &path).await.ok();
                assert_eq!(read["role"], json!(has), "{actor} changes {before} to {after}");
            }
        }
    }
}

#[tokio::test]
async fn members_are_removed_as_far_as_the_callers_role_reaches() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    for actor in Role::ALL {
        let cookie = app.user(org, &format!("{actor}@example.com"), actor).await;
        for target in Role::ALL {
            let id = member(&app, org, &format!("{target}-of-{actor}@example.com"), target).await;
            let path = format!("/orgs/members?id={id}");
            let answer = app.delete(&cookie, &path).await;
            match (actor, target) {
                (Member, _) => answer.refused(403, NEEDS_ADMIN),
                (Admin, Owner) => answer.refused(403, OWNERS_ONLY),
                _ => {
                    let removed = answer.ok();
                    removed.has(json!({"id": id, "status": "deleted"}));
                    app.delete(&cookie, &path).await.refused(404, "No member has this id");
                }
            }
        }
    }
}

/// Only the operator creates a key with the admin scope: it has the rights of an owner.
#[tokio::test]
async fn an_admin_key_makes_and_unmakes_owners() {
    let (app, org, key) = TestApp::with_org().await;
    let id = member(&app, org, EMAIL, Member).await;
    member(&app, org, "bob@example.com", Owner).await;
    let path = format!("/orgs/members?id={id}");
    for role in ["owner", "admin", "member", "owner"] {
        assert_eq!(app.patch(&key, &path, json!({"role": role})).await.ok()["role"], role);
    }
    app.delete(&key, &path).await.ok();
}

#[tokio::test]
async fn everybody_may_leave_but_the_last_owner() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let owner = app.user(org, EMAIL, Owner).await;
    let leave = async |cookie: &str| {
        let path = format!("/orgs/members?id={}", user_id(&app, cookie).await);
        app.delete(cookie, &path).await
    };
    for role in [Member, Admin] {
        let cookie = app.user(org, &format!("{role}@example.com"), role).await;
        leave(&cookie).await.ok();
        // Still signed in, but in no organization.
        let view = get(&app, &cookie, "/auth/session").await.ok();
        assert_eq!(view["organization"], json!(null));
    }
    leave(&owner).await.refused(400, LAST_OWNER);
    let own = format!("/orgs/members?id={}", user_id(&app, &owner).await);
    for role in ["admin", "member"] {
        app.patch(&owner, &own, json!({"role": role})).await.refused(400, LAST_OWNER);
    }
    let second = member(&app, org, "bob@example.com", Admin).await;
    app.patch(&owner, &format!("/orgs/members?id={second}"), json!({"role": "owner"})).await.ok();
    leave(&owner).await.ok();
}

#[tokio::test]
async fn an_admin_key_cannot_take_the_last_owner_away() {
    let (app, org, key) = TestApp::with_org().await;
    let id = member(&app, org, EMAIL, Owner).await;
    let path = format!("/orgs/members?id={id}");
    app.delete(&key, &path).await.refused(400, LAST_OWNER);
    app.patch(&key, &path, json!({"role": "member"})).await.refused(400, LAST_OWNER);
}

#[tokio::test]
async fn two_owners_who_leave_at_once_leave_one_behind() {
    let (app, org, key) = TestApp::with_org().await;
    let one = member(&app, org, EMAIL, Owner).await;
    let other = member(&app, org, "bob@example.com", Owner).await;
    let remove = |id: String| {
        let (app, key) = (&app, &key);
        async move { app.delete(key, &format!("/orgs/members?id={id}")).await }
    };
    let (first, second) = tokio::join!(remove(one), remove(other));
    let mut statuses = [first.status.as_u16(), second.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
}

#[tokio::test]
async fn a_change_of_role_has_one_form() {
    let (app, org, key) = TestApp::with_org().await;
    let id = member(&app, org, EMAIL, Member).await;
    member(&app, org, "bob@example.com", Owner).await;
    for role in ["Owner", "root", "", " admin"] {
        let answer = app.patch(&key, &format!("/orgs/members?id={id}"), json!({"role": role})).await;
        answer.refused(400, "role must be member, admin or owner");
    }
    app.patch(&key, "/orgs/members", json!({"role": "admin"})).await.refused(400, "id is required");
}
