//! `/webhooks` (`docs/reference/webhooks.md#webhook-endpoints`): the records. Deliveries are tested in the files below.

mod addresses;
mod delivery;
mod failing;
mod formats;
mod sealed;
mod trying;

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{HOUR, iso};
use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::webhooks::PATH;
use crate::support::{Answer, Fields, START, Says, TestApp, with};

const URL: &str = "https://hooks.example.com/services/T0/verysecret";
/// What is shown of it.
const SHOWN: &str = "https://hooks.example.com/…cret";

/// An organization with an admin who is signed in.
async fn with_admin() -> (TestApp, String) {
    let (app, _, cookie) = TestApp::with_user("ada@example.com", Role::Admin).await;
    (app, cookie)
}

/// A request with fields over the defaults; null takes a field away.
fn record(fields: Value) -> Value {
    let mut body = with(json!({"name": "CI", "url": URL, "events": ["update.published"]}), &fields);
    body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    body
}

async fn create(app: &TestApp, cookie: &str, fields: Value) -> Answer {
    app.post(cookie, PATH, record(fields)).await
}

async fn replace(app: &TestApp, cookie: &str, body: Value) -> Answer {
    app.put(cookie, PATH, body).await
}

async fn read(app: &TestApp, cookie: &str, id: &Value) -> Answer {
    let path = format!("{PATH}?id={}", id.as_str().unwrap());
    app.get(cookie, &path).await
}

#[tokio::test]
async fn only_the_answer_that_made_a_webhook_carries_its_secret() {
    let (app, cookie) = with_admin().await;
    let fields = json!({
        "name": " Chat ", "type": "slack", "events": ["update.withdrawn", "build.failed", "build.failed"],
        "bundleIds": ["com.example.App", "com.example.app", "com.example.b"],
    });
    let mut made = create(&app, &cookie, fields).await.created();
    let secret = made.as_object_mut().unwrap().remove("secret").unwrap();
    assert_eq!(
        made,
        json!({
            "id": made["id"], "status": "active", "disabledReason": null, "name": "Chat", "url": SHOWN, "type": "slack",
            "events": ["build.failed", "update.withdrawn"], "bundleIds": ["com.example.App", "com.example.b"],
            "createdAt": iso(START), "lastDelivery": null,
        })
    );
    assert!(made.id().starts_with("webhook_"), "{made}");
    let secret = secret.as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");

    assert_eq!(read(&app, &cookie, &made["id"]).await.ok(), made);
    let list = app.get(&cookie, PATH).await.ok();
    assert_eq!(list, json!({"items": [made], "total": 1, "limit": 10, "offset": 0}));
}

#[tokio::test]
async fn an_idempotent_request_is_answered_again_without_the_secret() {
    let (app, cookie) = with_admin().await;
    let ask = async || {
        let request = app
            .request(Method::POST, PATH)
            .header("cookie", &cookie)
            .header("origin", &app.origin)
            .header("idempotency-key", "once")
            .json(&record(json!({})));
        Answer::to(request).await.created()
    };
    let mut first = ask().await;
    assert!(first.as_object_mut().unwrap().remove("secret").is_some());
    assert_eq!(ask().await, first);
    let list = app.get(&cookie, PATH).await.ok();
    assert_eq!(list["total"], 1);
}

