//! `/apps`: a bundle id belongs to one organization of the service, regardless of letter case, even after the app is
//! deleted (`docs/reference/callers.md#apps`).

use std::process::Command;

use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;
use launchway_domain::time::iso;
use launchway_domain::trust::OnlineKeyState;
use launchway_ops::trust::online::key_place;
use launchway_ops::write::Write;
use launchway_store::{NewOnlineKey, OnlineKeyRow};
use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, START, TestApp};

async fn claim(app: &TestApp, key: &str, bundle: &str) -> Answer {
    app.post(key, "/apps", json!({"bundleId": bundle})).await
}

async fn list(app: &TestApp, key: &str) -> Value {
    app.get(key, "/apps").await.ok()
}

fn is_foreign(answer: &Answer, bundle: &str) {
    let who_can = "belongs to another organization. The operator of this server can transfer it.";
    answer.refused(403, &format!("The bundle id {bundle} {who_can}"));
}

#[tokio::test]
async fn any_member_and_any_key_claims_an_app() {
    let (app, org, cookie) = TestApp::with_user("ada@example.com", Role::Member).await;
    let key = app.key(org, &[Scope::Submit]).await;
    let body = json!({"bundleId": "com.example.App", "name": " The App "});
    let first = app.post(&cookie, "/apps", body).await.created();
    let expected = json!({
        "id": first["id"], "status": "active", "bundleId": "com.example.App", "name": "The App", "createdAt": iso(START),
    });
    assert_eq!(first, expected);
    assert!(first.id().starts_with("app_"), "{first}");
    app.advance(1);
    let second = claim(&app, &key, "com.example.other").await.created();
    assert_eq!(second["name"], "com.example.other");
    let listed = list(&app, &key).await;
    assert_eq!(listed, json!({"items": [second, first], "total": 2, "limit": 10, "offset": 0}));
    assert_eq!(app.get(&key, &format!("/apps?id={}", first.id())).await.ok(), first);
}

#[tokio::test]
async fn a_bundle_id_has_one_form() {
    let (app, key) = TestApp::with_key().await;
    let longest = format!("com.{}", "x".repeat(151));
    for bundle in ["a.7", "com.example.my_app-2", longest.as_str()] {
        assert_eq!(claim(&app, &key, bundle).await.created()["bundleId"], bundle);
    }
    let too_long = format!("{longest}x");
    for bundle in [
        "",
        " ",
        "com..app",
        ".app",
        "app.",
        "com.example.app ",
        "com/example",
        "com.ex\u{e4}mple",
        &too_long,
        "app",
        "1.2",
        "-._",
    ] {
        let message = claim(&app, &key, bundle).await.refusal(400);
        assert!(message.starts_with("bundleId must be "), "{message}");
    }
    // A publish and a build claim the app, or will.
    let published = app.publish(&key, json!({"bundleId": "app"})).await;
    for answer in [published, crate::stage::builds::build(&app, &key, json!({"bundleId": "app"})).await] {
        let message = answer.refusal(400);
        assert!(message.starts_with("bundleId must be a reverse domain name"), "{message}");
    }
    for name in ["", "  ", "a\nb", &"x".repeat(101)] {
        let answer = app.post(&key, "/apps", json!({"bundleId": "com.example.named", "name": name})).await;
        answer.refused(400, "name must have 1 to 100 visible characters");
    }
}

#[tokio::test]
async fn a_bundle_id_is_claimed_once_whatever_its_letter_case() {
    let app = TestApp::start().await;
    let (_, mine) = app.org_with_key().await;
    let (_, theirs) = app.org_with_key().await;
    let id = claim(&app, &mine, BUNDLE).await.created().id().to_owned();
    for bundle in [BUNDLE, "COM.example.App"] {
        let there = format!("The app {BUNDLE} already exists with the id {id}");
        claim(&app, &mine, bundle).await.refused(400, &there);
        is_foreign(&claim(&app, &theirs, bundle).await, bundle);
        let publish = app.publish(&theirs, json!({"bundleId": bundle})).await;
        is_foreign(&publish, bundle);
    }
    assert_eq!(list(&app, &theirs).await["total"], 0);
    // The owner publishes with any letter case, and phones check with any.
    app.publish(&mine, json!({"bundleId": "Com.Example.App"})).await.created();
    assert_eq!(list(&app, &mine).await["total"], 1);
    let answer = app.check("com.EXAMPLE.app", "currentVersion=1.0.0").await.ok();
    assert_eq!(answer["updateAvailable"], true);
}

