//! A member who leaves or gets a lesser role keeps no access: neither what was handed out nor what was prepared for
//! later.

use std::sync::Arc;

use launchway_domain::id::OrgId;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::MINUTE;
use launchway_ops::{accounts, members};
use reqwest::Method;
use serde_json::{Value, json};

use super::{EMAIL, get, user_id};
use crate::auth::links::{accept, reset};
use crate::dashboard::visit_of;
use crate::device_logins::{begin, claim, confirm};
use crate::support::{Answer, Fields, PASSWORD, Says, Setup, TestApp};

const SECOND: &str = "ada.second@example.com";

/// Everything that an admin can leave behind.
struct Left {
    /// Tokens of invitations: one for the admin's second address, and one for the admin's own from someone else.
    invitations: [String; 2],
    runner_token: String,
    /// A browser sign-in that the admin approved and nobody fetched.
    approved: Value,
    /// The key of a browser sign-in.
    browser_key: String,
    /// A key for CI, and its id.
    key: String,
    key_id: String,
    runner_id: String,
}

async fn invite(app: &TestApp, cookie: &str, email: &str) -> String {
    let made = app.post(cookie, "/orgs/invitations", json!({"email": email, "role": "admin"})).await;
    token_of(&made.created())
}

fn token_of(invitation: &Value) -> String {
    let link = invitation.text("link");
    link.split_once("token=").unwrap().1.to_owned()
}

async fn runner_token(app: &TestApp, cookie: &str) -> String {
    let made = app.post(cookie, "/runners/tokens", ()).await.created();
    made.text("token").to_owned()
}

async fn approved_login(app: &TestApp, cookie: &str, org: OrgId) -> Value {
    let login = begin(app).await;
    confirm(app, cookie, &login, org).await.says("Confirmed.");
    login
}

async fn enroll(app: &TestApp, token: &str) -> Answer {
    let body = json!({"name": "mac", "labels": [], "slots": 1, "version": "0.1.0"});
    app.post(token, "/runner/enrol", body).await
}

async fn leave_behind(app: &TestApp, org: OrgId, admin: &str, other: &str) -> Left {
    let login = approved_login(app, admin, org).await;
    let fetched = claim(app, &login).await.ok();
    let key = app.post(admin, "/api-keys", json!({"name": "CI", "scopes": ["build", "update"]})).await.created();
    let runner = enroll(app, &runner_token(app, admin).await).await.created();
    Left {
        invitations: [invite(app, admin, SECOND).await, invite(app, other, EMAIL).await],
        runner_token: runner_token(app, admin).await,
        approved: approved_login(app, admin, org).await,
        browser_key: fetched.text("key").to_owned(),
        key: key.text("key").to_owned(),
        key_id: key.id().to_owned(),
        runner_id: runner.id().to_owned(),
    }
}

impl Left {
    /// Tries all of them.
    async fn opens_nothing(&self, app: &TestApp, way: &str) {
        for token in &self.invitations {
            let answer = accept(app, token, PASSWORD).await;
            assert!(matches!(answer.status.as_u16(), 400 | 401), "{way}: {}", answer.text());
        }
        assert_eq!(enroll(app, &self.runner_token).await.status, 401, "{way}");
        let outcome = claim(app, &self.approved).await.ok();
        assert_eq!((&outcome["status"], outcome.get("key")), (&json!("denied"), None), "{way}");
        let browser = app.get(&self.browser_key, "/auth/session").await;
        assert_eq!(browser.status, 401, "{way}");
        let key = app.get(&self.key, "/auth/session").await;
        assert_eq!(key.status, 200, "{way}: the key of CI waits for a decision");
    }

    /// The expected response.
    fn is_told(&self, answer: &Value, sessions: i64, way: &str) {
        let ended = json!({"invitations": 2, "runnerTokens": 1, "signIns": 1, "keys": 1, "sessions": sessions});
        assert_eq!(answer["ended"], ended, "{way}");
        let keys = answer["keysToReview"].as_array().unwrap();
        assert_eq!((keys.len(), &keys[0]["id"]), (1, &json!(self.key_id)), "{way}");
        assert_eq!(keys[0]["scopes"], json!(["build", "update"]));
        assert_eq!(keys[0]["prefix"], self.key[..12]);
        let runners = answer["runnersToReview"].as_array().unwrap();
        assert_eq!((runners.len(), &runners[0]["id"]), (1, &json!(self.runner_id)), "{way}");
    }
}

