//! The endpoints, and the common query parameters (`docs/reference/conventions.md#lists`).

use crate::support::NOBODY;
use launchway_domain::scope::Scope::{Admin, Build, Submit, Update};
use serde_json::json;

use super::stage::{KEYS, Stage};
use super::{Error, Has, Is, NONE, Names, Page, Row, Who, new_key, run};

fn first_page() -> super::Gets {
    Page(json!({"limit": 10, "offset": 0, "total": 0}), 0)
}

#[tokio::test]
async fn every_endpoint_is_there() {
    let stage = Stage::set().await;
    let update = json!({"uploadId": "{upload}", "bundleId": "com.example.new", "platform": "ios", "version": "1.0.0"});
    let rows: [Row; 29] = [
        (
            "paths are relative to {base_url}, which ends in /api",
            Who::Key(Build),
            "GET /build",
            NONE,
            first_page(),
        ),
        (
            "GET /build: List builds (paginated)",
            Who::Key(Build),
            "GET /build",
            NONE,
            first_page(),
        ),
        (
            "GET /build?id=: Get one build",
            Who::Key(Build),
            "GET /build?id=x",
            NONE,
            Error(404, "No build has this id"),
        ),
        (
            "POST /build: Create a build",
            Who::Key(Build),
            "POST /build",
            json!({}),
            Names(400, "missing field `bundleId`"),
        ),
        (
            "POST /build: Create a build",
            Who::Key(Build),
            "POST /build",
            json!({
                "bundleId": "com.example.new",
                "platform": "ios",
                "source": {"git": {"url": "https://example.com/app.git", "ref": "main"}},
            }),
            Has(201, json!({"status": "queued", "bundleId": "com.example.new"})),
        ),
        (
            "DELETE /build?id=: Delete a build",
            Who::Key(Build),
            "DELETE /build?id=x",
            NONE,
            Error(404, "No build has this id"),
        ),
        (
            "DELETE /build?id=: Delete a build",
            Who::Key(Build),
            "DELETE /build",
            NONE,
            Error(400, "id is required"),
        ),
        (
            "GET /submit: List submissions (paginated)",
            Who::Key(Submit),
            "GET /submit",
            NONE,
            first_page(),
        ),
        (
            "GET /submit?id=: Get one submission",
            Who::Key(Submit),
            "GET /submit?id=x",
            NONE,
            Error(404, "No submission has this id"),
        ),
        (
            "POST /submit: Create a submission",
            Who::Key(Submit),
            "POST /submit",
            json!({"uploadId": "x", "destination": "testflight"}),
            Error(404, "No upload has this id"),
        ),
        (
            "DELETE /submit?id=: Delete a submission",
            Who::Key(Submit),
            "DELETE /submit?id=x",
            NONE,
            Error(404, "No submission has this id"),
        ),
        (
            "POST /update: Create an OTA update",
            Who::Key(Update),
            "POST /update",
            update,
            Has(201, json!({"status": "published"})),
        ),
        (
            "GET /update/check/{bundleId}: Public check",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=1.0.0",
            NONE,
            Has(200, json!({"updateAvailable": true})),
        ),
        (
            "GET /env: List environment variables",
            Who::Key(Admin),
            "GET /env",
            NONE,
            first_page(),
        ),
        (
            "POST /env: Set an environment variable",
            Who::Key(Admin),
            "POST /env",
            json!({"name": "TOKEN", "value": "x"}),
            Has(201, json!({"status": "active", "name": "TOKEN", "value": null})),
        ),
        (
            "DELETE /env?id=: Delete an environment variable",
            Who::Key(Admin),
            "DELETE /env?id=x",
            NONE,
            Error(404, "No environment variable has this id"),
        ),
        (
            "GET /api-keys: List API keys",
            Who::Key(Admin),
            "GET /api-keys",
            NONE,
            Page(json!({"total": KEYS}), 10),
        ),
        (
            "POST /api-keys: Create an API key",
            Who::Key(Admin),
            "POST /api-keys",
            new_key(&["build", "update"]),
            Has(
                201,
                json!({"status": "active", "name": "CI", "scopes": ["build", "update"]}),
            ),
        ),
        (
            "DELETE /api-keys?id=: Revoke an API key",
            Who::Key(Admin),
            "DELETE /api-keys?id={key}",
            NONE,
            Is(200, json!({"id": "{key}", "status": "revoked"})),
        ),
        (
            "GET /webhooks: List webhooks",
            Who::Key(Admin),
            "GET /webhooks",
            NONE,
            first_page(),
        ),
        (
            "POST /webhooks: Create a webhook",
            Who::Key(Admin),
            "POST /webhooks",
            json!({"name": "CI", "url": "https://example.com/hook", "events": ["*"]}),
            Has(201, json!({"status": "active", "type": "generic", "events": ["*"]})),
        ),
        (
            "PUT /webhooks: Update a webhook",
            Who::Key(Admin),
            "PUT /webhooks",
            json!({"name": "CI", "url": "https://example.com/hook", "events": ["*"]}),
            Error(400, "id is required"),
        ),
        (
            "DELETE /webhooks?id=: Delete a webhook",
            Who::Key(Admin),
            "DELETE /webhooks?id=x",
            NONE,
            Error(404, "No webhook has this id"),
        ),
        (
            "identifier query parameters are strings",
            Who::Key(Update),
            "GET /update?id=17",
            NONE,
            Error(404, "No update has this id"),
        ),
        (
            "identifier query parameters are strings",
            Who::Key(Update),
            "GET /update?id={update}",
            NONE,
            Has(200, json!({"id": "{update}", "status": "published"})),
        ),
        (
            "bodies of type JSON",
            Who::Key(Update),
            "POST /update",
            json!([]),
            Names(400, "JSON object"),
        ),
        (
            "bodies of type JSON",
            Who::Key(Update),
            "POST /update",
            json!("text"),
            Names(400, ""),
        ),
        (
            "the tables of endpoints",
            Who::Key(Build),
            "GET /builds",
            NONE,
            Error(404, "There is nothing at this path; the API is described at /docs"),
        ),
        (
            "the tables of endpoints",
            Who::Key(Build),
            "PUT /build",
            NONE,
            Error(405, "This path does not take this method"),
        ),
    ];
    run(&stage, rows).await;
    let outside = stage.app.get(NOBODY, &format!("{}/build", stage.app.origin)).await;
    outside.refused(404, "There is nothing at this path; the API is described at /docs");
}

