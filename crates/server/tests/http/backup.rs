//! Backup and restore by the operator's commands: a restored service has what builds produced.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use launchway_config::{Config, RawSettings};
use launchway_outbound::resolver::SystemResolver;
use serde_json::json;

use crate::jobs::signed::with_roles;
use crate::stage::BUNDLE;
use crate::support::{Fields, Says, TestApp};

fn admin(arguments: &[&str], data: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_launchway-server"))
        .arg("admin")
        .args(arguments)
        .arg("--data-dir")
        .arg(data)
        .env_remove("LAUNCHWAY_DATABASE_URL")
        .output()
        .unwrap()
}

#[tokio::test]
async fn a_restored_service_has_the_logs_and_artifacts_of_builds() {
    let (app, org, key) = TestApp::with_org().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let log = b"a line of the log\n".repeat(100_000);
    let mut sent = 0;
    for piece in log.chunks(200_000) {
        sent = held.logged(sent as usize, piece).await;
    }
    let artifact = held.send("app.txt", b"what was built", b"what was built").await;
    held.finish(json!({"artifacts": [artifact], "logSize": log.len()})).await.ok();

    let folder = tempfile::tempdir().unwrap();
    let (backup, data) = (folder.path().join("backup"), folder.path().join("data"));
    let saved = admin(&["backup", backup.to_str().unwrap()], &app.app.config.data_dir);
    let words = String::from_utf8_lossy(&saved.stdout).into_owned();
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    // The artifact and the parts of the log.
    words.says("and 3 files of builds");

    std::fs::create_dir(&data).unwrap();
    std::fs::copy(&app.app.config.master_key_file, data.join("master.key")).unwrap();
    let object = backup.join("objects/build-0");
    let bytes = std::fs::read(&object).unwrap();
    std::fs::write(&object, b"changed").unwrap();
    let refused = admin(&["restore", backup.to_str().unwrap()], &data);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is missing or changed"));
    std::fs::write(&object, bytes).unwrap();
    let restored = admin(&["restore", backup.to_str().unwrap()], &data);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));

    let settings = RawSettings { data_dir: Some(data.display().to_string()), ..RawSettings::default() };
    let config = Config::load(settings, None).unwrap();
    let again = TestApp::open(config, None, std::sync::Arc::new(SystemResolver), None).await;
    assert_eq!(again.log(id).await, log);
    let view = again.get(&key, &format!("/build?id={id}")).await.ok();
    let url = view["artifacts"][0].text("url");
    let got = again.request(reqwest::Method::GET, url).send().await.unwrap();
    assert_eq!(got.bytes().await.unwrap(), "what was built");
}

/// Phones may have seen versions that the backup does not have. The operator is told which ones it has.
#[tokio::test]
async fn a_restore_names_the_versions_of_signed_roles() {
    let (app, org, key) = TestApp::with_org().await;
    app.post(&key, "/apps", json!({"bundleId": BUNDLE})).await.created();
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    let save = |to: &Path| admin(&["backup", to.to_str().unwrap()], &app.app.config.data_dir);
    assert!(save(&before).status.success());
    let roles = [("root", 2, 365), ("targets", 3, 300), ("c-production", 17, 180), ("timestamp", 9, 7)];
    with_roles(&app, org, &roles).await;
    assert!(save(&after).status.success());
    for (backup, told) in [(&before, ""), (&after, "com.example.app: c-production 17, root 2, targets 3")] {
        let data = backup.with_extension("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::copy(&app.app.config.master_key_file, data.join("master.key")).unwrap();
        let restored = admin(&["restore", backup.to_str().unwrap()], &data);
        assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
        let words = String::from_utf8_lossy(&restored.stdout).into_owned();
        words.says(told);
        assert_eq!(words.contains("launchway trust push"), !told.is_empty(), "{words}");
    }
}

/// Every file and directory below, with its permissions.
fn rights(folder: &Path) -> Vec<(String, u32)> {
    let mut all = vec![(folder.display().to_string(), mode(folder))];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(rights(&path));
        } else {
            all.push((path.display().to_string(), mode(&path)));
        }
    }
    all
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Runs an operator's command under a permissive umask.
fn admin_without_umask(arguments: &[&str], data: &Path) -> Output {
    Command::new("sh")
        .args(["-c", "umask 000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_launchway-server"), "admin"])
        .args(arguments)
        .arg("--data-dir")
        .arg(data)
        .env_remove("LAUNCHWAY_DATABASE_URL")
        .output()
        .unwrap()
}

#[tokio::test]
async fn a_backup_is_its_owners_alone_whatever_the_umask() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o777)).unwrap();
    for backup in [folder.path().join("new/backup"), there] {
        let saved = admin_without_umask(&["backup", backup.to_str().unwrap()], &app.app.config.data_dir);
        assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
        let all = rights(&backup);
        assert!(all.len() >= 6, "{all:?}");
        for (path, mode) in all {
            let wanted = if Path::new(&path).is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, wanted, "{path}: {mode:o}");
        }
    }
}

/// Records which files are flushed to disk, and flushes them.
const RECORDER: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int fsync(int file) {
    char link[64], path[4097];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    int record = open(getenv("FLUSHED"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (length > 0 && record >= 0) {
        path[length] = '\n';
        if (write(record, path, length + 1) < 0) abort();
    }
    close(record);
    return syscall(SYS_fsync, file);
}
"#;

/// After a power cut there is a whole backup, or none: what the manifest names is on disk before it.
#[tokio::test]
async fn a_backup_is_on_disk_before_it_is_one() {
    let (app, key) = TestApp::with_key().await;
    app.published(&key, json!({})).await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (source, recorder, flushed) = (root.join("recorder.c"), root.join("recorder.so"), root.join("flushed"));
    std::fs::write(&source, RECORDER).unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&recorder, &source]).status().unwrap();
    assert!(compiled.success());
    let backup = root.join("new/backup");
    let saved = Command::new(env!("CARGO_BIN_EXE_launchway-server"))
        .args(["admin", "backup", backup.to_str().unwrap(), "--data-dir"])
        .arg(&app.app.config.data_dir)
        .env_remove("LAUNCHWAY_DATABASE_URL")
        .env("LD_PRELOAD", &recorder)
        .env("FLUSHED", &flushed)
        .output()
        .unwrap();
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    let record = std::fs::read_to_string(&flushed).unwrap();
    let flushed: Vec<&Path> = record.lines().map(Path::new).collect();
    let manifest = flushed.iter().rposition(|path| *path == backup.join("manifest.json")).expect("the manifest");
    let before = &flushed[..manifest];
    for (path, _) in rights(&backup) {
        let path = Path::new(&path);
        let is_last = path == backup || path == backup.join("manifest.json");
        assert!(is_last || before.contains(&path), "{} in {record}", path.display());
    }
    assert!(flushed[manifest..].contains(&&*backup), "its folder last: {record}");
    for above in [root.join("new"), root] {
        assert!(before.contains(&&*above), "{} in {record}", above.display());
    }
}

#[test]
fn a_new_data_directory_is_its_owners_alone_whatever_the_umask() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    // Created by the operator beforehand with open permissions; what is written into it is private.
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o777)).unwrap();
    let made = admin_without_umask(&["create-org", "--name", "Example"], &data);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let all = rights(&data);
    assert!(all.iter().any(|(path, _)| path.ends_with("launchway.db")), "{all:?}");
    for (path, mode) in &all[1..] {
        assert_eq!(mode & 0o077, 0, "{path}: {mode:o}");
    }
}
