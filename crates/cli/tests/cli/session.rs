//! `whoami`, and the output of every command that cannot reach the server.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::stage::Stage;

/// A caller in the form of the API, with these fields replaced.
pub fn caller(changed: Value) -> Value {
    let organization = json!({
        "id": "org_01kb0000000000000000000001",
        "status": "active",
        "name": "Example Apps",
        "tier": "enterprise",
        "role": null,
        "createdAt": "2026-11-01T08:00:00.000Z",
    });
    let mut caller = json!({
        "id": "key_01kb0000000000000000000001",
        "status": "active",
        "kind": "apiKey",
        "environment": "production",
        "user": null,
        "key": {
            "id": "key_01kb0000000000000000000001",
            "status": "active",
            "name": "CI",
            "prefix": "lw_777777777",
            "scopes": ["build", "update"],
            "createdAt": "2026-11-01T08:00:00.000Z",
            "createdBy": "operator",
            "lastUsedAt": null,
            "expiresAt": "2027-11-01T08:00:00.000Z",
        },
        "organization": organization,
        "organizations": [organization],
    });
    caller
        .as_object_mut()
        .expect("an object")
        .extend(changed.as_object().expect("an object").clone());
    caller
}

#[tokio::test]
async fn whoami() {
    let server = FakeServer::start([Reply::new(200, caller(json!({})).to_string())]).await;
    assert_snapshot!(Stage::with(&server).run(&["whoami"]).await, @r#"
    $ launchway whoami
    --- standard output
    Organization  Example Apps (org_01kb0000000000000000000001)
    Tier          enterprise
    You           API key CI (lw_777777777…)
    Scopes        build, update
    Expires       2027-11-01T08:00:00.000Z
    Environment   production
    Server        http://server/api
    Key from      LAUNCHWAY_API_KEY
    --- exit 0
    "#);
}

#[tokio::test]
async fn json_is_what_the_server_wrote() {
    let written = caller(json!({ "newerThanThisClient": true }));
    let server = FakeServer::start([Reply::new(200, written.to_string())]).await;
    assert_eq!(Stage::with(&server).json(&["whoami", "--json"]).await, written);
}

#[tokio::test]
async fn the_organization_is_named_in_each_call() {
    let server = FakeServer::start((0..2).map(|_| Reply::new(200, caller(json!({})).to_string()))).await;
    let mut stage = Stage::with(&server);
    stage.set("LAUNCHWAY_ORG", "org_variable").run(&["whoami"]).await;
    stage.run(&["--org", "org_flag", "whoami"]).await;
    assert_eq!(
        server.lines(),
        [
            "GET /api/auth/session?orgId=org_variable",
            "GET /api/auth/session?orgId=org_flag"
        ]
    );
}

#[tokio::test]
async fn without_server_or_key() {
    let mut stage = Stage::new();
    let mut text = stage.run(&["whoami"]).await;
    text.push_str(&stage.run(&["--url", "https://launchway.example", "whoami"]).await);
    stage
        .set("LAUNCHWAY_API_KEY", "lw_mistyped")
        .set("LAUNCHWAY_URL", "https://launchway.example");
    text.push_str(&stage.run(&["whoami"]).await);
    stage.set("LAUNCHWAY_URL", "launchway.example");
    text.push_str(&stage.run(&["whoami"]).await);
    assert_snapshot!(text, @r#"
    $ launchway whoami
    --- standard error
    error: not logged in to production
    hint: run `launchway login`, or set LAUNCHWAY_URL and LAUNCHWAY_API_KEY
    --- exit 4
    $ launchway --url https://launchway.example whoami
    --- standard error
    error: not logged in to https://launchway.example/api
    hint: run `launchway login`, or set LAUNCHWAY_API_KEY
    --- exit 4
    $ launchway whoami
    --- standard error
    error: LAUNCHWAY_API_KEY is not an API key
    hint: a key is lw_ followed by 46 letters and digits; copy all of it
    --- exit 4
    $ launchway whoami
    --- standard error
    error: the address in LAUNCHWAY_URL: must start with https:// or http://
    --- exit 2
    "#);
}

#[tokio::test]
async fn a_project_file_that_is_wrong() {
    let mut stage = Stage::new();
    stage.file("launchway.toml", "[update]\nconfigurtion = 'production'\n");
    let mut text = stage.run(&["whoami"]).await;
    text.push_str(&stage.run(&["--config", "other.toml", "whoami"]).await);
    stage.set("LAUNCHWAY_CONFIG", "third.toml");
    text.push_str(&stage.run(&["whoami"]).await);
    assert_snapshot!(text, @r#"
    $ launchway whoami
    --- standard error
    error: launchway.toml, line 2: unknown key `configurtion`; did you mean `configuration`?
    --- exit 2
    $ launchway --config other.toml whoami
    --- standard error
    error: other.toml does not exist
    --- exit 2
    $ launchway whoami
    --- standard error
    error: third.toml does not exist
    --- exit 2
    "#);
}

#[tokio::test]
async fn a_server_that_refuses_or_fails() {
    let replies = [
        Reply::error(401, "Unauthorized", "Invalid or expired API key"),
        Reply::error(403, "Forbidden", "API key does not have 'update' scope"),
        Reply::error(429, "Rate Limited", "Too many requests").header("retry-after", "40"),
        Reply::error(500, "Internal Error", "Something went wrong"),
        Reply::error(503, "Service Unavailable", "The database does not answer").header("retry-after", "40"),
        Reply::new(502, "<html>Bad Gateway</html>").header("retry-after", "40"),
        Reply::new(200, "<html>Welcome</html>"),
        Reply::new(308, "").header("location", "https://launchway.example/api/auth/session"),
    ];
    let server = FakeServer::start(replies).await;
    let stage = Stage::with(&server);
    let mut text = String::new();
    for _ in 0..8 {
        text.push_str(&stage.run(&["whoami"]).await);
    }
    assert_snapshot!(text, @r#"
    $ launchway whoami
    --- standard error
    error: Invalid or expired API key
    hint: run `launchway login`, or set LAUNCHWAY_API_KEY to a valid key
    --- exit 4
    $ launchway whoami
    --- standard error
    error: API key does not have 'update' scope
    hint: `launchway whoami` shows the scopes of the key
    --- exit 4
    $ launchway whoami
    --- standard error
    error: Too many requests
    hint: wait a minute, or ask the operator for a higher tier
    --- exit 6
    $ launchway whoami
    --- standard error
    error: Something went wrong
    hint: see the server's log (request req-1)
    --- exit 6
    $ launchway whoami
    --- standard error
    error: The database does not answer
    hint: see the server's log (request req-1)
    --- exit 6
    $ launchway whoami
    --- standard error
    error: http://server responded with status 502: the response is not in the API's format
    hint: check that the address is that of a Launchway server (request req-1)
    --- exit 6
    $ launchway whoami
    --- standard error
    error: http://server responded with status 200: expected value at line 1 column 1
    hint: check that the address is that of a Launchway server (request req-1)
    --- exit 6
    $ launchway whoami
    --- standard error
    error: http://server redirects to https://launchway.example/api/auth/session
    hint: if you trust it, give --url https://launchway.example
    --- exit 6
    "#);
    assert_eq!(server.seen().len(), 8, "none of these is worth another try in time");
}

#[tokio::test]
async fn another_try_after_the_rate_limit() {
    let limited = Reply::error(429, "Rate Limited", "Too many requests").header("retry-after", "1");
    let server = FakeServer::start([limited, Reply::new(200, caller(json!({})).to_string())]).await;
    let text = Stage::with(&server).run(&["whoami"]).await;
    let note = "--- standard error\nRetrying in 1 s: the rate limit of the organization is reached\n--- exit 0\n";
    assert!(text.ends_with(note), "{text}");
}
