//! The public repositories of signed updates over HTTP: names, headers, conditions, packages, and what a check says of
//! them (`docs/reference/trust.md#serving`).

mod nodes;

use launchway_api::check::CheckResult;
use launchway_developers::{Developers, Release, role_of};
use launchway_domain::platform::Platform;
use launchway_trust::UpdateRole;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::stage::{BUNDLE, Stage};
use crate::support::{Answer, Fields, NOBODY, TestApp, package};

const NO_PATH: &str = "There is nothing at this path. The API is described at /docs.";

/// The app's developers, who published one update for production.
struct Signed {
    stage: Stage,
    developers: Developers,
    role: UpdateRole,
    package: Vec<u8>,
    update: Value,
}

impl Signed {
    async fn new() -> Signed {
        Signed::on(Stage::new().await).await
    }

    async fn on(stage: Stage) -> Signed {
        let mut developers = stage.developers(&["production"]).await;
        let (role, package) = (role_of("production"), package("index.html", b"<h1>signed</h1>"));
        let release =
            Release { role: &role, platform: Platform::Android, version: "1.2.3", build: 4, package: &package };
        let update = stage.release(&mut developers, &release).await;
        Signed { stage, developers, role, package, update }
    }

    async fn tuf(&self, name: &str) -> Answer {
        self.stage.get(NOBODY, &url(&self.stage, name)).await
    }

    async fn ask(&self, method: Method, name: &str, headers: &[(&str, &str)]) -> Answer {
        let request = self.stage.request(method, &url(&self.stage, name));
        Answer::to(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
    }

    /// The version of the snapshot that the timestamp names.
    async fn snapshot(&self) -> u64 {
        let timestamp = self.tuf("timestamp.json").await.ok();
        timestamp["signed"]["meta"]["snapshot.json"]["version"].as_u64().unwrap()
    }

    /// Where clients of consistent snapshots find the package.
    fn target(&self) -> String {
        format!("targets/c-production/android/{}.1.2.3_4.zip", hex::encode(Sha256::digest(&self.package)))
    }

    async fn patch(&self, change: Value) {
        let id = self.update.id();
        self.stage.patch(&self.stage.key, &format!("/update?id={id}"), change).await.ok();
    }
}

fn url(app: &TestApp, name: &str) -> String {
    format!("{}/tuf/{BUNDLE}/{name}", app.origin)
}

#[tokio::test]
async fn each_file_has_its_name_and_its_time_in_caches() {
    let signed = Signed::new().await;
    let snapshot = signed.snapshot().await;
    let names = [
        "timestamp.json".to_owned(),
        "1.root.json".to_owned(),
        "1.targets.json".to_owned(),
        "1.c-production.json".to_owned(),
        "2.c-production.json".to_owned(),
        format!("{snapshot}.snapshot.json"),
        "trust?root=1&snapshot=0&configuration=production".to_owned(),
    ];
    for name in names {
        let file = signed.ask(Method::GET, &name, &[("origin", "https://app.example")]).await;
        file.is(200);
        let is_short = name.starts_with("t");
        let cache = if is_short { "public, max-age=60" } else { "public, max-age=86400, immutable" };
        for (header, value) in [
            ("content-type", "application/json"),
            ("cache-control", cache),
            ("access-control-allow-origin", "*"),
            ("access-control-allow-credentials", ""),
            ("access-control-expose-headers", "ETag"),
        ] {
            assert_eq!(file.header(header), value, "{header} of {name}");
        }
        assert_ne!(file.header("x-request-id"), "");
        let etag = file.header("etag");
        assert!(etag.starts_with('"') && etag.len() > 20, "{etag}");
        for known in [etag, &format!("W/{etag}"), &format!("\"other\", {etag}"), "*"] {
            let same = signed.ask(Method::GET, &name, &[("if-none-match", known)]).await;
            assert_eq!((same.status.as_u16(), same.bytes.len()), (304, 0), "{name} for {known}");
            assert_eq!((same.header("etag"), same.header("cache-control")), (etag, cache), "{name}");
        }
        let other = signed.ask(Method::GET, &name, &[("if-none-match", "\"other\"")]).await;
        assert_eq!((other.status, other.bytes), (file.status, file.bytes.clone()), "{name}");
        let head = signed.ask(Method::HEAD, &name, &[]).await;
        assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0), "{name}");
        for header in ["content-type", "content-length", "cache-control", "etag", "access-control-allow-origin"] {
            assert_eq!(head.header(header), file.header(header), "{header} of {name}");
        }
    }
}

