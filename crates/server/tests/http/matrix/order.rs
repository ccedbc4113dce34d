//! The order of checks (`docs/reference/conventions.md#order-of-checks`): route (404, 405), authentication (401), rate
//! limit (429), `orgId` (403), scope or role (403), form (400), existence (404). One request fails all of them; as its
//! faults are corrected one by one, each check appears in turn.

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::MINUTE;

use super::callers::{Caller, Who};
use crate::support::TestApp;

const UNUSED: &str = "update_01h455vb4pex5vsknk084sn02q";
const BROKEN: &str = r#"{"rollout": "all"}"#;

/// Exceeds a caller's limit in this minute by one request.
async fn exhaust(app: &TestApp, caller: &Caller) {
    let limit = Tier::Free.requests_per_minute();
    for _ in 0..limit {
        caller.send(app, "GET", "/auth/session", None).await.ok();
    }
}

#[tokio::test]
async fn a_key_sees_the_first_thing_that_is_wrong() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let other = app.org(Tier::Free).await;
    let nobody = Caller::new("nobody", Who::Nobody, &[]);
    let wrong = Caller::key("wrong scope", &app.key(org, &[Scope::Build]).await, Who::Nobody);
    let right = Caller::key("right scope", &app.key(org, &[Scope::Update]).await, Who::Nobody);
    exhaust(&app, &wrong).await;
    let foreign = format!("/update?id={UNUSED}&orgId={other}");
    let own = format!("/update?id={UNUSED}");

    let absent = "There is nothing at this path. The API is described at /docs.";
    nobody.send(&app, "PATCH", &format!("/updates?orgId={other}"), Some(BROKEN)).await.refused(404, absent);
    nobody.send(&app, "PUT", &foreign, Some(BROKEN)).await.refused(405, "This path does not support this method");
    nobody.send(&app, "PATCH", &foreign, Some(BROKEN)).await.refused(401, "No authentication provided");
    wrong.send(&app, "PATCH", &foreign, Some(BROKEN)).await.refused(429, "Too many requests. Try again in 60 seconds.");
    app.advance(MINUTE);
    let answer = wrong.send(&app, "PATCH", &foreign, Some(BROKEN)).await;
    answer.refused(403, "orgId must be an organization that this caller can act in");
    wrong.send(&app, "PATCH", &own, Some(BROKEN)).await.refused(403, "API key does not have 'update' scope");
    assert_eq!(right.send(&app, "PATCH", &own, Some(BROKEN)).await.expect(400)["error"], "Bad Request");
    right.send(&app, "PATCH", &own, Some(r#"{"rollout": 50}"#)).await.refused(404, "No update has this id");
}

#[tokio::test]
async fn a_session_sees_the_first_thing_that_is_wrong() {
    let app = TestApp::start().await;
    let org = app.org(Tier::Free).await;
    let other = app.org(Tier::Free).await;
    let member = app.user(org, "ada@example.com", Role::Member).await;
    let admin = app.user(org, "bob@example.com", Role::Admin).await;
    let dead = Caller::new("dead cookie", Who::Nobody, &[("cookie", "launchway=dead")]);
    let member = Caller::session("member", &member, &app, Role::Member);
    let admin = Caller::session("admin", &admin, &app, Role::Admin);
    exhaust(&app, &member).await;
    let unused = "key_01h455vb4pex5vsknk084sn02q";
    let foreign = format!("/api-keys?id=&orgId={other}");

    dead.send(&app, "DELETE", &foreign, None).await.refused(401, "No authentication provided");
    member.send(&app, "DELETE", &foreign, None).await.refused(429, "Too many requests. Try again in 60 seconds.");
    app.advance(MINUTE);
    let answer = member.send(&app, "DELETE", &foreign, None).await;
    answer.refused(403, "orgId must be an organization that this caller can act in");
    let answer = member.send(&app, "DELETE", "/api-keys?id=", None).await;
    answer.refused(403, "This requires the role admin in the organization, but your role is member");
    admin.send(&app, "DELETE", "/api-keys?id=", None).await.refused(400, "id is required");
    admin.send(&app, "DELETE", &format!("/api-keys?id={unused}"), None).await.refused(404, "No API key has this id");
}