async fn is_audited(app: &TestApp, org: OrgId, way: &str) {
    let log = app.audit(org).await;
    let count = |action: &str| log.iter().filter(|line| line.action == action).count();
    for (action, times) in
        [("member.end_access", 1), ("invitation.delete", 2), ("device_login.end", 1), ("key.revoke", 1)]
    {
        assert_eq!(count(action), times, "{way}: {action}");
    }
}

/// Every way in which an admin loses the role.
#[tokio::test]
async fn an_admin_who_goes_leaves_no_access() {
    for way in ["an owner", "an admin key", "the page", "the operator", "leaving", "demotion", "demotion on the page"] {
        let app = TestApp::start().await;
        let (org, admin_key) = app.org_with_key().await;
        let page = visit_of(&app, org, Role::Owner).await;
        let owner = &page.cookie;
        let admin = app.user(org, EMAIL, Role::Admin).await;
        let left = leave_behind(&app, org, &admin, owner).await;
        let id = user_id(&app, &admin).await;
        let path = format!("/orgs/members?id={id}");
        let member = || Some(json!({"role": "member"}));
        let told = match way {
            "an owner" => Some(app.delete(owner, &path).await.ok()),
            "an admin key" => Some(app.delete(&admin_key, &path).await.ok()),
            "leaving" => Some(app.delete(&admin, &path).await.ok()),
            "demotion" => Some(app.patch(owner, &path, member()).await.ok()),
            "the operator" => {
                let record = app.app.db.read().await.unwrap().org(org).record().await.unwrap().unwrap();
                let removed = members::remove_by_operator(&app.app, EMAIL, &record).await.unwrap();
                Some(serde_json::to_value(removed).unwrap())
            }
            "the page" => {
                page.confirmed(&format!("/members/{id}/remove"), &[]).await;
                None
            }
            _ => {
                page.confirmed(&format!("/members/{id}/role"), &[("role", "member")]).await;
                None
            }
        };
        let stays = way.starts_with("demotion");
        if let Some(told) = told {
            left.is_told(&told, i64::from(!stays), way);
        }
        left.opens_nothing(&app, way).await;
        is_audited(&app, org, way).await;
        let reached = get(&app, &admin, &format!("/build?orgId={org}")).await;
        assert_eq!(reached.status.as_u16(), if stays { 200 } else { 403 }, "{way}");
        let review = page.html("/members").await;
        assert!(review.contains("API keys to review") && review.contains(&left.key[..12]), "{way}: {review}");
        page.confirmed(&format!("/api-keys/{}/revoke", left.key_id), &[]).await;
        assert!(!page.html("/members").await.contains("API keys to review"), "{way}");
    }
}

/// An owner who becomes an admin, and a member who gets a greater role.
#[tokio::test]
async fn access_ends_with_a_lesser_role_only() {
    let (app, org, owner) = TestApp::with_user("owner@example.com", Role::Owner).await;
    let ada = app.user(org, EMAIL, Role::Admin).await;
    let path = format!("/orgs/members?id={}", user_id(&app, &ada).await);
    let change = async |role: &str| {
        let body = json!({"role": role});
        app.patch(&owner, &path, body).await.ok()
    };
    let token = runner_token(&app, &ada).await;
    for same_or_greater in ["admin", "owner", "owner"] {
        let changed = change(same_or_greater).await;
        assert_eq!((changed.get("ended"), &changed["role"]), (None, &json!(same_or_greater)));
    }
    enroll(&app, &token).await.created();
    let made = app.post(&ada, "/orgs/invitations", json!({"email": SECOND, "role": "owner"})).await.created();
    assert_eq!(change("admin").await["ended"]["invitations"], 1);
    accept(&app, &token_of(&made), PASSWORD).await.expect(401);
}