#[tokio::test]
async fn what_is_wrong_with_a_record_is_told() {
    let (app, cookie) = with_admin().await;
    let long = format!("https://example.com/{}", "a".repeat(2048));
    let many: Vec<String> = (0..101).map(|number| format!("com.example.a{number}")).collect();
    let name = "name must have 1 to 100 visible characters";
    for (fields, message) in [
        (json!({"name": null}), "missing field `name`"),
        (json!({"name": ""}), name),
        (json!({"name": "a\u{7}b"}), name),
        (json!({"name": "a".repeat(101)}), name),
        (json!({"url": null}), "missing field `url`"),
        (json!({"url": 1}), "url: invalid type: integer `1`, expected a string"),
        (json!({"url": "nonsense"}), "url must be a URL such as"),
        (json!({"url": long}), "url must have at most 2048 bytes"),
        (json!({"url": "http://example.com"}), "url must start with https://"),
        (json!({"url": "https://a:b@example.com"}), "url must not contain a user name or password"),
        (json!({"url": "https://localhost"}), "url must not be this machine"),
        (json!({"url": "https://10.1.2.3/"}), "url must be a public address"),
        (json!({"events": null}), "missing field `events`"),
        (json!({"events": []}), "events must contain one or more of build.queued, "),
        (
            json!({"events": ["update.published", "update.burnt"]}),
            "events must not contain `update.burnt`; the events are ",
        ),
        (json!({"events": "*"}), "events: invalid type"),
        (json!({"type": "discord"}), "type must be one of generic, slack, teams"),
        (json!({"bundleIds": ["com/example"]}), "bundleIds must be bundle identifiers such as com.example.app"),
        (json!({"bundleIds": many}), "bundleIds must have at most 100 items"),
        (json!({"secret": "mine"}), "unknown field `secret`"),
        (json!({"status": "disabled"}), "unknown field `status`"),
    ] {
        let answer = create(&app, &cookie, fields.clone()).await;
        let told = answer.refusal(400);
        assert!(told.contains(message), "{fields}: {told}");
        answer.refused(400, &told);
    }
    let list = app.get(&cookie, PATH).await.ok();
    assert_eq!(list["total"], 0);
}

#[tokio::test]
async fn an_organization_has_fifty_at_most() {
    let (app, cookie) = with_admin().await;
    for _ in 0..49 {
        create(&app, &cookie, json!({})).await.created();
    }
    // Two at once for the last place.
    let (one, other) = tokio::join!(create(&app, &cookie, json!({})), create(&app, &cookie, json!({})));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 400]);
    create(&app, &cookie, json!({}))
        .await
        .refused(400, "This organization has the maximum of 50 webhooks. Delete one first.");
    let list = app.get(&cookie, &format!("{PATH}?limit=1")).await;
    let list = list.ok();
    assert_eq!(list["total"], 50);
    app.delete(&cookie, &format!("{PATH}?id={}", list["items"][0].id())).await.ok();
    create(&app, &cookie, json!({})).await.created();
}

#[tokio::test]
async fn a_record_is_replaced_as_a_whole() {
    let (app, cookie) = with_admin().await;
    let full = json!({"type": "teams", "bundleIds": ["com.example.a"], "events": ["*"]});
    let mut made = create(&app, &cookie, full).await.created();
    made.as_object_mut().unwrap().remove("secret");
    // As it was read.
    assert_eq!(replace(&app, &cookie, made.clone()).await.ok(), made);
    // What is absent is as at the creation.
    let body = record(json!({"id": made["id"], "name": "New", "url": "https://example.org"}));
    let replaced = replace(&app, &cookie, body).await.ok();
    let mut wanted = made.clone();
    for (name, value) in [
        ("name", json!("New")),
        ("url", json!("https://example.org")),
        ("type", json!("generic")),
        ("bundleIds", json!([])),
        ("events", json!(["update.published"])),
    ] {
        wanted[name] = value;
    }
    assert_eq!(replaced, wanted);
    assert_eq!(read(&app, &cookie, &made["id"]).await.ok(), wanted);

    // Off and on again.
    let status = async |status: &str| {
        let body = record(json!({"id": made["id"], "status": status}));
        replace(&app, &cookie, body).await.ok()
    };
    let off = status("disabled").await;
    assert_eq!(json!([off["status"], off["disabledReason"]]), json!(["disabled", "An admin disabled it"]));
    let still = replace(&app, &cookie, record(json!({"id": made["id"]}))).await.ok();
    assert_eq!(still["status"], "disabled", "without status it stays");
    let on = status("active").await;
    assert_eq!(json!([on["status"], on["disabledReason"]]), json!(["active", null]));
}

