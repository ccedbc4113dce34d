//! The dashboard in a real browser: the journeys of tests/browser, with their own server.

use std::process::Command;

use crate::cli::program;
use crate::deployment::Turn;
use crate::projects::root;

#[tokio::test(flavor = "multi_thread")]
async fn people_find_their_way_in_a_real_browser() {
    let _turn = Turn::beside_others().await;
    let folder = tempfile::tempdir().unwrap();
    let source = root().join("tests/browser");
    for entry in std::fs::read_dir(&source).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
    }
    let install = Command::new("npm")
        .args(["ci", "--loglevel=error"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
    let run = Command::new("node")
        .arg("journeys.mjs")
        .arg(program("launchway-server"))
        .env("REPOSITORY", root())
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (said, errors) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(run.status.success(), "{said}\n{errors}");
}
