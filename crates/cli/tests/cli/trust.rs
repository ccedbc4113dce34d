//! `trust`: an app from nothing to signed updates, changes of its keys, and what is refused.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use insta::assert_snapshot;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::DAY;
use launchway_trust::client::Client as Phone;
use launchway_trust::metadata::{Metadata, Targets};
use launchway_trust::{SigningKey, TrustFile};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{KEY, Stage, page, update};
use crate::terminal::Screen;
use crate::trust_server::{APP, Content, TrustServer, now};

const PASSPHRASE: &str = "a long passphrase";
const INIT: [&str; 9] = [
    "trust",
    "init",
    "--bundle-id",
    APP,
    "--configuration",
    "production",
    "--recovery-key",
    "recovery.pem",
    "--yes",
];

/// A home and a project for this server.
fn stage_of(server: &TrustServer) -> Stage {
    let mut stage = Stage::new();
    stage.set("LAUNCHWAY_URL", &server.url()).set("LAUNCHWAY_API_KEY", KEY);
    stage.set("LAUNCHWAY_KEY_PASSPHRASE", PASSPHRASE);
    stage
}

/// What `trust init` made once for all tests: encryption takes its time.
struct Made {
    server_key: String,
    content: Content,
    trust_file: Vec<u8>,
    /// Name, encrypted text and plain text of the key files.
    keys: Vec<(OsString, String, String)>,
}

static MADE: OnceCell<Made> = OnceCell::const_new();

impl Made {
    async fn by_init() -> Self {
        let server = TrustServer::start().await;
        let stage = stage_of(&server);
        let said = stage.run(&INIT).await;
        assert!(said.ends_with("--- exit 0\n"), "{said}");
        let keys = keys(&stage).into_iter().map(|path| {
            let text = std::fs::read_to_string(&path).expect("text");
            let key = SigningKey::from_pem(&text, Some(PASSPHRASE)).expect("the passphrase");
            let name = path.file_name().expect("a name").to_owned();
            (name, text, key.to_pem().to_string())
        });
        let content = server.content().clone();
        Self {
            server_key: server.key_pem(),
            content,
            trust_file: std::fs::read(stage.project().join("launchway.trust.json")).expect("it is there"),
            keys: keys.collect(),
        }
    }
}

/// A server and a project after `trust init`. The key files need no passphrase.
pub async fn set_up() -> (TrustServer, Stage) {
    set_up_with(false).await
}

/// The same, with key files as `trust init` writes them if a test is about that.
async fn set_up_with(encrypted: bool) -> (TrustServer, Stage) {
    let made = MADE.get_or_init(Made::by_init).await;
    let server = TrustServer::with(&made.server_key, made.content.clone()).await;
    let stage = stage_of(&server);
    stage.file("launchway.trust.json", &made.trust_file);
    let folder = stage.login_file().with_file_name("keys");
    std::fs::create_dir_all(&folder).expect("space");
    for (name, sealed, plain) in &made.keys {
        let path = folder.join(name);
        std::fs::write(&path, if encrypted { sealed } else { plain }).expect("space");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    }
    (server, stage)
}

fn keys(stage: &Stage) -> Vec<PathBuf> {
    let folder = stage.login_file().with_file_name("keys");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("readable").path()).collect()
}

fn trust_file(stage: &Stage) -> TrustFile {
    let bytes = std::fs::read(stage.project().join("launchway.trust.json")).expect("it is there");
    TrustFile::parse(&bytes).expect("a trust file")
}

fn public_key(stage: &Stage, name: &str) -> SigningKey {
    let key = SigningKey::generate(&ring::rand::SystemRandom::new()).expect("a key");
    stage.file(name, key.public().to_pem());
    key
}

