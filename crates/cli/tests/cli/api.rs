//! `api`: the body passes through unchanged, and the exit code reflects the status.

use insta::assert_snapshot;
use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::stage::Stage;

#[tokio::test]
async fn prints_the_body_as_it_is() {
    let server = FakeServer::start([Reply::new(200, "{\"b\":1,\n \"a\":2}"), Reply::new(200, "line\n")]).await;
    let stage = Stage::with(&server);
    assert_snapshot!(stage.run(&["api", "get", "/update?limit=1"]).await + &stage.run(&["api", "GET", "x"]).await, @r#"
    $ launchway api get /update?limit=1
    --- standard output
    {"b":1,
     "a":2}
    --- exit 0
    $ launchway api GET x
    --- standard output
    line
    --- exit 0
    "#);
    assert_eq!(server.lines(), ["GET /api/update?limit=1", "GET /api/x"]);
}

#[tokio::test]
async fn sends_json_from_argument_file_and_input() {
    let server = FakeServer::start((0..3).map(|_| Reply::new(200, ""))).await;
    let stage = Stage::with(&server);
    stage.file("body.json", r#"{"from": "file"}"#);
    stage
        .run(&["api", "PATCH", "/update?id=1", "-d", r#"{"from": "argument"}"#])
        .await;
    stage.run(&["api", "POST", "/api-keys", "--data", "@body.json"]).await;
    stage
        .run_with(&["api", "PUT", "/webhooks", "-d", "-"], r#"{"from": "input"}"#)
        .await;
    let sent: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| (seen.line.clone(), seen.json()["from"].clone()))
        .collect();
    let expected = [
        ("PATCH /api/update?id=1", "argument"),
        ("POST /api/api-keys", "file"),
        ("PUT /api/webhooks", "input"),
    ];
    assert_eq!(sent, expected.map(|(line, from)| (line.to_owned(), json!(from))));
    assert_eq!(server.seen()[1].header("idempotency-key").len(), 32);
}

#[tokio::test]
async fn an_error_is_printed_and_told_by_the_exit_code() {
    let replies = [
        Reply::error(404, "Not Found", "No such update"),
        Reply::error(400, "Bad Request", "id is required"),
        Reply::new(500, "oops"),
    ];
    let server = FakeServer::start(replies).await;
    let stage = Stage::with(&server);
    let mut text = String::new();
    for _ in 0..3 {
        text.push_str(&stage.run(&["api", "DELETE", "/update?id=1"]).await);
    }
    assert_snapshot!(text, @r#"
    $ launchway api DELETE /update?id=1
    --- standard output
    {"error":"Not Found","message":"No such update"}
    --- standard error
    error: No such update
    --- exit 3
    $ launchway api DELETE /update?id=1
    --- standard output
    {"error":"Bad Request","message":"id is required"}
    --- standard error
    error: id is required
    --- exit 1
    $ launchway api DELETE /update?id=1
    --- standard output
    oops
    --- standard error
    error: http://server responded with status 500: the response is not in the API's format
    hint: check that the address is that of a Launchway server (request req-1)
    --- exit 6
    "#);
}

#[tokio::test]
async fn what_cannot_be_sent_is_told_before() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    let rows: [&[&str]; 4] = [
        &["api", "POST", "/apps", "-d", "{bundleId"],
        &["api", "POST", "/apps", "-d", "@gone.json"],
        &["api", "GET", "https://other.example/api/apps"],
        &["api", "FETCH", "/apps"],
    ];
    let mut text = String::new();
    for arguments in rows {
        text.push_str(&stage.run(arguments).await);
    }
    assert_snapshot!(text, @r#"
    $ launchway api POST /apps -d {bundleId
    --- standard error
    error: the data is not JSON: key must be a string at line 1 column 2
    --- exit 2
    $ launchway api POST /apps -d @gone.json
    --- standard error
    error: cannot read gone.json: No such file or directory (os error 2)
    --- exit 2
    $ launchway api GET https://other.example/api/apps
    --- standard error
    error: PATH is only the part of the address under /api
    hint: give the server with --url
    --- exit 2
    $ launchway api FETCH /apps
    --- standard error
    error: invalid value 'FETCH' for '<METHOD>'
      [possible values: GET, POST, PUT, PATCH, DELETE, HEAD]

      tip: a similar value exists: 'PATCH'

    For more information, try '--help'.
    --- exit 2
    "#);
    assert!(server.seen().is_empty());
}
