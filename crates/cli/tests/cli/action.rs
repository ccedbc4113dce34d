//! The GitHub Action: its YAML, and its scripts, which run here with this program, a stub of GitHub's API and the
//! variables of a run.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::process::Command;
use yaml_rust2::{Yaml, YamlLoader};

use crate::fake_server::{FakeServer, Reply};
use crate::fingerprint::{BUILD, camera, hash_and_document, project, told};
use crate::stage::{KEY, Stage};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The result of a run of the action.
struct Run {
    code: Option<i32>,
    printed: String,
    outputs: String,
    summary: String,
}

#[expect(clippy::disallowed_methods, reason = "the scripts need this machine's node")]
fn path_of_this_machine() -> String {
    std::env::var("PATH").expect("a PATH")
}

/// Runs a script of the action as GitHub does, on a pull request when `event` says so.
async fn run(script: &str, stage: &Stage, server: &FakeServer, event: &Value, variables: &[(&str, &str)]) -> Run {
    let place = |name: &str| stage.project().parent().expect("it has one").join(name);
    for name in ["outputs", "summary"] {
        std::fs::write(place(name), "").expect("space");
    }
    std::fs::write(place("event.json"), event.to_string()).expect("space");
    let program = Path::new(env!("CARGO_BIN_EXE_launchway")).parent().expect("it has one");
    let path = path_of_this_machine();
    let mut command = Command::new(repository().join("action").join(script));
    command
        .current_dir(stage.project())
        .env_clear()
        .env("PATH", format!("{}:{path}", program.display()))
        .env("HOME", place("home"))
        .env("CI", "true")
        .env("GITHUB_OUTPUT", place("outputs"))
        .env("GITHUB_STEP_SUMMARY", place("summary"))
        .env("GITHUB_EVENT_PATH", place("event.json"))
        .env("GITHUB_REPOSITORY", "example/app")
        .env("GITHUB_API_URL", server.url())
        .env("GITHUB_TOKEN", "of-github")
        .env("COMMENT", "true")
        .env("PLATFORM", "android")
        .env("AGAINST", "latest")
        .env("URL", server.url())
        .env("API_KEY", KEY)
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    let output = command.output().await.expect("the script starts");
    let text = |name: &str| std::fs::read_to_string(place(name)).expect("it was written");
    let printed = [output.stdout, output.stderr].concat();
    Run {
        code: output.status.code(),
        printed: String::from_utf8(printed).expect("UTF-8"),
        outputs: text("outputs"),
        summary: text("summary"),
    }
}

fn pull_request() -> Value {
    json!({"pull_request": {"number": 7}})
}

fn comments(of: &[Value]) -> Reply {
    Reply::new(200, json!(of).to_string())
}

#[tokio::test]
async fn the_difference_is_commented_once_and_kept_up_to_date() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    project(&stage);
    let (hash, document) = hash_and_document(&stage).await;
    camera(&stage, "8.3.0|`@everyone` <b>");
    let known = || told(BUILD, Some(&hash), Some(&document));
    let other = json!({"id": 1, "user": {"type": "Bot"}, "body": "of another action"});

    server.then([
        known(),
        known(),
        comments(std::slice::from_ref(&other)),
        Reply::new(201, "{}"),
    ]);
    let first = run("compare.sh", &stage, &server, &pull_request(), &[]).await;
    assert_eq!(first.code, Some(0), "{}", first.printed);
    assert_snapshot!(first.summary);
    let (now, _) = hash_and_document(&stage).await;
    assert_eq!(
        first.outputs,
        format!("fingerprint={now}\nagainst={BUILD}\nnative-needed=true\n")
    );
    let seen = server.seen();
    assert_eq!(
        server.lines()[2..],
        [
            "GET /repos/example/app/issues/7/comments?per_page=100&page=1",
            "POST /repos/example/app/issues/7/comments"
        ]
    );
    assert_eq!(seen[3].json(), json!({"body": first.summary}));
    assert_eq!(seen[3].header("authorization"), "Bearer of-github");

    // Another push updates the same comment.
    camera(&stage, "8.2.0");
    let own = json!({"id": 2, "user": {"type": "Bot"}, "body": first.summary});
    let of_a_user = json!({"id": 3, "user": {"type": "User"}, "body": first.summary});
    server.then([
        known(),
        known(),
        comments(&[other, of_a_user, own]),
        Reply::new(200, "{}"),
    ]);
    let second = run("compare.sh", &stage, &server, &pull_request(), &[]).await;
    assert_eq!(second.code, Some(0), "{}", second.printed);
    assert!(second.outputs.ends_with("native-needed=false\n"), "{}", second.outputs);
    assert_eq!(
        server.lines().last().unwrap(),
        "PATCH /repos/example/app/issues/comments/2"
    );
    assert!(second.summary.contains("Nothing differs from"), "{}", second.summary);

    // Nothing has changed.
    let own = json!({"id": 2, "user": {"type": "Bot"}, "body": second.summary});
    server.then([known(), known(), comments(&[own])]);
    let third = run("compare.sh", &stage, &server, &pull_request(), &[]).await;
    assert_eq!(
        (third.code, third.summary),
        (Some(0), second.summary),
        "{}",
        third.printed
    );
    assert!(server.lines().last().unwrap().starts_with("GET /repos/"));
}