#[tokio::test]
async fn what_was_sent_is_served_byte_for_byte() {
    let mut signed = Signed::new().await;
    let now = signed.stage.app.clock.now();
    let role = signed.developers.sign_role(&signed.role, now);
    let change = json!({"bundleId": BUNDLE, "roles": {"c-production": &role}, "basedOn": signed.snapshot().await});
    signed.stage.change_trust(change).await;
    let file = signed.tuf("3.c-production.json").await;
    assert_eq!(file.text(), role);
    // The version before stays for clients that read an older snapshot; the one before that is gone.
    signed.tuf("2.c-production.json").await.is(200);
    signed.tuf("1.c-production.json").await.refused(404, NO_PATH);
    assert_eq!(signed.tuf("1.root.json").await.text(), signed.developers.trust_file().root);
}

#[tokio::test]
async fn every_other_name_is_the_same_404() {
    let signed = Signed::new().await;
    let origin = signed.stage.origin.clone();
    let target = signed.target();
    for path in [
        "/tuf/com.example.other/timestamp.json".to_owned(),
        "/tuf/%FF/timestamp.json".to_owned(),
        "/tuf//timestamp.json".to_owned(),
        "/tuf/com.example.app".to_owned(),
        "/tuf/com.example.app/".to_owned(),
        "/tuf/com.example.app%2Ftimestamp.json".to_owned(),
        "/tuf/com.example.app/%2e%2e/com.example.app/timestamp.json".to_owned(),
        "/tuf/com.example.app/../com.example.app/timestamp.json".to_owned(),
        "/tuf/com.example.app//timestamp.json".to_owned(),
        "/tuf/com.example.app/timestamp.json/".to_owned(),
        "/tuf/com.example.app/timestamp.json%00".to_owned(),
        "/tuf/com.example.app/timestamp.json%".to_owned(),
        "/tuf/com.example.app/TIMESTAMP.json".to_owned(),
        "/tuf/com.example.app/1.timestamp.json".to_owned(),
        "/tuf/com.example.app/root.json".to_owned(),
        "/tuf/com.example.app/0.root.json".to_owned(),
        "/tuf/com.example.app/01.root.json".to_owned(),
        "/tuf/com.example.app/2.root.json".to_owned(),
        "/tuf/com.example.app/-1.root.json".to_owned(),
        "/tuf/com.example.app/99999999999999999999.root.json".to_owned(),
        "/tuf/com.example.app/1.any.json".to_owned(),
        "/tuf/com.example.app/trust/".to_owned(),
        "/tuf/com.example.app/targets/".to_owned(),
        format!("/tuf/com.example.app/{}", target.replacen('/', "%2F", 1)),
        format!("/tuf/com.example.app/{}", target.replace("1.2.3_4", "1.2.3_5")),
        format!("/tuf/com.example.app/{}", target.replace("android", "ios")),
        format!("/tuf/com.example.app/{}/", target),
        "/tuf/com.example.app/targets/c-production/android/1.2.3_4.zip".to_owned(),
    ] {
        // Clients normalize paths, so this one writes its own request line.
        let (status, body) = raw_get(&origin, &path).await;
        assert_eq!(status, 404, "{path}");
        assert_eq!(body["message"], NO_PATH, "{path}");
    }
    signed.ask(Method::HEAD, "9.root.json", &[]).await.is(404);
    let refused = signed.tuf("9.root.json").await;
    assert_eq!(refused.header("cache-control"), "no-cache, no-store, must-revalidate");
    assert_eq!(refused.header("access-control-allow-origin"), "*");
}

/// Status and body of a request whose path nobody normalized.
async fn raw_get(origin: &str, path: &str) -> (u16, Value) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let address = origin.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn the_bundle_id_may_have_any_letter_case() {
    let signed = Signed::new().await;
    let origin = &signed.stage.origin;
    let expected = signed.tuf("timestamp.json").await.bytes;
    for spelling in ["COM.example.App", "com%2Eexample%2eapp"] {
        let url = format!("{origin}/tuf/{spelling}/timestamp.json");
        assert_eq!(signed.stage.get(NOBODY, &url).await.bytes, expected, "{spelling}");
    }
}

