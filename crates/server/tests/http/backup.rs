//! Backup and restore by the operator's commands: a restored service has what builds gave.

use std::path::Path;
use std::process::{Command, Output};

use launchway_server::config::{Config, RawSettings};
use launchway_server::outside::resolver::SystemResolver;
use serde_json::json;

use crate::support::TestApp;

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
    let app = TestApp::start().await;
    let (org, key) = app.org_with_key().await;
    let runner = app.runner(&key, &[]).await;
    let id = app.queue(org, |_| ()).await;
    let held = app.take(&runner).await;
    let log = b"a line of the log\n".repeat(100_000);
    let mut sent = 0;
    for piece in log.chunks(200_000) {
        sent = held.logged(sent as usize, piece).await;
    }
    let artifact = held.send("app.txt", b"what was built", b"what was built").await;
    held.finish(json!({"artifacts": [artifact], "logSize": log.len()}))
        .await
        .expect(200);

    let folder = tempfile::tempdir().unwrap();
    let (backup, data) = (folder.path().join("backup"), folder.path().join("data"));
    let saved = admin(&["backup", backup.to_str().unwrap()], &app.app.config.data_dir);
    let words = String::from_utf8_lossy(&saved.stdout).into_owned();
    assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    // The artifact and the parts of the log.
    assert!(words.contains("and 3 files of builds"), "{words}");

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
    assert!(
        restored.status.success(),
        "{}",
        String::from_utf8_lossy(&restored.stderr)
    );

    let settings = RawSettings {
        data_dir: Some(data.display().to_string()),
        ..RawSettings::default()
    };
    let config = Config::load(settings, None).unwrap();
    let again = TestApp::open(config, None, std::sync::Arc::new(SystemResolver), None).await;
    assert_eq!(again.log(id).await, log);
    let view = again
        .call(&key, reqwest::Method::GET, &format!("/build?id={id}"), None)
        .await
        .expect(200);
    let url = view["artifacts"][0]["url"].as_str().unwrap();
    let got = again.request(reqwest::Method::GET, url).send().await.unwrap();
    assert_eq!(got.bytes().await.unwrap(), "what was built");
}
