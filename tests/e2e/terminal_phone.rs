//! The day of a phone with the real clients in Rust, Java and Swift: updates, a bad one, its rollback and quarantine, reports,
//! servers that fail, and signatures.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use launchway_testing::says::{Fields, Says};
use launchway_testing::wait::pass;
use serde_json::{Value, json};

use crate::api::Api;
use crate::browser::Browser;
use crate::deployment::{Deployment, Ground};
use crate::packages::{Files, files_below, packed};
use crate::phone::{BUNDLE, Client, Phone, files, publish};
use crate::projects;
use crate::signed::SignedApp;
use crate::signing_keys::{Developer, INIT};

#[tokio::test(flavor = "multi_thread")]
async fn a_day_with_the_client_in_rust() {
    a_bad_update_is_rolled_back_and_the_next_is_good(Client::Rust).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_with_the_client_in_java() {
    a_bad_update_is_rolled_back_and_the_next_is_good(Client::Java).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn a_day_with_the_client_in_swift() {
    a_bad_update_is_rolled_back_and_the_next_is_good(Client::Swift).await;
}

async fn a_bad_update_is_rolled_back_and_the_next_is_good(client: Client) {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let api = deployment.api();
    let phone = Phone::new(client, &deployment.node().origin(), None);
    assert_eq!(phone.after("check")["outcome"], "No updates found for this bundle");
    let first = publish(&api, "1.0.1").await;
    assert_eq!(phone.after("check")["offer"]["id"], first["id"]);
    phone.takes(&first, &files("1.0.1"));

    let bad = publish(&api, "1.0.2").await;
    assert_eq!(phone.after("install")["runs"], bad["id"]);
    let stack = "TypeError: undefined is not a function\n    at render (app.js:1:20)";
    let crashed = phone.run(&["crash", "--stack", stack]).json();
    phone.runs(&crashed, &first, &files("1.0.1"));
    assert_eq!(crashed["quarantine"], json!([bad["sha256"]]));
    phone.after("report");
    assert_eq!(phone.after("status")["reports"], 0, "the server has taken all");
    let shown = api.get(&format!("/update?id={}", bad.id())).await.ok();
    let counts = ["downloaded", "installed", "confirmed", "rolledBack"].map(|kind| &shown["reports"][kind]);
    assert_eq!(counts, [&json!(1), &json!(1), &json!(0), &json!(1)], "{shown}");
    let crashes = shown["reports"]["crashes"].as_array().unwrap();
    assert_eq!(crashes.len(), 1, "{shown}");
    crashes[0].has(json!({"devices": 1, "firstLine": "TypeError: undefined is not a function", "stack": stack}));
    let refused = phone.after("install");
    assert_eq!(
        refused["outcome"],
        format!("{} failed before and is in quarantine", bad.id())
    );
    assert_eq!(refused["runs"], first["id"]);

    let good = publish(&api, "1.0.3").await;
    phone.takes(&good, &files("1.0.3"));
    fails_with_every_bad_server(&phone, &good);
    phone.ask_server(&deployment.node().origin());
    assert_eq!(phone.after("install")["outcome"], "no update");
}

#[tokio::test(flavor = "multi_thread")]
async fn signed_updates_with_the_client_in_rust() {
    an_app_with_a_root_takes_signed_updates_only(Client::Rust).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signed_updates_with_the_client_in_java() {
    an_app_with_a_root_takes_signed_updates_only(Client::Java).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn signed_updates_with_the_client_in_swift() {
    an_app_with_a_root_takes_signed_updates_only(Client::Swift).await;
}

async fn an_app_with_a_root_takes_signed_updates_only(client: Client) {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let (api, origin) = (deployment.api(), deployment.node().origin());
    let unsigned = publish(&api, "1.0.1").await;
    let mut app = SignedApp::begin(&api, BUNDLE).await;
    let trust = tempfile::NamedTempFile::new().unwrap();
    fs::write(trust.path(), app.developers.trust_file().to_json()).unwrap();
    let phone = Phone::new(client, &origin, Some(trust.path()));
    let other = Phone::new(client, &origin, None);

    // The update from before the app had a root is still offered, and only apps without one take it.
    other.takes(&unsigned, &files("1.0.1"));
    let refused = phone.run(&["install"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    refused.stderr.says("not-signed: no role signed version 1.0.1 build 1");
    assert_eq!(phone.after("start")["runs"], "embedded:1");
    let shown = api.get(&format!("/update?id={}", unsigned.id())).await.ok();
    assert_eq!(shown["reports"]["failed"], 1, "{shown}");

    let package = |version: &str| packed(&files(version));
    let first = app.publish(&api, "1.1.0", 2, &package("1.1.0")).await;
    phone.takes(&first, &files("1.1.0"));
    let second = app.publish(&api, "1.2.0", 3, &package("1.2.0")).await;
    phone.takes(&second, &files("1.2.0"));
    // A revocation arrives without an update, and what runs gives way at the next start.
    app.revoke(&api, &package("1.2.0")).await;
    let revoked = phone.after("install");
    assert_eq!(revoked["outcome"], "no update");
    phone.runs(&revoked, &first, &files("1.1.0"));
    let third = app.publish(&api, "1.3.0", 4, &package("1.3.0")).await;
    phone.takes(&third, &files("1.3.0"));
    other.takes(&third, &files("1.3.0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_takes_what_the_command_line_signs() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let developer = Developer::new(&deployment, &deployment.team().key);
    developer.run(&INIT).check();
    let trust = developer.project.path().join("launchway.trust.json");
    let phone = Phone::new(Client::Rust, &deployment.node().origin(), Some(&trust));
    let publish = |version: &str| {
        let dist = tempfile::tempdir().unwrap();
        for (path, bytes) in files(version) {
            let path = dist.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let update = [
            "update",
            "android",
            "--json",
            "--bundle-id",
            BUNDLE,
            "--configuration",
            "production",
        ];
        let package = ["--version", version, "--dir", dist.path().to_str().unwrap()];
        developer.run(&[&update[..], &package].concat()).json()
    };
    let first = publish("1.1.0");
    phone.takes(&first, &files("1.1.0"));
    let second = publish("1.2.0");
    phone.takes(&second, &files("1.2.0"));
    let revoke = ["update", "revoke", second.id(), "--reason", "it leaks", "--yes"];
    developer.run(&revoke).check();
    phone.runs(&phone.after("install"), &first, &files("1.1.0"));
    // The file that apps are built with knows the revocation, too.
    let built_later = Phone::new(Client::Rust, &deployment.node().origin(), Some(&trust));
    built_later.takes(&first, &files("1.1.0"));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn a_thousand_kills_of_the_client_in_rust() {
    killed_commands_leave_a_phone_whole(Client::Rust).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn a_thousand_kills_of_the_client_in_java() {
    killed_commands_leave_a_phone_whole(Client::Java).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn a_thousand_kills_of_the_client_in_swift() {
    killed_commands_leave_a_phone_whole(Client::Swift).await;
}

async fn killed_commands_leave_a_phone_whole(client: Client) {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let (api, origin) = (deployment.api(), deployment.node().origin());
    let mut app = SignedApp::begin(&api, BUNDLE).await;
    let trust = tempfile::NamedTempFile::new().unwrap();
    fs::write(trust.path(), app.developers.trust_file().to_json()).unwrap();
    let phone = Phone::new(client, &origin, Some(trust.path()));
    let mut published: Vec<Value> = Vec::new();
    let (mut life, mut newest, mut switches) = (Duration::ZERO, 0, 0);
    for kill in 0..1_000_u32 {
        if newest == published.len() {
            let number = newest as u64 + 1;
            let version = format!("1.0.{number}");
            // The limit of a role would be reached: what is old is pruned.
            app.developers.signers(&app.role).content.targets.clear();
            published.push(app.publish(&api, &version, number, &packed(&files(&version))).await);
        }
        if kill % 50 == 0 {
            // How long a command takes depends on the machine and its load.
            let began = Instant::now();
            assert!(phone.begin(&["install"]).wait().unwrap().success());
            life = began.elapsed();
        }
        let mut command = phone.begin(&["install"]);
        // Anywhere between its start and its end, in steps that match no other period.
        pass(life * (kill * 619 % 1_000) / 1_000).await;
        command.kill().unwrap();
        command.wait().unwrap();
        let view = phone.after("start");
        let runs = published.iter().position(|update| update["id"] == view["runs"]);
        let number = runs.map_or(0, |index| index + 1);
        assert!(number >= newest, "kill {kill}: {number} after {newest}");
        if number > newest {
            (newest, switches) = (number, switches + 1);
            phone.runs(&view, &published[number - 1], &files(&format!("1.0.{number}")));
        }
        phone.after("confirm");
    }
    // Each undisturbed command installs one update; the others arrived in spite of the kills.
    assert!(switches > 50, "{switches} updates in 1000 kills");
    println!("summary: {client:?}: {switches} updates were installed under 1000 kills");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dashboard_shows_what_a_phone_went_through() {
    let deployment = Deployment::start(Ground::SqliteDirectory).await;
    let (team, origin) = (deployment.team(), deployment.node().origin());
    let api = Api::new(deployment.node(), &team.key);
    let bundle = files_below(&projects::bundle("capacitor-vite"));
    let publish = async |version: &str, app: &Files| {
        let fields =
            json!({"bundleId": BUNDLE, "platform": "android", "version": version, "configuration": "production"});
        api.publish(&packed(app), fields).await
    };
    let phone = Phone::new(Client::Java, &origin, None);
    let first = publish("1.0.1", &bundle).await;
    phone.takes(&first, &bundle);
    let mut broken = bundle.clone();
    broken.insert("index.html".to_owned(), b"<script>throw new Error()</script>".to_vec());
    let bad = publish("1.0.2", &broken).await;
    let installed = phone.after("install");
    phone.runs(&installed, &bad, &broken);
    let crashed = phone.run(&["crash", "--stack", "Error at index.html:1"]).json();
    phone.runs(&crashed, &first, &bundle);
    phone.after("report");

    let (mut browser, home) = signed_in(&deployment, &team.id);
    for (update, shown) in [
        (
            &first,
            &["Downloaded 1", "Installed 1", "Confirmed 1", "Rolled back 0"][..],
        ),
        (
            &bad,
            &[
                "Downloaded 1",
                "Installed 1",
                "Confirmed 0",
                "Rolled back 1",
                "1 device Error at index.html:1",
            ],
        ),
    ] {
        browser.open(&format!("{origin}{home}/updates/{}", update.id()));
        let text = browser.until_shown("Rolled back");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in shown {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

/// A browser in which an owner of the organization is signed in, and the path of the organization's pages.
fn signed_in(deployment: &Deployment, org: &str) -> (Browser, String) {
    let (email, password) = ("ada@example.com", "correct horse battery");
    let user = ["create-user", "--email", email, "--org", org, "--role", "owner"];
    let _ = deployment.node().admin_with_input(&user, password);
    let mut browser = Browser::start();
    browser.open(&deployment.node().origin());
    browser.fill("E-mail address", email);
    browser.fill("Password", password);
    browser.click("Sign in");
    browser.until("location.pathname.startsWith('/o/')");
    let home = browser.eval("location.pathname");
    (browser, home.as_str().unwrap().to_owned())
}

/// Whatever the server does, the running update stays.
fn fails_with_every_bad_server(phone: &Phone, runs: &Value) {
    let garbage = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<garbage>";
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (server, exit) in [
        (responding(garbage), 1),
        (responding(b"\0\0\0\0"), 6),
        (responding(b""), 6),
        (silent(), 6),
        (closed, 6),
    ] {
        phone.ask_server(&format!("http://{server}"));
        let refused = phone.run(&["--timeout", "1", "install"]);
        assert_eq!(refused.code, exit, "{refused:?}");
        assert_eq!(phone.after("start")["runs"], runs["id"]);
    }
}

/// A server that sends these bytes whatever it is asked, and closes the connection.
fn responding(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(bytes);
        }
    });
    address
}

/// A server that accepts connections and never says anything.
fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let streams: Vec<_> = listener.incoming().flatten().collect();
        drop(streams);
    });
    address
}