#[tokio::test]
async fn malformed_versions_are_refused() {
    let signed = Signed::new().await;
    for (query, message) in [
        ("root=x", "root must be a whole number"),
        ("root=-1", "root must be a whole number"),
        ("root=1.0", "root must be a whole number"),
        ("root=18446744073709551616", "root must be a whole number"),
        ("snapshot=%20", "snapshot must be a whole number"),
        ("snapshot=1&snapshot=1", "snapshot is given twice"),
        ("configuration=%ff", "configuration is not valid UTF-8"),
    ] {
        signed.tuf(&format!("trust?{query}")).await.refused(400, message);
    }
    for query in
        ["", "?", "?root=&snapshot=", "?other=x&configuration=*&configuratio", "?snapshot=18446744073709551615"]
    {
        let answer = signed.tuf(&format!("trust{query}")).await.ok();
        assert_eq!(answer["roots"].as_array().unwrap().len(), 1, "{query}");
        assert_eq!(answer["delegated"], json!({}), "{query}");
    }
}

#[tokio::test]
async fn the_limit_of_checks_counts_these_requests_too() {
    let limited = settings!(check_limit = "4", trusted_proxies = "127.0.0.1");
    let signed = Signed::on(Stage::new().with(limited).await).await;
    signed.stage.check(BUNDLE, "currentVersion=1.0.0").await.ok();
    signed.tuf("timestamp.json").await.is(200);
    signed.ask(Method::HEAD, "1.root.json", &[]).await.is(200);
    signed.tuf("9.root.json").await.is(404);
    for path in ["timestamp.json", "trust", "9.root.json"] {
        let refused = signed.tuf(path).await;
        refused.refused(429, "Too many requests. Try again in 60 seconds.");
        assert_eq!(refused.header("retry-after"), "60");
        assert_eq!(refused.header("access-control-allow-origin"), "*");
    }
    signed.stage.check(BUNDLE, "currentVersion=1.0.0").await.is(429);
}

#[tokio::test]
async fn a_target_leads_to_its_package_while_everybody_gets_it() {
    let signed = Signed::new().await;
    let target = signed.target();
    let found = signed.tuf(&target).await;
    found.is(302);
    assert_eq!(found.header("cache-control"), "no-cache, no-store, must-revalidate");
    assert_eq!(found.header("access-control-allow-origin"), "*");
    let package = signed.stage.get(NOBODY, found.header("location")).await;
    assert_eq!(package.bytes, signed.package);
    signed.patch(json!({"rollout": 99})).await;
    signed.tuf(&target).await.refused(404, NO_PATH);
    signed.patch(json!({"rollout": 100})).await;
    signed.tuf(&target).await.is(302);
    signed.patch(json!({"status": "paused"})).await;
    signed.tuf(&target).await.refused(404, NO_PATH);
    signed.patch(json!({"status": "published"})).await;
    signed.tuf(&target).await.is(302);
    signed.patch(json!({"status": "withdrawn"})).await;
    signed.tuf(&target).await.refused(404, NO_PATH);
}

/// A check offers the newest only; clients of The Update Framework choose among all that a role lists.
#[tokio::test]
async fn an_older_target_stays_beside_a_newer_one() {
    let mut signed = Signed::new().await;
    let newer = package("index.html", b"<h1>newer</h1>");
    let role = &signed.role;
    let release = Release { role, platform: Platform::Android, version: "1.2.4", build: 5, package: &newer };
    signed.stage.release(&mut signed.developers, &release).await;
    let offer = signed.stage.checked(BUNDLE, "currentVersion=1.0.0&configuration=production").await;
    assert_eq!(offer["version"], "1.2.4");
    let found = signed.tuf(&signed.target()).await;
    found.is(302);
    assert_eq!(signed.stage.get(NOBODY, found.header("location")).await.bytes, signed.package);
}

