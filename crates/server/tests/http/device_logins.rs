//! Browser sign-in of a command line: started by anyone, confirmed by an admin, good for one key.

use launchway_domain::device_login::{ADMIN_KEY_LIFE, KEY_LIFE};
use launchway_domain::id::OrgId;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{MINUTE, SECOND};
use launchway_jobs::clean_up::clean_up;
use reqwest::Method;
use serde_json::{Value, json};

use crate::pages::{page, submit};
use crate::support::{Answer, Fields, Says, Setup, TestApp};

const NAME: &str = "launchway on <laptop>";

/// Calls without authentication.
pub async fn post(app: &TestApp, path: &str, body: Value) -> Answer {
    let request = app.request(Method::POST, path).json(&body);
    Answer::to(request).await
}

pub async fn begin(app: &TestApp) -> Value {
    let body = json!({"name": NAME, "scopes": ["update", "build"]});
    post(app, "/auth/device", body).await.created()
}

pub async fn claim(app: &TestApp, login: &Value) -> Answer {
    let body = json!({"deviceCode": login["deviceCode"]});
    post(app, "/auth/device/key", body).await
}

async fn status(app: &TestApp, login: &Value) -> String {
    let outcome = claim(app, login).await.ok();
    assert_eq!(outcome["id"], login["id"]);
    assert_eq!(outcome.get("key"), None, "{outcome}");
    outcome.text("status").to_owned()
}

pub fn code(login: &Value) -> &str {
    login.text("userCode")
}

/// A user with this role in a new organization, and the cookie.
async fn someone(app: &TestApp, role: Role) -> (OrgId, String) {
    let org = app.org(Tier::Enterprise).await;
    (org, app.user(org, "ada@example.com", role).await)
}

pub async fn confirm(app: &TestApp, cookie: &str, login: &Value, org: OrgId) -> Answer {
    let org = org.to_string();
    let fields = [("token", "confirm"), ("code", code(login)), ("org", org.as_str())];
    submit(app, "/device", cookie, &fields).await
}

#[tokio::test]
async fn an_admin_confirms_and_the_key_is_given_once() {
    let app = TestApp::start().await;
    let (org, cookie) = someone(&app, Role::Admin).await;
    let login = begin(&app).await;
    login.has(json!({"status": "pending", "interval": 5}));
    assert_eq!(login["verificationUrl"], format!("{}/device", app.app.public_url));
    let complete = login.text("verificationUrlComplete");
    assert_eq!(complete, format!("{}/device?code={}", app.app.public_url, code(&login)));
    assert_eq!(status(&app, &login).await, "pending");

    let asked = page(&app, &format!("/device?code={}", code(&login).to_lowercase()), &cookie).await;
    let text = asked.text();
    for shown in ["launchway on &#60;laptop&#62;", "ada@example.com", "Test", "build, update", code(&login)] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    confirm(&app, &cookie, &login, org).await.says("Confirmed.");
    let again = confirm(&app, &cookie, &login, org).await;
    assert_eq!(again.status.as_u16(), 401, "a code is decided on once");

    let outcome = claim(&app, &login).await.ok();
    assert_eq!(outcome["status"], "approved");
    let key = outcome.text("key");
    let caller = app.get(key, "/auth/session").await.ok();
    assert_eq!(caller["organization"]["id"], org.to_string());
    caller["key"].has(json!({"name": NAME, "scopes": ["build", "update"]}));
    assert!(caller["key"].text("createdBy").starts_with("user_"));
    claim(&app, &login).await.expect(401);

    let audit = app.get(&cookie, "/audit").await.ok();
    let actions: Vec<_> = audit["items"].as_array().unwrap().iter().map(|line| &line["action"]).collect();
    assert_eq!(actions[..2], ["key.create", "device_login.approve"]);
    assert!(!audit.to_string().contains(key));
    app.advance(KEY_LIFE);
    app.get(key, "/auth/session").await.expect(401);
}

/// The key of a sign-in with all scopes, which the user of `cookie` confirms.
pub async fn confirmed_admin_key(app: &TestApp, cookie: &str, org: OrgId) -> String {
    let body = json!({"name": NAME, "scopes": ["update", "admin", "submit", "build"]});
    let login = post(app, "/auth/device", body).await.created();
    let asked = page(app, &format!("/device?code={}", code(&login)), cookie).await.text();
    for shown in ["build, submit, update, admin. It is valid for 8 hours", "The scope admin gives", "(your role: "] {
        asked.says(shown);
    }
    confirm(app, cookie, &login, org).await.says("Confirmed.");
    let outcome = claim(app, &login).await.ok();
    outcome.text("key").to_owned()
}

