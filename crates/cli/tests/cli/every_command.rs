//! Common rules of all commands: their help, their JSON, their exit code for each response and for each failure to get
//! one, and their layout on a narrow terminal.

mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use futures::StreamExt;
use insta::assert_snapshot;
use serde_json::Value;

use self::table::{Kind, Row, rows};
use crate::build;
use crate::fake_server::{FakeServer, Reply};
use crate::interrupt::interrupt;
use crate::stage::Stage;
use crate::terminal::Screen;

/// Concurrent processes.
const AT_ONCE: usize = 16;
const TIMEOUT: Duration = Duration::from_secs(60);

/// A stage with everything that the commands of the table need.
fn prepared(mut stage: Stage) -> Stage {
    build::project(&stage);
    stage
        .file(
            "package.json",
            r#"{"dependencies": {"@capacitor/core": "8", "@capacitor/android": "8"}}"#,
        )
        .file("capacitor.config.json", r#"{"appId": "com.example.app"}"#)
        .file("android/settings.gradle", "include ':app'\n")
        .file("android/app/src/main/AndroidManifest.xml", "<manifest/>\n")
        .file("dist/index.html", "<p>hello</p>")
        .file("one.env", "A=1\n")
        .file("empty.json", "[]")
        .file("AuthKey_2X9R4HXF34.p8", "a key")
        .file(
            "store.p8",
            include_str!("../../../credentials/tests/fixtures/store-connect.p8"),
        );
    for name in ["core", "android"] {
        let manifest = format!(r#"{{"name": "@capacitor/{name}", "version": "8.0.0"}}"#);
        stage.file(&format!("node_modules/@capacitor/{name}/package.json"), manifest);
    }
    stage.set("NO_COLOR", "1");
    stage
}

/// Runs a function for each row, several at a time, and returns the results in the order of the table.
async fn each<T>(rows: impl IntoIterator<Item = Row>, work: impl AsyncFn(Row) -> T) -> Vec<T> {
    futures::stream::iter(rows)
        .map(|row| work(row))
        .buffered(AT_ONCE)
        .collect()
        .await
}

/// The names of a command and of its parents, which precede its own arguments.
fn name(arguments: &[&str], known: &BTreeSet<String>) -> String {
    let mut name = arguments[0].to_owned();
    if let Some(second) = arguments.get(1) {
        let longer = format!("{name} {second}");
        if known.contains(&longer) {
            name = longer;
        }
    }
    name
}

/// Every executable command, with the first line of its help, found by asking for help as users do.
async fn tree(stage: &Stage) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut left = vec![String::new()];
    while let Some(above) = left.pop() {
        let mut arguments: Vec<&str> = above.split_whitespace().collect();
        arguments.push("--help");
        let output = stage.command(&arguments).output().await.expect("the command starts");
        let help = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(
            output.status.success() && help.contains("Usage: launchway"),
            "{above}: {help}"
        );
        let below: Vec<&str> = commands(&help);
        // `build`, `update`, `fingerprint` and `runner` can also be executed without a subcommand.
        let runs = below.is_empty() || usage(&help).any(|line| !line.ends_with("<COMMAND>"));
        if !above.is_empty() && runs {
            found.push((above.clone(), help.lines().next().unwrap_or_default().to_owned()));
        }
        left.extend(below.iter().map(|name| format!("{above} {name}").trim().to_owned()));
    }
    found.sort();
    found
}

/// The usage lines.
fn usage(help: &str) -> impl Iterator<Item = &str> {
    let rest = help.split_once("Usage: ").map_or("", |(_, rest)| rest);
    rest.lines().take_while(|line| !line.is_empty())
}

fn commands(help: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut listed = false;
    for line in help.lines() {
        if line.starts_with("Commands") && line.ends_with(':') {
            listed = true;
        } else if line.is_empty() {
            listed = false;
        } else if let Some(name) = line.strip_prefix("  ").filter(|name| listed && !name.starts_with(' ')) {
            names.extend(name.split_whitespace().next().filter(|name| *name != "help"));
        }
    }
    names
}

#[tokio::test]
async fn each_has_help_and_stands_in_this_table() {
    let tree = tree(&Stage::new()).await;
    let known: BTreeSet<String> = tree.iter().map(|(name, _)| name.clone()).collect();
    let here: BTreeSet<String> = rows().iter().map(|row| name(row.arguments, &known)).collect();
    assert_eq!(here, known);
    let mut text = String::new();
    for (name, about) in tree {
        let _ = writeln!(text, "{name:21}  {about}");
    }
    assert_snapshot!(text);
}

#[tokio::test]
async fn json_is_one_document_of_the_server() {
    let rows = rows().into_iter().filter(|row| row.kind == Kind::Passes);
    each(rows, async |row| {
        let server = FakeServer::start([]).await;
        let answers = (row.answers)(&server.url());
        server.then(answers.iter().map(|answer| Reply::new(200, answer.clone())));
        let stage = prepared(Stage::with(&server));
        let arguments = [row.arguments, &["--json"]].concat();
        let printed = stage.json(&arguments).await;
        let last: Value = serde_json::from_str(answers.last().expect("an answer")).expect("JSON");
        assert_eq!(printed, last, "{arguments:?}");
        assert_eq!(
            server.seen().len(),
            answers.len(),
            "{arguments:?}: {:?}",
            server.lines()
        );
    })
    .await;
}

#[tokio::test]
async fn each_end_has_its_exit_code() {
    let rows = rows().into_iter().filter(|row| row.kind != Kind::Local);
    each(rows, async |row| {
        for (end, expected) in ENDS {
            let code = tokio::time::timeout(TIMEOUT, end.code(row.arguments)).await;
            assert_eq!(code, Ok(expected), "{:?}: {end:?}", row.arguments);
        }
    })
    .await;
}

#[tokio::test]
async fn with_json_each_failure_is_one_object() {
    let rows = rows()
        .into_iter()
        .filter(|row| row.kind != Kind::Local && row.arguments[0] != "api");
    each(rows, async |row| {
        let failures = (0..4).map(|_| Reply::error(404, "Not Found", "it is \u{1b}not there"));
        let server = FakeServer::start(failures).await;
        let stage = prepared(Stage::with(&server));
        let arguments = [row.arguments, &["--json"]].concat();
        let failure = failure(&stage, &arguments).await;
        assert_eq!(failure["error"], "not_found", "{arguments:?}: {failure}");
        assert_eq!(failure["exitCode"], 3, "{arguments:?}: {failure}");
        let message = failure["message"].as_str().expect("a message");
        assert!(message.contains("not there"), "{arguments:?}: {message}");
    })
    .await;
}

/// The object that a command prints when it fails, from the last line of standard error.
async fn failure(stage: &Stage, arguments: &[&str]) -> Value {
    let output = stage.command(arguments).output().await.expect("the command starts");
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    let last = text.lines().last().unwrap_or_default();
    let failure: Value = serde_json::from_str(last).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"));
    assert_eq!(output.status.code().map(Value::from), Some(failure["exitCode"].clone()));
    failure
}

#[tokio::test]
async fn with_json_wrong_arguments_are_one_object_too() {
    let stage = Stage::new();
    stage.file("broken/launchway.toml", "broken");
    let rows: [(&[&str], &str); 6] = [
        (&["updat", "--json"], "unrecognized subcommand 'updat'"),
        (&["--json", "update", "web"], "invalid value 'web' for '[PLATFORM]'"),
        (&["--json", "update"], "no arguments specified"),
        (
            &["update", "ios", "list", "--json"],
            "publish an update or use one of the commands",
        ),
        (&["whoami", "--json"], "not logged in to production"),
        (
            &["whoami", "--json", "--config", "broken/launchway.toml"],
            "broken/launchway.toml, line 1",
        ),
    ];
    for (arguments, message) in rows {
        let failure = failure(&stage, arguments).await;
        let said = failure["message"].as_str().expect("a message");
        assert!(
            said.starts_with(message) && !said.contains('\n'),
            "{arguments:?}: {failure}"
        );
        assert!(
            failure["hint"].is_string() || said.contains("line 1"),
            "{arguments:?}: {failure}"
        );
    }
    let help = stage.run(&["update", "--help", "--json"]).await;
    assert!(
        help.contains("Usage: launchway update") && help.ends_with("--- exit 0\n"),
        "{help}"
    );
}

/// An obstacle to a command.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The server responds with this status.
    Status(u16),
    /// There is no login.
    NoKey,
    /// No server listens at the address.
    NoNetwork,
    Interrupt,
}

