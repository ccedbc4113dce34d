//! The response for another organization's resource is exactly that for a missing one
//! (`docs/reference/conventions.md#resources-of-other-organizations`), and the resource does not change.

use std::collections::HashMap;

use launchway_domain::id::OrgId;
use launchway_domain::tenancy::Role;
use launchway_web::router;
use serde_json::{Value, json};

use super::callers::{Caller, Who};
use super::table::{Door, Thing, row_of, unused_id};
use crate::support::{Answer, Fields, TestApp};

/// An organization with one of everything.
struct Victim {
    key: String,
    cookie: String,
    ids: HashMap<Thing, String>,
}

const EVERYTHING: [&str; 15] = [
    "/build",
    "/submit",
    "/runners",
    "/update",
    "/deployment-keys",
    "/env",
    "/audit",
    "/credentials",
    "/api-keys",
    "/webhooks",
    "/apps",
    "/usage",
    "/orgs",
    "/orgs/members",
    "/orgs/invitations",
];

/// The resources that bodies name by an id, written `{id}` here.
const NAMED_BY_BODIES: [(&str, Thing, &str); 7] = [
    (
        "POST /update",
        Thing::Upload,
        r#"{"uploadId": "{id}", "bundleId": "com.example.eve", "platform": "android", "version": "1.0.1"}"#,
    ),
    (
        "POST /update",
        Thing::Update,
        r#"{"sourceUpdateId": "{id}", "bundleId": "com.example.eve", "platform": "android", "version": "1.0.1"}"#,
    ),
    (
        "POST /update",
        Thing::Build,
        r#"{"uploadId": "x", "bundleId": "com.example.eve", "platform": "android", "version": "1.0.1", "buildId": "{id}"}"#,
    ),
    (
        "POST /build",
        Thing::Upload,
        r#"{"bundleId": "com.example.eve", "platform": "android", "source": {"uploadId": "{id}"}}"#,
    ),
    ("POST /submit", Thing::Upload, r#"{"uploadId": "{id}", "destination": "internal"}"#),
    ("POST /submit", Thing::Build, r#"{"buildId": "{id}", "destination": "internal"}"#),
    (
        "PUT /webhooks",
        Thing::Webhook,
        r#"{"id": "{id}", "name": "taken", "url": "https://example.com", "events": ["*"]}"#,
    ),
];

impl Victim {
    async fn new(app: &TestApp) -> Victim {
        let (org, key) = app.org_with_key().await;
        let cookie = app.user(org, "ada@example.com", Role::Owner).await;
        let update = app.publish(&key, json!({"rollout": 100})).await.created();
        let upload = app.upload(&key, b"not used yet").await;
        let git = json!({"url": "https://example.com/app.git", "ref": "main"});
        let body = json!({"bundleId": "com.example.app", "platform": "android", "source": {"git": git}});
        let build = app.post(&key, "/build", body).await.created();
        app.post(&key, "/orgs/invitations", json!({"email": "bob@example.com"})).await.created();
        app.post(&key, "/env", json!({"name": "TOKEN", "value": "secret"})).await.created();
        app.keystore(&key).await;
        let submission = app.submitted(&key).await;
        let body = json!({"name": "CI", "url": "https://example.com/hook", "events": ["*"]});
        let webhook = app.post(&key, "/webhooks", body).await.created();
        let delivery = app.post(&key, &format!("/webhooks/test?id={}", webhook.id()), ()).await.created();
        let body = json!({"bundleId": "com.example.app", "platform": "android"});
        app.post(&key, "/deployment-keys", body).await.created();
        let token = app.post(&key, "/runners/tokens", ()).await.created();
        app.enroll(token.text("token"), &["os=linux"]).await;
        let mut victim =
            Victim { key, cookie, ids: HashMap::from([(Thing::Org, org.to_string()), (Thing::Upload, upload)]) };
        for (thing, list) in [
            (Thing::Env, "/env"),
            (Thing::Credential, "/credentials"),
            (Thing::Key, "/api-keys"),
            (Thing::DeploymentKey, "/deployment-keys"),
            (Thing::App, "/apps"),
            (Thing::Member, "/orgs/members"),
            (Thing::Invitation, "/orgs/invitations"),
            (Thing::Session, "/auth/sessions"),
            (Thing::Runner, "/runners"),
        ] {
            let items = app.get(&victim.cookie, list).await.ok();
            victim.ids.insert(thing, items["items"][0].id().to_owned());
        }
        for (thing, record) in [
            (Thing::Build, build),
            (Thing::Submission, submission),
            (Thing::Update, update),
            (Thing::Webhook, webhook),
            (Thing::Delivery, delivery),
        ] {
            victim.ids.insert(thing, record.id().to_owned());
        }
        victim
    }

    /// All data of the organization.
    async fn everything(&self, app: &TestApp) -> Vec<Value> {
        let mut all = Vec::new();
        for list in EVERYTHING {
            all.push(app.get(&self.key, list).await.ok());
        }
        all.push(app.get(&self.cookie, "/auth/sessions").await.ok());
        all.push(app.check("com.example.app", "currentVersion=1.0.0&platform=android").await.ok());
        all
    }
}

/// A response without the parts that always differ.
fn seen(answer: &Answer) -> (u16, Vec<u8>, Vec<(String, String)>) {
    let changing = ["x-request-id", "x-ratelimit-remaining", "date"];
    let mut headers: Vec<_> = answer
        .headers
        .iter()
        .filter(|(name, _)| !changing.contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    (answer.status.as_u16(), answer.bytes.clone(), headers)
}

async fn stranger(app: &TestApp) -> (OrgId, [Caller; 2]) {
    let (org, key) = app.org_with_key().await;
    let cookie = app.user(org, "eve@example.com", Role::Owner).await;
    let key = Caller::key("another organization's key", &key, Who::Nobody);
    let session = Caller::session("another organization's owner", &cookie, app, Role::Owner);
    (org, [key, session])
}

#[test]
fn every_endpoint_with_an_id_says_what_it_names() {
    let document = serde_json::to_value(router::openapi_document()).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let takes_id = parameters.into_iter().any(|parameter| parameter["name"] == "id");
            let row = row_of(&method.to_uppercase(), path);
            assert_eq!(row.thing.is_some(), takes_id, "{}: its `thing` in ROWS", row.line);
        }
    }
}

#[tokio::test]
async fn a_foreign_id_is_answered_as_unknown_and_stays_untouched() {
    let app = TestApp::start().await;
    let victim = Victim::new(&app).await;
    let (_, strangers) = stranger(&app).await;
    let before = victim.everything(&app).await;
    for line in router::lines() {
        let row = row_of(&line.method, &line.path);
        // The endpoints of runners refuse all of these callers.
        let Some(thing) = row.thing.filter(|_| row.door != Door::Runner) else {
            continue;
        };
        for caller in &strangers {
            let ask = async |id: &str| {
                let path = format!("{}?id={id}", line.path);
                seen(&caller.send(&app, &line.method, &path, row.body).await)
            };
            let unused = ask(&unused_id(thing)).await;
            let of_no_form = ask("nonsense").await;
            let keys_have_none = row.door == Door::User && matches!(caller.who, Who::Nobody);
            let status = if keys_have_none { 403 } else { 404 };
            assert_eq!(unused.0, status, "{} as {}", row.line, caller.name);
            assert_eq!(of_no_form, unused, "{} as {}", row.line, caller.name);
            if let Some(id) = victim.ids.get(&thing) {
                assert_eq!(ask(id).await, unused, "{} as {}", row.line, caller.name);
            }
        }
    }
    // The ids are real: their owner can read the resources.
    for (thing, list) in [
        (Thing::Build, "/build"),
        (Thing::Update, "/update"),
        (Thing::Submission, "/submit"),
        (Thing::Key, "/api-keys"),
        (Thing::Runner, "/runners"),
        (Thing::Webhook, "/webhooks"),
        (Thing::App, "/apps"),
    ] {
        let own = app.get(&victim.cookie, &format!("{list}?id={}", victim.ids[&thing])).await;
        assert_eq!(own.ok()["id"], victim.ids[&thing]);
    }
    assert_eq!(victim.everything(&app).await, before);
}

#[tokio::test]
async fn a_foreign_id_in_a_body_is_answered_as_unknown() {
    let app = TestApp::start().await;
    let victim = Victim::new(&app).await;
    let (_, strangers) = stranger(&app).await;
    let before = victim.everything(&app).await;
    for (line, thing, body) in NAMED_BY_BODIES {
        let (method, path) = line.split_once(' ').unwrap();
        for caller in &strangers {
            let ask = async |id: &str| seen(&caller.send(&app, method, path, Some(&body.replace("{id}", id))).await);
            let unused = ask(&unused_id(thing)).await;
            assert_eq!(unused.0, 404, "{thing:?} of {line} as {}", caller.name);
            for id in [&victim.ids[&thing], "nonsense"] {
                assert_eq!(ask(id).await, unused, "{thing:?} {id} of {line} as {}", caller.name);
            }
        }
    }
    assert_eq!(victim.everything(&app).await, before);
    // The owner can still use the upload that a stranger named.
    assert_eq!(app.publish(&victim.key, json!({"version": "1.0.2"})).await.created()["version"], "1.0.2");
}

/// `docs/reference/callers.md#organization-context`: whether that organization exists or not makes no difference.
#[tokio::test]
async fn a_foreign_org_id_opens_nothing_even_with_its_own_resource() {
    let app = TestApp::start().await;
    let victim = Victim::new(&app).await;
    let (_, strangers) = stranger(&app).await;
    let before = victim.everything(&app).await;
    let org = &victim.ids[&Thing::Org];
    for line in router::lines() {
        let row = row_of(&line.method, &line.path);
        let Some(id) = row.thing.and_then(|thing| victim.ids.get(&thing)) else {
            continue;
        };
        for caller in &strangers {
            let ask = async |org: &str| {
                let path = format!("{}?id={id}&orgId={org}", line.path);
                seen(&caller.send(&app, &line.method, &path, row.body).await)
            };
            let foreign = ask(org).await;
            assert_eq!(foreign.0, 403, "{} as {}", row.line, caller.name);
            assert_eq!(ask("org_01h455vb4pex5vsknk084sn02q").await, foreign, "{}", row.line);
        }
    }
    assert_eq!(victim.everything(&app).await, before);
}
