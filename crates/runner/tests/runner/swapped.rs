//! A build owns the directories of its workspace, so it can replace them by links to what the runner may read and the
//! build may not. What the runner takes from the workspace afterwards must not come from there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use launchway_domain::build::BuildResult;
use launchway_runner::plan::RequestOnly;

use crate::fake_server::{FakeServer, lease, with_artifact, with_cache};
use crate::work::Working;

/// A file that only the runner can read, on the disk of its work directory.
fn secret(working: &Working) -> PathBuf {
    let directory = working.directory.path().join("data");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(directory.join("master.key"), "hunter2").unwrap();
    directory
}

#[tokio::test]
async fn a_link_in_the_place_of_the_source_gives_no_artifact() {
    let server = FakeServer::start().await;
    let working = Working::with(&server, |_| {}, Arc::new(RequestOnly));
    let data = secret(&working);
    let swap = format!("cd .. && mv source mine && ln -s {} source", data.display());
    let swapped = lease(&server, "build_1", &[("Swap", &swap)]);
    server.queue(with_artifact(swapped, "*.key", "other"));
    let finish = server.finished("build_1").await;
    assert_eq!(finish.status, BuildResult::Failed, "{}", server.log("build_1"));
    assert!(finish.artifacts.is_empty());
    assert_eq!(fs::read_to_string(data.join("master.key")).unwrap(), "hunter2");
    // A real directory in that place is the build's own business.
    let swap = "cd .. && mv source mine && mkdir source && echo made > source/app.key";
    let swapped = lease(&server, "build_2", &[("Swap", swap)]);
    server.queue(with_artifact(swapped, "*.key", "other"));
    let finish = server.finished("build_2").await;
    assert_eq!(finish.status, BuildResult::Success, "{}", server.log("build_2"));
    assert_eq!(server.artifacts(&finish)["app.key"], b"made\n");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_link_in_the_place_of_a_home_is_not_kept_as_a_cache() {
    let server = FakeServer::start().await;
    let working = Working::with(&server, |_| {}, Arc::new(RequestOnly));
    let data = secret(&working);
    for (id, place, path) in [
        ("home", "$HOME", "~/master.key"),
        ("source", "$LAUNCHWAY_WORKSPACE", "master.key"),
    ] {
        let swap = format!("cd / && mv {place} {place}.mine && ln -s {} {place}", data.display());
        let swapped = lease(&server, id, &[("Swap", &swap)]);
        server.queue(with_cache(swapped, id, path));
        server.finished(id).await;
        let look = format!("cat {place}/master.key || echo nothing");
        let next = format!("{id}_next");
        server.queue(with_cache(lease(&server, &next, &[("Look", &look)]), id, path));
        assert_eq!(server.finished(&next).await.status, BuildResult::Success);
        let log = server.log(&next);
        assert!(log.contains("nothing\n") && !log.contains("hunter2"), "{log}");
    }
    working.end().await.unwrap();
}