/// Obstacles and their exit codes (`docs/reference/command-line.md#exit-codes`). The tests of single commands cover the
/// others.
const ENDS: [(End, i32); 7] = [
    (End::Status(400), 1),
    (End::Status(404), 3),
    (End::Status(401), 4),
    (End::NoKey, 4),
    (End::Status(500), 6),
    (End::NoNetwork, 6),
    (End::Interrupt, 130),
];

impl End {
    async fn code(self, arguments: &[&str]) -> i32 {
        let replies = (0..4).map(|_| match self {
            End::Status(status) => Reply::error(status, "An Error", "it is so"),
            _ => Reply::silence(),
        });
        let server = FakeServer::start(replies).await;
        let mut stage = match self {
            End::NoKey => Stage::new(),
            _ => Stage::with(&server),
        };
        if matches!(self, End::NoNetwork) {
            // Port 9 belongs to a service that no longer exists on any machine.
            stage.set("LAUNCHWAY_URL", "http://127.0.0.1:9");
        }
        let stage = prepared(stage);
        let child = stage.command(arguments).spawn().expect("the command starts");
        if matches!(self, End::Interrupt) {
            server.arrival().await;
            interrupt(&child);
        }
        let output = child.wait_with_output().await.expect("the command ends");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(
            !said.contains('\u{1b}') && !said.contains("panicked"),
            "{arguments:?}: {said}"
        );
        assert!(
            output.stdout.is_empty() || arguments[0] == "api",
            "{arguments:?}: only what succeeds has a result"
        );
        output.status.code().expect("no signal ended it")
    }
}

