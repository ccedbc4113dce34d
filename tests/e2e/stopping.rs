//! SIGTERM: no new work, running work is completed, the process exits with 0 within 30 seconds
//! (`docs/reference/operation.md#stopping`).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerProcess;
use launchway_testing::wait::until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::deployment::{Deployment, Ground, Turn};
use crate::dice::Dice;
use crate::packages::package;

/// The time limit.
const LIMIT: Duration = Duration::from_secs(30);

/// Sends SIGTERM and waits until the server accepts no connection.
async fn ask_to_stop(server: &ServerProcess) {
    let id = Pid::from_raw(i32::try_from(server.id().unwrap()).unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    let address = address(server);
    let refused = async || TcpStream::connect(&address).is_err().then_some(());
    until(Duration::from_secs(5), "new connections are refused", refused).await;
}

fn address(server: &ServerProcess) -> String {
    server.origin().strip_prefix("http://").unwrap().to_owned()
}

/// A signed PUT of which only the first half was sent.
fn send_half(server: &ServerProcess, url: &str, bytes: &[u8]) -> TcpStream {
    let address = address(server);
    let path = url.strip_prefix(&server.origin()).unwrap();
    let mut connection = TcpStream::connect(&address).unwrap();
    let length = bytes.len();
    let head = format!("PUT {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n");
    connection.write_all(head.as_bytes()).unwrap();
    connection.write_all(&bytes[..length / 2]).unwrap();
    connection
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_is_finished_and_the_exit_is_clean() {
    let mut deployment = Deployment::start(Ground::SqliteDirectory).await;
    let api = deployment.api();
    let bytes = package("index.html", &Dice::roll().bytes(1_000_000));
    let upload = api.announce(&bytes).await;
    let mut running = send_half(deployment.node(), upload.text("url"), &bytes);
    // A keep-alive connection that waits for its next request must not delay the exit.
    let mut idle = TcpStream::connect(address(deployment.node())).unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    assert!(idle.read(&mut [0; 4096]).unwrap() > 0);
    let fresh = TcpStream::connect(address(deployment.node())).unwrap();

    ask_to_stop(deployment.node()).await;
    running.write_all(&bytes[bytes.len() / 2..]).unwrap();
    let mut answer = String::new();
    running.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let start = Instant::now();
    let status = deployment.nodes[0].terminate();
    assert_eq!(status.code(), Some(0), "{}", deployment.node().stderr());
    println!(
        "summary: after the last request the server ended in {} ms",
        start.elapsed().as_millis()
    );
    drop((idle, fresh));

    // The upload that finished meanwhile counts.
    deployment.nodes[0].restart_same_port();
    let fields = json!({
        "uploadId": upload["id"], "bundleId": "com.example.stop", "platform": "ios", "version": "1.0.0"
    });
    api.post("/update", fields).await.created();
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_that_wait_to_be_written_are_not_lost() {
    let mut deployment = Deployment::start(Ground::SqliteDirectory).await;
    let api = deployment.api();
    let fields = json!({"bundleId": "com.example.stop", "platform": "ios", "version": "1.0.0"});
    api.publish(&package("index.html", b"x"), fields).await;
    for _ in 0..7 {
        api.check("com.example.stop", "currentVersion=0.1.0").await;
    }
    assert_eq!(deployment.nodes[0].terminate().code(), Some(0));
    deployment.nodes[0].restart_same_port();
    let months = api.get("/usage").await.ok();
    // A month may have ended meanwhile.
    let checks = months["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|month| month["checks"].as_u64().unwrap());
    assert_eq!(checks.sum::<u64>(), 7);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn a_client_that_never_finishes_is_not_waited_for_longer() {
    let mut deployment = Deployment::with(Ground::SqliteDirectory, Turn::alone().await, |builder| builder);
    let api = deployment.api();
    let bytes = package("index.html", &[7; 100_000]);
    let upload = api.announce(&bytes).await;
    let stalled = send_half(deployment.node(), upload.text("url"), &bytes);
    let start = Instant::now();
    let status = deployment.nodes[0].terminate();
    let took = start.elapsed();
    assert_eq!(status.code(), Some(0), "{}", deployment.node().stderr());
    assert!(took < LIMIT, "{took:?}");
    println!("summary: with a stalled upload the server ended in {took:?}");
    drop(stalled);
}