#[tokio::test]
async fn the_summary_tells_what_no_comment_can() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    project(&stage);
    let (hash, document) = hash_and_document(&stage).await;
    camera(&stage, "8.3.0");
    let known = || told(BUILD, Some(&hash), Some(&document));
    for (event, variables) in [(json!({}), vec![]), (pull_request(), vec![("COMMENT", "false")])] {
        server.then([known(), known()]);
        let run = run("compare.sh", &stage, &server, &event, &variables).await;
        assert_eq!(run.code, Some(0), "{}", run.printed);
        assert!(run.summary.contains("8.3.0"), "{}", run.summary);
        assert!(server.lines().iter().all(|line| line.starts_with("GET /api/")));
    }
    server.then([known(), told(BUILD, Some("other"), None), Reply::new(403, "{}")]);
    let refused = run("compare.sh", &stage, &server, &pull_request(), &[]).await;
    assert_eq!(refused.code, Some(0), "{}", refused.printed);
    assert!(
        refused
            .printed
            .contains("::warning::The difference could not be commented"),
        "{}",
        refused.printed
    );
    assert!(
        refused.summary.contains("What differs is not known"),
        "{}",
        refused.summary
    );

    let nothing = || Reply::error(404, "Not Found", "No successful build has a fingerprint");
    server.then([nothing(), Reply::new(200, crate::stage::page(&[], 0, 0))]);
    let nothing = run("compare.sh", &stage, &server, &pull_request(), &[]).await;
    assert_eq!(
        (nothing.code, nothing.summary.as_str()),
        (Some(0), ""),
        "{}",
        nothing.printed
    );
    assert!(nothing.printed.contains("::notice::"), "{}", nothing.printed);

    server.then([Reply::error(401, "Unauthorized", "Invalid or expired API key")]);
    let refused = run("compare.sh", &stage, &server, &pull_request(), &[]).await;
    assert_eq!(refused.code, Some(4), "{}", refused.printed);
}

#[tokio::test]
async fn the_command_gets_its_arguments_by_line_and_its_end_is_told() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    project(&stage);
    let (hash, document) = hash_and_document(&stage).await;
    camera(&stage, "8.3.0");
    server.then([told(BUILD, Some(&hash), Some(&document))]);
    let arguments = "--dir\nout put\r\n\n--version\n1.0.1\n--configuration\nproduction\n";
    stage.file("out put/index.html", "x");
    let with = |command, arguments| [("COMMAND", command), ("ARGUMENTS", arguments)];
    let refused = run("run.sh", &stage, &server, &json!({}), &with("update", arguments)).await;
    assert_eq!(refused.code, Some(5), "{}", refused.printed);
    assert!(
        refused
            .printed
            .contains("::error::The newest build cannot run this update."),
        "{}",
        refused.printed
    );
    let wrong = run("run.sh", &stage, &server, &json!({}), &with("update", "--no-such\n")).await;
    assert_eq!(wrong.code, Some(2), "{}", wrong.printed);
    let unknown = run("run.sh", &stage, &server, &json!({}), &with("login", "")).await;
    assert_eq!(unknown.code, Some(2), "{}", unknown.printed);
    assert!(
        unknown.printed.contains("::error::command must be"),
        "{}",
        unknown.printed
    );
}