#[tokio::test]
async fn init_makes_keys_and_files_that_a_phone_accepts() {
    let server = TrustServer::start().await;
    let stage = stage_of(&server);
    let told = stage
        .json(&[&INIT[..], &["--ci-key", "ci.pem", "--json"]].concat())
        .await;
    assert_eq!([&told["bundleId"], &told["role"]], [APP, "c-production"]);

    // Two encrypted keys here, the recovery key and the key for CI in files of their own.
    let keys = keys(&stage);
    assert_eq!(keys.len(), 2);
    for key in &keys {
        let mode = std::fs::metadata(key).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(key).expect("text");
        assert!(text.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"), "{text}");
        SigningKey::from_pem(&text, Some(PASSPHRASE)).expect("the passphrase");
    }
    let plain = |name: &str| {
        let path = stage.project().join(name);
        let mode = std::fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let key = SigningKey::from_pem(&std::fs::read_to_string(path).expect("text"), None).expect("a plain key");
        json!(key.public().id())
    };
    assert_eq!(plain("ci.pem"), told["signingKey"]);
    assert_eq!(plain("recovery.pem"), told["recoveryKey"]);

    // A phone with the committed file takes what the server has.
    let bundle_id = BundleId::parse(APP).expect("a bundle id");
    let configuration = "production".parse().expect("a label");
    let file = trust_file(&stage);
    let mut phone = Phone::open(&file, &bundle_id, Some(&configuration), None).expect("a root");
    let root = phone.metadata().root().body();
    assert_eq!((root.root.threshold, root.root.key_ids.len()), (1, 2));
    assert_eq!(root.targets, root.root);
    assert!(!root.root.key_ids.contains(&server.content().named_online_key().id()));
    let mut run = phone.refresh(now());
    let files = server.content().files.clone();
    while let Some(request) = run.next_request().expect("valid metadata") {
        match files.get(&request.to_string()) {
            Some(text) => drop(run.take(text.as_bytes()).expect("valid metadata")),
            None => run.report_missing().expect("all files"),
        }
    }
    assert!(phone.metadata().role("c-production").is_some());

    // A second time nothing is changed.
    stage.json(&[&INIT[..], &["--json"]].concat()).await;
    assert_eq!(server.count("POST /api/trust"), 1);
    assert_eq!(trust_file(&stage), file);
}

#[tokio::test]
async fn init_goes_on_when_the_answer_was_lost() {
    let server = TrustServer::start().await;
    let stage = stage_of(&server);
    server.content().broken.push("/api/trust");
    // The first question fails before anything is made.
    assert!(stage.run(&INIT).await.ends_with("--- exit 6\n"));
    assert!(keys(&stage).is_empty());

    server.content().broken.push("POST /api/trust");
    assert!(stage.run(&INIT).await.ends_with("--- exit 6\n"));
    assert!(!stage.project().join("launchway.trust.json").exists());
    let made = keys(&stage);
    assert_eq!((made.len(), server.count("POST /api/trust")), (2, 1));
    let sent = server.content().files["1.root.json"].clone();

    let said = stage.run(&INIT).await;
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert_eq!(server.count("POST /api/trust"), 1, "it is sent once");
    assert_eq!((keys(&stage), trust_file(&stage).root), (made, sent));
}

#[tokio::test]
async fn init_goes_on_with_the_keys_of_an_earlier_run() {
    let server = TrustServer::start().await;
    let stage = stage_of(&server);
    server.content().broken.push("/api/trust/online-key");
    assert!(stage.run(&INIT).await.ends_with("--- exit 6\n"));
    let made = keys(&stage);
    assert_eq!(made.len(), 2);
    // The recovery key was handed over, and its file is not written again.
    let recovery = std::fs::read(stage.project().join("recovery.pem")).expect("it is there");
    let said = stage.run(&INIT).await;
    assert!(said.contains("Continuing with the keys of an earlier run"), "{said}");
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert_eq!(keys(&stage), made);
    assert_eq!(
        std::fs::read(stage.project().join("recovery.pem")).expect("it is there"),
        recovery
    );
}

#[tokio::test]
async fn init_without_a_terminal_says_what_it_needs() {
    let server = TrustServer::start().await;
    let mut stage = Stage::new();
    stage.set("LAUNCHWAY_URL", &server.url()).set("LAUNCHWAY_API_KEY", KEY);
    let mut text = stage.run(&INIT[..6]).await;
    text.push_str(
        &stage
            .run(&[&INIT[..6], &["--recovery-key", "recovery.pem"]].concat())
            .await,
    );
    text.push_str(&stage.run(&INIT).await);
    text.push_str(&stage.run(&INIT[..4]).await);
    assert_snapshot!(text.replace(&server.url(), "http://server"));
    assert_eq!(server.count("POST /api/trust"), 0);
    assert!(keys(&stage).is_empty());
}

#[tokio::test]
async fn init_asks_and_shows_the_recovery_key_until_it_is_stored() {
    let server = TrustServer::start().await;
    let mut stage = Stage::new();
    stage.set("LAUNCHWAY_URL", &server.url()).set("LAUNCHWAY_API_KEY", KEY);
    let mut screen = Screen::of(&stage, &INIT[..6], 100);
    screen.until("[y/N]: ").await;
    screen.types("y\n");
    for (question, answer) in [
        ("Passphrase of the new key: ", "too short"),
        ("Passphrase of the new key: ", PASSPHRASE),
        ("The same passphrase again: ", PASSPHRASE),
    ] {
        screen.until(question).await;
        screen.until_hidden().await;
        screen.types(&format!("{answer}\n"));
    }
    let first = screen.until("Have you stored the recovery key? [y/N]: ").await;
    assert!(first.contains("-----BEGIN PRIVATE KEY-----"), "{first}");
    screen.types("n\n");
    let (shown, code) = screen.rest().await;
    assert_eq!((code, server.count("POST /api/trust")), (Some(1), 0), "{shown}");

    let mut screen = Screen::of(&stage, &INIT[..6], 100);
    screen.until("[y/N]: ").await;
    screen.types("y\n");
    let second = screen.until("Have you stored the recovery key? [y/N]: ").await;
    let key = |shown: &str| shown.split_once("-----BEGIN").map(|(_, key)| key.to_owned());
    assert_ne!(key(&first), key(&second), "nobody stored the first one");
    screen.types("y\n");
    screen.until(" of root: ").await;
    screen.until_hidden().await;
    screen.types(&format!("{PASSPHRASE}\n"));
    let (shown, code) = screen.rest().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("PRIVATE KEY") && !shown.contains(PASSPHRASE), "{shown}");
    assert_eq!(trust_file(&stage).root, server.content().files["1.root.json"]);
}

