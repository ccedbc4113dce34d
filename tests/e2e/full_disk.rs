//! A full disk: a clear 503, nothing left behind, and the service continues.
//!
//! The server gets its own small disk where the system allows mounting one, and otherwise a limit on the size of files,
//! which looks the same to an upload.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerProcess;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::cli::program;
use crate::deployment::Turn;
use crate::dice::Dice;
use crate::first_run::set_up;
use crate::packages::{files_below, package};

const MIB: usize = 1 << 20;
/// The size of the server's disk.
const DISK: usize = 24 * MIB;
/// The maximum file size where no disk can be mounted.
const FILE: usize = 16 * MIB;
const BUNDLE: &str = "com.example.full";

/// A server with a small disk.
struct Cramped {
    server: ServerProcess,
    api: Api,
    has_disk: bool,
    _wrapper: TempDir,
    _turn: Turn,
}

impl Cramped {
    async fn start() -> Cramped {
        let turn = Turn::beside_others().await;
        let unshare = ["unshare --mount", "unshare --mount --map-root-user"]
            .into_iter()
            .find(|unshare| can_mount(unshare));
        let server = program("launchway-server");
        let script = match unshare {
            Some(unshare) => format!(
                "mkdir -p \"$LAUNCHWAY_DATA_DIR\"\nexec {unshare} sh -c 'mount -t tmpfs -o size={DISK} tmpfs \"$LAUNCHWAY_DATA_DIR\" && \
                 exec \"$0\" \"$@\"' '{}' \"$@\"",
                server.display()
            ),
            // Without the trap the first write beyond the limit would end the process. The limit counts blocks of 512
            // bytes.
            None => format!(
                "trap '' XFSZ\nulimit -f {}\nexec '{}' \"$@\"",
                FILE / 512,
                server.display()
            ),
        };
        let wrapper = tempfile::tempdir().unwrap();
        let binary = wrapper.path().join("cramped");
        fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
        let server = ServerProcess::builder()
            .binary(binary)
            .env("LAUNCHWAY_CHECK_LIMIT", "0")
            // The floor of free space refuses an upload before the disk is full.
            .env("LAUNCHWAY_MIN_FREE_SPACE", "1")
            .start();
        let key = set_up(&server).await;
        let kind = if unshare.is_some() {
            "a small disk"
        } else {
            "a limit on files"
        };
        println!("summary: full disk: the server had {kind}");
        Cramped {
            api: Api::new(&server, &key),
            has_disk: unshare.is_some(),
            _wrapper: wrapper,
            _turn: turn,
            server,
        }
    }

    /// The data directory as seen by the server: other processes do not see the disk under its name.
    fn data_dir(&self) -> PathBuf {
        let root = format!("/proc/{}/root", self.server.id().unwrap());
        Path::new(&root).join(self.server.data_dir().strip_prefix("/").unwrap())
    }

    /// The names and sizes of all objects except the mark of the installation, which a job may write meanwhile.
    fn objects(&self) -> Vec<(String, usize)> {
        let files = files_below(&self.data_dir().join("objects"));
        let sizes = files.into_iter().map(|(name, bytes)| (name, bytes.len()));
        sizes.filter(|(name, _)| !name.starts_with("installations/")).collect()
    }

    async fn offered(&self) -> Value {
        self.api.check(BUNDLE, "currentVersion=0.0.1&platform=android").await["version"].clone()
    }
}

fn can_mount(unshare: &str) -> bool {
    let mut probe = Command::new("sh");
    probe.args(["-c", &format!("{unshare} mount -t tmpfs tmpfs /tmp")]);
    probe
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn fields(version: &str) -> Value {
    json!({"bundleId": BUNDLE, "platform": "android", "version": version})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_does_not_fit_is_answered_and_leaves_nothing() {
    let cramped = Cramped::start().await;
    let api = &cramped.api;
    let mut dice = Dice::roll();
    api.publish(&package("a.txt", b"one"), fields("1.0.1")).await;
    // An upload that can never fit is refused when it is announced. This one fits, until another upload takes the
    // space.
    let size = if cramped.has_disk { DISK * 5 / 8 } else { DISK };
    let large = package("large", &dice.bytes(size));
    let upload = api.announce(&large).await;
    if cramped.has_disk {
        let other = api.announce(&large).await;
        assert_eq!(api.send(&other, large.clone()).await.status, 200);
    }
    let before = cramped.objects();
    for _ in 0..2 {
        let answer = api.send(&upload, large.clone()).await;
        answer.refusal(503);
        assert_eq!(cramped.objects(), before, "something is left behind");
    }
    let mut body = fields("1.0.2");
    body["uploadId"] = upload["id"].clone();
    let unsent = api.post("/update", body).await.refusal(400);
    assert!(unsent.contains("has not received its bytes"), "{unsent}");

    assert_eq!(cramped.offered().await, "1.0.1");
    api.publish(&package("b.txt", &dice.bytes(MIB)), fields("1.0.2")).await;
    assert_eq!(cramped.offered().await, "1.0.2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_full_to_the_brim_stops_changes_but_not_checks() {
    let cramped = Cramped::start().await;
    if !cramped.has_disk {
        // A limit on file sizes cannot fill a disk.
        return;
    }
    let api = &cramped.api;
    let mut dice = Dice::roll();
    let first = api.publish(&package("a.txt", b"one"), fields("1.0.1")).await;
    let mut bodies = [fields("1.0.2"), fields("1.0.3")];
    for body in &mut bodies {
        body["uploadId"] = api.upload(&package("b.txt", &dice.bytes(2 * MIB))).await.into();
    }
    let [second, body] = bodies;

    // Space for the database, but not for another copy of a package: it is inspected where it lies.
    let ballast = cramped.data_dir().join("ballast");
    let mut file = fs::File::create(&ballast).unwrap();
    while file.write_all(&vec![0; 4096]).is_ok() {}
    file.set_len(file.metadata().unwrap().len() - MIB as u64).unwrap();
    api.post("/update", second).await.created();

    // No space for anything.
    while file.write_all(&vec![0; 4096]).is_ok() {}
    let path = format!("/update?id={}", first.id());
    let notes = json!({"releaseNotes": "x".repeat(4096)});
    let mut refused = 0;
    for _ in 0..20 {
        let answer = api.patch(&path, notes.clone()).await;
        if answer.status != 200 {
            answer.refusal(503);
            refused += 1;
        }
        api.post("/update", body.clone()).await.refusal(503);
        assert_eq!(cramped.offered().await, "1.0.2");
    }
    assert!(refused > 0, "the full disk never refused a change");

    // An open file keeps its space.
    drop(file);
    fs::remove_file(&ballast).unwrap();
    assert_eq!(
        api.patch(&path, notes.clone()).await.ok()["releaseNotes"],
        notes["releaseNotes"]
    );
    api.post("/update", body).await.created();
    assert_eq!(cramped.offered().await, "1.0.3");
    assert_eq!(api.get("/update").await.ok()["total"], 3);
}