#[tokio::test]
async fn a_replacement_is_checked_in_the_usual_order() {
    let (app, cookie) = with_admin().await;
    let unused = "webhook_01h455vb4pex5vsknk084sn02q";
    for body in [record(json!({})), record(json!({"id": ""})), record(json!({"events": []}))] {
        replace(&app, &cookie, body).await.refused(400, "id is required");
    }
    let wrong = record(json!({"id": unused, "status": "asleep"}));
    replace(&app, &cookie, wrong).await.refused(400, "status must be one of active, disabled");
    for id in [unused, "nonsense"] {
        replace(&app, &cookie, record(json!({"id": id}))).await.refused(404, "No webhook has this id");
    }
    let answer = replace(&app, &cookie, record(json!({"id": unused, "secret": "mine"}))).await;
    assert!(answer.expect(400).text("message").contains("unknown field `secret`"));
}

#[tokio::test]
async fn is_deleted_once() {
    let (app, cookie) = with_admin().await;
    let made = create(&app, &cookie, json!({})).await.created();
    let id = made.id();
    let delete = async |id: &str| {
        let path = format!("{PATH}?id={id}");
        app.delete(&cookie, &path).await
    };
    assert_eq!(delete(id).await.ok(), json!({"id": id, "status": "deleted"}));
    for id in [id, "webhook_01h455vb4pex5vsknk084sn02q", "nonsense"] {
        delete(id).await.refused(404, "No webhook has this id");
    }
    delete("").await.refused(400, "id is required");
    read(&app, &cookie, &made["id"]).await.refused(404, "No webhook has this id");
}

#[tokio::test]
async fn every_change_leaves_its_line_without_what_is_secret() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Enterprise).await;
    let key = app.key(org, &[Scope::Admin]).await;
    let call = async |method: Method, path: &str, body: Option<Value>| app.send(&key, method, path, body).await;
    let made = call(Method::POST, PATH, Some(record(json!({})))).await.created();
    let id = made.id();
    let of = |path: &str| format!("{path}?id={id}");
    let change = record(json!({"id": id, "url": format!("{URL}more")}));
    call(Method::PUT, PATH, Some(change.clone())).await.ok();
    call(Method::PUT, PATH, Some(change)).await.ok();
    let rotated = call(Method::POST, &of("/webhooks/rotate-secret"), None).await.ok();
    let tested = call(Method::POST, &of("/webhooks/test"), None).await.created();
    let again = format!("/webhooks/redeliver?id={}", tested.id());
    call(Method::POST, &again, None).await.created();
    call(Method::DELETE, &of(PATH), None).await.ok();

    let mut lines = app.audit(org).await;
    lines.retain(|line| line.action.starts_with("webhook."));
    let actions: Vec<_> = lines.iter().map(|line| line.action.as_str()).collect();
    let wanted = ["create", "change", "rotate_secret", "test", "redeliver", "delete"];
    assert_eq!(actions, wanted.map(|action| format!("webhook.{action}")), "a change of nothing leaves none");
    assert!(lines.iter().all(|line| line.resource == id && line.actor.starts_with("key_")));
    let told = format!("{lines:?}");
    told.says("https://hooks.example.com/…");
    for secret in [&made["secret"], &rotated["secret"]] {
        let secret = secret.as_str().unwrap().trim_start_matches("whsec_");
        told.lacks(secret);
        told.lacks("verysecret");
    }
}

/// Both secrets are valid for 24 hours: `docs/reference/webhooks.md#secret`. `delivery.rs` tests the signatures.
#[tokio::test]
async fn a_rotation_shows_a_new_secret_once() {
    let (app, cookie) = with_admin().await;
    let made = create(&app, &cookie, json!({})).await.created();
    let path = format!("/webhooks/rotate-secret?id={}", made.id());
    let rotate = async || app.post(&cookie, &path, ()).await.ok();
    let mut secrets = vec![made["secret"].clone()];
    for _ in 0..8 {
        app.advance(HOUR);
        let mut rotated = rotate().await;
        secrets.push(rotated.as_object_mut().unwrap().remove("secret").unwrap());
        assert_eq!(read(&app, &cookie, &made["id"]).await.ok(), rotated);
    }
    let mut distinct: Vec<_> = secrets.iter().map(|secret| secret.as_str().unwrap()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 9);
    for id in ["webhook_01h455vb4pex5vsknk084sn02q", "nonsense"] {
        let path = format!("/webhooks/rotate-secret?id={id}");
        app.post(&cookie, &path, ()).await.refused(404, "No webhook has this id");
    }
}