#[tokio::test]
async fn the_first_publish_claims_the_app() {
    let app = TestApp::start().await;
    let (_, mine) = app.org_with_key().await;
    let (_, theirs) = app.org_with_key().await;
    app.publish(&mine, json!({})).await.created();
    let listed = list(&app, &mine).await;
    assert_eq!(listed["items"][0]["bundleId"], BUNDLE);
    is_foreign(&claim(&app, &theirs, BUNDLE).await, BUNDLE);
    // A failed one does not.
    app.publish(&mine, json!({"bundleId": "com.example.other", "version": "x"})).await.expect(400);
    assert_eq!(list(&app, &mine).await, listed);
    claim(&app, &theirs, "com.example.other").await.created();
}

#[tokio::test]
async fn two_organizations_that_claim_at_once_do_not_both_get_it() {
    let app = TestApp::start().await;
    let (_, mine) = app.org_with_key().await;
    let (_, theirs) = app.org_with_key().await;
    let (one, other) = tokio::join!(claim(&app, &mine, BUNDLE), claim(&app, &theirs, BUNDLE));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 403]);
}

/// "even when the app is deleted: phones may still ask".
#[tokio::test]
async fn a_deleted_app_keeps_its_claim_and_its_phones() {
    for app in TestApp::on_both().await {
        kept_when_deleted(app).await;
    }
}

async fn kept_when_deleted(app: TestApp) {
    let (_, mine) = app.org_with_key().await;
    let (_, theirs) = app.org_with_key().await;
    app.publish(&mine, json!({})).await.created();
    let before = app.check(BUNDLE, "currentVersion=1.0.0").await.ok();
    assert_eq!(before["updateAvailable"], true);
    let id = list(&app, &mine).await["items"][0].id().to_owned();
    let path = format!("/apps?id={id}");
    app.advance(1);
    app.publish(&theirs, json!({"bundleId": "com.example.other"})).await.created();
    app.publish(&mine, json!({"bundleId": "com.example.mine"})).await.created();
    let variable = json!({"name": "A", "value": "b", "bundleId": "COM.example.app"});
    app.post(&mine, "/env", variable).await.created();
    crate::stage::builds::build(&app, &mine, json!({})).await.created();
    let asks =
        json!({"bundleId": BUNDLE, "platform": "android", "configuration": "production", "key": "a-key-in-the-field"});
    app.post(&mine, "/deployment-keys", asks).await.created();
    let in_the_field = format!("{}/codepush/{BUNDLE}/v0.1/public/codepush/update_check", app.origin);
    let in_the_field = format!("{in_the_field}?deployment_key=a-key-in-the-field&app_version=1.0.0");
    let left = json!({
        "bundleId": BUNDLE, "updates": 1, "offeredUpdates": 1, "builds": 1, "submissions": 0, "envVars": 1,
        "credentials": 0, "deploymentKeys": 1,
    });
    assert_eq!(app.delete(&mine, &path).await.ok(), json!({"id": id, "status": "deleted", "left": left}));
    for method in [Method::DELETE, Method::GET] {
        app.send(&mine, method, &path, ()).await.refused(404, "No app has this id");
    }
    assert_eq!(list(&app, &mine).await["total"], 1);
    assert_eq!(app.check(BUNDLE, "currentVersion=1.0.0").await.ok(), before);
    let asked = app.request(Method::GET, &in_the_field);
    assert!(Answer::to(asked).await.ok()["update_info"].is_object(), "apps with a deployment key still ask");
    is_foreign(&claim(&app, &theirs, BUNDLE).await, BUNDLE);
    is_foreign(&app.publish(&theirs, json!({"version": "9.0.0"})).await, BUNDLE);
    // Its own organization can claim it again, with everything published before.
    assert_eq!(claim(&app, &mine, BUNDLE).await.created()["bundleId"], BUNDLE);
    let updates = app.get(&mine, &format!("/update?bundleId={BUNDLE}")).await.ok();
    assert_eq!(updates["total"], 1);
}

