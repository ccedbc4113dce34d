//! Errors (`docs/reference/conventions.md#errors`). `limits.rs` covers 429; a 500 cannot be provoked from outside.

use launchway_domain::scope::Scope::{Build, Submit, Update};
use serde_json::json;

use super::Who::{Expired, Key, Nobody, Shows};
use super::data::Data;
use super::{BAD_KEY, Error, Has, Is, NO_PROOF, Names, Page, run};

#[tokio::test]
async fn errors_have_their_status_and_message() {
    let data = Data::new().await;
    let update = json!({"uploadId": "{upload}", "bundleId": "com.example.new", "platform": "ios", "version": "1.0.0"});
    let none_found = Is(200, json!({"updateAvailable": false, "message": "No updates found for this bundle"}));
    let rows = rows! {
        "no authentication supplied": Nobody, "GET /build" => Error(401, NO_PROOF);
        "API key unknown": Shows("Bearer lw_0000000000000000000000000000000000000000000000"), "GET /build"
            => Error(401, BAD_KEY);
        "API key expired": Expired, "GET /build" => Error(401, BAD_KEY);
        "API key lacks the scope: build": Key(Submit), "GET /build"
            => Error(403, "API key does not have 'build' scope");
        "API key lacks the scope: submit": Key(Build), "GET /submit"
            => Error(403, "API key does not have 'submit' scope");
        "API key lacks the scope: update": Key(Build), "POST /update"
            => Error(403, "API key does not have 'update' scope");
        "OTA check without bundle id": Nobody, "GET /update/check/?currentVersion=1.0.0"
            => Error(400, "Bundle ID is required");
        "OTA check without bundle id": Nobody, "GET /update/check?currentVersion=1.0.0"
            => Error(400, "Bundle ID is required");
        "OTA check without bundle id": Nobody, "GET /update/check/%20" => Error(400, "Bundle ID is required");
        "OTA check without currentVersion": Nobody, "GET /update/check/com.example.app"
            => Error(400, "currentVersion is required");
        "OTA check without currentVersion": Nobody, "GET /update/check/com.example.app?currentVersion="
            => Error(400, "currentVersion is required");
        "code 200: Success": Key(Build), "GET /build" => Page(json!({}), 0);
        "code 201: Created": Key(Update), "POST /update", update => Has(201, json!({"status": "published"}));
        "code 400: Bad Request": Key(Update), "POST /update", json!({}) => Names(400, "");
        "code 404: Not Found": Key(Update), "DELETE /update?id=x" => Error(404, "No update has this id");
        "code 404: Not Found": Nobody, "GET /nothing"
            => Error(404, "There is nothing at this path. The API is described at /docs.");
        "a bundle without updates is HTTP 200, not 404":
            Nobody, "GET /update/check/com.example.none?currentVersion=1.0.0"
            => none_found;
    };
    run(&data, rows).await;
}
