//! Errors (`docs/reference/conventions.md#errors`). `limits.rs` covers 429; a 500 cannot be provoked from outside.

use launchway_domain::scope::Scope::{Build, Submit, Update};
use serde_json::json;

use super::stage::Stage;
use super::{BAD_KEY, Error, Has, Is, NO_PROOF, NONE, Names, Page, Row, Who, run};

#[tokio::test]
async fn errors_have_their_status_and_message() {
    let stage = Stage::set().await;
    let update = json!({"uploadId": "{upload}", "bundleId": "com.example.new", "platform": "ios", "version": "1.0.0"});
    let none_found = Is(
        200,
        json!({"updateAvailable": false, "message": "No updates found for this bundle"}),
    );
    let rows: [Row; 17] = [
        (
            "no authentication supplied",
            Who::Nobody,
            "GET /build",
            NONE,
            Error(401, NO_PROOF),
        ),
        (
            "API key unknown",
            Who::Shows("Bearer lw_0000000000000000000000000000000000000000000000"),
            "GET /build",
            NONE,
            Error(401, BAD_KEY),
        ),
        ("API key expired", Who::Expired, "GET /build", NONE, Error(401, BAD_KEY)),
        (
            "API key lacks the scope: build",
            Who::Key(Submit),
            "GET /build",
            NONE,
            Error(403, "API key does not have 'build' scope"),
        ),
        (
            "API key lacks the scope: submit",
            Who::Key(Build),
            "GET /submit",
            NONE,
            Error(403, "API key does not have 'submit' scope"),
        ),
        (
            "API key lacks the scope: update",
            Who::Key(Build),
            "POST /update",
            NONE,
            Error(403, "API key does not have 'update' scope"),
        ),
        (
            "OTA check without bundle id",
            Who::Nobody,
            "GET /update/check/?currentVersion=1.0.0",
            NONE,
            Error(400, "Bundle ID is required"),
        ),
        (
            "OTA check without bundle id",
            Who::Nobody,
            "GET /update/check?currentVersion=1.0.0",
            NONE,
            Error(400, "Bundle ID is required"),
        ),
        (
            "OTA check without bundle id",
            Who::Nobody,
            "GET /update/check/%20",
            NONE,
            Error(400, "Bundle ID is required"),
        ),
        (
            "OTA check without currentVersion",
            Who::Nobody,
            "GET /update/check/com.example.app",
            NONE,
            Error(400, "currentVersion is required"),
        ),
        (
            "OTA check without currentVersion",
            Who::Nobody,
            "GET /update/check/com.example.app?currentVersion=",
            NONE,
            Error(400, "currentVersion is required"),
        ),
        (
            "code 200: Success",
            Who::Key(Build),
            "GET /build",
            NONE,
            Page(json!({}), 0),
        ),
        (
            "code 201: Created",
            Who::Key(Update),
            "POST /update",
            update,
            Has(201, json!({"status": "published"})),
        ),
        (
            "code 400: Bad Request",
            Who::Key(Update),
            "POST /update",
            json!({}),
            Names(400, ""),
        ),
        (
            "code 404: Not Found",
            Who::Key(Update),
            "DELETE /update?id=x",
            NONE,
            Error(404, "No update has this id"),
        ),
        (
            "code 404: Not Found",
            Who::Nobody,
            "GET /nothing",
            NONE,
            Error(404, "There is nothing at this path; the API is described at /docs"),
        ),
        (
            "a bundle without updates is HTTP 200, not 404",
            Who::Nobody,
            "GET /update/check/com.example.none?currentVersion=1.0.0",
            NONE,
            none_found,
        ),
    ];
    run(&stage, rows).await;
}