#[tokio::test]
async fn the_program_that_is_there_is_taken_and_else_one_is_built() {
    let server = FakeServer::start([]).await;
    let stage = Stage::with(&server);
    let script = Path::new("install.sh");
    let root = repository().canonicalize().expect("it is there");
    let source = [("GITHUB_ACTION_PATH", root.to_str().expect("UTF-8"))];
    let run_with = async |word: &str, path: &str, more: &[(&str, &str)]| {
        let outputs = stage.project().join("outputs");
        std::fs::write(&outputs, "").expect("space");
        let output = Command::new(root.join("action").join(script))
            .arg(word)
            .env_clear()
            .env("PATH", path)
            .env("HOME", stage.project())
            .env("GITHUB_OUTPUT", &outputs)
            .env("GITHUB_PATH", &outputs)
            .env("RUNNER_TEMP", stage.project())
            .env("RUNNER_OS", "Linux")
            .env("RUNNER_ARCH", "X64")
            .envs(source)
            .envs(more.iter().copied())
            .output()
            .await
            .expect("the script starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(&outputs).expect("it was written")
    };
    let program = Path::new(env!("CARGO_BIN_EXE_launchway")).parent().expect("it has one");
    let system = "/usr/local/bin:/usr/bin:/bin";
    let with_program = format!("{}:{system}", program.display());
    assert_eq!(run_with("place", &with_program, &[]).await, "");

    // A stub of cargo, which would take minutes.
    let tools = stage.project().join("tools");
    let cargo = "#!/bin/sh\nset -e\necho \"$*\" >> \"$CALLS\"\nmkdir -p \"$PLACE/bin\"\n: > \"$PLACE/bin/launchway\"\n\
        chmod +x \"$PLACE/bin/launchway\"\n";
    stage.file("tools/cargo", cargo);
    let status = std::process::Command::new("chmod")
        .arg("+x")
        .arg(tools.join("cargo"))
        .status();
    assert!(status.expect("chmod starts").success());
    let path = format!("{}:{system}", tools.display());
    let told = run_with("place", &path, &[]).await;
    let (place, key) = told.split_once('\n').expect("two lines");
    let place = place.strip_prefix("path=").expect("a path");
    assert!(
        key.starts_with("key=launchway-Linux-X64-") && key.trim_end().len() == 64,
        "{key}"
    );
    let calls = stage.project().join("calls");
    let more = [("PLACE", place), ("CALLS", calls.to_str().expect("UTF-8"))];
    for _ in 0..2 {
        assert_eq!(run_with("install", &path, &more).await, format!("{place}/bin\n"));
    }
    let calls = std::fs::read_to_string(calls).expect("cargo was called");
    assert_eq!(
        calls.lines().count(),
        1,
        "what the cache brought is not built again: {calls}"
    );
    assert!(calls.starts_with("install --locked --path "), "{calls}");
}

/// GitHub accepts every step, every script exists, and every input is declared.
#[test]
fn the_yaml_names_what_is_there() {
    let text = std::fs::read_to_string(repository().join("action.yml")).expect("it is there");
    let action = YamlLoader::load_from_str(&text).expect("good YAML").remove(0);
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let inputs = action["inputs"].as_hash().expect("a map");
    let steps = action["runs"]["steps"].as_vec().expect("a list");
    let mut scripts = 0;
    for step in steps {
        let (run, uses) = (step["run"].as_str(), step["uses"].as_str());
        assert_ne!(run.is_some(), uses.is_some(), "{step:?}");
        let Some(run) = run else { continue };
        assert_eq!(step["shell"].as_str(), Some("bash"));
        let script = run
            .split('"')
            .nth(1)
            .and_then(|path| path.strip_prefix("$GITHUB_ACTION_PATH/"));
        assert!(
            repository().join(script.expect("a script of the action")).is_file(),
            "{run}"
        );
        scripts += 1;
    }
    assert_eq!(scripts, 4);
    for used in text.split("inputs.").skip(1) {
        let name: String = used
            .chars()
            .take_while(|letter| letter.is_ascii_lowercase() || *letter == '-')
            .collect();
        assert!(inputs.contains_key(&Yaml::String(name.clone())), "{name}");
    }
    assert!(action["outputs"]["native-needed"]["value"].as_str().is_some());
}

/// The YAML snippets in docs/ci.md are valid and name commands of this program.
#[tokio::test]
async fn the_snippets_can_be_read_and_run() {
    let text = std::fs::read_to_string(repository().join("docs/ci.md")).expect("it is there");
    let stage = Stage::new();
    let mut blocks = 0;
    for block in text.split("```yaml\n").skip(1) {
        let (block, _) = block.split_once("```").expect("it ends");
        YamlLoader::load_from_str(block).expect("good YAML");
        blocks += 1;
        for line in block.lines() {
            let Some((_, command)) = line.split_once("launchway ") else {
                continue;
            };
            let words: Vec<&str> = command
                .split_whitespace()
                .take_while(|word| !word.starts_with(['-', '|', '&', '>', '"']))
                .collect();
            let Some(first) = words
                .first()
                .filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'))
            else {
                continue;
            };
            let shown = stage.run(&[first, "--help"]).await;
            assert!(shown.contains("--- exit 0"), "{line}: {shown}");
        }
    }
    assert_eq!(blocks, 5);
}

#[test]
fn the_scripts_are_clean() {
    let mut command = std::process::Command::new("shellcheck");
    command.arg("-x").current_dir(repository());
    for name in ["install.sh", "compare.sh", "run.sh"] {
        command.arg(format!("action/{name}"));
    }
    let output = command
        .output()
        .expect("shellcheck is there: scripts/setup installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
