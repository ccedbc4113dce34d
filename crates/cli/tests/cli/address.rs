//! Keys go only to an address that the user named. A source is untrusted: anyone who sends a pull request can change
//! its `launchway.toml`.

use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::session::caller;
use crate::stage::{KEY, Stage};

/// A stage with a key in the environment, and a server that the user never named.
async fn attacked() -> (FakeServer, Stage) {
    let evil = FakeServer::start([]).await;
    let mut stage = Stage::new();
    stage.set("LAUNCHWAY_API_KEY", KEY).set("CI", "true");
    (evil, stage)
}

fn naming(server: &FakeServer) -> String {
    format!(
        "[app]\nbundle_id = 'com.example.app'\n[server]\nurl = '{0}'\ndev_url = '{0}'\n",
        server.url()
    )
}

fn refused(text: &str) {
    assert!(
        text.contains("not sending LAUNCHWAY_API_KEY to http://127.0.0.1"),
        "{text}"
    );
    assert!(text.contains("hint: a change to the source"), "{text}");
    assert!(text.contains("set LAUNCHWAY_URL to the server of the key"), "{text}");
    assert!(text.ends_with("--- exit 4\n"), "{text}");
}

#[tokio::test]
async fn a_key_of_the_environment_ignores_a_pull_requests_address() {
    let (evil, stage) = attacked().await;
    stage.file("launchway.toml", naming(&evil)).file("dist/index.html", "x");
    let publish = [
        "update",
        "android",
        "--dir",
        "dist",
        "--version",
        "1.0.0",
        "--configuration",
        "production",
    ];
    for arguments in [
        &["whoami"][..],
        &["api", "GET", "/update"],
        &["whoami", "--dev"],
        &[
            "native-needed",
            "android",
            "--against",
            "update_01kb0000000000000000000001",
        ],
        &publish,
    ] {
        refused(&stage.run(arguments).await);
    }
    assert!(evil.seen().is_empty());
}

#[tokio::test]
async fn nor_where_a_file_says_that_lies_elsewhere_in_the_source() {
    let (evil, mut stage) = attacked().await;
    stage
        .file("apps/mobile/launchway.toml", naming(&evil))
        .file(".git/HEAD", "");
    refused(&stage.run(&["--config", "apps/mobile/launchway.toml", "whoami"]).await);
    stage.file("apps/mobile/deep/index.html", "");
    let below = stage
        .command(&["whoami"])
        .current_dir(stage.project().join("apps/mobile/deep"))
        .output()
        .await
        .expect("the command starts");
    assert_eq!(below.status.code(), Some(4), "{below:?}");
    stage.set("LAUNCHWAY_CONFIG", "apps/mobile/launchway.toml");
    refused(&stage.run(&["whoami"]).await);
    assert!(evil.seen().is_empty());
}

#[tokio::test]
async fn files_that_other_tools_read_name_no_server() {
    let (evil, stage) = attacked().await;
    let lines = format!("LAUNCHWAY_URL={}\n", evil.url());
    stage
        .file(".env", &lines)
        .file(".env.production", &lines)
        .file(
            ".git/config",
            format!("[launchway]\n\turl = {0}\n[http]\n\tproxy = {0}\n", evil.url()),
        )
        .file(".npmrc", format!("proxy={}\n", evil.url()));
    let text = stage.run(&["whoami"]).await;
    assert!(text.contains("no server specified"), "{text}");
    assert!(evil.seen().is_empty());
}

#[tokio::test]
async fn an_address_of_the_environment_wins_over_that_of_the_source() {
    let good = FakeServer::start([Reply::new(200, caller(json!({})).to_string())]).await;
    let evil = FakeServer::start([]).await;
    let stage = Stage::with(&good);
    stage.file("launchway.toml", naming(&evil));
    assert!(stage.run(&["whoami"]).await.ends_with("--- exit 0\n"));
    assert_eq!(good.seen()[0].header("authorization"), format!("Bearer {KEY}"));
    assert!(evil.seen().is_empty());
}

#[tokio::test]
async fn a_redirect_does_not_carry_the_key() {
    let evil = FakeServer::start([]).await;
    for status in [301, 302, 303, 307, 308] {
        let reply = Reply::new(status, "{}").header("location", format!("{}/api/auth/session", evil.url()));
        let good = FakeServer::start([reply]).await;
        let text = Stage::with(&good).run(&["whoami"]).await;
        assert!(!text.ends_with("--- exit 0\n"), "{status}: {text}");
    }
    assert!(evil.seen().is_empty());
}

#[tokio::test]
async fn an_unattended_login_ignores_the_sources_address() {
    let evil = FakeServer::start([]).await;
    let stage = Stage::new();
    stage.file("launchway.toml", naming(&evil));
    for arguments in [
        &["login"][..],
        &["login", "--with-key"],
        &["login", "--browser"],
        &["login", "--dev"],
    ] {
        let text = stage.run_with(arguments, KEY).await;
        assert!(text.contains("only launchway.toml specifies this address"), "{text}");
        assert!(text.ends_with("--- exit 2\n"), "{text}");
    }
    assert!(evil.seen().is_empty());
}
