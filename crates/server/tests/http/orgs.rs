//! `/orgs` (`docs/reference/callers.md#organizations`).

mod choice;
mod departures;
mod invitations;
mod members;

use launchway_config::RawSettings;
use launchway_domain::actor::Actor;
use launchway_domain::id::OrgId;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{MINUTE, iso};
use launchway_ops::accounts;
use launchway_ops::write::Write;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Fields, START, TestApp};

const EMAIL: &str = "ada@example.com";

/// A member who does not sign in; returns the id.
async fn member(app: &TestApp, org: OrgId, email: &str, role: Role) -> String {
    let mut write = Write::open(&app.app, org, Actor::Operator, None).await.unwrap();
    let user = accounts::create_user(&mut write, email, "no password fits").await.unwrap();
    accounts::join(&mut write, org, &user, role).await.unwrap();
    write.commit().await.unwrap();
    user.id.to_string()
}

/// The id of the signed-in user.
async fn user_id(app: &TestApp, cookie: &str) -> String {
    let view = app.get(cookie, "/auth/session").await.ok();
    view["user"].id().to_owned()
}

async fn get(app: &TestApp, cookie: &str, path: &str) -> Answer {
    app.get(cookie, path).await
}

async fn open_to_all(default_tier: Option<&str>) -> TestApp {
    let settings = RawSettings {
        open_organizations: Some("true".to_owned()),
        default_tier: default_tier.map(str::to_owned),
        ..RawSettings::default()
    };
    TestApp::with(settings).await
}

#[tokio::test]
async fn a_caller_sees_its_organizations_and_no_other() {
    let app = TestApp::start().await;
    let first = app.org(Tier::Free).await;
    let cookie = app.user(first, EMAIL, Role::Member).await;
    app.advance(MINUTE);
    let second = app.org(Tier::Pro).await;
    app.join(second, EMAIL, Role::Owner).await;
    let other = app.org(Tier::Enterprise).await;

    let view = |id: OrgId, tier: &str, role: Value, at: i64| json!({"id": id, "status": "active", "name": "Test", "tier": tier, "role": role, "createdAt": iso(at)});
    let of_second = view(second, "pro", json!("owner"), START + MINUTE);
    let expected = json!([of_second, view(first, "free", json!("member"), START)]);
    let list = get(&app, &cookie, "/orgs").await.ok();
    assert_eq!(list, json!({"items": expected, "total": 2, "limit": 10, "offset": 0}));
    let page = get(&app, &cookie, "/orgs?limit=1&offset=1").await.ok();
    assert_eq!(page, json!({"items": [expected[1]], "total": 2, "limit": 1, "offset": 1}));
    assert_eq!(get(&app, &cookie, &format!("/orgs?id={second}")).await.ok(), of_second);
    get(&app, &cookie, &format!("/orgs?id={other}")).await.refused(404, "No organization has this id");

    let key = app.key(second, &[launchway_domain::scope::Scope::Build]).await;
    let list = app.get(&key, "/orgs").await.ok();
    assert_eq!(list["items"], json!([view(second, "pro", Value::Null, START + MINUTE)]));
    app.get(&key, &format!("/orgs?id={first}")).await.refused(404, "No organization has this id");
}

#[tokio::test]
async fn an_owner_changes_the_name() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let owner = app.user(org, EMAIL, Role::Owner).await;
    let path = format!("/orgs?id={org}");
    let change = async |body: Value| app.patch(&owner, &path, body).await;
    let view = change(json!({"name": "  Example Apps  "})).await.ok();
    view.has(json!({"name": "Example Apps", "role": "owner"}));
    assert_eq!(get(&app, &owner, &path).await.ok(), view);
    // Absent fields stay unchanged.
    assert_eq!(change(json!({})).await.ok(), view);
    for name in ["", "   ", "a\nb", &"x".repeat(101)] {
        change(json!({"name": name})).await.refused(400, "name must have 1 to 100 visible characters");
    }
    // Only the operator sets the tier.
    let answer = change(json!({"tier": "enterprise"})).await;
    assert!(answer.expect(400).text("message").contains("tier"), "{}", answer.text());
    assert_eq!(get(&app, &owner, &path).await.ok(), view);
    app.patch(&owner, "/orgs", json!({"name": "x"})).await.refused(400, "id is required");
}

