//! The endpoints, and the common query parameters (`docs/reference/conventions.md#lists`).

use launchway_domain::scope::Scope::{Admin, Build, Submit, Update};
use serde_json::json;

use super::Who::{Key, Nobody, Session, Stranger};
use super::data::{Data, KEYS};
use super::{Error, Has, Is, NONE, Names, Page, new_key, run};
use crate::support::NOBODY;

fn first_page() -> super::Gets {
    Page(json!({"limit": 10, "offset": 0, "total": 0}), 0)
}

#[tokio::test]
async fn every_endpoint_is_there() {
    let data = Data::new().await;
    let git = json!({"url": "https://example.com/app.git", "ref": "main"});
    let build = json!({"bundleId": "com.example.new", "platform": "ios", "source": {"git": git}});
    let update = json!({"uploadId": "{upload}", "bundleId": "com.example.new", "platform": "ios", "version": "1.0.0"});
    let rows = rows! {
        "paths are relative to {base_url}, which ends in /api": Key(Build), "GET /build" => first_page();
        "GET /build: List builds (paginated)": Key(Build), "GET /build" => first_page();
        "GET /build?id=: Get one build": Key(Build), "GET /build?id=x" => Error(404, "No build has this id");
        "POST /build: Create a build": Key(Build), "POST /build", json!({}) => Names(400, "missing field `bundleId`");
        "POST /build: Create a build": Key(Build), "POST /build", build
            => Has(201, json!({"status": "queued", "bundleId": "com.example.new"}));
        "DELETE /build?id=: Delete a build": Key(Build), "DELETE /build?id=x" => Error(404, "No build has this id");
        "DELETE /build?id=: Delete a build": Key(Build), "DELETE /build" => Error(400, "id is required");
        "GET /submit: List submissions (paginated)": Key(Submit), "GET /submit" => first_page();
        "GET /submit?id=: Get one submission": Key(Submit), "GET /submit?id=x"
            => Error(404, "No submission has this id");
        "POST /submit: Create a submission":
            Key(Submit), "POST /submit", json!({"uploadId": "x", "destination": "testflight"})
            => Error(404, "No upload has this id");
        "DELETE /submit?id=: Delete a submission": Key(Submit), "DELETE /submit?id=x"
            => Error(404, "No submission has this id");
        "POST /update: Create an OTA update": Key(Update), "POST /update", update
            => Has(201, json!({"status": "published"}));
        "GET /update/check/{bundleId}: Public check": Nobody, "GET /update/check/com.example.app?currentVersion=1.0.0"
            => Has(200, json!({"updateAvailable": true}));
        "GET /env: List environment variables": Key(Admin), "GET /env" => first_page();
        "POST /env: Set an environment variable": Key(Admin), "POST /env", json!({"name": "TOKEN", "value": "x"})
            => Has(201, json!({"status": "active", "name": "TOKEN", "value": null}));
        "DELETE /env?id=: Delete an environment variable": Key(Admin), "DELETE /env?id=x"
            => Error(404, "No environment variable has this id");
        "GET /api-keys: List API keys": Key(Admin), "GET /api-keys" => Page(json!({"total": KEYS}), 10);
        "POST /api-keys: Create an API key": Key(Admin), "POST /api-keys", new_key(&["build", "update"])
            => Has(201, json!({"status": "active", "name": "CI", "scopes": ["build", "update"]}));
        "DELETE /api-keys?id=: Revoke an API key": Key(Admin), "DELETE /api-keys?id={key}"
            => Is(200, json!({"id": "{key}", "status": "revoked"}));
        "GET /webhooks: List webhooks": Key(Admin), "GET /webhooks" => first_page();
        "POST /webhooks: Create a webhook":
            Key(Admin), "POST /webhooks", json!({"name": "CI", "url": "https://example.com/hook", "events": ["*"]})
            => Has(201, json!({"status": "active", "type": "generic", "events": ["*"]}));
        "PUT /webhooks: Update a webhook":
            Key(Admin), "PUT /webhooks", json!({"name": "CI", "url": "https://example.com/hook", "events": ["*"]})
            => Error(400, "id is required");
        "DELETE /webhooks?id=: Delete a webhook": Key(Admin), "DELETE /webhooks?id=x"
            => Error(404, "No webhook has this id");
        "identifier query parameters are strings": Key(Update), "GET /update?id=17"
            => Error(404, "No update has this id");
        "identifier query parameters are strings": Key(Update), "GET /update?id={update}"
            => Has(200, json!({"id": "{update}", "status": "published"}));
        "bodies of type JSON": Key(Update), "POST /update", json!([]) => Names(400, "JSON object");
        "bodies of type JSON": Key(Update), "POST /update", json!("text") => Names(400, "");
        "the tables of endpoints": Key(Build), "GET /builds"
            => Error(404, "There is nothing at this path. The API is described at /docs.");
        "the tables of endpoints": Key(Build), "PUT /build" => Error(405, "This path does not support this method");
    };
    run(&data, rows).await;
    let outside = data.app.get(NOBODY, &format!("{}/build", data.app.origin)).await;
    outside.refused(404, "There is nothing at this path. The API is described at /docs.");
}

