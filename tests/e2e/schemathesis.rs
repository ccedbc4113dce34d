//! Schemathesis against the served OpenAPI document: no 500, and no undocumented response.

use std::path::{Path, PathBuf};
use std::process::Command;

use launchway_testing::server_process::ServerProcess;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::deployment::{Deployment, Ground, team};
use crate::dice::Dice;

/// The checks on each response. Its other checks remove or change credentials, which the given headers undo; the
/// server's own tests cover those cases.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance,unsupported_method,allow_header_conformance";
/// A new device login is limited by address, not by organization: of many calls, most are refused.
const LIMITED_BY_ADDRESS: &str = "POST /auth/device";
const PASSWORD: &str = "correct horse battery";

/// Operations that can be tested together within the rate limit of one organization.
const GROUPS: [&str; 7] = [
    "^/(update|uploads|deployment-keys)",
    "^/(api-keys|apps|orgs|auth)",
    "^/submit",
    "^/(build|webhooks|docs|healthz|readyz|openapi.json)",
    "^/(env|credentials|audit|usage|fingerprints|names)",
    "^/trust",
    "^/runner",
];

#[tokio::test(flavor = "multi_thread")]
async fn few_examples() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let tester = Tester::new(deployment.node());
    let mut tested = 0;
    for group in GROUPS {
        tested += tester.run(
            &key_of_a_new_team(deployment.node()),
            &["--include-path-regex", group, "--max-examples", "2"],
        );
    }
    assert_eq!(
        tested,
        operations(deployment.node()).await.len(),
        "the groups must name each operation once"
    );
    let owner = signed_in(deployment.node()).await;
    // Signing out would end the session. Failed sign-ins and new device logins are limited by address, whoever calls: the
    // run above has used what this minute allows.
    tester.run(
        &owner,
        &[
            "--include-path-regex",
            GROUPS[1],
            "--exclude-path-regex",
            "^/auth/(sign-(in|out)|device)$",
            "--max-examples",
            "2",
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn many_examples() {
    for ground in [Ground::SqliteDirectory, Ground::PostgresS3] {
        let deployment = Deployment::start(ground).await;
        let tester = Tester::new(deployment.node());
        let operations = operations(deployment.node()).await;
        for (path, method) in &operations {
            let name = format!("{method} {path}");
            let only = ["--include-name", &name, "--max-examples", "250"];
            let mut callers = vec![key_of_a_new_team(deployment.node())];
            if ground == Ground::SqliteDirectory {
                callers.push(signed_in(deployment.node()).await);
            }
            for caller in &callers {
                assert_eq!(tester.run(caller, &only), 1, "{name}");
            }
        }
        let caller = key_of_a_new_team(deployment.node());
        tester.run(
            &caller,
            &["--phases", "stateful", "--max-examples", "20", "--rate-limit", "900/m"],
        );
        println!(
            "summary: schemathesis on {ground}: {} operations, nothing to complain of",
            operations.len()
        );
    }
}

/// Headers that identify the caller.
type Caller = Vec<String>;

/// A new organization for each run: each organization has its own rate limit.
fn key_of_a_new_team(server: &ServerProcess) -> Caller {
    vec![format!("Authorization: Bearer {}", team(server).key)]
}

/// The owner of a new organization in a browser.
async fn signed_in(server: &ServerProcess) -> Caller {
    let org = team(server).id;
    let email = format!("{org}@example.com");
    let user = ["create-user", "--email", &email, "--org", &org, "--role", "owner"];
    let _ = server.admin_with_input(&user, PASSWORD);
    let body = json!({"email": email, "password": PASSWORD});
    let answer = Api::new(server, "")
        .call(Method::POST, "/auth/sign-in", Some(body))
        .await;
    answer.ok();
    let cookie = answer.header("set-cookie").split(';').next().unwrap();
    vec![format!("Cookie: {cookie}"), format!("Origin: {}", server.origin())]
}

/// Path and method of every operation in the served document.
async fn operations(server: &ServerProcess) -> Vec<(String, String)> {
    let document = Api::new(server, "").get("/openapi.json").await.ok();
    let paths = document["paths"].as_object().unwrap().iter();
    let of_path = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys().map(|method| method.to_uppercase());
        methods.map(|method| (path.clone(), method)).collect::<Vec<_>>()
    };
    paths.flat_map(of_path).collect()
}

/// Schemathesis, installed in its own directory.
struct Tester {
    folder: TempDir,
    document: String,
    seed: String,
}

impl Tester {
    /// Installs it from the Python package index.
    fn new(server: &ServerProcess) -> Tester {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().join("venv");
        let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/schemathesis.txt");
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv));
        succeed(
            Command::new(venv.join("bin/pip"))
                .args(["install", "--quiet", "--requirement"])
                .arg(wanted),
        );
        Tester {
            folder,
            document: format!("{}/openapi.json", server.origin()),
            seed: (Dice::roll().number() % 1_000_000).to_string(),
        }
    }

    /// Runs it as `caller`; returns how many operations it tested.
    fn run(&self, caller: &Caller, arguments: &[&str]) -> usize {
        let program: PathBuf = self.folder.path().join("venv/bin/schemathesis");
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .args(["run", &self.document, "--no-color", "--seed", &self.seed]);
        command.args(["--checks", CHECKS]).args(arguments);
        if !arguments.contains(&"--phases") {
            command.args(["--phases", "examples,coverage,fuzzing"]);
        }
        for header in caller {
            command.args(["--header", header]);
        }
        let printed = succeed(&mut command);
        assert!(
            arguments.contains(&LIMITED_BY_ADDRESS) || !printed.contains("Rate limited:"),
            "most calls were not tested at all:\n{printed}"
        );
        let tested = printed.lines().find_map(|line| line.trim().strip_prefix("Tested:"));
        tested
            .expect("it says how many operations it tested")
            .trim()
            .parse()
            .unwrap()
    }
}

/// The output of a command that must succeed.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{printed}{errors}");
    printed
}
