//! Updates that Capgo's clients install file by file (`docs/reference/capgo.md#files`).

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use serde_json::{Value, json};

use super::answer;
use super::desktop::Desktop;
use super::phone::{Phone, content, get, zip_of};
use crate::foreign_stage::ForeignStage;
use crate::foreign_updates::publish;
use crate::npm_client::NpmClient;
use crate::stage::BUNDLE;
use crate::support::{Fields, with};

const ONE: [(&str, &str); 4] =
    [("index.html", "one"), ("js/app.js", "let a = 1; let a = 1;"), ("js/big.js", "shared"), ("own.css", "of the app")];
const TWO: [(&str, &str); 4] = [
    ("index.html", "one"),
    ("js/app.js", "let a = 2; let a = 2;"),
    ("js/big.js", "shared"),
    ("b/own.css", "of the app"),
];

async fn release(stage: &ForeignStage, files: &[(&str, &str)], fields: Value) -> Value {
    let body = json!({"configuration": "production", "foreignIds": [{"protocol": "capgo"}]});
    publish(&stage.app, &stage.key, &zip_of(files), with(body, &fields)).await.created()
}

/// The address of a file by its path in the list of files that phones receive now.
async fn address(stage: &ForeignStage, path: &str) -> String {
    let answer = answer(&stage.app, json!({})).await;
    let files = answer["manifest"].as_array().unwrap();
    files.iter().find(|file| file["file_name"] == path).unwrap().text("download_url").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn phones_download_only_the_files_that_they_lack() {
    only_what_they_lack(&ForeignStage::start().await).await;
    only_what_they_lack(&ForeignStage::on_postgres_and_s3().await).await;
}

async fn only_what_they_lack(stage: &ForeignStage) {
    let built_in = [("index.html", "zero"), ("own.css", "of the app")];
    let [mut new, mut old] =
        ["8.51.23", "5.9.9"].map(|plugin| Phone::new(json!({"plugin_version": plugin}), &built_in));
    release(stage, &ONE, json!({"version": "1.0.1"})).await;
    assert_eq!(new.sync(&stage.app).await, "1.0.1");
    assert_eq!(new.downloaded, ["index.html", "js/app.js", "js/big.js"]);
    assert_eq!(old.sync(&stage.app).await, "1.0.1");
    assert_eq!(old.downloaded, ["the ZIP file"]);
    assert_eq!((&new.shows, &old.shows), (&content(&ONE), &content(&ONE)));

    let two = release(stage, &TWO, json!({"version": "1.0.2"})).await;
    assert_eq!(new.sync(&stage.app).await, "1.0.2");
    assert_eq!(new.downloaded, ["js/app.js", "b/own.css"], "a file in another folder is another one of the app");
    assert_eq!(new.shows, content(&TWO));
    assert_eq!(new.sync(&stage.app).await, "no_new_version_available");

    // The same bytes under a new name come from the phone.
    let again = json!({"sourceUpdateId": two.id(), "bundleId": BUNDLE, "platform": "android", "version": "1.0.3",
                       "configuration": "production"});
    stage.app.post(&stage.key, "/update", again).await.created();
    assert_eq!(new.sync(&stage.app).await, "1.0.3");
    assert_eq!((new.downloaded.len(), &new.shows), (0, &content(&TWO)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_from_npm_installs_files_of_the_list() {
    let mut client = NpmClient::install("capgo");
    let stage = ForeignStage::start().await;
    let one = release(&stage, &ONE, json!({"version": "1.0.1"})).await;
    let first = answer(&stage.app, json!({})).await;
    release(&stage, &TWO, json!({"version": "1.0.2"})).await;
    let second = answer(&stage.app, json!({})).await;
    let app = Desktop::install(&mut client, &stage.app.origin, "device-a");
    // It does not receive the list: it downloads the ZIP file in any case.
    assert_eq!((app.check(&mut client)).get("manifest"), None);
    // Of an older ZIP file and a list, it downloads what the ZIP file lacks, and verifies everything.
    let mixed =
        json!({"version": "1.0.2", "url": first["url"], "checksum": one["sha256"], "manifest": second["manifest"]});
    let files = app.act(&mut client, "install_files", json!({"update": mixed}));
    let expected: serde_json::Map<_, _> =
        ONE.iter().chain(&TWO).map(|(path, content)| ((*path).to_owned(), json!(content))).collect();
    assert_eq!(files, Value::Object(expected));
}

#[tokio::test]
async fn files_are_found_as_long_as_their_update_lives() {
    let stage = ForeignStage::start().await;
    let one = release(&stage, &ONE, json!({"version": "1.0.1"})).await;
    let (page, script) = (address(&stage, "index.html").await, address(&stage, "js/app.js").await);
    let start = format!("{}/capgo/{BUNDLE}/files/", stage.app.origin);
    let hash = page.strip_prefix(&start).unwrap();
    let read = get(&stage.app, &page, &[]).await;
    assert_eq!((read.status.as_u16(), read.text().as_str()), (200, "one"));
    assert_eq!(read.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!((read.header("content-type"), read.header("vary")), ("text/html", "accept-encoding"));
    assert_eq!((read.header("x-content-type-options"), read.header("expo-protocol-version")), ("nosniff", ""));
    let packed = get(&stage.app, &script, &[("accept-encoding", "gzip")]).await;
    assert_eq!((packed.header("content-encoding"), packed.header("content-type")), ("gzip", "application/javascript"));
    // A phone that has a part of a file receives all of it.
    let whole = get(&stage.app, &script, &[("range", "bytes=3-")]).await;
    assert_eq!((whole.status.as_u16(), whole.text().as_str()), (200, ONE[1].1));

    let found = async |path: String| get(&stage.app, &path, &[]).await.status.as_u16();
    assert_eq!(found(page.replace(BUNDLE, &BUNDLE.to_uppercase())).await, 200, "identifiers of apps have no case");
    for path in [
        format!("{}/capgo/com.example.none/files/{hash}", stage.app.origin),
        format!("{start}{}", hash.to_uppercase()),
        format!("{start}{}", "0".repeat(64)),
        format!("{start}%2e%2e"),
        format!("{start}{hash}/"),
        format!("{}/capgo/{BUNDLE}/{hash}", stage.app.origin),
    ] {
        assert_eq!(found(path.clone()).await, 404, "{path}");
    }
    let two = release(&stage, &TWO, json!({"version": "1.0.2"})).await;
    assert_eq!(found(script.clone()).await, 200, "a phone may still download the update before");
    stage.change(&one, json!({"status": "paused"})).await;
    assert_eq!(found(script.clone()).await, 200);
    stage.change(&one, json!({"status": "withdrawn"})).await;
    assert_eq!((found(script).await, found(page.clone()).await), (404, 200));
    stage.change(&two, json!({"status": "withdrawn"})).await;
    assert_eq!(found(page).await, 404);
}

#[tokio::test]
async fn what_cannot_be_installed_by_files_comes_as_zip() {
    let stage = ForeignStage::start().await;
    let held = publish(&stage.app, &stage.key, &zip_of(&ONE), json!({"version": "0.9.0"})).await.created();
    for (number, (files, has_list)) in [
        (vec![("index.html", "a"), ("model.br", "a")], false),
        (vec![("www/index.html", "a")], false),
        (vec![("index.html", "a"), ("empty.js", "")], false),
        (vec![("index.html", "a")], true),
    ]
    .into_iter()
    .enumerate()
    {
        let version = format!("1.0.{}", number + 1);
        release(&stage, &files, json!({"version": version})).await;
        let offered = answer(&stage.app, json!({})).await;
        assert_eq!((offered.text("version"), offered.get("manifest").is_some()), (version.as_str(), has_list));
        assert!(offered["url"].is_string() && offered["checksum"].is_string(), "{offered}");
    }
    // The package of an update that was not for clients of Capgo has no list of its files.
    let again = json!({"sourceUpdateId": held.id(), "bundleId": BUNDLE, "platform": "android", "version": "1.0.9",
                       "configuration": "production", "foreignIds": [{"protocol": "capgo"}]});
    stage.app.post(&stage.key, "/update", again).await.created();
    let offered = answer(&stage.app, json!({})).await;
    assert_eq!((offered.text("version"), offered.get("manifest")), ("1.0.9", None));
}

#[tokio::test]
async fn files_of_another_tenant_are_only_in_their_app() {
    let stage = ForeignStage::with(settings!(asset_base = "https://cdn.example.com/", check_limit = 3)).await;
    let other = stage.app.org(Tier::Enterprise).await;
    let theirs = stage.app.key(other, &[Scope::Update]).await;
    let fields = json!({"bundleId": "com.example.theirs", "foreignIds": [{"protocol": "capgo"}]});
    publish(&stage.app, &theirs, &zip_of(&ONE), fields).await.created();
    release(&stage, &[("index.html", "ours")], json!({})).await;
    let offered = answer(&stage.app, json!({"app_id": "com.example.theirs"})).await;
    let url = offered["manifest"][0].text("download_url");
    let path = url.strip_prefix("https://cdn.example.com").unwrap();
    // Like packages, files are not limited.
    for _ in 0..10 {
        get(&stage.app, &format!("{}{path}", stage.app.origin), &[]).await.is(200);
    }
    let ours = path.replace("com.example.theirs", BUNDLE);
    get(&stage.app, &format!("{}{ours}", stage.app.origin), &[]).await.is(404);
    let head = stage.app.request(reqwest::Method::HEAD, &format!("{}{path}", stage.app.origin));
    assert_eq!(head.send().await.unwrap().status().as_u16(), 200);
}
