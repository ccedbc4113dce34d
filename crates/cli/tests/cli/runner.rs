//! `runner`: how a machine enrolls, works and stops, and the commands that administer runners.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page};

const ID: &str = "runner_01kb0000000000000000000001";

fn enrolled() -> Reply {
    Reply::new(
        201,
        json!({"id": ID, "status": "active", "token": "lwr_own"}).to_string(),
    )
}

/// A stage for a runner without a token, with this server.
fn place(server: &FakeServer) -> (Stage, PathBuf) {
    let mut stage = Stage::new();
    stage.hide(server);
    // Where the tests run as root, builds have their own users, who traverse this directory.
    let root = stage.project().parent().expect("a directory").to_owned();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o711)).expect("it is ours");
    fs::set_permissions(stage.project(), fs::Permissions::from_mode(0o711)).expect("it is ours");
    let work = stage.project().join("work");
    (stage, work)
}

fn signal(child: &Child, signal: Signal) {
    let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    kill_process(id.expect("it runs"), signal).expect("it is ours");
}

#[tokio::test]
async fn enrols_once_works_and_ends_when_it_is_told() {
    let server = FakeServer::start([enrolled(), Reply::silence(), Reply::silence()]).await;
    let (mut stage, work) = place(&server);
    stage.set("LAUNCHWAY_RUNNER_TOKEN", "lwe_once");
    let url = server.url();
    let named = [
        "runner",
        "--work-dir",
        "work",
        "--url",
        &url,
        "--name",
        "box",
        "--label",
        "gpu=yes",
        "--slots",
        "1",
    ];
    let first = stage.command(&named).spawn().expect("it starts");
    server.arrival().await;
    while server.seen().len() < 2 {
        server.arrival().await;
    }
    signal(&first, Signal::TERM);
    let output = first.wait_with_output().await.expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(output.stdout.is_empty());
    assert!(
        said.starts_with(&format!("Enrolled as box ({ID}) with {url}/api\n")),
        "{said}"
    );
    assert!(!said.contains("lwe_once") && !said.contains("lwr_own"), "{said}");
    let seen = server.seen();
    assert_eq!(server.lines(), ["POST /api/runner/enrol", "POST /api/runner/lease"]);
    assert_eq!(seen[0].header("authorization"), "Bearer lwe_once");
    let wanted = seen[0].json();
    assert_eq!((&wanted["name"], &wanted["slots"]), (&json!("box"), &json!(1)));
    let labels = wanted["labels"].as_array().expect("labels");
    assert!(labels.contains(&json!("gpu=yes")) && labels.contains(&json!(format!("os={}", std::env::consts::OS))));
    assert_eq!(seen[1].header("authorization"), "Bearer lwr_own");
    let mode = fs::metadata(work.join("token"))
        .expect("it is kept")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    // The second start needs neither token nor address; the used token does no harm.
    let again = stage
        .command(&["runner", "--work-dir", "work"])
        .spawn()
        .expect("it starts");
    while server.seen().len() < 3 {
        server.arrival().await;
    }
    signal(&again, Signal::INT);
    assert_eq!(again.wait_with_output().await.expect("it ends").status.code(), Some(0));
    assert_eq!(server.seen()[2].header("authorization"), "Bearer lwr_own");

    // No other server receives the token.
    assert_snapshot!(stage.run(&["runner", "--work-dir", "work", "--url", "https://other.example"]).await, @r#"
    $ launchway runner --work-dir work --url https://other.example
    --- standard error
    error: the runner in [ROOT]/project/work is enrolled with http://server/api, not with https://other.example/api
    hint: give another --work-dir for a runner of another server
    --- exit 2
    "#);
}

#[tokio::test]
async fn a_token_that_is_piped_in() {
    let server = FakeServer::start([Reply::error(401, "Unauthorized", "Invalid or expired runner token")]).await;
    let (stage, _) = place(&server);
    let shown = stage
        .run_with(&["runner", "--work-dir", "work", "--url", &server.url()], "lwe_old\n")
        .await;
    assert_snapshot!(shown, @r#"
    $ launchway runner --work-dir work --url http://server
    --- standard error
    error: Invalid or expired runner token
    hint: a runner token works once, for an hour; `launchway runner token` creates another
    --- exit 4
    "#);
    assert_eq!(server.seen()[0].header("authorization"), "Bearer lwe_old");
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_said_before_the_token_is_used() {
    let server = FakeServer::start([]).await;
    let (stage, _) = place(&server);
    stage
        .file("taken", "")
        .file("project/launchway.toml", "[server]\nurl = 'https://anybody.example'\n");
    let url = server.url();
    let mut text = stage.run(&["runner", "--work-dir", "work"]).await;
    let rows: [&[&str]; 6] = [
        &["--config", "project/launchway.toml"],
        &["--url", &url],
        &["--url", &url, "--work-dir", "taken"],
        &["--label", "fast"],
        &["--slots", "65"],
        &["--name", "box", "list"],
    ];
    for arguments in rows {
        text.push_str(&stage.run(&[&["runner"], arguments].concat()).await);
    }
    assert_snapshot!(text, @r#"
    $ launchway runner --work-dir work
    --- standard error
    error: the runner is not enrolled, and no server specified
    hint: give --url, or set LAUNCHWAY_URL
    --- exit 2
    $ launchway runner --config project/launchway.toml
    --- standard error
    error: the runner is not enrolled, and no server specified
    hint: give --url, or set LAUNCHWAY_URL
    --- exit 2
    $ launchway runner --url http://server
    --- standard error
    error: the runner is not enrolled, and no token given
    hint: set LAUNCHWAY_RUNNER_TOKEN, or pipe the token in; `launchway runner token` creates one
    --- exit 2
    $ launchway runner --url http://server --work-dir taken
    --- standard error
    error: cannot use the work directory [ROOT]/project/taken: File exists (os error 17)
    hint: give another with --work-dir
    --- exit 1
    $ launchway runner --label fast
    --- standard error
    error: invalid value 'fast' for '--label <NAME=VALUE>': must be name=value, such as xcode=26

    For more information, try '--help'.
    --- exit 2
    $ launchway runner --slots 65
    --- standard error
    error: invalid value '65' for '--slots <NUMBER>': 65 is not in 1..=64

    For more information, try '--help'.
    --- exit 2
    $ launchway runner --name box list
    --- standard error
    error: work as a runner or use one of the commands on runners, not both

    Usage: launchway runner [OPTIONS]
           launchway runner <COMMAND>

    For more information, try '--help'.
    --- exit 2
    "#);
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_revoked_runner_ends() {
    let refused = Reply::error(401, "Unauthorized", "Invalid or revoked runner token");
    let server = FakeServer::start([enrolled(), refused]).await;
    let (stage, _) = place(&server);
    let arguments = [
        "runner",
        "--work-dir",
        "work",
        "--url",
        &server.url(),
        "--name",
        "box",
        "--quiet",
    ];
    let shown = stage.run_with(&arguments, "lwe_once").await;
    let end: Vec<_> = shown.lines().filter(|line| !line.contains("WARN")).skip(1).collect();
    assert_snapshot!(end.join("\n"), @r#"
    --- standard error
    error: the server refuses this runner: Invalid or revoked runner token
    hint: it may have been revoked: delete [ROOT]/project/work/token and enroll again with a new token
    --- exit 4
    "#);
}

#[tokio::test]
async fn what_it_tells_can_be_json() {
    let server = FakeServer::start([enrolled(), Reply::silence()]).await;
    let (mut stage, _) = place(&server);
    stage.set("LAUNCHWAY_RUNNER_TOKEN", "lwe_once");
    let arguments = [
        "runner",
        "--work-dir",
        "work",
        "--url",
        &server.url(),
        "--name",
        "box",
        "--json",
        "--slots",
        "1",
    ];
    let mut child = stage.command(&arguments).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let told = loop {
        let line = lines.next_line().await.expect("UTF-8").expect("it says that it works");
        if let Ok(told) = serde_json::from_str::<serde_json::Value>(&line)
            && told["message"] == "the runner is working"
        {
            break told;
        }
    };
    assert_eq!((&told["id"], &told["slots"]), (&json!(ID), &json!(1)));
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().await.expect("it ends").code(), Some(0));
}

/// A runner in the form of the API.
pub fn runner() -> Value {
    json!({"id": ID, "status": "online", "name": "box", "labels": ["os=linux", "java=21"], "slots": 2,
        "version": "0.1.0", "shared": false, "createdBy": "user_1", "createdAt": "2026-11-20T09:00:00.000Z",
        "lastSeenAt": "2026-11-20T10:00:00.000Z"})
}

#[tokio::test]
async fn list_revoke_and_token() {
    let token = json!({"token": "lwe_once", "expiresAt": "2026-11-20T11:00:00.000Z"});
    let server = FakeServer::start([
        Reply::new(200, page(&[runner()], 1, 0)),
        Reply::new(200, json!({"id": ID, "status": "revoked"}).to_string()),
        Reply::new(201, token.to_string()),
    ])
    .await;
    let stage = Stage::with(&server);
    let mut text = stage.run(&["runner", "list"]).await;
    text.push_str(&stage.run(&["runner", "revoke", ID]).await);
    text.push_str(&stage.run(&["runner", "revoke", ID, "--yes"]).await);
    text.push_str(&stage.run(&["runner", "token"]).await);
    assert_snapshot!(text, @r#"
    $ launchway runner list
    --- standard output
    ID                                 STATUS  NAME  LABELS            SLOTS  FOR           VERSION  LAST SEEN
    runner_01kb0000000000000000000001  online  box   os=linux java=21  2      organization  0.1.0    2026-11-20 10:00
    --- standard error
    1 runner
    --- exit 0
    $ launchway runner revoke runner_01kb0000000000000000000001
    --- standard error
    error: no terminal to prompt on
    hint: give --yes
    --- exit 2
    $ launchway runner revoke runner_01kb0000000000000000000001 --yes
    --- standard output
    runner_01kb0000000000000000000001 is revoked.
    --- exit 0
    $ launchway runner token
    --- standard output
    lwe_once
    --- standard error
    It enrolls one runner and is valid until 2026-11-20T11:00:00.000Z. On the runner's machine:
      LAUNCHWAY_RUNNER_TOKEN={the token} launchway runner --url http://server
    --- exit 0
    "#);
    assert_eq!(
        server.lines(),
        [
            "GET /api/runners?limit=10&offset=0".to_owned(),
            format!("DELETE /api/runners?id={ID}"),
            "POST /api/runners/tokens".to_owned()
        ]
    );
}
