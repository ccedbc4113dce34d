//! What an interruption leaves: exit code 130 and nothing else.
#![cfg(unix)]

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;

use crate::fake_server::{FakeServer, Reply};
use crate::stage::Stage;

/// Sends SIGINT, as Ctrl-C does.
pub fn interrupt(child: &Child) {
    let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    kill_process(id.expect("it runs"), Signal::INT).expect("it is ours");
}

#[tokio::test]
async fn a_command_that_waits_for_the_server_ends_with_130() {
    let server = FakeServer::start([Reply::silence()]).await;
    let stage = Stage::with(&server);
    let child = stage.command(&["whoami"]).spawn().expect("the command starts");
    server.arrival().await;
    interrupt(&child);
    let output = child.wait_with_output().await.expect("the command ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "\ninterrupted\n");
    assert!(output.stdout.is_empty());
}

#[tokio::test]
async fn an_interrupted_upload_leaves_no_file_behind() {
    let server = FakeServer::start([Reply::silence()]).await;
    let stage = Stage::with(&server);
    stage.file("dist/index.html", "<p>hello</p>");
    let arguments = [
        "update",
        "ios",
        "--dir",
        "dist",
        "--bundle-id",
        "com.example.app",
        "--version",
        "1.0.0",
    ];
    let mut child = stage
        .command(&[&arguments[..], &["--all-configurations"]].concat())
        .spawn()
        .expect("the command starts");
    server.arrival().await;
    assert_eq!(stage.left_over().len(), 1, "the package waits for its upload");
    interrupt(&child);
    assert_eq!(child.wait().await.expect("the command ends").code(), Some(130));
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
}