#[tokio::test]
async fn a_key_for_admins_has_the_rights_of_its_user() {
    for role in [Role::Admin, Role::Owner] {
        let app = TestApp::start().await;
        let (org, cookie) = someone(&app, role).await;
        app.user(org, "founder@example.com", Role::Owner).await;
        let key = confirmed_admin_key(&app, &cookie, org).await;
        let caller = app.get(&key, "/auth/session").await.ok();
        assert_eq!(caller["organization"]["role"], role.as_str());
        assert_eq!(caller["organizations"][0]["role"], role.as_str());
        assert_eq!(caller["key"]["scopes"], json!(["build", "submit", "update", "admin"]));
        for path in ["/env", "/credentials", "/webhooks", "/api-keys", "/runners", "/audit", "/build", "/submit"] {
            app.get(&key, path).await.ok();
        }
        let made = app.post(&key, "/api-keys", json!({"name": "CI", "scopes": ["admin"]})).await;
        made.expect(400);
        app.post(&key, "/api-keys", json!({"name": "CI", "scopes": ["build"]})).await.created();

        let renamed = app.patch(&key, &format!("/orgs?id={org}"), json!({"name": "Renamed"})).await;
        let owner = app.post(&key, "/orgs/invitations", json!({"email": "bob@example.com", "role": "owner"})).await;
        if role == Role::Owner {
            renamed.ok();
            owner.created();
        } else {
            let needs = "This requires the role owner in the organization, but your role is admin";
            assert_eq!(renamed.expect(403)["message"], needs);
            assert_eq!(owner.expect(403)["message"], "Only an owner can add or remove owners");
        }
        app.advance(ADMIN_KEY_LIFE - MINUTE);
        app.get(&key, "/env").await.ok();
        app.advance(MINUTE);
        app.get(&key, "/env").await.expect(401);
    }
}

#[tokio::test]
async fn a_key_for_admins_ends_with_the_role() {
    for (before, after) in [("owner", Some("admin")), ("admin", Some("member")), ("admin", None), ("owner", None)] {
        let app = TestApp::start().await;
        let (org, cookie) = someone(&app, before.parse().unwrap()).await;
        let founder = app.user(org, "founder@example.com", Role::Owner).await;
        let key = confirmed_admin_key(&app, &cookie, org).await;
        let made = app.post(&key, "/api-keys", json!({"name": "CI", "scopes": ["build"]})).await.created();
        let invite = json!({"email": "bob@example.com", "role": "admin"});
        app.post(&key, "/orgs/invitations", invite).await.created();
        let session = app.get(&cookie, "/auth/session").await.ok();
        let path = format!("/orgs/members?id={}", session["user"].id());
        let told = match after {
            Some(role) => app.patch(&founder, &path, json!({"role": role})).await.ok(),
            None => app.delete(&founder, &path).await.ok(),
        };
        app.get(&key, "/env").await.expect(401);
        let (ended, review) = (&told["ended"], told["keysToReview"].as_array().unwrap());
        assert_eq!((&ended["keys"], &ended["invitations"]), (&json!(1), &json!(1)), "{before} {after:?}");
        assert!(review.iter().any(|key| key["id"] == made["id"]), "{told}");
    }
}

/// Two who remove each other, each with a key for admins: no deadlock, and whoever is gone removes nobody.
#[tokio::test]
async fn two_keys_for_admins_that_end_each_other_are_answered() {
    let node = TestApp::with(Setup::on_postgres()).await;
    let org = node.org(Tier::Enterprise).await;
    node.user(org, "owner@example.com", Role::Owner).await;
    for round in 0..5 {
        node.advance(MINUTE);
        let mut sides = Vec::new();
        for name in ["ada", "bob"] {
            let cookie = node.user(org, &format!("{name}{round}@example.com"), Role::Admin).await;
            let session = node.get(&cookie, "/auth/session").await.ok();
            sides.push((confirmed_admin_key(&node, &cookie, org).await, session["user"].id().to_owned()));
        }
        let remove = async |by: usize, whom: usize| {
            let path = format!("/orgs/members?id={}", sides[whom].1);
            node.delete(&sides[by].0, &path).await.status.as_u16()
        };
        let mut statuses: [u16; 2] = tokio::join!(remove(0, 1), remove(1, 0)).into();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401]);
    }
}

