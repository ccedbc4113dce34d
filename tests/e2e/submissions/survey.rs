//! `launchway doctor stores` against both simulated stores.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{fixture, service_account};
use crate::cli::{Cli, Outcome};
use crate::store_simulator::StoreSimulator;

/// The stores, and the files of a developer.
struct Stage {
    simulator: StoreSimulator,
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(arguments: &[&str]) -> Stage {
        let simulator = StoreSimulator::start(arguments);
        let folder = tempfile::tempdir().unwrap();
        let account = folder.path().join("play.json");
        fs::write(account, service_account(&simulator.address)).unwrap();
        let key = fixture("credentials/tests/fixtures/store-connect.p8");
        fs::copy(key, folder.path().join("AuthKey_ABCDE12345.p8")).unwrap();
        Stage { simulator, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let cli = Cli::new()
            .with("LAUNCHWAY_APP_STORE_CONNECT_URL", &self.simulator.address)
            .with("LAUNCHWAY_GOOGLE_PLAY_URL", &self.simulator.address);
        let command = ["doctor", "stores"];
        cli.run_in(self.folder.path(), command.iter().chain(arguments))
    }
}

const KEYS: [&str; 4] = [
    "AuthKey_ABCDE12345.p8",
    "play.json",
    "--issuer-id",
    "57246542-96fe-1a63-e053-0824d011072a",
];

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_tried_and_the_transcript_names_nobody() {
    let stage = Stage::new(&["--app", "com.example.app"]);
    let app = ["--live", "--bundle-id", "com.example.app", "--transcript", "seen.txt"];
    let tried = stage.run(&[&KEYS[..], &app].concat());
    assert_eq!(tried.code, 0, "{tried:?}");
    for line in [
        "Key ABCDE12345 of App Store Connect (AuthKey_ABCDE12345.p8)\nok       credential: at least 1 app\n",
        "ok       groups: 2 groups\n",
        "ok       releases of production: 0 releases\n",
    ] {
        assert!(tried.stdout.contains(line), "{line}: {tried:?}");
    }
    assert!(tried.stderr.contains("read it before you share it"), "{tried:?}");
    assert_eq!(stage.simulator.ledger().await, json!({"entries": []}));

    let transcript = fs::read_to_string(stage.path("seen.txt")).unwrap();
    assert!(
        transcript.starts_with("launchway 0.1.0 doctor stores --live\n"),
        "{transcript}"
    );
    let address = stage.simulator.address.trim_start_matches("http://");
    for secret in [
        "com.example",
        "ABCDE12345",
        "57246542",
        "gserviceaccount",
        "token-",
        address,
    ] {
        assert!(!transcript.contains(secret), "{secret}: {transcript}");
    }
    assert!(
        transcript.contains("> GET <host>/v1/apps?limit=1\n< 200"),
        "{transcript}"
    );

    let again = stage.run(&[&KEYS[..], &app].concat());
    assert!(
        again.code == 2 && again.stderr.contains("name a file that does not exist"),
        "{again:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_live_only_the_files_are_checked() {
    let stage = Stage::new(&["--app", "com.example.app"]);
    let checked = stage.run(&KEYS);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.stderr.contains("--live asks the app stores"), "{checked:?}");
    let log = stage.simulator.ledger().await;
    assert_eq!(log, json!({"entries": []}));

    fs::write(stage.path("foreign.json"), service_account("https://evil.example")).unwrap();
    fs::write(stage.path("note.txt"), "hello").unwrap();
    fs::copy(stage.path("AuthKey_ABCDE12345.p8"), stage.path("key.p8")).unwrap();
    let rows = [
        ("foreign.json", "names a token_uri that is not Google's"),
        ("note.txt", "is not a key of an app store"),
        ("key.p8", "the id of the key in key.p8 is unknown"),
        ("missing.p8", "cannot read missing.p8"),
    ];
    for (file, message) in rows {
        let refused = stage.run(&[file, "--live"]);
        assert!(
            refused.code == 2 && refused.stderr.contains(message),
            "{file}: {refused:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_the_key_does_not_find_is_a_problem() {
    let stage = Stage::new(&["--app", "com.example.app"]);
    let app = ["--live", "--bundle-id", "com.example.other", "--json"];
    let tried = stage.run(&[&KEYS[..], &app].concat());
    assert_eq!(tried.code, 1, "{tried:?}");
    let shown: Value = serde_json::from_str(&tried.stdout).unwrap();
    assert_eq!(shown["status"], "problem");
    let apple = &shown["accounts"][0]["answers"];
    assert_eq!(
        json!([apple[0]["status"], apple[1]["question"], apple[1]["code"]]),
        json!(["ok", "app", "APP_NOT_FOUND"]),
        "{shown:#}"
    );
    assert!(apple[1]["fix"].is_string() && apple[2].is_null(), "{shown:#}");
}