#[tokio::test]
async fn a_project_of_another_repository_is_not_overwritten() {
    let (_server, stage) = set_up().await;
    let other = TrustServer::start().await;
    let mut elsewhere = stage_of(&other);
    elsewhere.hide_address(&other.url());
    let file = std::fs::read(stage.project().join("launchway.trust.json")).expect("it is there");
    elsewhere.file("launchway.trust.json", &file);
    let mut text = elsewhere.run(&INIT).await;
    std::fs::remove_file(elsewhere.project().join("launchway.trust.json")).expect("it is ours");
    assert!(elsewhere.run(&INIT).await.ends_with("--- exit 0\n"));
    std::fs::remove_file(elsewhere.project().join("launchway.trust.json")).expect("it is ours");
    // Whoever has no file gets it from the source repository.
    text.push_str(&elsewhere.run(&INIT).await);
    elsewhere.file("launchway.trust.json", &file);
    text.push_str(&elsewhere.run(&INIT).await);
    assert_snapshot!(text);
}

#[tokio::test]
async fn keys_are_added_replaced_and_removed() {
    let (server, stage) = set_up().await;
    let before = trust_file(&stage);
    let (ada, bob) = (public_key(&stage, "ada.pem"), public_key(&stage, "bob.pem"));
    stage
        .json(&[
            "trust",
            "add-key",
            "c-production",
            "ada.pem",
            "--name",
            "Ada",
            "--yes",
            "--json",
        ])
        .await;
    assert_eq!(server.content().versions["targets"], 2);
    let after = trust_file(&stage);
    assert_eq!(
        (after.root.as_str(), after.floors["targets"]),
        (before.root.as_str(), 2)
    );

    let id = ada.public().id();
    stage
        .json(&["trust", "rotate", &id[..12], "bob.pem", "--yes", "--json"])
        .await;
    let targets: Value = serde_json::from_str(&server.content().files["3.targets.json"]).expect("JSON");
    let keys = targets["signed"]["delegations"]["keys"]
        .as_object()
        .expect("keys")
        .clone();
    assert!(keys.contains_key(&bob.public().id()) && !keys.contains_key(&id));

    let id = bob.public().id();
    stage
        .json(&["trust", "remove-key", "c-production", &id, "--yes", "--json"])
        .await;
    let versions = server.content().versions.clone();
    assert_eq!((versions["targets"], versions["root"]), (4, 1));

    // A key of the root: the file of the project gets the new root.
    stage
        .json(&["trust", "add-key", "root", "ada.pem", "--yes", "--json"])
        .await;
    assert_eq!(trust_file(&stage).root, server.content().files["2.root.json"]);
    let verified = stage.json(&["trust", "verify", "--json"]).await;
    assert!(
        verified["lines"]
            .as_array()
            .expect("lines")
            .iter()
            .all(|line| line["result"] == "accepted"),
        "{verified}"
    );
}

