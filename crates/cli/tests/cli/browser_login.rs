//! `login --browser`: displays a code, waits for its confirmation, and saves the new key.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fake_server::{FakeServer, Reply};
use crate::session::caller;
use crate::stage::{KEY, Stage};

const ID: &str = "login_01kb0000000000000000000001";

fn begun() -> Reply {
    let login = json!({
        "id": ID,
        "status": "pending",
        "deviceCode": "known-to-the-command-alone",
        "userCode": "BCDF-GHJK",
        "verificationUrl": "https://launchway.example.com/device",
        "verificationUrlComplete": "https://launchway.example.com/device?code=BCDF-GHJK",
        "interval": 0,
        "expiresAt": "2026-11-20T10:10:00.000Z",
    });
    Reply::new(201, login.to_string())
}

fn outcome(status: &str, more: Value) -> Reply {
    let mut outcome = json!({"id": ID, "status": status});
    let fields = outcome.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    Reply::new(200, outcome.to_string())
}

async fn server_with(replies: Vec<Reply>) -> (FakeServer, Stage) {
    let server = FakeServer::start(replies).await;
    let mut stage = Stage::new();
    stage.hide(&server);
    (server, stage)
}

#[tokio::test]
async fn waits_for_the_confirmation_and_keeps_the_key() {
    let replies = vec![
        begun(),
        outcome("pending", json!({})),
        outcome("pending", json!({})),
        outcome("approved", json!({"key": KEY})),
        Reply::new(200, caller(json!({})).to_string()),
    ];
    let (server, stage) = server_with(replies).await;
    let arguments = ["login", "--browser", "--scopes", "update", "--url", &server.url()];
    assert_snapshot!(stage.run(&arguments).await);
    let claim = "POST /api/auth/device/key";
    assert_eq!(
        server.lines(),
        ["POST /api/auth/device", claim, claim, claim, "GET /api/auth/session"]
    );
    let seen = server.seen();
    assert_eq!(seen[0].json()["scopes"], json!(["update"]));
    assert!(
        seen[0].json()["name"]
            .as_str()
            .expect("a name")
            .starts_with("launchway")
    );
    assert_eq!(seen[1].json(), json!({"deviceCode": "known-to-the-command-alone"}));
    assert!(seen[..4].iter().all(|seen| seen.header("authorization").is_empty()));
    assert_eq!(seen[4].header("authorization"), format!("Bearer {KEY}"));
    assert!(
        std::fs::read_to_string(stage.login_file())
            .expect("the login")
            .contains(KEY)
    );
}

#[tokio::test]
async fn json_is_who_it_is_and_the_code_is_shown_beside() {
    let replies = vec![
        begun(),
        outcome("approved", json!({"key": KEY})),
        Reply::new(200, caller(json!({})).to_string()),
    ];
    let (server, stage) = server_with(replies).await;
    let url = server.url();
    let output = stage
        .command(&["login", "--browser", "--json", "--quiet", "--url", &url])
        .output()
        .await;
    let output = output.expect("the command starts");
    assert_eq!(output.stdout, format!("{}\n", caller(json!({}))).into_bytes());
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("BCDF-GHJK"), "nothing goes on without the code: {said}");
}

#[tokio::test]
async fn an_admin_asks_for_the_scope_admin_too() {
    for (more, scopes) in [
        (vec![], json!(["build", "submit", "update", "admin"])),
        (vec!["--scopes", "update"], json!(["update", "admin"])),
    ] {
        let replies = vec![
            begun(),
            outcome("approved", json!({"key": KEY})),
            Reply::new(200, caller(json!({})).to_string()),
        ];
        let (server, stage) = server_with(replies).await;
        let url = server.url();
        let arguments = [vec!["login", "--admin", "--url", &url], more].concat();
        let said = stage.run(&arguments).await;
        assert!(said.contains("BCDF-GHJK"), "no prompt for a key: {said}");
        assert_eq!(server.seen()[0].json()["scopes"], scopes);
    }
}

#[tokio::test]
async fn what_ends_it_is_said_and_nothing_is_kept() {
    let used = || {
        Reply::error(
            401,
            "Unauthorized",
            "This login is unknown or already used. Start again.",
        )
    };
    let rows: [Vec<Reply>; 6] = [
        vec![begun(), outcome("denied", json!({}))],
        vec![begun(), outcome("pending", json!({})), outcome("expired", json!({}))],
        vec![begun(), used()],
        vec![begun(), outcome("approved", json!({"key": "no key"}))],
        vec![Reply::error(404, "Not Found", "There is nothing at this path")],
        vec![Reply::error(
            400,
            "Bad Request",
            "name must have 1 to 100 visible characters",
        )],
    ];
    let mut text = String::new();
    for replies in rows {
        let (server, stage) = server_with(replies).await;
        text.push_str(&stage.run(&["login", "--browser", "--url", &server.url()]).await);
        assert!(!stage.login_file().exists());
    }
    let stage = Stage::new();
    text.push_str(&stage.run(&["login", "--browser"]).await);
    text.push_str(&stage.run(&["login", "--browser", "--with-key"]).await);
    text.push_str(&stage.run(&["login", "--admin", "--with-key"]).await);
    assert_snapshot!(text);
}