/// Moves the app to another organization. The command works on the same database while this service runs.
pub async fn transfer(app: &TestApp, target: OrgId) {
    let command = Command::new(env!("CARGO_BIN_EXE_launchway-server"))
        .args(["admin", "transfer-app", "--json", "--bundle-id", "COM.example.app"])
        .args(["--org", &target.to_string()])
        .arg("--data-dir")
        .arg(&app.app.config.data_dir)
        .output()
        .unwrap();
    assert!(command.status.success(), "{}", String::from_utf8_lossy(&command.stderr));
    app.app.index.catch_up(&app.app.db).await.unwrap();
}

/// "never goes to another but by the operator's `transfer-app`".
#[tokio::test]
async fn the_operator_moves_an_app_with_its_updates() {
    let app = TestApp::start().await;
    let (source, mine) = app.org_with_key().await;
    let (target, theirs) = app.org_with_key().await;
    let update = app.publish(&mine, json!({})).await.created();
    let before = app.check(BUNDLE, "currentVersion=1.0.0").await.ok();
    transfer(&app, target).await;

    for org in [source, target] {
        let line = app.audit(org).await.pop().unwrap();
        let told = json!({"bundleId": "COM.example.app", "from": source, "to": target});
        assert_eq!((&*line.actor, &*line.action), ("operator", "app.transfer"), "{org}");
        assert_eq!(serde_json::from_str::<Value>(&line.after.unwrap()).unwrap(), told);
    }
    assert_eq!(list(&app, &mine).await["total"], 0);
    assert_eq!(list(&app, &theirs).await["items"][0]["bundleId"], BUNDLE);
    let path = format!("/update?id={}", update.id());
    app.get(&mine, &path).await.refused(404, "No update has this id");
    app.get(&theirs, &path).await.ok();
    is_foreign(&app.publish(&mine, json!({"version": "1.0.2"})).await, BUNDLE);
    let after = app.check(BUNDLE, "currentVersion=1.0.0").await.ok();
    after.has(json!({"version": before["version"], "url": before["url"]}));
    app.publish(&theirs, json!({"version": "1.0.2"})).await.created();
}

/// Keys are sealed for an organization. Whoever gets the app goes on signing its snapshot and timestamp.
#[tokio::test]
async fn the_servers_key_of_an_app_is_sealed_for_who_gets_it() {
    let app = TestApp::start().await;
    let (source, mine) = app.org_with_key().await;
    let (target, _) = app.org_with_key().await;
    claim(&app, &mine, BUNDLE).await.created();
    let bundle: BundleId = BUNDLE.parse().unwrap();
    let place = key_place("0123");
    let mut write = Write::open(&app.app, source, Actor::Operator, None).await.unwrap();
    let key = OnlineKeyRow {
        id: "0123".to_owned(),
        public_key: "public".to_owned(),
        sealed: write.seal(&place, b"private").await.unwrap(),
        state: OnlineKeyState::Current,
        created_at: START,
    };
    write.org().add_trust_online_key(&NewOnlineKey { bundle: &bundle, key: &key }).await.unwrap();
    write.commit().await.unwrap();

    transfer(&app, target).await;

    let mut write = Write::open(&app.app, target, Actor::Operator, None).await.unwrap();
    let moved = write.org().trust_online_key(&bundle, OnlineKeyState::Current).await.unwrap().unwrap();
    assert_ne!(moved.sealed, key.sealed);
    let opened = write.open_secret(&place, &moved.sealed, "a test").await.unwrap();
    assert_eq!(&opened[..], b"private");
    drop(write);
    let lines = app.audit(source).await;
    assert!(lines.iter().any(|line| line.action == "secret.open" && line.actor == "operator"), "{lines:?}");
}