#[tokio::test]
async fn what_cannot_be_signed_is_not_sent() {
    let (server, mut stage) = set_up_with(true).await;
    public_key(&stage, "ada.pem");
    let add = ["trust", "add-key", "c-production", "ada.pem"];
    let sent = server.count("POST /api/trust");
    let mut text = stage.run(&add).await;
    for (command, what) in [
        ("/bin/sh -c 'exit 3'", "fails"),
        ("/bin/echo garbage", "prints garbage"),
        ("/nowhere/sign", "is not there"),
    ] {
        let said = stage
            .run(&[&add[..], &["--yes", "--sign-with", command]].concat())
            .await;
        assert!(said.ends_with("--- exit 1\n"), "{what}: {said}");
        text.push_str(&said);
    }
    stage.set("LAUNCHWAY_KEY_PASSPHRASE", "another passphrase");
    text.push_str(&stage.run(&[&add[..], &["--yes"]].concat()).await);
    stage.set("LAUNCHWAY_KEY_PASSPHRASE", PASSPHRASE);
    for key in keys(&stage) {
        std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    }
    text.push_str(&stage.run(&[&add[..], &["--yes"]].concat()).await);
    for key in keys(&stage) {
        std::fs::remove_file(key).expect("it is ours");
    }
    text.push_str(&stage.run(&[&add[..], &["--yes"]].concat()).await);
    assert_eq!(server.count("POST /api/trust"), sent);
    assert_snapshot!(without_ids(&text));
}

/// Key ids and times differ from run to run.
fn without_ids(text: &str) -> String {
    let is_varying = |word: &str| word.len() >= 12 && word.chars().all(|letter| letter.is_ascii_hexdigit());
    let words = text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    let mut shown = String::new();
    for word in words {
        let end = word
            .trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric())
            .len();
        let (word, rest) = word.split_at(end);
        shown.push_str(if is_varying(word) { "[id]" } else { word });
        shown.push_str(rest);
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in shown.lines() {
        lines.push(line.split_once(", expires ").map_or(line, |(before, _)| before));
    }
    lines.join("\n") + "\n"
}

#[tokio::test]
async fn nobody_signs_what_a_phone_would_refuse() {
    let (server, stage) = set_up().await;
    let sign = ["trust", "sign", "c-production", "--yes"];
    // Somebody changed a file.
    let role = server.content().files["1.c-production.json"].clone();
    let changed = role.replace("\"targets\":{}", "\"targets\":{},\"x\":1");
    server.content().files.insert("1.c-production.json".to_owned(), changed);
    let said = stage.run(&sign).await;
    assert!(
        said.contains("c-production: ") && said.contains("(too-few-signatures)"),
        "{said}"
    );
    assert!(said.contains("do not sign") && said.ends_with("--- exit 1\n"), "{said}");
    server.content().files.insert("1.c-production.json".to_owned(), role);

    // The server withholds everything that is newer than its last signature.
    server.content().lifetime = -1;
    assert!(stage.run(&sign).await.ends_with("--- exit 0\n"));
    let said = stage.run(&sign).await;
    assert!(
        said.contains("newer versions may be withheld") && said.ends_with("--- exit 1\n"),
        "{said}"
    );
    let phone = stage.run(&["trust", "verify"]).await;
    assert!(phone.contains("timestamp") && phone.contains("expired"), "{phone}");
}

