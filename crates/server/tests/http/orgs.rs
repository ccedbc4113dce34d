//! `/orgs` (`docs/reference/callers.md#organizations`).

mod choice;
mod departures;
mod invitations;
mod members;

use launchway_domain::actor::Actor;
use launchway_domain::id::OrgId;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{MINUTE, iso};
use launchway_server::config::RawSettings;
use launchway_server::ops::accounts;
use launchway_server::ops::write::Write;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, START, Setup, TestApp};

const EMAIL: &str = "ada@example.com";

/// Lets a user who has an account join an organization.
async fn join(app: &TestApp, org: OrgId, email: &str, role: Role) {
    let mut write = Write::open(&app.app, org, Actor::Operator, None).await.unwrap();
    let known = write.system("a test").user_by_email(email).await.unwrap();
    accounts::join(&mut write, org, &known.unwrap().0, role).await.unwrap();
    write.commit().await.unwrap();
}

/// A member who does not sign in: the id.
async fn member(app: &TestApp, org: OrgId, email: &str, role: Role) -> String {
    let mut write = Write::open(&app.app, org, Actor::Operator, None).await.unwrap();
    let user = accounts::create_user(&mut write, email, "no password fits")
        .await
        .unwrap();
    accounts::join(&mut write, org, &user, role).await.unwrap();
    write.commit().await.unwrap();
    user.id.to_string()
}

/// The id of the signed-in user.
async fn user_id(app: &TestApp, cookie: &str) -> String {
    let view = app.browse(cookie, Method::GET, "/auth/session", None).await.expect(200);
    view["user"]["id"].as_str().unwrap().to_owned()
}

async fn get(app: &TestApp, cookie: &str, path: &str) -> Answer {
    app.browse(cookie, Method::GET, path, None).await
}

async fn open_to_all(default_tier: Option<&str>) -> TestApp {
    let settings = RawSettings {
        open_organizations: Some("true".to_owned()),
        default_tier: default_tier.map(str::to_owned),
        ..RawSettings::default()
    };
    TestApp::with(Setup {
        settings,
        ..Setup::default()
    })
    .await
}

#[tokio::test]
async fn a_caller_sees_its_organizations_and_no_other() {
    let app = TestApp::start().await;
    let first = app.org(Tier::Free).await;
    let cookie = app.user(first, EMAIL, Role::Member).await;
    app.advance(MINUTE);
    let second = app.org(Tier::Pro).await;
    join(&app, second, EMAIL, Role::Owner).await;
    let other = app.org(Tier::Enterprise).await;

    let view = |id: OrgId, tier: &str, role: Value, at: i64| json!({"id": id, "status": "active", "name": "Test", "tier": tier, "role": role, "createdAt": iso(at)});
    let of_second = view(second, "pro", json!("owner"), START + MINUTE);
    let expected = json!([of_second, view(first, "free", json!("member"), START)]);
    let list = get(&app, &cookie, "/orgs").await.expect(200);
    assert_eq!(list, json!({"items": expected, "total": 2, "limit": 10, "offset": 0}));
    let page = get(&app, &cookie, "/orgs?limit=1&offset=1").await.expect(200);
    assert_eq!(
        page,
        json!({"items": [expected[1]], "total": 2, "limit": 1, "offset": 1})
    );
    assert_eq!(
        get(&app, &cookie, &format!("/orgs?id={second}")).await.expect(200),
        of_second
    );
    get(&app, &cookie, &format!("/orgs?id={other}"))
        .await
        .expect_error(404, "No organization has this id");

    let key = app.key(second, &[launchway_domain::scope::Scope::Build]).await;
    let list = app.call(&key, Method::GET, "/orgs", None).await.expect(200);
    assert_eq!(list["items"], json!([view(second, "pro", Value::Null, START + MINUTE)]));
    let foreign = app.call(&key, Method::GET, &format!("/orgs?id={first}"), None).await;
    foreign.expect_error(404, "No organization has this id");
}

#[tokio::test]
async fn an_owner_changes_the_name() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let owner = app.user(org, EMAIL, Role::Owner).await;
    let path = format!("/orgs?id={org}");
    let change = async |body: Value| app.browse(&owner, Method::PATCH, &path, Some(body)).await;
    let view = change(json!({"name": "  Example Apps  "})).await.expect(200);
    assert_eq!(
        (&view["name"], &view["role"]),
        (&json!("Example Apps"), &json!("owner"))
    );
    assert_eq!(get(&app, &owner, &path).await.expect(200), view);
    // What is absent stays.
    assert_eq!(change(json!({})).await.expect(200), view);
    for name in ["", "   ", "a\nb", &"x".repeat(101)] {
        let answer = change(json!({"name": name})).await;
        answer.expect_error(400, "name must have 1 to 100 visible characters");
    }
    // The tier is the operator's.
    let answer = change(json!({"tier": "enterprise"})).await;
    assert!(
        answer.expect(400)["message"].as_str().unwrap().contains("tier"),
        "{}",
        answer.text()
    );
    assert_eq!(get(&app, &owner, &path).await.expect(200), view);
    let no_id = app
        .browse(&owner, Method::PATCH, "/orgs", Some(json!({"name": "x"})))
        .await;
    no_id.expect_error(400, "id is required");
}

