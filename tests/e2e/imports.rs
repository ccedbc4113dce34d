//! `launchway import` against a real server, with what the tools of other services print: the clients that asked the old service
//! are recognized, and a second import changes nothing (`docs/reference/foreign-clients.md#imports`).

mod expo;

use std::fs;

use launchway_testing::says::Fields;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::cli::{Cli, Outcome};
use crate::deployment::{Deployment, Ground};
use crate::packages::{package, sha256};

const BUNDLE: &str = "com.example.app";
const KEY: &str = "pRoDuCtIoN-kEy_0123456789abcdefghijkl";

/// A folder with exports and packages, and who imports them.
struct Move {
    deployment: Deployment,
    folder: TempDir,
    cli: Cli,
    api: Api,
}

impl Move {
    async fn new(ground: Ground) -> Move {
        let deployment = Deployment::start(ground).await;
        let team = deployment.team();
        let cli = Cli::logged_in(&deployment.node().origin(), &team.key);
        let api = Api::new(deployment.node(), &team.key);
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("packages")).unwrap();
        Move {
            deployment,
            folder,
            cli,
            api,
        }
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    fn import(&self, arguments: &[&str]) -> Outcome {
        let common = ["--bundle-id", BUNDLE, "--packages", "packages", "--json"];
        let arguments = [&["import"][..], arguments, &common[..]].concat();
        self.cli.run_in(self.folder.path(), arguments)
    }

    /// What a client of another service is answered.
    async fn ask(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.deployment.node().origin());
        let answer = client().get(url).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{path}");
        answer.json().await.unwrap()
    }

    async fn updates(&self) -> u64 {
        self.api.get("/update").await.ok()["total"].as_u64().unwrap()
    }
}

/// A phone.
fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// The steps of an import on its only platform.
fn steps(outcome: &Outcome) -> Vec<String> {
    steps_on(outcome, 0)
}

/// The steps of an import on one of its platforms, of which iOS is the first.
fn steps_on(outcome: &Outcome, platform: usize) -> Vec<String> {
    let result = outcome.json();
    let steps = result["platforms"][platform]["steps"].as_array().unwrap().iter();
    let name = |step: &Value| match step.get("name") {
        Some(name) => format!("publish {}", name.as_str().unwrap()),
        None => step.text("step").to_owned(),
    };
    steps.map(name).collect()
}

/// A release in the history of a deployment, and its package.
fn codepush(label: &str, script: &str, more: Value) -> (Value, Vec<u8>) {
    let entry = format!("CodePush/main.jsbundle:{}", sha256(script.as_bytes()));
    let hash = sha256(json!([entry]).to_string().as_bytes());
    let mut release = json!({
        "appVersion": "^1.2.0", "blobUrl": format!("https://blobs.example.com/{label}"), "description": format!("Release {label}"),
        "diffPackageMap": {}, "isDisabled": false, "isMandatory": false, "label": label, "packageHash": hash,
        "releaseMethod": "Upload", "rollout": null, "size": 1000, "uploadTime": 1_700_000_000_000_i64,
    });
    for (name, value) in more.as_object().unwrap() {
        release[name] = value.clone();
    }
    (release, package("CodePush/main.jsbundle", script.as_bytes()))
}

fn write_codepush(moving: &Move, with_staged: bool) -> [Value; 2] {
    let (replaced, _) = codepush("v1", "one", json!({}));
    let (full, full_zip) = codepush("v2", "two", json!({"isMandatory": true}));
    let (disabled, _) = codepush("v3", "three", json!({"isDisabled": true}));
    let (staged, staged_zip) = codepush("v4", "four", json!({"rollout": 25}));
    let mut history = vec![replaced, full.clone(), disabled];
    if with_staged {
        history.push(staged.clone());
    }
    let deployments = json!([{"createdTime": 1_700_000_000_000_i64, "id": "4kQx", "key": KEY, "name": "Production", "package": null}]);
    moving.file("deployments.json", deployments.to_string());
    moving.file("production.json", json!(history).to_string());
    moving.file("packages/v2.zip", full_zip);
    moving.file("packages/v4.zip", staged_zip);
    [full, staged]
}

const CODEPUSH: [&str; 5] = [
    "codepush",
    "deployments.json",
    "Production=production.json",
    "--platform",
    "android",
];