#[tokio::test]
async fn a_restored_server_gets_its_metadata_back() {
    let (server, stage) = set_up().await;
    let backup = server.content().clone();
    public_key(&stage, "ada.pem");
    stage
        .json(&["trust", "add-key", "root", "ada.pem", "--yes", "--json"])
        .await;
    stage.json(&["trust", "sign", "c-production", "--yes", "--json"]).await;
    stage.json(&["trust", "verify", "--json"]).await;
    // What was signed last is verified by the next command.
    stage.run(&["trust", "sign", "targets"]).await;
    let newest = server.content().versions.clone();
    server.restore(backup);

    let said = stage.run(&["trust", "sign", "c-production", "--yes"]).await;
    assert!(said.contains("trust push") && said.ends_with("--- exit 1\n"), "{said}");
    let phone = stage.run(&["trust", "verify"]).await;
    assert!(phone.contains("rollback") && phone.ends_with("--- exit 1\n"), "{phone}");
    stage.json(&["trust", "push", "--yes", "--json"]).await;
    assert_eq!(server.content().versions, newest);
    let said = stage.run(&["trust", "push", "--yes"]).await;
    assert!(said.contains("The server has everything"), "{said}");
    stage.json(&["trust", "sign", "c-production", "--yes", "--json"]).await;
}

#[tokio::test]
async fn a_version_that_nobody_has_is_signed_above() {
    let (server, stage) = set_up().await;
    let backup = server.content().clone();
    for _ in 0..2 {
        stage.json(&["trust", "sign", "c-production", "--yes", "--json"]).await;
    }
    stage.run(&["trust", "sign", "targets"]).await;
    server.restore(backup);
    let refused = stage.run(&["trust", "sign", "c-production", "--yes"]).await;
    assert!(refused.ends_with("--- exit 1\n"), "{refused}");
    stage
        .json(&["trust", "sign", "c-production", "--above", "3", "--yes", "--json"])
        .await;
    assert_eq!(server.content().versions["c-production"], 4);
    stage.json(&["trust", "sign", "c-production", "--yes", "--json"]).await;
    let days = ["trust", "sign", "targets", "--expires-in-days", "30", "--yes", "--json"];
    stage.json(&days).await;
    let targets: Metadata<Targets> =
        Metadata::parse(server.content().files["2.targets.json"].as_bytes()).expect("targets");
    assert_eq!((targets.header().expires - now() + DAY / 2) / DAY, 30);
    let root = stage.run(&["trust", "sign", "root", "--above", "3", "--yes"]).await;
    assert!(root.ends_with("--- exit 2\n"), "{root}");
}

#[tokio::test]
async fn reset_goes_on_when_the_answer_was_lost() {
    let (server, stage) = set_up().await;
    let before = trust_file(&stage);
    let reset = [
        "trust",
        "reset",
        "--configuration",
        "production",
        "--recovery-key",
        "second.pem",
    ];
    assert!(stage.run(&reset).await.ends_with("--- exit 2\n"));
    let other = stage
        .run(&[&reset[..], &["--confirm", "com.example.other"]].concat())
        .await;
    assert!(other.ends_with("--- exit 1\n"), "{other}");
    assert_eq!(server.count("POST /api/trust/reset"), 0);

    let confirmed = [&reset[..], &["--confirm", APP]].concat();
    server.content().broken.push("POST /api/trust/reset");
    assert!(stage.run(&confirmed).await.ends_with("--- exit 6\n"));
    assert_eq!(trust_file(&stage), before);
    let said = stage.run(&confirmed).await;
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert_eq!(server.count("POST /api/trust/reset"), 1, "it is sent once");
    let after = trust_file(&stage);
    assert_ne!(after.repository, before.repository);
    assert_eq!(after.root, server.content().files["2.root.json"]);
    stage.json(&["trust", "verify", "--json"]).await;
}

