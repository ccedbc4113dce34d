//! Faulty builds, intentional or not: each is rejected or fails with a clear message, and the next one succeeds. Inputs
//! that the runner itself parses are tested with the runner.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use launchway_testing::says::Fields;
use serde_json::{Value, json};

use super::calls::{create, finished, follow, log, read, request, small_source, succeeded, text_of, upload, wait};
use super::runner_process::RunnerProcess;
use crate::api::Api;
use crate::deployment::{Deployment, Ground, Turn};
use crate::packages::package;

const LIMIT: Duration = Duration::from_secs(60);

fn with_runner()
-> impl Fn(launchway_testing::server_process::ServerBuilder) -> launchway_testing::server_process::ServerBuilder {
    |builder| builder.env("LAUNCHWAY_NO_RUNNER", "false")
}

/// An archive of one link.
fn link_out() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("users")).unwrap();
    let tar = Command::new("tar")
        .args(["-cz", "-C"])
        .arg(folder.path())
        .arg("users")
        .output()
        .unwrap();
    assert!(tar.status.success());
    tar.stdout
}

/// A hundred megabytes of zeros, compressed.
fn nothing() -> Vec<u8> {
    let mut gzip = Command::new("gzip")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = gzip.stdin.take().unwrap();
    let zeros = std::thread::spawn(move || (0..100).try_for_each(|_| input.write_all(&vec![0; 1 << 20])));
    let output = gzip.wait_with_output().unwrap();
    zeros.join().unwrap().unwrap();
    output.stdout
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_that_are_none_are_told_apart() {
    let deployment = Deployment::with(Ground::SqliteDirectory, Turn::beside_others().await, with_runner());
    let api = deployment.api();
    let rows = [
        ("source.zip", b"this is no archive".to_vec()),
        ("source.tar.gz", b"this is no archive".to_vec()),
        ("source.tar.zst", small_source()),
        ("source.zip", package("../outside", b"x")),
        ("source.zip", package("/etc/cron.d/x", b"x")),
        ("source.tar.gz", link_out()),
        ("source.tar.gz", nothing()),
        ("source.zip", Vec::from(&small_source()[..40])),
    ];
    for (name, bytes) in rows {
        let mut body = request(&api, &[("never", "touch reached; echo REACHED")]).await;
        body["source"] = json!({"uploadId": upload(&api, name, &bytes).await});
        let id = create(&api, body).await;
        let build = finished(&api, &id).await;
        let error = &build["error"];
        assert_eq!(
            json!([build["status"], error["code"]]),
            json!(["failed", "SOURCE_INVALID"]),
            "{name}: {build}"
        );
        assert_eq!(error["phase"], "source", "{build}");
        let message = error.text("message");
        assert!(message.len() > 20 && message.ends_with('.'), "{message}");
        assert!(!log(&api, &id).await.contains("REACHED\n"));
        println!("{name}: {message}");
    }
    // A file whose name is not that of a source is not even accepted.
    for name in ["source.rar", "source", "source.tar"] {
        let mut body = request(&api, &[("never", "true")]).await;
        body["source"] = json!({"uploadId": upload(&api, name, &small_source()).await});
        let message = api.post("/build", body).await.refusal(400);
        assert!(message.contains(".zip"), "{message}");
    }
    let id = create(&api, request(&api, &[("fine", "test -f README")]).await).await;
    succeeded(&api, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repositories_that_are_none_are_refused_at_once() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let api = deployment.api();
    let of = |url: &str, reference: &str| {
        json!({
            "bundleId": "com.example.built", "platform": "android",
            "source": {"git": {"url": url, "ref": reference}}, "plan": {"steps": [{"name": "a", "run": "true"}]}
        })
    };
    let good = "https://git.example.com/app.git";
    let urls = [
        "/etc",
        "../app",
        "file:///etc",
        "http://git.example.com/app.git",
        "ext::sh -c touch% /tmp/x",
        "--upload-pack=touch /tmp/x",
        "-oProxyCommand=touch",
        "ssh://-oProxyCommand=touch/x",
        "git@-oProxyCommand=touch:x",
        "https://user:password@git.example.com/a",
        "",
        "https://git.example.com/a\nb",
    ];
    let refs = [
        "--upload-pack=x",
        "-x",
        "",
        "a b",
        "a..b",
        "main\n",
        "refs/heads/../x",
        "a:b",
        "^main",
        "x~1",
    ];
    let bad = urls
        .map(|url| (url, "main"))
        .into_iter()
        .chain(refs.map(|reference| (good, reference)));
    for (url, reference) in bad {
        let answer = api.post("/build", of(url, reference)).await;
        let message = answer.refusal(400);
        assert!(message.contains("source.git"), "{url} {reference}: {message}");
    }
    for (url, reference) in [
        (good, "main"),
        ("git@git.example.com:team/app.git", "v1.0.0"),
        ("ssh://git@git.example.com/app.git", "feature/x"),
    ] {
        api.post("/build", of(url, reference)).await.created();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_that_go_wrong_end_in_words() {
    let deployment = Deployment::with(Ground::SqliteDirectory, Turn::beside_others().await, with_runner());
    let api = deployment.api();
    let impossible = [
        json!([]),
        json!([{"name": "", "run": "true"}]),
        json!([{"name": "a", "run": " "}]),
        json!([{"name": "a"}]),
    ];
    for steps in impossible {
        let mut body = request(&api, &[]).await;
        body["plan"]["steps"] = steps;
        let message = api.post("/build", body).await.refusal(400);
        assert!(message.contains("plan"), "{message}");
    }
    // The step timeout is the minimum.
    let rows = [
        ("exit 7", None, "STEP_FAILED", "exit code 7"),
        ("no-such-program", None, "STEP_FAILED", "exit code 127"),
        ("kill -SEGV $$", None, "STEP_FAILED", "signal 11"),
        ("sleep 1000", Some(1), "TIMED_OUT", "longer than 1 s"),
        ("while :; do :; done", Some(1), "TIMED_OUT", "longer than 1 s"),
    ];
    for (run, seconds, code, words) in rows {
        let mut body = request(&api, &[]).await;
        body["plan"]["steps"] = json!([{"name": "first", "run": "true"}, {"name": "wrong", "run": run}, {"name": "after", "run": "echo REACHED"}]);
        if let Some(seconds) = seconds {
            body["plan"]["steps"][1]["timeoutSeconds"] = json!(seconds);
        }
        let id = create(&api, body).await;
        let build = finished(&api, &id).await;
        let error = &build["error"];
        assert_eq!(
            json!([build["status"], error["code"], error["phase"]]),
            json!(["failed", code, "wrong"]),
            "{run}: {build}"
        );
        assert!(error.text("message").contains(words), "{run}: {error}");
        assert!(!log(&api, &id).await.contains("REACHED\n"), "{run}");
    }
    let mut body = request(&api, &[("nothing", "true")]).await;
    body["plan"]["artifacts"] = json!([{"path": "out/*.apk", "kind": "apk"}]);
    let build = finished(&api, &create(&api, body).await).await;
    assert_eq!(build["error"]["code"], "ARTIFACT_MISSING", "{build}");
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_that_print_anything_and_leave_processes_still_finish() {
    let deployment = Deployment::with(Ground::SqliteDirectory, Turn::beside_others().await, with_runner());
    let api = deployment.api();
    // Every byte value, and a truncated character at the end.
    let print = "for high in 0 1 2 3; do for mid in 0 1 2 3 4 5 6 7; do for low in 0 1 2 3 4 5 6 7; do printf \"\\\\$high$mid$low\"; done; done; done
        head -c 300000 /dev/urandom; printf 'the end\\xe2\\x82'";
    let id = create(&api, request(&api, &[("print", print)]).await).await;
    let build = succeeded(&api, &id).await;
    let whole = api.get(&format!("/build/log?id={id}")).await.bytes;
    assert_eq!(build["logSize"], whole.len());
    let every: Vec<u8> = (0..=255).collect();
    assert!(whole.windows(256).any(|window| window == every), "bytes were changed");
    assert!(
        whole.windows(9).any(|window| window == b"the end\xe2\x82"),
        "the end was changed"
    );
    let events = follow(&api, &id, None).await;
    assert_eq!(events.last().unwrap().name, "end");
    assert!(text_of(&events).contains("the end\u{fffd}"));

    let away = format!(
        "nohup setsid sleep 98{} >/dev/null 2>&1 & disown; (sleep 97{} &) ; echo gone",
        std::process::id(),
        std::process::id()
    );
    let id = create(&api, request(&api, &[("away", &away)]).await).await;
    let build = succeeded(&api, &id).await;
    assert_eq!(build["phases"][1]["exitCode"], 0);
    let left = |start: &str| {
        let name = format!("sleep\0{start}{}\0", std::process::id());
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        lines.any(|line| line == name.as_bytes())
    };
    assert!(!left("98") && !left("97"), "processes of the build are left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_nobody_can_make_says_so_and_expires() {
    let deployment = Deployment::with(Ground::SqliteDirectory, Turn::beside_others().await, with_runner());
    let api = deployment.api();
    let mut body = request(&api, &[("build", "true")]).await;
    body["plan"]["labels"] = json!(["os=macos", "xcode=26"]);
    let id = create(&api, body).await;
    let build = read(&api, &id).await;
    let waits = build.text("waitingFor");
    assert!(waits.contains("os=macos") && waits.contains("xcode=26"), "{waits}");
    // Other builds are not blocked by it.
    let other = create(&api, request(&api, &[("build", "true")]).await).await;
    succeeded(&api, &other).await;
    assert_eq!(read(&api, &id).await["status"], "queued");

    // A day passes.
    deployment
        .sql("UPDATE builds SET queued_at = queued_at - 86400000 WHERE status = 'queued'")
        .await;
    let build = finished(&api, &id).await;
    assert_eq!(
        json!([build["status"], build["error"]["code"]]),
        json!(["failed", "EXPIRED"]),
        "{build}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_out_runner_ends_and_its_build_goes_to_another() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let team = deployment.team();
    let api = Api::new(deployment.node(), &team.key);
    let url = deployment.node().base_url();
    let mut first = RunnerProcess::start(deployment.node(), &api, &team.id, &url, "first", &[]).await;
    let run = "echo \"by $LAUNCHWAY_WORKSPACE\"; test $LAUNCHWAY_ATTEMPT = 2 || sleep 1000";
    let id = create(&api, request(&api, &[("wait", run)]).await).await;
    let started = async || log(&api, &id).await.contains("by /").then_some(());
    wait(LIMIT, "the step prints", started).await;
    let runner = runner_named(&api, "first").await;
    let revoked = api.delete(&format!("/runners?id={runner}")).await.ok();
    assert_eq!(revoked["status"], "revoked");
    let second = RunnerProcess::start(deployment.node(), &api, &team.id, &url, "second", &[]).await;
    // The duration of its lease passes.
    deployment
        .sql("UPDATE builds SET lease_until = 0 WHERE status = 'running' AND attempt = 1")
        .await;
    let build = finished(&api, &id).await;
    assert_eq!(
        json!([build["status"], build["attempt"], build["runner"]]),
        json!(["success", 2, "second"]),
        "{build}"
    );
    let whole = log(&api, &id).await;
    let place = second.work_dir();
    assert!(whole.contains(&format!("by {}", place.display())), "{whole}");
    let ended = first.ended().await;
    assert!(
        !ended.success() && first.log().contains("refuses this runner"),
        "{}",
        first.log()
    );
}

async fn runner_named(api: &Api, name: &str) -> String {
    let runners: Value = api.get("/runners").await.ok();
    let mut items = runners["items"].as_array().unwrap().iter();
    let found = items.find(|runner| runner["name"] == name).unwrap();
    found.id().to_owned()
}
