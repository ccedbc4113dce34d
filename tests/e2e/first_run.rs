//! A new server prints a one-time link and equivalent commands; both work as printed
//! (`docs/reference/operation.md#first-start`).

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerProcess;
use launchway_testing::settings::setting;
use launchway_testing::wait::until;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::cli::program;
use crate::deployment::{Deployment, Ground};

const PASSWORD: &str = "correct horse battery";

/// The output after the ready line, once it contains `last`.
pub async fn printed(server: &ServerProcess, last: &str) -> String {
    let all = async || Some(server.stdout()).filter(|text| text.contains(last));
    until(Duration::from_secs(10), last, all).await.0
}

/// The one-time link printed by a new server.
async fn printed_link(server: &ServerProcess) -> String {
    let text = printed(server, "create-key").await;
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.contains("/setup?token=")).unwrap().to_owned()
}

fn owner(link: &str) -> Value {
    let token = link.split_once("token=").unwrap().1;
    json!({"token": token, "organization": "First", "email": "ada@example.com", "password": PASSWORD})
}

/// Sets up a new server with its link; returns the key that the first owner creates.
pub async fn set_up(server: &ServerProcess) -> String {
    let nobody = Api::new(server, "");
    let made = nobody.post("/auth/setup", owner(&printed_link(server).await)).await;
    let caller = made.ok();
    assert_eq!(caller["kind"], "session");
    assert_eq!(caller["organization"]["name"], "First");
    let cookie = made.header("set-cookie").split(';').next().unwrap();
    let request = nobody.request(Method::POST, "/api-keys").header("cookie", cookie);
    let request = request
        .header("origin", server.origin())
        .json(&json!({"name": "first", "scopes": ["update"]}));
    let key: Value = request.send().await.unwrap().json().await.unwrap();
    key.text("key").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_link_works_once() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let link = printed_link(deployment.node()).await;
    let nobody = Api::new(deployment.node(), "");
    let page = nobody.get(&link).await;
    assert_eq!(
        (page.status.as_u16(), page.header("content-type")),
        (200, "text/html; charset=utf-8")
    );
    let key = set_up(deployment.node()).await;
    Api::new(deployment.node(), &key).get("/update").await.ok();
    nobody.post("/auth/setup", owner(&link)).await.refusal(401);

    // No other user of the machine can read the files.
    let data = deployment.node().data_dir();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&data.join("master.key"))), (0o700, 0o600));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_commands_do_the_same() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let text = printed(deployment.node(), "create-key").await;
    let commands: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("launchway-server admin"))
        .collect();
    assert_eq!(commands.len(), 3, "{text}");
    let programs = program("launchway-server").parent().unwrap().to_owned();
    let path = format!("{}:{}", programs.display(), setting("PATH").unwrap_or_default());
    let mut org = String::new();
    let mut last = String::new();
    for line in commands {
        // Pasted with the same settings; the output of the first one replaces its placeholder.
        let settings = deployment.node().command();
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", &line.replace("ORG_ID", &org)])
            .current_dir(deployment.node().root())
            .env_clear();
        shell.envs(settings.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell
            .env("PATH", &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        // Only the command that prompts for a password reads it.
        let _ = child.stdin.take().unwrap().write_all(PASSWORD.as_bytes());
        let output = child.wait_with_output().unwrap();
        last = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{line}: {last}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        if org.is_empty() {
            org = last
                .split_whitespace()
                .find(|word| word.starts_with("org_"))
                .unwrap()
                .to_owned();
        }
    }
    let key = last.split_whitespace().find(|word| word.starts_with("lw_")).unwrap();
    let caller = Api::new(deployment.node(), key).get("/auth/session").await.ok();
    assert_eq!(
        (&caller["organization"]["id"], &caller["organization"]["name"]),
        (&json!(org), &json!("My team"))
    );
    let sign_in = json!({"email": "you@example.com", "password": PASSWORD});
    Api::new(deployment.node(), "")
        .post("/auth/sign-in", sign_in)
        .await
        .ok();
}

#[test]
fn a_start_that_fails_leaves_no_data_folder() {
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = busy.local_addr().unwrap().to_string();
    let root = tempfile::tempdir().unwrap();
    let fails = |data: &str, arguments: &[&str]| {
        let output = Command::new(program("launchway-server"))
            .args(["--no-runner", "--data-dir", data])
            .args(arguments)
            .current_dir(root.path())
            .env_clear()
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let any = ["--listen", "127.0.0.1:0"];
    let rows = [
        (vec!["--listen", &taken], "Address already in use"),
        ([&any[..], &["--metrics-listen", &taken]].concat(), "--metrics-listen"),
        ([&any[..], &["--master-key-file", "/proc/key"]].concat(), "/proc/key"),
        (
            [&any[..], &["--storage-url", "file:///proc/objects"]].concat(),
            "--storage-url",
        ),
        (
            [&any[..], &["--database-url", "sqlite:/proc/launchway.db"]].concat(),
            "--database-url",
        ),
        (
            [&any[..], &["--database-url", "sqlite:garbage.db"]].concat(),
            "--database-url",
        ),
        (
            [&any[..], &["--database-url", "nothing://x"]].concat(),
            "--database-url",
        ),
    ];
    std::fs::write(root.path().join("garbage.db"), [7; 4096]).unwrap();
    for (arguments, problem) in rows {
        // The second time with directories above it that are missing, too.
        for data in ["data", "new/deep/data"] {
            let said = fails(data, &arguments);
            assert!(said.contains(problem), "{said}");
            let left: Vec<_> = root
                .path()
                .read_dir()
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert_eq!(left, ["garbage.db"], "{data} {arguments:?}");
        }
    }
    // A folder that was there before stays.
    std::fs::create_dir(root.path().join("data")).unwrap();
    std::fs::write(root.path().join("data/notes"), "mine").unwrap();
    fails("data", &["--listen", "127.0.0.1:0", "--master-key-file", "/proc/key"]);
    assert!(root.path().join("data/notes").exists());
}

/// The key seals what is in the database, which is not in the folder.
#[test]
fn a_key_for_a_database_elsewhere_outlives_a_failed_start() {
    let root = tempfile::tempdir().unwrap();
    let output = Command::new(program("launchway-server"))
        .args(["--no-runner", "--listen", "127.0.0.1:0", "--data-dir", "data"])
        .args([
            "--database-url",
            "sqlite:elsewhere.db",
            "--storage-url",
            "file:///proc/objects",
        ])
        .current_dir(root.path())
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(root.path().join("data/master.key").exists());
}