#[tokio::test]
async fn on_a_narrow_terminal_nothing_is_lost() {
    // Uploads display progress bars.
    let rows = rows()
        .into_iter()
        .filter(|row| row.kind == Kind::Passes && !row.arguments.contains(&"android"));
    let shown = each(rows, async |row| {
        let server = FakeServer::start([]).await;
        let answers = (row.answers)(&server.url());
        server.then(answers.into_iter().map(|answer| Reply::new(200, answer)));
        let stage = prepared(Stage::with(&server));
        let (shown, code) = Screen::of(&stage, row.arguments, 40).rest().await;
        assert_eq!(code, Some(0), "{:?}: {shown}", row.arguments);
        assert!(
            !shown.contains("\u{1b}[1;"),
            "{:?}: no color was wanted: {shown:?}",
            row.arguments
        );
        let wide = shown.lines().filter(|line| line.trim_end().chars().count() > 40);
        // Notes are prose, which the terminal breaks; nobody breaks a word, or a command to paste.
        let is_broken = |line: &str| line.trim_start().split(' ').filter(|word| *word != "\\").count() > 1;
        let wide: Vec<&str> = wide
            .filter(|line| line.trim_start().contains("  ") && is_broken(line))
            .collect();
        assert!(wide.is_empty(), "{:?}: {wide:#?}", row.arguments);
        let shown = stage.neutral(&shown).replace("\r\n", "\n");
        format!("$ launchway {}\n{shown}", row.arguments.join(" "))
    })
    .await;
    assert_snapshot!(shown.concat());
}

#[tokio::test]
async fn help_fits_a_narrow_terminal() {
    let mut stage = Stage::new();
    stage.set("NO_COLOR", "1");
    for (name, _) in tree(&stage).await {
        let arguments: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        let (shown, code) = Screen::of(&stage, &arguments, 40).rest().await;
        assert_eq!(code, Some(0), "{shown}");
        // The usage and words are not broken.
        let (usage, told) = shown.split_once("\r\n\r\n").unwrap_or_default();
        let usage_ends = told.split_once("\r\n\r\n").unwrap_or_default();
        let told = [usage, usage_ends.1].join("\r\n");
        let wide: Vec<&str> = told
            .lines()
            .filter(|line| line.trim_end().chars().count() > 40 && line.split_whitespace().count() > 2)
            .collect();
        assert!(wide.is_empty(), "{name}: {wide:#?}");
    }
}