#[tokio::test]
async fn an_app_moves_in_from_codepush() {
    let moving = Move::new(Ground::SqliteDirectory).await;
    let [full, staged] = write_codepush(&moving, true);
    let all = ["create_app", "add_deployment_key", "publish v2", "publish v4"];
    let dry = moving.import(&[&CODEPUSH[..], &["--dry-run"]].concat());
    assert_eq!(steps(&dry), all);
    assert_eq!(dry.json()["leftOut"][0]["what"], "v3 of Production");
    assert_eq!(moving.updates().await, 0, "nothing was sent");

    assert_eq!(steps(&moving.import(&CODEPUSH)), all);
    let check = |more: String| {
        let path = format!("/codepush/{BUNDLE}/v0.1/public/codepush/update_check");
        format!("{path}?deployment_key={KEY}&app_version=1.2.0&{more}")
    };
    let held = |release: &Value| {
        check(format!(
            "label={}&package_hash={}",
            release.text("label"),
            release.text("packageHash")
        ))
    };
    let fresh = moving.ask(&check(String::new())).await["update_info"].clone();
    assert_eq!((fresh.text("label"), &fresh["is_mandatory"]), ("v2", &json!(true)));
    assert_eq!(fresh.text("package_hash"), full.text("packageHash"));
    assert_eq!(fresh.text("description"), "Release v2");
    for release in [&full, &staged] {
        assert_eq!(moving.ask(&held(release)).await["update_info"]["is_available"], false);
    }

    // Again, it has nothing to do; also for what was withdrawn since.
    let list = moving.api.get("/update").await.ok();
    let newest = format!("/update?id={}", list["items"][0].text("id"));
    moving.api.patch(&newest, json!({"status": "withdrawn"})).await.ok();
    let again = moving.import(&CODEPUSH);
    assert_eq!(
        (steps(&again).len(), &again.json()["platforms"][0]["present"]),
        (0, &json!(2))
    );
    assert_eq!(moving.updates().await, 2);
    // The next release here is above all that came from there.
    let upload = moving.api.upload(&package("CodePush/main.jsbundle", b"five")).await;
    let next = json!({"uploadId": upload, "bundleId": BUNDLE, "platform": "android", "version": "1.0.0",
                      "format": "codepush", "configuration": "Production"});
    moving.api.post("/update", next).await.expect(201);
    assert_eq!(moving.ask(&held(&full)).await["update_info"]["label"], "v5");
}

#[tokio::test]
async fn an_interrupted_import_goes_on_where_it_ended() {
    let moving = Move::new(Ground::PostgresS3).await;
    write_codepush(&moving, false);
    assert_eq!(steps(&moving.import(&CODEPUSH)).len(), 3);
    write_codepush(&moving, true);
    assert_eq!(steps(&moving.import(&CODEPUSH)), ["publish v4"]);
    assert_eq!(moving.updates().await, 2);
    // A package that is another one is not published, nor is anything before it.
    let (_, other) = codepush("v2", "changed", json!({}));
    moving.file("packages/v2.zip", other);
    let elsewhere = ["codepush", "Staging=production.json", "--platform", "ios"];
    let refused = moving.import(&elsewhere);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("is not the package of v2"), "{refused:?}");
    fs::remove_file(moving.folder.path().join("packages/v4.zip")).unwrap();
    let refused = moving.import(&elsewhere);
    assert!(
        refused.stderr.contains("lacks the packages of v4 of Staging"),
        "{refused:?}"
    );
    assert_eq!(moving.updates().await, 2);
}

