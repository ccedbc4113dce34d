//! `/orgs/members`: roles `owner` > `admin` > `member` (`docs/reference/callers.md#roles`); the last owner cannot leave
//! (`docs/reference/callers.md#the-last-owner`).

use launchway_domain::tenancy::Role::{self, Admin, Member, Owner};
use launchway_domain::tenancy::Tier;
use launchway_domain::time::{MINUTE, iso};
use reqwest::Method;
use serde_json::json;

use super::{EMAIL, get, member, user_id};
use crate::support::{START, TestApp};

const OWNERS_ONLY: &str = "Only an owner makes or unmakes owners";
const LAST_OWNER: &str = "The organization needs an owner; make another member one first";
const NEEDS_ADMIN: &str = "This needs the role admin in the organization; yours is member";

#[tokio::test]
async fn members_are_listed_newest_first() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let cookie = app.user(org, EMAIL, Owner).await;
    app.advance(MINUTE);
    let bob = member(&app, org, "bob@example.com", Member).await;
    let list = get(&app, &cookie, "/orgs/members").await.expect(200);
    let view = |id: &str, email: &str, role: &str, at: i64| json!({"id": id, "status": "active", "email": email, "role": role, "createdAt": iso(at)});
    let ada = view(&user_id(&app, &cookie).await, EMAIL, "owner", START);
    let bob = view(&bob, "bob@example.com", "member", START + MINUTE);
    assert_eq!(list, json!({"items": [bob, ada], "total": 2, "limit": 10, "offset": 0}));
    let one = get(
        &app,
        &cookie,
        &format!("/orgs/members?id={}", bob["id"].as_str().unwrap()),
    )
    .await;
    assert_eq!(one.expect(200), bob);
    let page = get(&app, &cookie, "/orgs/members?limit=1&offset=1").await.expect(200);
    assert_eq!(page["items"], json!([ada]));
}

/// Who changes whom into what.
#[tokio::test]
async fn roles_change_as_far_as_the_callers_role_reaches() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let mut number = 0;
    for actor in Role::ALL {
        let cookie = app.user(org, &format!("{actor}@example.com"), actor).await;
        for before in Role::ALL {
            for after in Role::ALL {
                // A minute each, so that the tier's limit is not reached.
                app.advance(MINUTE);
                number += 1;
                let id = member(&app, org, &format!("user{number}@example.com"), before).await;
                let path = format!("/orgs/members?id={id}");
                let answer = app
                    .browse(&cookie, Method::PATCH, &path, Some(json!({"role": after})))
                    .await;
                let touches_owners = before != after && (before == Owner || after == Owner);
                let refusal = match actor {
                    Member => Some(NEEDS_ADMIN),
                    Admin if touches_owners => Some(OWNERS_ONLY),
                    _ => None,
                };
                let has = if let Some(message) = refusal {
                    answer.expect_error(403, message);
                    before
                } else {
                    assert_eq!(answer.expect(200)["role"], json!(after));
                    after
                };
                let read = get(&app, &cookie, &path).await.expect(200);
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
            let answer = app.browse(&cookie, Method::DELETE, &path, None).await;
            match (actor, target) {
                (Member, _) => answer.expect_error(403, NEEDS_ADMIN),
                (Admin, Owner) => answer.expect_error(403, OWNERS_ONLY),
                _ => {
                    let removed = answer.expect(200);
                    assert_eq!((&removed["id"], &removed["status"]), (&json!(id), &json!("deleted")));
                    let again = app.browse(&cookie, Method::DELETE, &path, None).await;
                    again.expect_error(404, "No member has this id");
                }
            }
        }
    }
}

/// A key with the admin scope is made by the operator only: it stands beside the owners.
#[tokio::test]
async fn an_admin_key_makes_and_unmakes_owners() {
    let app = TestApp::start().await;
    let (org, key) = app.org_with_key().await;
    let id = member(&app, org, EMAIL, Member).await;
    member(&app, org, "bob@example.com", Owner).await;
    let path = format!("/orgs/members?id={id}");
    for role in ["owner", "admin", "member", "owner"] {
        let answer = app.call(&key, Method::PATCH, &path, Some(json!({"role": role}))).await;
        assert_eq!(answer.expect(200)["role"], role);
    }
    app.call(&key, Method::DELETE, &path, None).await.expect(200);
}

#[tokio::test]
async fn everybody_may_leave_but_the_last_owner() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let owner = app.user(org, EMAIL, Owner).await;
    let leave = async |cookie: &str| {
        let path = format!("/orgs/members?id={}", user_id(&app, cookie).await);
        app.browse(cookie, Method::DELETE, &path, None).await
    };
    for role in [Member, Admin] {
        let cookie = app.user(org, &format!("{role}@example.com"), role).await;
        leave(&cookie).await.expect(200);
        // Still signed in, but in no organization.
        let view = get(&app, &cookie, "/auth/session").await.expect(200);
        assert_eq!(view["organization"], json!(null));
    }
    leave(&owner).await.expect_error(400, LAST_OWNER);
    let own = format!("/orgs/members?id={}", user_id(&app, &owner).await);
    for role in ["admin", "member"] {
        let answer = app
            .browse(&owner, Method::PATCH, &own, Some(json!({"role": role})))
            .await;
        answer.expect_error(400, LAST_OWNER);
    }
    let second = member(&app, org, "bob@example.com", Admin).await;
    let path = format!("/orgs/members?id={second}");
    app.browse(&owner, Method::PATCH, &path, Some(json!({"role": "owner"})))
        .await
        .expect(200);
    leave(&owner).await.expect(200);
}

#[tokio::test]
async fn an_admin_key_cannot_take_the_last_owner_away() {
    let app = TestApp::start().await;
    let (org, key) = app.org_with_key().await;
    let id = member(&app, org, EMAIL, Owner).await;
    let path = format!("/orgs/members?id={id}");
    app.call(&key, Method::DELETE, &path, None)
        .await
        .expect_error(400, LAST_OWNER);
    let answer = app
        .call(&key, Method::PATCH, &path, Some(json!({"role": "member"})))
        .await;
    answer.expect_error(400, LAST_OWNER);
}

#[tokio::test]
async fn two_owners_who_leave_at_once_leave_one_behind() {
    let app = TestApp::start().await;
    let (org, key) = app.org_with_key().await;
    let one = member(&app, org, EMAIL, Owner).await;
    let other = member(&app, org, "bob@example.com", Owner).await;
    let remove = |id: String| {
        let (app, key) = (&app, &key);
        async move {
            app.call(key, Method::DELETE, &format!("/orgs/members?id={id}"), None)
                .await
        }
    };
    let (first, second) = tokio::join!(remove(one), remove(other));
    let mut statuses = [first.status.as_u16(), second.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
}

#[tokio::test]
async fn a_change_of_role_has_one_form() {
    let app = TestApp::start().await;
    let (org, key) = app.org_with_key().await;
    let id = member(&app, org, EMAIL, Member).await;
    member(&app, org, "bob@example.com", Owner).await;
    for role in ["Owner", "root", "", " admin"] {
        let path = format!("/orgs/members?id={id}");
        let answer = app.call(&key, Method::PATCH, &path, Some(json!({"role": role}))).await;
        answer.expect_error(400, "role must be member, admin or owner");
    }
    let answer = app
        .call(&key, Method::PATCH, "/orgs/members", Some(json!({"role": "admin"})))
        .await;
    answer.expect_error(400, "id is required");
}