#[tokio::test]
async fn common_query_parameters() {
    let data = Data::new().await;
    let not_yours = Error(403, "orgId must be an organization that this caller can act in");
    let all = KEYS - 10;
    let rows = rows! {
        "limit: default 10": Key(Admin), "GET /api-keys" => Page(json!({"limit": 10, "offset": 0, "total": KEYS}), 10);
        "limit: number of items returned": Key(Admin), "GET /api-keys?limit=3" => Page(json!({"limit": 3}), 3);
        "limit: number of items returned": Key(Admin), "GET /api-keys?limit=100" => Page(json!({"limit": 100}), KEYS);
        "limit: integer": Key(Admin), "GET /api-keys?limit=ten" => Names(400, "limit");
        "limit: integer": Key(Admin), "GET /api-keys?limit=2.5" => Names(400, "limit");
        "offset: default 0; number of items skipped": Key(Admin), "GET /api-keys?offset=10"
            => Page(json!({"offset": 10}), all);
        "offset: number of items skipped": Key(Admin), "GET /api-keys?offset=1000"
            => Page(json!({"offset": 1000, "total": KEYS}), 0);
        "offset: integer": Key(Admin), "GET /api-keys?offset=x" => Names(400, "offset");
        "orgId: string, default the organization of the API key": Key(Admin), "GET /api-keys?orgId="
            => Page(json!({"total": KEYS}), 10);
        "orgId: default the organization of the API key": Key(Admin), "GET /api-keys?orgId={org}"
            => Page(json!({"total": KEYS}), 10);
        "orgId: overrides the organization context": Session, "GET /api-keys?orgId={second}"
            => Page(json!({"total": 0}), 0);
        "orgId: overrides the organization context": Session, "GET /api-keys?orgId={org}"
            => Page(json!({"total": KEYS}), 10);
        "orgId: overrides the organization context": Session, "GET /api-keys" => Page(json!({"total": KEYS}), 10);
        "a key acts only in its organization": Key(Admin), "GET /api-keys?orgId={second}" => not_yours.clone();
        "a key acts only in its organization": Stranger, "GET /api-keys?orgId=org_none" => not_yours;
    };
    run(&data, rows).await;
    let lists = [
        ("/build", Build),
        ("/submit", Submit),
        ("/update", Update),
        ("/env", Admin),
        ("/api-keys", Admin),
        ("/webhooks", Admin),
    ];
    for (path, scope) in lists {
        for (query, limit, offset) in
            [("limit=100&offset=3", 100, 3), ("limit=101", 100, 0), ("limit=999999999", 100, 0)]
        {
            let path = format!("{path}?{query}");
            let answer = data.call(Key(scope), reqwest::Method::GET, &path, NONE).await.ok();
            let wanted = (&json!(limit), &json!(offset));
            assert_eq!((&answer["limit"], &answer["offset"]), wanted, "limit: maximum 100: {path}");
        }
    }
}