#[tokio::test]
async fn users_make_organizations_only_where_the_operator_lets_them() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let owner = app.user(org, EMAIL, Role::Owner).await;
    let body = json!({"name": "Mine"});
    let answer = app.browse(&owner, Method::POST, "/orgs", Some(body.clone())).await;
    answer.expect_error(403, "Only the operator of this server makes organizations");

    let app = open_to_all(None).await;
    let (org, key) = app.org_with_key().await;
    let member = app.user(org, EMAIL, Role::Member).await;
    let answer = app.call(&key, Method::POST, "/orgs", Some(body.clone())).await;
    answer.expect_error(403, "This is for signed-in users; an API key has no session");
    let made = app.browse(&member, Method::POST, "/orgs", Some(body)).await.expect(201);
    let expected = json!({
        "id": made["id"], "status": "active", "name": "Mine", "tier": "enterprise", "role": "owner",
        "createdAt": iso(START),
    });
    assert_eq!(made, expected);
    let path = format!("/orgs?id={}", made["id"].as_str().unwrap());
    assert_eq!(get(&app, &member, &path).await.expect(200), made);
    for name in ["", " ", &"x".repeat(101)] {
        let answer = app
            .browse(&member, Method::POST, "/orgs", Some(json!({"name": name})))
            .await;
        answer.expect_error(400, "name must have 1 to 100 visible characters");
    }
}

/// `docs/reference/callers.md#creating-organizations`
#[tokio::test]
async fn a_new_organization_has_the_default_tier() {
    for (given, tier, limit) in [
        (None, "enterprise", "1000"),
        (Some("free"), "free", "60"),
        (Some("pro"), "pro", "300"),
    ] {
        let app = open_to_all(given).await;
        let (org, _) = app.org_with_key().await;
        let cookie = app.user(org, EMAIL, Role::Member).await;
        let made = app
            .browse(&cookie, Method::POST, "/orgs", Some(json!({"name": "Mine"})))
            .await
            .expect(201);
        assert_eq!(made["tier"], tier);
        let path = format!("/apps?orgId={}", made["id"].as_str().unwrap());
        assert_eq!(get(&app, &cookie, &path).await.header("x-ratelimit-limit"), limit);
    }
}

#[tokio::test]
async fn a_user_without_organization_is_told_what_to_do() {
    let app = open_to_all(None).await;
    let org = app.org(Tier::Enterprise).await;
    app.user(org, EMAIL, Role::Owner).await;
    let cookie = app.user(org, "bob@example.com", Role::Member).await;
    let id = user_id(&app, &cookie).await;
    let left = app
        .browse(&cookie, Method::DELETE, &format!("/orgs/members?id={id}"), None)
        .await
        .expect(200);
    assert_eq!((&left["id"], &left["status"]), (&json!(id), &json!("deleted")));

    let view = get(&app, &cookie, "/auth/session").await.expect(200);
    assert_eq!(
        (&view["organization"], &view["organizations"]),
        (&Value::Null, &json!([]))
    );
    let list = get(&app, &cookie, "/orgs").await;
    assert_eq!(list.expect(200)["total"], 0);
    assert_eq!(
        list.header("x-ratelimit-limit"),
        "60",
        "counted for the user in the smallest tier"
    );
    for (method, path) in [
        (Method::GET, "/update"),
        (Method::GET, "/apps"),
        (Method::POST, "/apps"),
        (Method::POST, "/uploads"),
        (Method::GET, "/api-keys"),
        (Method::GET, "/orgs/members"),
        (Method::PATCH, "/orgs?id=x"),
    ] {
        let answer = app.browse(&cookie, method, path, None).await;
        answer.expect_error(
            403,
            "You are not a member of any organization; ask to be invited to one",
        );
    }
    let answer = get(&app, &cookie, &format!("/update?orgId={org}")).await;
    answer.expect_error(403, "orgId names an organization that this caller does not act in");
    // Making one is a way out, and so is signing out.
    let made = app
        .browse(&cookie, Method::POST, "/orgs", Some(json!({"name": "Mine"})))
        .await;
    made.expect(201);
    get(&app, &cookie, "/update").await.expect(200);
    app.browse(&cookie, Method::POST, "/auth/sign-out", None)
        .await
        .expect(200);
}
