//! An interruption exits with code 130 and leaves nothing behind.
#![cfg(unix)]

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;

use crate::build::{project, taking};
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
    let child = stage
        .command(&[&arguments[..], &["--all-configurations"]].concat())
        .spawn()
        .expect("the command starts");
    server.arrival().await;
    assert_eq!(stage.left_over().len(), 1, "the package waits for its upload");
    interrupt(&child);
    let output = child.wait_with_output().await.expect("the command ends");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    let left = "\ninterrupted; nothing was published; uploaded data is deleted within a day\n";
    assert!(said.ends_with(left), "{said}");
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
}

/// The output of a command that is interrupted during its last request.
async fn said_at_the_last_call(arguments: &[&str]) -> String {
    let (server, stage) = taking([Reply::silence()]).await;
    stage.file("dist/index.html", "<p>hello</p>");
    let child = stage.command(arguments).spawn().expect("the command starts");
    while server.seen().len() < 3 {
        server.arrival().await;
    }
    interrupt(&child);
    let output = child.wait_with_output().await.expect("the command ends");
    assert_eq!(output.status.code(), Some(130));
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[tokio::test]
async fn what_may_have_been_done_is_said() {
    let said = said_at_the_last_call(&["build", "android"]).await;
    assert!(
        said.ends_with("\ninterrupted; the build may have been created: launchway build list\n"),
        "{said}"
    );
    let arguments = [
        "update",
        "ios",
        "--dir",
        "dist",
        "--version",
        "1.0.0",
        "--all-configurations",
    ];
    let said = said_at_the_last_call(&arguments).await;
    assert!(
        said.ends_with("\ninterrupted; the update may have been published: launchway update list\n"),
        "{said}"
    );
}

#[tokio::test]
async fn an_interrupted_upload_of_a_source_says_what_is_left() {
    let server = FakeServer::start([Reply::silence()]).await;
    let stage = Stage::with(&server);
    project(&stage);
    let child = stage
        .command(&["build", "android"])
        .spawn()
        .expect("the command starts");
    server.arrival().await;
    interrupt(&child);
    let output = child.wait_with_output().await.expect("the command ends");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    let left = "\ninterrupted; no build was created; uploaded data is deleted within a day\n";
    assert!(said.ends_with(left), "{said}");
    assert_eq!(stage.left_over(), [] as [std::path::PathBuf; 0]);
}