/// Someone other than the owner may have known the old password.
#[tokio::test]
async fn a_reset_password_ends_what_the_old_one_made() {
    let app = TestApp::start().await;
    let (org, other) = (app.org(Tier::Enterprise).await, app.org(Tier::Enterprise).await);
    let owner = app.user(org, "owner@example.com", Role::Owner).await;
    let ada = app.user(org, EMAIL, Role::Admin).await;
    app.join(other, EMAIL, Role::Owner).await;
    let left = leave_behind(&app, org, &ada, &owner).await;
    let elsewhere = app.post(&ada, &format!("/runners/tokens?orgId={other}"), ()).await.created();
    let link = accounts::offer_reset(&app.app, EMAIL).await.unwrap();
    reset(&app, &link, "another good password").await.ok();
    // The invitation that someone else created for the address stays: it grants nothing that the member lacks.
    accept(&app, &left.invitations[0], PASSWORD).await.is(401);
    for token in [left.runner_token.as_str(), elsewhere.text("token")] {
        enroll(&app, token).await.expect(401);
    }
    assert_eq!(claim(&app, &left.approved).await.ok()["status"], "denied");
    app.get(&left.browser_key, "/auth/session").await.expect(401);
    app.get(&left.key, "/auth/session").await.ok();
    get(&app, &ada, "/auth/session").await.expect(401);
}

/// The same moment on two nodes: what is created while the admin leaves is refused, or ends with the rest.
#[tokio::test]
async fn nothing_is_made_while_the_admin_goes() {
    let node = Arc::new(TestApp::with(Setup::on_postgres()).await);
    let other = Arc::new(node.another_node().await);
    let (org, key) = node.org_with_key().await;
    for round in 0..12 {
        // A separate minute for each, so that no limit is reached.
        node.advance(MINUTE);
        other.advance(MINUTE);
        let email = format!("admin{round}@example.com");
        let admin = node.user(org, &email, Role::Admin).await;
        let path = format!("/orgs/members?id={}", user_id(&node, &admin).await);
        let (pending, approved) = (begin(&node).await, approved_login(&node, &admin, org).await);
        let removal = {
            let (other, key) = (other.clone(), key.clone());
            let delete = round % 3 != 2;
            tokio::spawn(async move {
                let (method, body) = match delete {
                    true => (Method::DELETE, None),
                    false => (Method::PATCH, Some(json!({"role": "member"}))),
                };
                other.send(&key, method, &path, body).await.ok()
            })
        };
        let invite = json!({"email": format!("second{round}@example.com"), "role": "admin"});
        let new_key = json!({"name": "CI", "scopes": ["build"]});
        let (invited, token, made, decided, fetched) = tokio::join!(
            node.post(&admin, "/orgs/invitations", invite),
            node.post(&admin, "/runners/tokens", ()),
            node.post(&admin, "/api-keys", new_key),
            confirm(&node, &admin, &pending, org),
            claim(&node, &approved),
        );
        let removed = removal.await.unwrap();
        if invited.status == 201 {
            accept(&node, &token_of(&invited.json()), PASSWORD).await.expect(401);
        }
        if token.status == 201 {
            enroll(&node, token.json().text("token")).await.expect(401);
        }
        if made.status == 201 {
            let id = &made.json()["id"];
            let listed = removed["keysToReview"].as_array().unwrap();
            assert!(listed.iter().any(|key| key["id"] == *id), "{removed}");
        }
        drop(decided);
        assert_ne!(claim(&node, &pending).await.ok()["status"], "approved");
        if let Some(browser_key) = fetched.json()["key"].as_str() {
            node.get(browser_key, "/auth/session").await.expect(401);
        }
    }
}

/// Two admins who remove each other cause no deadlock: one of them is removed, or both.
#[tokio::test]
async fn two_admins_who_remove_each_other_are_answered() {
    let node = TestApp::with(Setup::on_postgres()).await;
    let org = node.org(Tier::Enterprise).await;
    node.user(org, "owner@example.com", Role::Owner).await;
    for round in 0..5 {
        let ada = node.user(org, &format!("ada{round}@example.com"), Role::Admin).await;
        let bob = node.user(org, &format!("bob{round}@example.com"), Role::Admin).await;
        let remove = async |by: &str, whom: String| {
            let path = format!("/orgs/members?id={whom}");
            node.delete(by, &path).await.status.as_u16()
        };
        let (ada_id, bob_id) = (user_id(&node, &ada).await, user_id(&node, &bob).await);
        let mut statuses: [u16; 2] = tokio::join!(remove(&ada, bob_id), remove(&bob, ada_id)).into();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 403], "whoever is gone removes nobody");
    }
}