#[tokio::test]
async fn a_new_key_is_printed_as_its_public_half() {
    let mut stage = Stage::new();
    stage.set("LAUNCHWAY_KEY_PASSPHRASE", PASSPHRASE);
    let output = stage
        .command(&["trust", "new-key", "--quiet"])
        .output()
        .await
        .expect("it starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(
        text.starts_with("-----BEGIN PUBLIC KEY-----\n") && text.ends_with("-----END PUBLIC KEY-----\n"),
        "{text}"
    );
    assert_eq!(keys(&stage).len(), 1);
    let told = stage.json(&["trust", "new-key", "--ci-key", "ci.pem", "--json"]).await;
    let plain = std::fs::read_to_string(stage.project().join("ci.pem")).expect("it is there");
    let key = SigningKey::from_pem(&plain, None).expect("a plain key");
    assert_eq!(told["publicKey"], key.public().to_pem());
    assert_eq!(keys(&stage).len(), 1, "it is only in its file");
}

/// The trust of an app in the form of the API.
pub fn trust() -> Value {
    json!({"bundleId": APP, "repository": "07070707070707070707070707070707", "snapshot": 1_795_000_000,
        "onlineKey": {"keyId": "aa".repeat(32), "publicKey": "", "createdAt": "2026-11-20T10:00:00.000Z"},
        "pendingOnlineKey": null,
        "roles": [
            {"role": "root", "version": 3, "threshold": 1, "keys": [
                {"keyId": "bb".repeat(32), "name": "root", "signed": true},
                {"keyId": "cc".repeat(32), "name": "recovery", "signed": false}],
                "expiresAt": "2027-11-20T10:00:00.000Z", "expired": false, "acceptedAt": "2026-11-20T10:00:00.000Z",
                "targets": 0, "revoked": 0},
            {"role": "c-production", "version": 17, "threshold": 2, "keys": [
                {"keyId": "dd".repeat(32), "name": "Ada", "signed": true},
                {"keyId": "ee".repeat(32), "name": null, "signed": true}],
                "expiresAt": "2026-11-20T10:00:00.000Z", "expired": true, "acceptedAt": "2026-05-20T10:00:00.000Z",
                "targets": 9, "revoked": 1},
            {"role": "c-staging", "version": null, "threshold": 1, "keys": [
                {"keyId": "dd".repeat(32), "name": "Ada", "signed": false}],
                "expiresAt": null, "expired": false, "acceptedAt": null, "targets": 0, "revoked": 0}],
        "drafts": [{"bundleId": APP, "role": "c-production", "version": 18, "threshold": 2, "keys": [
                {"keyId": "dd".repeat(32), "name": "Ada", "signed": true},
                {"keyId": "ee".repeat(32), "name": null, "signed": false}],
            "updateIds": ["update_01kb0000000000000000000002"], "createdAt": "2026-11-21T10:00:00.000Z",
            "createdBy": "key_01kb0000000000000000000001"}],
        "otherFormatsAllowed": false})
}

#[tokio::test]
async fn status_shows_who_signs_what() {
    let mut none = trust();
    (none["repository"], none["roles"], none["drafts"]) = (Value::Null, json!([]), json!([]));
    let server = FakeServer::start([
        Reply::new(200, page(&[update(json!({"status": "awaiting_signature"}))], 2, 0)),
        Reply::new(200, trust().to_string()),
        Reply::new(200, page(&[], 0, 0)),
        Reply::new(200, none.to_string()),
        Reply::error(404, "Not Found", "No app has this bundle id"),
    ])
    .await;
    let stage = Stage::with(&server);
    let mut text = String::new();
    for _ in 0..3 {
        text.push_str(&stage.run(&["trust", "status", "--bundle-id", APP]).await);
    }
    text.push_str(&stage.run(&["trust", "status"]).await);
    assert_snapshot!(text);
    assert_eq!(
        server.lines()[..2],
        [
            format!("GET /api/update?bundleId={APP}&status=awaiting_signature&limit=1&offset=0"),
            format!("GET /api/trust?bundleId={APP}"),
        ]
    );
}