#[tokio::test]
async fn users_make_organizations_only_where_the_operator_lets_them() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let owner = app.user(org, EMAIL, Role::Owner).await;
    let body = json!({"name": "Mine"});
    app.post(&owner, "/orgs", body.clone())
        .await
        .refused(403, "Only the operator of this server can create organizations");

    let app = open_to_all(None).await;
    let (org, key) = app.org_with_key().await;
    let member = app.user(org, EMAIL, Role::Member).await;
    app.post(&key, "/orgs", body.clone())
        .await
        .refused(403, "This requires a signed-in user. An API key has no session.");
    let made = app.post(&member, "/orgs", body).await.created();
    let expected = json!({
        "id": made["id"], "status": "active", "name": "Mine", "tier": "enterprise", "role": "owner",
        "createdAt": iso(START),
    });
    assert_eq!(made, expected);
    let path = format!("/orgs?id={}", made.id());
    assert_eq!(get(&app, &member, &path).await.ok(), made);
    for name in ["", " ", &"x".repeat(101)] {
        let answer = app.post(&member, "/orgs", json!({"name": name})).await;
        answer.refused(400, "name must have 1 to 100 visible characters");
    }
}

/// `docs/reference/callers.md#creating-organizations`
#[tokio::test]
async fn a_new_organization_has_the_default_tier() {
    for (given, tier, limit) in
        [(None, "enterprise", "1000"), (Some("free"), "free", "60"), (Some("pro"), "pro", "300")]
    {
        let app = open_to_all(given).await;
        let (_, cookie) = app.org_with_user(EMAIL, Role::Member).await;
        let made = app.post(&cookie, "/orgs", json!({"name": "Mine"})).await.created();
        assert_eq!(made["tier"], tier);
        let path = format!("/apps?orgId={}", made.id());
        assert_eq!(get(&app, &cookie, &path).await.header("x-ratelimit-limit"), limit);
    }
}

#[tokio::test]
async fn a_user_without_organization_is_told_what_to_do() {
    let app = open_to_all(None).await;
    let (org, _) = app.org_with_user(EMAIL, Role::Owner).await;
    let cookie = app.user(org, "bob@example.com", Role::Member).await;
    let id = user_id(&app, &cookie).await;
    let left = app.delete(&cookie, &format!("/orgs/members?id={id}")).await.ok();
    left.has(json!({"id": id, "status": "deleted"}));

    let view = get(&app, &cookie, "/auth/session").await.ok();
    view.has(json!({"organization": null, "organizations": []}));
    let list = get(&app, &cookie, "/orgs").await;
    assert_eq!(list.ok()["total"], 0);
    assert_eq!(list.header("x-ratelimit-limit"), "60", "counted for the user in the smallest tier");
    for (method, path) in [
        (Method::GET, "/update"),
        (Method::GET, "/apps"),
        (Method::POST, "/apps"),
        (Method::POST, "/uploads"),
        (Method::GET, "/api-keys"),
        (Method::GET, "/orgs/members"),
        (Method::PATCH, "/orgs?id=x"),
    ] {
        let answer = app.send(&cookie, method, path, ()).await;
        answer.refused(403, "You are not a member of an organization. Ask an admin for an invitation.");
    }
    let answer = get(&app, &cookie, &format!("/update?orgId={org}")).await;
    answer.refused(403, "orgId must be an organization that this caller can act in");
    // Creating one is a way out, and so is signing out.
    app.post(&cookie, "/orgs", json!({"name": "Mine"})).await.created();
    get(&app, &cookie, "/update").await.ok();
    app.post(&cookie, "/auth/sign-out", ()).await.ok();
}