#[tokio::test]
async fn who_is_not_signed_in_signs_in_first() {
    let app = TestApp::start().await;
    let (_, _) = someone(&app, Role::Owner).await;
    let login = begin(&app).await;
    let path = format!("/device?code={}", code(&login));
    let asked = page(&app, &path, "").await.text();
    asked.says(r#"type="password""#);
    asked.lacks("laptop");
    let typed = [
        ("token", "sign-in"),
        ("code", code(&login)),
        ("email", "ada@example.com"),
        ("password", crate::support::PASSWORD),
    ];
    let signed_in = submit(&app, "/device", "", &typed).await;
    signed_in.is(303);
    let cookie = signed_in.cookie();
    page(&app, signed_in.header("location"), &cookie).await.says("Confirm only a request that you started");
    let mut wrong = typed;
    wrong[3].1 = "not the password";
    submit(&app, "/device", "", &wrong).await.is(401);
    // A session that expired in between does not count as a wrong password.
    let decision = [("token", "confirm"), ("code", code(&login)), ("org", "org_1")];
    let asked = submit(&app, "/device", "", &decision).await;
    asked.is(200);
    asked.says(r#"type="password""#);
    asked.lacks("role=\"alert\"");
    assert_eq!(status(&app, &login).await, "pending");
}

#[tokio::test]
async fn what_is_refused_gives_no_key() {
    let app = TestApp::start().await;
    let (org, cookie) = someone(&app, Role::Admin).await;
    let login = begin(&app).await;
    let (org, code) = (org.to_string(), code(&login));
    let fields = [("token", "confirm"), ("code", code), ("org", org.as_str()), ("refuse", "yes")];
    submit(&app, "/device", &cookie, &fields).await.says("Denied.");
    assert_eq!(status(&app, &login).await, "denied");
}

#[tokio::test]
async fn only_an_admin_of_the_organization_confirms() {
    let app = TestApp::start().await;
    let (org, cookie) = someone(&app, Role::Member).await;
    let foreign = app.org(Tier::Free).await;
    let login = begin(&app).await;
    let asked = page(&app, &format!("/device?code={}", code(&login)), &cookie).await;
    asked.says("only admins of an organization can create keys");
    for named in [org, foreign] {
        confirm(&app, &cookie, &login, named).await.is(403);
    }
    let org = org.to_string();
    let fields = [("token", "confirm"), ("code", code(&login)), ("org", org.as_str())];
    let from_elsewhere = app
        .request(Method::POST, &format!("{}/device", app.origin))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("cookie", &cookie)
        .body(crate::pages::encoded(&fields))
        .send()
        .await
        .unwrap();
    assert_eq!(from_elsewhere.status().as_u16(), 403, "a form must be known to come from here");
    assert_eq!(status(&app, &login).await, "pending");
}

#[tokio::test]
async fn who_is_no_admin_any_more_gives_no_key() {
    let app = TestApp::start().await;
    let (org, cookie) = someone(&app, Role::Admin).await;
    let owner = app.user(org, "owner@example.com", Role::Owner).await;
    let login = begin(&app).await;
    confirm(&app, &cookie, &login, org).await.is(200);
    let session = app.get(&cookie, "/auth/session").await.ok();
    app.patch(&owner, &format!("/orgs/members?id={}", session["user"].id()), json!({"role": "member"})).await.ok();
    assert_eq!(status(&app, &login).await, "denied");
}

#[tokio::test]
async fn a_code_works_for_ten_minutes() {
    let app = TestApp::start().await;
    let (org, cookie) = someone(&app, Role::Admin).await;
    let (late, fetched_late) = (begin(&app).await, begin(&app).await);
    app.advance(10 * MINUTE - SECOND);
    confirm(&app, &cookie, &fetched_late, org).await.is(200);
    app.advance(SECOND);
    confirm(&app, &cookie, &late, org).await.is(401);
    assert_eq!(status(&app, &late).await, "expired");
    assert_eq!(status(&app, &fetched_late).await, "expired");
    clean_up(&app.app).await.unwrap();
    assert_eq!(status(&app, &late).await, "expired", "who asks late is told so");
    app.advance(10 * MINUTE + SECOND);
    clean_up(&app.app).await.unwrap();
    claim(&app, &late).await.expect(401);
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let app = TestApp::start().await;
    let (_, cookie) = someone(&app, Role::Admin).await;
    for (body, message) in [
        (json!({"name": "", "scopes": ["build"]}), "name must have 1 to 100 visible characters"),
        (json!({"name": "x", "scopes": []}), "scopes must contain one or more of build, submit, update, admin"),
        (json!({"name": "x", "scopes": ["all"]}), "scopes must contain one or more of build, submit, update, admin"),
    ] {
        let answer = post(&app, "/auth/device", body).await.expect(400);
        assert_eq!(answer["message"], message);
    }
    let unknown = json!({"deviceCode": "unknown"});
    post(&app, "/auth/device/key", unknown).await.expect(401);
    for (code, status) in [("BCDF-GHJK", 401), ("12", 400), ("", 200)] {
        let answer = page(&app, &format!("/device?code={code}"), &cookie).await;
        assert_eq!(answer.status.as_u16(), status, "{code}: {}", answer.text());
    }
}

#[tokio::test]
async fn codes_and_calls_are_counted() {
    let app = TestApp::start().await;
    let (_, cookie) = someone(&app, Role::Admin).await;
    let mut login = Value::Null;
    for _ in 0..10 {
        login = begin(&app).await;
    }
    let body = json!({"name": NAME, "scopes": ["build"]});
    post(&app, "/auth/device", body).await.expect(429);
    for _ in 0..120 {
        claim(&app, &login).await.ok();
    }
    claim(&app, &login).await.expect(429);
    for _ in 0..20 {
        page(&app, "/device?code=BCDF-GHJK", &cookie).await;
    }
    let guess = page(&app, &format!("/device?code={}", code(&login)), &cookie).await;
    assert_eq!(guess.status.as_u16(), 429, "also the right code is not found by guessing on");
    app.advance(MINUTE);
    assert_eq!(status(&app, &login).await, "pending");
}
