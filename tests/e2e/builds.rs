//! Real builds: the sample Android app from source to a signed APK, by the embedded runner and by a separate one, with
//! both databases; malicious builds, and faulty builds.

mod attack;
mod bad_input;
pub mod calls;
mod capacitor;
mod fingerprint;
mod long_log;
pub mod runner_process;
mod sample;

use launchway_testing::server_process::ServerBuilder;
use serde_json::{Value, json};

use crate::api::Api;
use crate::cli::Cli;
use crate::deployment::{Deployment, Ground, Team, Turn};
use crate::packages::sha256;
use calls::{artifact, create, follow, log, succeeded, text_of, upload};
use launchway_testing::says::Fields;
use runner_process::RunnerProcess;
use sample::Sdk;

/// The runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Embedded,
    Separate,
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apk_by_the_embedded_runner_on_sqlite_and_directory() {
    builds_an_apk(Ground::SqliteDirectory, By::Embedded).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apk_by_a_runner_of_its_own_on_postgres_and_s3() {
    builds_an_apk(Ground::PostgresS3, By::Separate).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn an_apk_by_the_embedded_runner_on_postgres_and_s3() {
    builds_an_apk(Ground::PostgresS3, By::Embedded).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn an_apk_by_a_runner_of_its_own_on_sqlite_and_directory() {
    builds_an_apk(Ground::SqliteDirectory, By::Separate).await;
}

async fn builds_an_apk(ground: Ground, by: By) {
    let sdk = Sdk::get();
    let readable = sdk.path().to_str().unwrap();
    let more = |builder: ServerBuilder| {
        builder
            .env("LAUNCHWAY_NO_RUNNER", (by == By::Separate).to_string())
            .env("LAUNCHWAY_RUNNER_READABLE", readable)
    };
    let deployment = Deployment::with(ground, Turn::beside_others().await, more);
    let team = deployment.team();
    let api = Api::new(deployment.node(), &team.key);
    let mut runner = None;
    if by == By::Separate {
        let (url, more) = (deployment.node().base_url(), ["--readable", readable]);
        runner = Some(RunnerProcess::start(deployment.node(), &api, &team.id, &url, "own", &more).await);
    }
    sdk.tell(&api).await;
    let keystore = sample::give_keystore(&api).await;

    let first = build(&api).await;
    let second = build_from_the_command_line(&deployment, &team).await;
    let (one, other) = (artifact(&api, &first).await, artifact(&api, &second).await);
    assert!(one == other, "two builds of the same source differ");
    assert_eq!(sample::certificate_of(&one), keystore["fingerprint"]);
    check_record(&first, &keystore);
    check_log(&api, &first).await;
    check_install_page(&api, &first, &one).await;
    if let Some(runner) = &mut runner {
        assert!(runner.terminate().await.success(), "{}", runner.log());
    }
    println!(
        "summary: an APK of {} bytes by the {by:?} runner on {ground}, twice the same",
        one.len()
    );
}

/// Builds the sample app; returns the build, which succeeded.
async fn build(api: &Api) -> Value {
    let body = json!({
        "bundleId": sample::BUNDLE, "platform": "android", "profile": "production", "distribution": "internal",
        "version": "1.2.3", "buildNumber": 42,
        "source": {"uploadId": upload(api, "source.zip", &sample::source()).await}
    });
    let id = create(api, body).await;
    // A client that follows from the start sees all of it live.
    let (events, build) = tokio::join!(follow(api, &id, None), succeeded(api, &id));
    assert_eq!(text_of(&events), log(api, &id).await);
    build
}

/// The same from the command line, in the app's directory, which also downloads the app.
async fn build_from_the_command_line(deployment: &Deployment, team: &Team) -> Value {
    let (origin, key) = (deployment.node().origin(), team.key.clone());
    let built = tokio::task::spawn_blocking(move || {
        let (cli, folder) = (Cli::logged_in(&origin, &key), tempfile::tempdir().unwrap());
        let into = format!("--download={}", folder.path().display());
        let words = [
            "build",
            "android",
            "--version",
            "1.2.3",
            "--build-number",
            "42",
            "--json",
            &into,
        ];
        let outcome = cli.run_in(&sample::folder(), words);
        let build = outcome.json();
        let downloaded = std::fs::read(folder.path().join("app.apk")).unwrap();
        assert_eq!(build["artifacts"][0]["sha256"], sha256(&downloaded));
        // A user who waits sees the progress.
        assert!(
            outcome.stderr.contains("Verified using v2 scheme"),
            "{}",
            outcome.stderr
        );
        build
    });
    let build = built.await.unwrap();
    assert_eq!(build["status"], "success", "{build}");
    build
}

fn check_record(build: &Value, keystore: &Value) {
    let [artifact] = build["artifacts"].as_array().unwrap().as_slice() else {
        panic!("{build}");
    };
    let facts = &artifact["facts"];
    assert_eq!(
        json!([
            artifact["kind"],
            artifact["name"],
            facts["bundleId"],
            facts["version"],
            facts["buildNumber"]
        ]),
        json!(["apk", "app.apk", sample::BUNDLE, "1.2.3", "42"])
    );
    assert_eq!(facts["minOs"], "23");
    assert_eq!(facts["signer"]["sha256"], keystore["fingerprint"], "{facts}");
    assert_eq!((&build["warnings"], &build["error"]), (&json!([]), &Value::Null));
    let phases = build["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|phase| phase.text("name")).collect();
    assert_eq!(names, ["source", "resources", "code", "package", "sign", "artifacts"]);
    assert!(phases.iter().all(|phase| phase["seconds"].is_number()), "{phases:?}");
}

/// The log is the same on every path, and contains no password.
async fn check_log(api: &Api, build: &Value) {
    let id = build.id();
    let whole = log(api, id).await;
    assert!(
        whole.contains("Verified using v2 scheme (APK Signature Scheme v2): true"),
        "{whole}"
    );
    assert!(!whole.contains("store-secret"), "{whole}");
    assert_eq!(build["logSize"], whole.len());
    let events = follow(api, id, None).await;
    assert_eq!(text_of(&events), whole);
    let last = events.last().unwrap();
    assert_eq!((last.name.as_str(), &last.data["status"]), ("end", &json!("success")));
    // From the middle on, like a client that was disconnected.
    let middle = whole.len() / 2;
    let rest = follow(api, id, Some(&middle.to_string())).await;
    assert_eq!(text_of(&rest), whole[middle..]);
    let range = api
        .request(reqwest::Method::GET, &format!("/build/log?id={id}"))
        .header("range", "bytes=0-9");
    let range = range.send().await.unwrap();
    assert_eq!(range.status(), 206);
    assert_eq!(range.text().await.unwrap(), whole[..10]);
}

/// Anyone with the link can download the app, without a key.
async fn check_install_page(api: &Api, build: &Value, apk: &[u8]) {
    let link = build["install"].text("url");
    let page = api.get(link).await;
    assert_eq!(
        (page.status.as_u16(), page.header("content-type")),
        (200, "text/html; charset=utf-8")
    );
    let text = page.text();
    for expected in ["1.2.3", "42", build["artifacts"][0].text("sha256")] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!page.header("content-security-policy").is_empty());
    let (_, rest) = text.split_once("class=\"button\" href=\"").expect("a button");
    let path = rest.split('"').next().unwrap().replace("&#38;", "&");
    let origin = &link[..link.find("/install/").unwrap()];
    let sent_on = api.get(&format!("{origin}{path}")).await;
    assert!(sent_on.status.is_redirection(), "{}", sent_on.text());
    let app = api.get(sent_on.header("location")).await;
    assert!(app.bytes == apk, "another app is installed");
    // A modified link leads nowhere.
    let changed = link.replacen("expires=1", "expires=2", 1);
    assert!(changed != link && api.get(&changed).await.status.is_client_error());
}
