//! The fixture for server processes, tested with a shell script in place of the server.

use std::fs;

use launchway_testing::server_process::{ServerBuilder, ServerProcess};

/// A checked-in file: executing a program that a test has just written may fail with "text file busy" when another test
/// starts a process.
fn stand_in() -> ServerBuilder {
    ServerProcess::builder().binary(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stand-in-server"))
}

#[test]
fn starts_in_a_directory_of_its_own_and_ends() {
    let mut server = stand_in().arg("--no-runner").start();
    let root = server.root().to_owned();
    assert!(
        server.base_url().starts_with("http://127.0.0.1:"),
        "{}",
        server.base_url()
    );
    assert_eq!(server.base_url(), format!("{}/api", server.origin()));
    assert_eq!(server.stdout(), format!("Listening on {}\n", server.origin()));
    assert_eq!(server.stderr(), "starting with --no-runner\n");
    assert_eq!(
        fs::read_to_string(root.join("of-the-test")).unwrap(),
        "unset\n",
        "cargo sets it for this test"
    );
    assert!(!server.data_dir().exists(), "the server makes it, not the fixture");

    assert_eq!(server.terminate().code(), Some(7));
    assert!(server.stderr().ends_with("ending\n"), "{}", server.stderr());
    assert_eq!(server.id(), None);
    drop(server);
    assert!(!root.exists());
}

#[test]
fn starts_again_on_the_same_port() {
    let mut server = stand_in().start();
    let (url, id) = (server.base_url(), server.id());
    server.kill9();
    assert_eq!(server.id(), None);
    server.restart_same_port();
    assert_eq!(server.base_url(), url);
    assert_ne!(server.id(), id);
    assert!(!server.stderr().contains("ending"), "SIGKILL leaves no time to say so");
}

#[test]
fn takes_another_port_when_the_first_was_taken() {
    let server = stand_in().arg("busy").start();
    assert!(
        server.stderr().contains("Address already in use"),
        "{}",
        server.stderr()
    );
    assert!(server.id().is_some());
}

#[test]
fn runs_admin_with_the_same_settings_before_the_first_start() {
    let mut server = stand_in().env("LAUNCHWAY_DATA_DIR", "elsewhere").prepare();
    let answer = server.admin_with_input(&["create-user", "--email", "a@example.com"], "a long password\n");
    assert_eq!(answer["arguments"], "create-user --email a@example.com --json");
    assert_eq!(answer["password"], "a long password");
    assert_eq!(answer["data"], "elsewhere");
    assert_eq!(answer["home"], server.root().join("home").to_str().unwrap());
    assert_eq!(
        server.admin(&["create-org", "--json"])["arguments"],
        "create-org --json"
    );
    assert_eq!(server.id(), None);
    server.restart_same_port();
    assert!(server.id().is_some());
}

#[test]
#[should_panic(expected = "no such thing")]
fn shows_why_admin_failed() {
    let _ = stand_in().prepare().admin(&["fail"]);
}

#[test]
#[should_panic(expected = "--listen: no such address")]
fn shows_what_a_server_wrote_that_does_not_start() {
    let _ = stand_in().arg("broken").start();
}
