//! Deployment keys in the dashboard: listed by app, added and deleted by members.

use launchway_domain::tenancy::Role;
use serde_json::json;

use super::{Visit, visit, visit_of};
use crate::support::{Fields, Says, TestApp};

const BUNDLE: &str = "com.example.app";
const PAGE: &str = "/deployment-keys?bundleId=com.example.app";
const KEY: &str = "Ab3dEf9hIjKlMnOpQrStUvWxYz0123456789-_";

/// The keys of an app as the API lists them.
async fn keys(visit: &Visit<'_>) -> serde_json::Value {
    visit.app.get(&visit.cookie, PAGE).await.ok()
}

#[tokio::test]
async fn a_member_adds_and_deletes_deployment_keys() {
    let app = TestApp::start().await;
    let member = visit(&app, Role::Member).await;
    member.html(PAGE).await.says("There is no deployment key yet");
    let fields =
        [("bundleId", BUNDLE), ("platform", "ios"), ("configuration", "+other"), ("configurationOther", "Beta")];
    let given = [&fields[..], &[("key", KEY)]].concat();
    assert_eq!(member.done("/deployment-keys", &given).await, format!("{PAGE}&done=deployment-key-created"));
    member.html(&format!("{PAGE}&done=deployment-key-created")).await.says("Apps that send it find updates");
    let page = member.html(PAGE).await;
    for part in [
        KEY,
        "Deployment keys of com.example.app",
        ">iOS<",
        ">Beta<",
        r#"name="bundleId" type="text" autocomplete="off" value="com.example.app""#,
    ] {
        page.says(part);
    }
    member.html("/apps").await.says(&format!("/o/{}{PAGE}", member.org));
    let list = keys(&member).await;
    list["items"][0].has(json!({"platform": "ios", "configuration": "Beta", "key": KEY}));
    let id = list["items"][0].id().to_owned();
    let path = format!("/deployment-keys/{id}/delete");
    let asked = member.html(&path).await;
    for part in [KEY, "Apps that send this key get no more updates", "<dt>Configuration</dt><dd>Beta</dd>"] {
        asked.says(part);
    }
    assert_eq!(member.confirmed(&path, &[]).await, format!("{PAGE}&done=deployment-key-deleted"));
    assert_eq!(keys(&member).await["total"], 0);
    member.page(&path).await.is(404);
    let audit = app.audit(member.org).await;
    for action in ["deployment_key.create", "deployment_key.delete"] {
        assert_eq!(audit.iter().filter(|row| row.action == action).count(), 1, "{action}");
    }
}

#[tokio::test]
async fn a_refused_deployment_key_shows_the_field() {
    let app = TestApp::start().await;
    let member = visit(&app, Role::Member).await;
    let base = [("bundleId", BUNDLE), ("platform", "android")];
    for (name, value) in [("key", "short"), ("key", "ten of them!"), ("platform", "fax"), ("bundleId", "n o")] {
        let mut fields: Vec<_> = base.into_iter().filter(|(field, _)| *field != name).collect();
        fields.push((name, value));
        let refused = member.send("/deployment-keys", &fields).await;
        refused.is(400);
        refused.says(&format!(r#"id="{name}-wrong" role="alert">{name} "#));
    }
    let two = [&base[..], &[("key", KEY)]].concat();
    member.done("/deployment-keys", &two).await;
    member.send("/deployment-keys", &two).await.says("already has this deployment key");
    // A form that is sent twice makes one key, also if the server chooses it.
    let once = [&base[..], &[("once", "the only one")]].concat();
    member.done("/deployment-keys", &once).await;
    member.send("/deployment-keys", &once).await.is(400);
    assert_eq!(keys(&member).await["total"], 2);
}

#[tokio::test]
async fn only_an_organizations_own_deployment_keys_are_shown() {
    let app = TestApp::start().await;
    let (ours, theirs) = (visit(&app, Role::Owner).await, visit(&app, Role::Member).await);
    theirs.done("/deployment-keys", &[("bundleId", BUNDLE), ("platform", "ios"), ("key", KEY)]).await;
    let id = keys(&theirs).await["items"][0].id().to_owned();
    for page in ["/deployment-keys", PAGE] {
        theirs.html(page).await.says(KEY);
        ours.html(page).await.lacks(KEY);
    }
    let path = format!("/deployment-keys/{id}/delete");
    ours.page(&path).await.is(404);
    ours.send(&path, &[]).await.is(404);
    let taken = ours.send("/deployment-keys", &[("bundleId", BUNDLE), ("platform", "ios"), ("key", KEY)]).await;
    taken.is(403);
    taken.says("belongs to another organization");
    ours.page("/deployment-keys?bundleId=a%00b").await.is(400);
    assert_eq!(keys(&theirs).await["total"], 1);
}

/// Without the query of the page that was open, the form still names its app.
#[tokio::test]
async fn a_deployment_key_typed_too_late_is_kept() {
    let app = TestApp::start().await;
    let member = visit(&app, Role::Member).await;
    let email = format!("member@{}.example", member.org);
    app.post(&member.cookie, "/auth/sign-out", ()).await;
    let late = member.send("/deployment-keys", &[("bundleId", BUNDLE), ("platform", "ios"), ("key", KEY)]).await;
    late.is(303);
    let next = late.header("location").strip_prefix("/?next=").unwrap().replace("%2F", "/");
    let next = next.replace("%3F", "?").replace("%3D", "=");
    let again = Visit { cookie: app.sign_in(&email).await, ..member };
    let page = crate::pages::page(&app, &next, &again.cookie).await.text();
    for part in [KEY, BUNDLE, "Nothing was sent yet"] {
        page.says(part);
    }
    assert_eq!(keys(&again).await["total"], 0);
}

#[tokio::test]
async fn deleting_an_app_says_how_many_keys_stay() {
    let (app, org, key) = TestApp::with_org().await;
    let owner = visit_of(&app, org, Role::Owner).await;
    for platform in ["ios", "android"] {
        let asks = json!({"bundleId": BUNDLE, "platform": platform});
        app.post(&key, "/deployment-keys", asks).await.created();
    }
    let id = app.get(&key, "/apps").await.ok()["items"][0].id().to_owned();
    let asked = owner.html(&format!("/apps/{id}/delete")).await;
    asked.says("<dt>Deployment keys that stay</dt><dd>2</dd>");
    owner.confirmed(&format!("/apps/{id}/delete"), &[]).await;
    assert_eq!(keys(&owner).await["total"], 2);
}
