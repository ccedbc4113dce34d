//! `orgId`: a session names any organization it is a member of, a key only its own
//! (`docs/reference/callers.md#organization-context`).

use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::MINUTE;
use serde_json::{Value, json};

use super::{EMAIL, get};
use crate::support::TestApp;

const FOREIGN: &str = "orgId must be an organization that this caller can act in";

#[tokio::test]
async fn a_session_acts_in_the_named_or_its_oldest_organization() {
    let app = TestApp::start().await;
    let oldest = app.org(Tier::Free).await;
    let cookie = app.user(oldest, EMAIL, Role::Owner).await;
    app.advance(MINUTE);
    let second = app.org(Tier::Pro).await;
    app.join(second, EMAIL, Role::Member).await;

    let claim = async |bundle: &str, query: &str| {
        let body = json!({"bundleId": bundle});
        app.advance(1);
        app.post(&cookie, &format!("/apps{query}"), body).await.created();
    };
    claim("com.example.one", "").await;
    claim("com.example.two", &format!("?orgId={second}")).await;
    claim("com.example.three", "?orgId=").await;
    let bundles = async |query: &str| {
        let answer = get(&app, &cookie, &format!("/apps{query}")).await;
        let items = answer.ok()["items"].as_array().unwrap().clone();
        let names: Vec<Value> = items.iter().map(|item| item["bundleId"].clone()).collect();
        (json!(names), answer.header("x-ratelimit-limit").to_owned())
    };
    let of_oldest = json!(["com.example.three", "com.example.one"]);
    assert_eq!(bundles("").await, (of_oldest.clone(), "60".to_owned()));
    assert_eq!(bundles(&format!("?orgId={oldest}")).await, (of_oldest, "60".to_owned()));
    assert_eq!(bundles(&format!("?orgId={second}")).await, (json!(["com.example.two"]), "300".to_owned()));

    // The role in the named organization applies.
    get(&app, &cookie, "/api-keys").await.ok();
    let answer = get(&app, &cookie, &format!("/api-keys?orgId={second}")).await;
    answer.refused(403, "This requires the role admin in the organization, but your role is member");
    let view = get(&app, &cookie, &format!("/auth/session?orgId={second}")).await.ok();
    assert_eq!(view["organization"]["id"], json!(second));
}

#[tokio::test]
async fn an_org_id_must_be_one_of_the_callers() {
    let (app, org, key) = TestApp::with_org().await;
    let cookie = app.user(org, EMAIL, Role::Owner).await;
    let foreign = app.org(Tier::Free).await;
    // The response does not depend on whether it exists, nor on its form.
    for wrong in [foreign.to_string(), foreign.to_string().to_uppercase(), "nonsense".to_owned(), "%00".to_owned()] {
        let path = format!("/apps?orgId={wrong}");
        app.get(&key, &path).await.refused(403, FOREIGN);
        get(&app, &cookie, &path).await.refused(403, FOREIGN);
    }
    for (query, status) in
        [(format!("?orgId={org}"), 200), ("?orgId=".to_owned(), 200), ("?orgid=nonsense".to_owned(), 200)]
    {
        app.get(&key, &format!("/apps{query}")).await.expect(status);
        get(&app, &cookie, &format!("/apps{query}")).await.expect(status);
    }
    app.get(&key, &format!("/apps?orgId={org}&orgId={org}")).await.refused(400, "orgId is given twice");
    get(&app, &cookie, "/apps?orgId=%ff").await.refused(400, "orgId is not valid UTF-8");
}

#[tokio::test]
async fn who_left_an_organization_no_longer_acts_in_it() {
    let (app, org, key) = TestApp::with_org().await;
    let cookie = app.user(org, EMAIL, Role::Member).await;
    let home = app.org(Tier::Free).await;
    app.join(home, EMAIL, Role::Owner).await;
    let named = format!("/apps?orgId={org}");
    get(&app, &cookie, &named).await.ok();
    let id = super::user_id(&app, &cookie).await;
    app.delete(&key, &format!("/orgs/members?id={id}")).await.ok();
    get(&app, &cookie, &named).await.refused(403, FOREIGN);
    assert_eq!(get(&app, &cookie, "/auth/session").await.ok()["organization"]["id"], json!(home));
}