/// Only a caller that names itself, in every form of result, within 40 bytes.
#[tokio::test]
async fn a_check_names_the_versions_of_root_and_snapshot() {
    let signed = Signed::new().await;
    let versions = json!({"root": 1, "snapshot": signed.snapshot().await});
    assert!(versions.to_string().len() <= 40);
    let own = "configuration=production";
    for (query, has_update) in [
        (format!("currentVersion=1.0.0&{own}"), true),
        (format!("currentVersion=1.2.3&{own}"), false),
        ("currentVersion=1.0.0".to_owned(), false),
    ] {
        for (named, is_named) in [("", false), ("&deviceId=d", true), ("&currentUpdateId=x", true)] {
            let answer = signed.stage.check(BUNDLE, &format!("{query}{named}")).await;
            let value = answer.ok();
            assert_eq!(value["updateAvailable"], has_update, "{query}{named}");
            assert_eq!(value.get("trust"), is_named.then_some(&versions), "{query}{named}");
            let text = answer.text();
            assert_eq!(text.ends_with(&format!(",\"trust\":{versions}}}")), is_named, "{text}");
            // The server writes the answer by hand; the published type must read it, and write the same again.
            let read: CheckResult = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), value);
        }
    }
}

#[tokio::test]
async fn an_app_with_a_root_and_no_update_names_its_versions() {
    let stage = Stage::new().await;
    stage.developers(&["production"]).await;
    let answer = stage.checked(BUNDLE, "currentVersion=1.0.0&deviceId=d").await;
    assert_eq!(answer["message"], "No updates found for this bundle");
    assert_eq!(answer["trust"]["root"], 1);
    let other = stage.checked("com.example.other", "currentVersion=1.0.0&deviceId=d").await;
    assert_eq!(other.get("trust"), None);
    let anonymous = stage.checked(BUNDLE, "currentVersion=1.0.0").await;
    assert_eq!(anonymous, json!({"updateAvailable": false, "message": "No updates found for this bundle"}));
}

/// A revoked update is withdrawn; one that was pruned stays published, and is not offered either.
#[tokio::test]
async fn what_its_role_lists_no_more_is_offered_no_more() {
    for (is_revoked, message) in [(true, "No updates found for this bundle"), (false, "No update available")] {
        let mut signed = Signed::new().await;
        let query = "currentVersion=1.0.0&configuration=production&deviceId=d";
        let offer = signed.stage.checked(BUNDLE, query).await;
        assert_eq!(offer["version"], "1.2.3");
        let now = signed.stage.app.clock.now();
        let role = if is_revoked {
            signed.developers.revoke(&signed.role, &signed.package, now)
        } else {
            signed.developers.signers(&signed.role).content.targets.clear();
            signed.developers.sign_role(&signed.role, now)
        };
        let change = json!({"bundleId": BUNDLE, "roles": {"c-production": role}, "basedOn": signed.snapshot().await});
        signed.stage.change_trust(change).await;
        let after = signed.stage.checked(BUNDLE, query).await;
        assert_eq!(after["message"], message);
        assert!(after["trust"]["snapshot"].as_u64() > offer["trust"]["snapshot"].as_u64());
        signed.tuf(&signed.target()).await.refused(404, NO_PATH);
    }
}

/// `docs/reference/trust.md#addresses`
#[tokio::test]
async fn metadata_is_served_while_the_database_is_away() {
    let signed = Signed::new().await;
    let before = signed.tuf("trust").await.bytes;
    signed.stage.app.db.close().await;
    signed.stage.get(&signed.stage.key, "/update").await.is(503);
    assert_eq!(signed.tuf("trust").await.bytes, before);
    for name in ["timestamp.json", "1.root.json", "2.c-production.json"] {
        signed.tuf(name).await.is(200);
    }
    let found = signed.tuf(&signed.target()).await;
    assert_eq!(signed.stage.get(NOBODY, found.header("location")).await.bytes, signed.package);
}

#[tokio::test]
async fn a_node_that_starts_serves_what_the_others_do() {
    let signed = Signed::on(Stage::new().with(crate::support::Setup::on_postgres()).await).await;
    let node = signed.stage.another_node().await;
    for name in ["timestamp.json", "1.root.json", "2.c-production.json", "trust?configuration=production"] {
        let here = signed.tuf(name).await;
        let there = node.get(NOBODY, &url(&node, name)).await;
        assert_eq!((there.bytes.clone(), there.header("etag")), (here.bytes.clone(), here.header("etag")), "{name}");
    }
    let query = "currentVersion=1.0.0&configuration=production&deviceId=d";
    let (here, there) = (signed.stage.checked(BUNDLE, query).await, node.checked(BUNDLE, query).await);
    assert_eq!((&there["version"], &there["trust"]), (&here["version"], &here["trust"]));
}
