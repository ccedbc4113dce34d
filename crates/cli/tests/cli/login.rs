//! `login` and `logout` without a terminal; `terminal.rs` tests them with one.

use insta::assert_snapshot;
use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::session::caller;
use crate::stage::{KEY, Stage};

async fn server_of(environment: &str) -> (FakeServer, Stage) {
    let reply = Reply::new(200, caller(json!({ "environment": environment })).to_string());
    let server = FakeServer::start([reply]).await;
    let mut stage = Stage::new();
    stage.hide(&server);
    (server, stage)
}

#[tokio::test]
async fn a_key_is_checked_and_then_kept() {
    let (server, stage) = server_of("production").await;
    assert_snapshot!(stage.run_with(&["login", "--url", &server.url()], &format!("{KEY}\n")).await, @r#"
    $ launchway login --url http://server
    --- standard output
    Organization  Example Apps (org_01kb0000000000000000000001)
    Tier          enterprise
    You           API key CI (lw_777777777…)
    Scopes        build, update
    Expires       2027-11-01T08:00:00.000Z
    Environment   production
    Server        http://server/api
    Key from      saved login
    --- standard error
    Logged in; the key is saved in [ROOT]/home/.config/launchway/login.toml
    --- exit 0
    "#);
    assert_eq!(server.lines(), ["GET /api/auth/session"]);
    let kept = std::fs::read_to_string(stage.login_file()).expect("the login");
    assert_eq!(
        kept,
        format!("[production]\nurl = \"{}/api\"\nkey = \"{KEY}\"\n", server.url())
    );

    server.then([Reply::new(200, caller(json!({})).to_string())]);
    assert!(stage.run(&["whoami"]).await.contains("saved login"));
    assert_eq!(server.seen()[1].header("authorization"), format!("Bearer {KEY}"));
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_the_login() {
    use std::os::unix::fs::PermissionsExt;
    let (server, stage) = server_of("production").await;
    stage
        .run_with(&["login", "--with-key", "--url", &server.url()], KEY)
        .await;
    let mode = std::fs::metadata(stage.login_file())
        .expect("the login")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_key_that_the_server_refuses_is_not_kept() {
    let server = FakeServer::start([Reply::error(401, "Unauthorized", "Invalid or expired API key")]).await;
    let mut stage = Stage::new();
    stage.hide(&server);
    assert_snapshot!(stage.run_with(&["login", "--url", &server.url()], KEY).await, @r#"
    $ launchway login --url http://server
    --- standard error
    error: Invalid or expired API key
    hint: check that the key belongs to this server and is not revoked
    --- exit 4
    "#);
    assert!(!stage.login_file().exists());
}

#[tokio::test]
async fn what_is_no_key_is_not_sent() {
    let (server, stage) = server_of("production").await;
    let mut text = stage.run_with(&["login", "--url", &server.url()], &KEY[..48]).await;
    text.push_str(&stage.run(&["login", "--url", &server.url()]).await);
    text.push_str(&stage.run_with(&["login"], KEY).await);
    assert_snapshot!(text, @r#"
    $ launchway login --url http://server
    --- standard error
    error: the input is not an API key
    hint: a key is lw_ followed by 46 letters and digits; copy all of it
    --- exit 4
    $ launchway login --url http://server
    --- standard error
    error: no API key given
    hint: pipe the key in: launchway login --url URL < key.txt; or give --browser
    --- exit 2
    $ launchway login
    --- standard error
    error: no server specified
    hint: give --url, or set LAUNCHWAY_URL
    --- exit 2
    "#);
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn the_two_services_have_a_login_each() {
    let (server, stage) = server_of("development").await;
    let mut text = stage.run_with(&["login", "--url", &server.url()], KEY).await;
    assert!(!stage.login_file().exists());
    server.then([Reply::new(
        200,
        caller(json!({ "environment": "development" })).to_string(),
    )]);
    text.push_str(&stage.run_with(&["login", "--dev", "--url", &server.url()], KEY).await);
    text.push_str(&stage.run(&["whoami"]).await);
    text.push_str(&stage.run(&["logout"]).await);
    text.push_str(&stage.run(&["logout", "--dev", "--json"]).await);
    text.push_str(&stage.run(&["whoami", "--dev"]).await);
    assert_snapshot!(text, @r#"
    $ launchway login --url http://server
    --- standard error
    error: http://server/api is the development server, not the production server
    hint: log in with --dev, and give --dev to later commands as well
    --- exit 2
    $ launchway login --dev --url http://server
    --- standard output
    Organization  Example Apps (org_01kb0000000000000000000001)
    Tier          enterprise
    You           API key CI (lw_777777777…)
    Scopes        build, update
    Expires       2027-11-01T08:00:00.000Z
    Environment   development
    Server        http://server/api
    Key from      saved login
    --- standard error
    Logged in; the key is saved in [ROOT]/home/.config/launchway/login.toml
    --- exit 0
    $ launchway whoami
    --- standard error
    error: not logged in to production
    hint: run `launchway login`, or set LAUNCHWAY_URL and LAUNCHWAY_API_KEY
    --- exit 4
    $ launchway logout
    --- standard output
    Not logged in to production
    --- exit 0
    $ launchway logout --dev --json
    --- standard output
    {"environment":"development","loggedOut":true}
    --- standard error
    The key itself stays valid until it is revoked
    --- exit 0
    $ launchway whoami --dev
    --- standard error
    error: not logged in to development
    hint: run `launchway login --dev`, or set LAUNCHWAY_URL and LAUNCHWAY_API_KEY
    --- exit 4
    "#);
}

#[tokio::test]
async fn the_saved_key_goes_to_no_other_server() {
    let (server, stage) = server_of("production").await;
    stage.run_with(&["login", "--url", &server.url()], KEY).await;
    let other = FakeServer::start([]).await;
    stage.file("launchway.toml", format!("[server]\nurl = '{}'\n", other.url()));
    let text = stage.run(&["whoami"]).await.replace(&other.url(), "http://other");
    assert_snapshot!(text, @r#"
    $ launchway whoami
    --- standard error
    error: not logged in to http://other/api (launchway.toml); the saved login is for http://server/api
    hint: run `launchway login --url http://other/api`, or set LAUNCHWAY_URL and LAUNCHWAY_API_KEY
    --- exit 4
    "#);
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn says_when_the_login_will_not_count() {
    let (server, mut stage) = server_of("production").await;
    stage.set("LAUNCHWAY_API_KEY", KEY);
    let text = stage.run_with(&["login", "--quiet", "--url", &server.url()], KEY).await;
    assert!(
        text.contains("warning: LAUNCHWAY_API_KEY is set and overrides this login\n"),
        "{text}"
    );
}