#[tokio::test]
async fn an_app_moves_in_from_capgo() {
    let moving = Move::new(Ground::SqliteDirectory).await;
    let channel = |id: u8, name: &str, bundle: &str| json!({"id": id, "name": name, "app_id": BUNDLE, "version": {"id": 12, "name": bundle}, "public": false});
    moving.file(
        "channels.json",
        json!([channel(1, "production", "1.0.2"), channel(2, "beta", "1.0.2")]).to_string(),
    );
    let bundle = |id: u8, name: &str| {
        json!({"id": id, "app_id": BUNDLE, "name": name, "checksum": "AAAA", "deleted": false, "session_key": null,
               "created_at": "2026-11-01T00:00:00Z", "comment": "Faster start"})
    };
    moving.file(
        "bundles.json",
        json!({"data": [bundle(12, "1.0.2"), bundle(11, "1.0.1")]}).to_string(),
    );
    let content = moving.folder.path().join("packages/1.0.2");
    fs::create_dir(&content).unwrap();
    fs::write(content.join("index.html"), "<p>hello</p>").unwrap();
    let capgo = ["capgo", "channels.json", "bundles.json", "--platform", "android"];
    assert_eq!(
        steps(&moving.import(&capgo)),
        ["create_app", "publish 1.0.2", "publish 1.0.2"]
    );
    let ask = async |channel: &str, name: &str| {
        let body = json!({"app_id": BUNDLE, "platform": "android", "device_id": "d", "version_build": "1.0.0",
                          "version_name": name, "defaultChannel": channel});
        let url = format!("{}/capgo/updates", moving.deployment.node().origin());
        let sent = client().post(url).json(&body).send().await.unwrap();
        sent.json::<Value>().await.unwrap()
    };
    assert_eq!(ask("production", "1.0.2").await["error"], "no_new_version_available");
    assert_eq!(ask("production", "builtin").await["version"], "1.0.2");
    // A name is that of one update, so devices of the other channel load the same content once more.
    let other = ask("beta", "1.0.2").await;
    assert_eq!(
        ask("beta", other.text("version")).await["error"],
        "no_new_version_available"
    );
    assert_eq!(steps(&moving.import(&capgo)), [""; 0]);
}

#[tokio::test]
async fn an_app_moves_in_from_hot_updater() {
    let moving = Move::new(Ground::SqliteDirectory).await;
    let id = |last: u8| format!("019abcde-0000-7000-8000-{last:012}");
    let archive = |last: u8| {
        package(
            "manifest.json",
            json!({"bundleId": id(last), "assets": {}}).to_string().as_bytes(),
        )
    };
    let bundle = |last: u8, enabled: bool, cohorts: u16| {
        json!({
            "id": id(last), "platform": "ios", "shouldForceUpdate": false, "enabled": enabled, "fileHash": sha256(&archive(last)),
            "storageUri": "s3://bucket/bundle.zip", "gitCommitHash": null, "message": "Faster start", "channel": "production",
            "targetAppVersion": "1.x", "fingerprintHash": null, "metadata": {}, "rolloutCohortCount": cohorts, "targetCohorts": null,
        })
    };
    let bundles = json!({"data": [bundle(3, true, 1), bundle(2, false, 1000), bundle(1, true, 1000)]});
    moving.file("bundles.json", bundles.to_string());
    for last in [1, 3] {
        moving.file(&format!("packages/{}.zip", id(last)), archive(last));
    }
    let import = ["hot-updater", "bundles.json"];
    let published = [id(1), id(3)].map(|id| format!("publish {id}"));
    assert_eq!(
        steps(&moving.import(&import)),
        [&["create_app".to_owned()], &published[..]].concat()
    );
    let check = |current: &str| {
        let path = format!("/hot-updater/{BUNDLE}/app-version/ios/1.2.0/production");
        format!("{path}/{}/{current}", id(0))
    };
    assert_eq!(moving.ask(&check(&id(0))).await["id"], json!(id(1)));
    for held in [id(1), id(3), id(9)] {
        assert_eq!(moving.ask(&check(&held)).await, Value::Null, "{held}");
    }
    assert_eq!(steps(&moving.import(&import)), [""; 0]);
}

#[tokio::test]
async fn an_export_without_releases_makes_nothing() {
    let moving = Move::new(Ground::SqliteDirectory).await;
    moving.file("empty.json", "[]");
    moving.file("text.json", "hello");
    for service in ["codepush", "capgo", "hot-updater", "expo"] {
        let import = [service, "empty.json", "--platform", "android", "--dry-run"];
        assert_eq!(steps(&moving.import(&import)), [""; 0], "{service}");
        let refused = moving.import(&[service, "text.json", "--platform", "android"]);
        assert_eq!(
            (refused.code, refused.stderr.contains("text.json is not JSON")),
            (1, true),
            "{refused:?}"
        );
    }
    let nothing = moving.import(&["capgo", "empty.json", "--platform", "android"]);
    assert_eq!(steps(&nothing), [""; 0]);
    assert_eq!(moving.api.get("/apps").await.ok()["total"], 0);
}