#[tokio::test]
async fn common_query_parameters() {
    let stage = Stage::set().await;
    let not_yours = Error(403, "orgId names an organization that this caller does not act in");
    let all = KEYS - 10;
    let rows: [Row; 15] = [
        (
            "limit: default 10",
            Who::Key(Admin),
            "GET /api-keys",
            NONE,
            Page(json!({"limit": 10, "offset": 0, "total": KEYS}), 10),
        ),
        (
            "limit: number of items returned",
            Who::Key(Admin),
            "GET /api-keys?limit=3",
            NONE,
            Page(json!({"limit": 3}), 3),
        ),
        (
            "limit: number of items returned",
            Who::Key(Admin),
            "GET /api-keys?limit=100",
            NONE,
            Page(json!({"limit": 100}), KEYS),
        ),
        (
            "limit: integer",
            Who::Key(Admin),
            "GET /api-keys?limit=ten",
            NONE,
            Names(400, "limit"),
        ),
        (
            "limit: integer",
            Who::Key(Admin),
            "GET /api-keys?limit=2.5",
            NONE,
            Names(400, "limit"),
        ),
        (
            "offset: default 0; number of items skipped",
            Who::Key(Admin),
            "GET /api-keys?offset=10",
            NONE,
            Page(json!({"offset": 10}), all),
        ),
        (
            "offset: number of items skipped",
            Who::Key(Admin),
            "GET /api-keys?offset=1000",
            NONE,
            Page(json!({"offset": 1000, "total": KEYS}), 0),
        ),
        (
            "offset: integer",
            Who::Key(Admin),
            "GET /api-keys?offset=x",
            NONE,
            Names(400, "offset"),
        ),
        (
            "orgId: string, default the organization of the API key",
            Who::Key(Admin),
            "GET /api-keys?orgId=",
            NONE,
            Page(json!({"total": KEYS}), 10),
        ),
        (
            "orgId: default the organization of the API key",
            Who::Key(Admin),
            "GET /api-keys?orgId={org}",
            NONE,
            Page(json!({"total": KEYS}), 10),
        ),
        (
            "orgId: overrides the organization context",
            Who::Session,
            "GET /api-keys?orgId={second}",
            NONE,
            Page(json!({"total": 0}), 0),
        ),
        (
            "orgId: overrides the organization context",
            Who::Session,
            "GET /api-keys?orgId={org}",
            NONE,
            Page(json!({"total": KEYS}), 10),
        ),
        (
            "orgId: overrides the organization context",
            Who::Session,
            "GET /api-keys",
            NONE,
            Page(json!({"total": KEYS}), 10),
        ),
        (
            "a key acts only in its organization",
            Who::Key(Admin),
            "GET /api-keys?orgId={second}",
            NONE,
            not_yours.clone(),
        ),
        (
            "a key acts only in its organization",
            Who::Stranger,
            "GET /api-keys?orgId=org_none",
            NONE,
            not_yours,
        ),
    ];
    run(&stage, rows).await;
    let lists = [
        ("/build", Build),
        ("/submit", Submit),
        ("/update", Update),
        ("/env", Admin),
        ("/api-keys", Admin),
        ("/webhooks", Admin),
    ];
    for (path, scope) in lists {
        for (query, limit, offset) in [
            ("limit=100&offset=3", 100, 3),
            ("limit=101", 100, 0),
            ("limit=999999999", 100, 0),
        ] {
            let path = format!("{path}?{query}");
            let answer = stage
                .call(Who::Key(scope), reqwest::Method::GET, &path, NONE)
                .await
                .ok();
            let wanted = (&json!(limit), &json!(offset));
            assert_eq!(
                (&answer["limit"], &answer["offset"]),
                wanted,
                "limit: maximum 100: {path}"
            );
        }
    }
}
