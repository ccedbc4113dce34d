//! A day of an app with Expo's client against a running server (`docs/reference/expo.md`).

mod imported;
mod phone;
mod signed;

use std::io::Write;

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Tier;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::foreign_stage::{device, on_postgres_and_s3};
use crate::foreign_updates::publish;
use crate::stage::BUNDLE;
use crate::support::{Answer, Fields, NOBODY, TestApp, package, with};
use phone::{Expo, Phone};

/// An export of `npx expo export` with this many assets, and a script for each platform.
pub fn export(name: &str, assets: usize) -> Vec<u8> {
    let keys: Vec<_> = (0..assets).map(|number| format!("{:032x}", number + 1)).collect();
    let listed: Vec<_> = keys.iter().map(|key| json!({"path": format!("assets/{key}"), "ext": "png"})).collect();
    let script = |platform: &str| format!("_expo/static/js/{platform}/index-{name}.hbc");
    let files = |platform: &str| json!({"bundle": script(platform), "assets": listed});
    let metadata =
        json!({"version": 0, "bundler": "metro", "fileMetadata": {"android": files("android"), "ios": files("ios")}});
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut add = |path: &str, bytes: &[u8], method| {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        zip.start_file(path, options).unwrap();
        zip.write_all(bytes).unwrap();
    };
    let (stored, deflated) = (zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated);
    add("metadata.json", metadata.to_string().as_bytes(), deflated);
    add("expoConfig.json", json!({"name": name}).to_string().as_bytes(), deflated);
    for platform in ["android", "ios"] {
        add(&script(platform), format!("{platform} {name} ").repeat(9000).as_bytes(), deflated);
        add(&format!("{}.map", script(platform)), b"the source code", deflated);
    }
    for (number, key) in keys.iter().enumerate() {
        let method = if number % 2 == 0 { stored } else { deflated };
        add(&format!("assets/{key}"), format!("image {number} ").repeat(number + 1).as_bytes(), method);
    }
    zip.finish().unwrap().into_inner()
}

/// A server with an app.
struct Day {
    app: TestApp,
    key: String,
}

impl Day {
    async fn new(app: TestApp) -> Day {
        let (_, key) = app.org_with_key().await;
        Day { app, key }
    }

    /// Publishes an export for production.
    async fn release(&self, name: &str, fields: Value) -> Value {
        self.try_release(&export(name, 3), fields).await.created()
    }

    async fn try_release(&self, zip: &[u8], fields: Value) -> Answer {
        self.app.advance(1000);
        let own = json!({"format": "expo", "runtimeVersion": "1.0.0", "configuration": "production"});
        publish(&self.app, &self.key, zip, with(own, &fields)).await
    }

    async fn change(&self, update: &Value, change: Value) {
        self.app.advance(1000);
        self.app.patch(&self.key, &format!("/update?id={}", update.id()), change).await.ok();
    }

    fn phone(&self, device: &str) -> Phone {
        Phone::new(&format!("{}/expo/{BUNDLE}", self.app.origin), device)
    }

    async fn read(&self, update: &Value) -> Value {
        self.app.get(&self.key, &format!("/update?id={}", update.id())).await.ok()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_with_expo_updates_lives_through_a_day() {
    let mut expo = Expo::install();
    a_day(&Day::new(TestApp::start().await).await, &mut expo).await;
    let (app, _bucket) = on_postgres_and_s3().await;
    a_day(&Day::new(app).await, &mut expo).await;
}

async fn a_day(day: &Day, expo: &mut Expo) {
    let mut phone = day.phone("device-1");
    assert_eq!(phone.sync(expo), "404: this server has no updates for clients of Expo of this app");

    let first = day.release("one", json!({})).await;
    assert_eq!(phone.sync(expo), "one");
    assert_eq!(phone.sync(expo), "nothing");
    assert_eq!(day.read(&first).await["foreignIds"], json!([{"protocol": "expo", "id": phone.running()}]));

    // A staged rollout, raised and lowered again: who has it keeps it.
    let second = day.release("two", json!({"rollout": 30})).await;
    let mut early = day.phone(&device(&second, 30, true));
    let mut late = day.phone(&device(&second, 90, false));
    assert_eq!(early.sync(expo), "two");
    assert_eq!(late.sync(expo), "one");
    day.change(&second, json!({"rollout": 100})).await;
    assert_eq!(late.sync(expo), "two");
    day.change(&second, json!({"rollout": 1})).await;
    assert_eq!(early.sync(expo), "nothing");

    // A pause: holders keep it, others get the one below.
    day.change(&second, json!({"rollout": 100, "status": "paused"})).await;
    assert_eq!(early.sync(expo), "nothing");
    assert_eq!(day.phone("device-2").sync(expo), "one");

    // A withdrawal: holders leave it, and who runs what they go back to is offered nothing.
    day.change(&second, json!({"status": "withdrawn"})).await;
    assert_eq!(early.sync(expo), "one");
    assert_eq!(early.sync(expo), "nothing");
    assert_eq!(phone.sync(expo), "nothing", "it has the same under an earlier id");
    assert_eq!(day.phone("device-3").sync(expo), "one");

    // Nothing is left: back to the built-in content, and forward from there.
    day.change(&first, json!({"status": "withdrawn"})).await;
    for holder in [&mut early, &mut late] {
        assert_eq!(holder.sync(expo), "built-in");
        assert_eq!(holder.sync(expo), "nothing");
    }
    let third = day.release("three", json!({})).await;
    assert_eq!(early.sync(expo), "three");
    assert_eq!(phone.sync(expo), "three");

    a_release_that_crashes(day, expo, &third).await;

    // Back to the built-in content for everybody, as a release of its own.
    let back = json!({"kind": "embedded", "bundleId": BUNDLE, "platform": "android", "version": "1.0.9",
                      "configuration": "production", "runtimeVersion": "1.0.0"});
    day.app.post(&day.key, "/update", back).await.created();
    assert_eq!(phone.sync(expo), "built-in");
    assert_eq!(phone.sync(expo), "nothing");

    // The content of an earlier release again.
    let again = json!({"sourceUpdateId": first.id(), "bundleId": BUNDLE, "platform": "android", "version": "1.1.0",
                       "configuration": "production"});
    let again = day.app.post(&day.key, "/update", again).await.created();
    assert_eq!((&again["format"], &again["runtimeVersion"]), (&json!("expo"), &json!("1.0.0")));
    assert_eq!(phone.sync(expo), "one");
    assert_eq!(early.sync(expo), "one");
    day.app.delete(&day.key, &format!("/update?id={}", again.id())).await.ok();
    assert_eq!(phone.sync(expo), "built-in", "the release below leads there");
}

/// What leads back from a withdrawn update is later than it, also if what most devices go back to is paused by then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn devices_go_back_past_a_paused_update() {
    let mut expo = Expo::install();
    let day = Day::new(TestApp::start().await).await;
    day.release("one", json!({})).await;
    let second = day.release("two", json!({})).await;
    let third = day.release("three", json!({})).await;
    let mut phone = day.phone("device-1");
    assert_eq!(phone.sync(&mut expo), "three");
    day.change(&third, json!({"status": "withdrawn"})).await;
    day.change(&second, json!({"status": "paused"})).await;
    assert_eq!(phone.sync(&mut expo), "one");
    assert_eq!(phone.sync(&mut expo), "nothing");
    day.change(&second, json!({"status": "published"})).await;
    assert_eq!(phone.sync(&mut expo), "two");
}

/// A client names what could not be started: that is counted once, and not offered to this device again.
async fn a_release_that_crashes(day: &Day, expo: &mut Expo, third: &Value) {
    let mut phone = day.phone("device-4");
    assert_eq!(phone.sync(expo), "three");
    let before = phone.running().to_owned();
    let fourth = day.release("four", json!({})).await;
    assert_eq!(phone.sync(expo), "four");
    let failed = format!("\"{}\", \"{}\"", phone.running(), "0193c9a1-0000-7d7e-8a9b-0123456789ab");
    let crashed = day.phone("device-4").with("expo-recent-failed-update-ids", &failed);
    let mut crashed = crashed.with("expo-fatal-error", "Error: undefined is not a function");
    // The client went back to what it ran before.
    crashed.runs(&before, 0);
    assert_eq!(crashed.sync(expo), "nothing");
    assert_eq!(crashed.sync(expo), "nothing");
    let fifth = day.release("five", json!({})).await;
    assert_eq!(crashed.clone().sync(expo), "five");
    day.change(&fifth, json!({"status": "withdrawn"})).await;
    let counts = day.read(&fourth).await["reports"].clone();
    assert_eq!(counts["failed"], 1);
    assert_eq!(counts["reasons"][0]["reason"], "Error: undefined is not a function");
    assert_eq!(day.read(third).await["reports"]["failed"], 0);
    assert_eq!(day.phone("device-5").sync(expo), "four");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_apps_of_the_channel_and_runtime_get_a_release() {
    let mut expo = Expo::install();
    let expo = &mut expo;
    let day = Day::new(TestApp::start().await).await;
    day.release("one", json!({})).await;
    let mut staging = day.phone("device-1").with("expo-channel-name", "staging");
    assert_eq!(staging.sync(expo), "nothing");
    assert_eq!(staging.check(expo)["headers"].text("expo-manifest-filters"), "configuration=\"staging\"");
    assert_eq!(day.phone("device-1").with("expo-runtime-version", "2.0.0").sync(expo), "nothing");
    assert_eq!(day.phone("device-1").with("expo-platform", "ios").sync(expo), "nothing");
    day.release("staged", json!({"configuration": "staging"})).await;
    assert_eq!(staging.sync(expo), "staged");
    // An app that changes its channel runs something of no place in the order of the new one.
    let mut moved = staging.with("expo-channel-name", "production");
    moved.runs(staging.running(), 0);
    assert_eq!(moved.sync(expo), "one");

    // An update that was never here: the newest is offered, and nothing is taken away.
    let mut unknown = day.phone("device-2");
    unknown.runs("0193c9a1-0000-7d7e-8a9b-0123456789ab", 5);
    assert_eq!(unknown.clone().sync(expo), "one");
    assert_eq!(unknown.with("expo-runtime-version", "2.0.0").sync(expo), "nothing");
    // A release for every channel.
    day.release("everywhere", json!({"configuration": null})).await;
    assert_eq!(staging.sync(expo), "everywhere");
    assert_eq!(moved.sync(expo), "everywhere");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_files_of_an_export_are_served_by_their_hashes() {
    let mut expo = Expo::install();
    let day = Day::new(TestApp::start().await).await;
    let update = day.try_release(&export("big", 200), json!({})).await.created();
    let manifest = day.phone("device-1").check(&mut expo)["parts"]["manifest"]["body"].clone();
    assert_eq!(manifest["assets"].as_array().unwrap().len(), 200);
    assert_eq!(manifest["assets"][0]["fileExtension"], ".png");
    assert_eq!(manifest["launchAsset"]["contentType"], "application/javascript");
    assert_eq!(expo.download(&manifest, "identity"), [201, 201, 0, 0]);
    assert_eq!(expo.download(&manifest, "gzip, br;q=0.5"), [201, 201, 101, 0]);
    // One file at a time is compressed with Brotli; meanwhile others are sent as they are in the package.
    let [files, good, gzip, brotli] = expo.download(&manifest, "br, gzip");
    assert_eq!((files, good, gzip + brotli), (201, 201, 101));
    assert!(brotli > 0);
    let script = json!({"launchAsset": manifest["launchAsset"], "assets": []});
    assert_eq!(expo.download(&script, "br, gzip"), [1, 1, 0, 1]);
    assert_eq!(expo.download(&script, "br;q=0"), [1, 1, 0, 0]);

    let file = manifest["launchAsset"].text("url");
    let path = file.strip_prefix(day.app.origin.as_str()).unwrap();
    assert!(path.starts_with(&format!("/expo/{BUNDLE}/assets/")), "{path}");
    let hash = path.rsplit('/').next().unwrap();
    let found = async |path: String| day.app.get(NOBODY, &format!("{}{path}", day.app.origin)).await.status.as_u16();
    let upper = BUNDLE.to_uppercase();
    assert_eq!(found(format!("/expo/{upper}/assets/{hash}")).await, 200, "identifiers of apps have no case");
    // The source map, another app, another spelling of the hash, and what is no hash.
    let source_map = hex::encode(Sha256::digest(b"the source code"));
    for path in [
        format!("/expo/{BUNDLE}/assets/{source_map}"),
        format!("/expo/com.example.other/assets/{hash}"),
        format!("/expo/{BUNDLE}/assets/{}", hash.to_uppercase()),
        format!("/expo/{BUNDLE}/assets/{hash}0"),
        format!("/expo/{BUNDLE}/assets/%2e%2e"),
        format!("/expo/{BUNDLE}/assets/"),
        format!("/expo/{BUNDLE}/{hash}"),
    ] {
        assert_eq!(found(path.clone()).await, 404, "{path}");
    }
    // Only files of live updates are served.
    day.change(&update, json!({"status": "paused"})).await;
    assert_eq!(found(path.to_owned()).await, 200);
    day.change(&update, json!({"status": "withdrawn"})).await;
    assert_eq!(found(path.to_owned()).await, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_addresses_of_files_begin_with_the_asset_base() {
    let mut expo = Expo::install();
    let day = Day::new(TestApp::with(settings!(asset_base = "https://cdn.example.com/")).await).await;
    day.release("one", json!({})).await;
    let manifest = day.phone("device-1").check(&mut expo)["parts"]["manifest"]["body"].clone();
    let start = format!("https://cdn.example.com/expo/{BUNDLE}/assets/");
    assert!(manifest["launchAsset"].text("url").starts_with(&start), "{manifest}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_of_another_tenant_is_out_of_reach() {
    let mut expo = Expo::install();
    let expo = &mut expo;
    let day = Day::new(TestApp::start().await).await;
    let other = day.app.org(Tier::Enterprise).await;
    let theirs = day.app.key(other, &[Scope::Update]).await;
    let fields = json!({"format": "expo", "runtimeVersion": "1.0.0", "bundleId": "com.example.theirs"});
    let zip = export("theirs", 3);
    let their_update = publish(&day.app, &theirs, &zip, fields.clone()).await.created();
    let ours = day.release("one", json!({})).await;
    let mut their_phone = Phone::new(&format!("{}/expo/com.example.theirs", day.app.origin), "device-1");
    assert_eq!(their_phone.sync(expo), "theirs");

    // An id of theirs is unknown in our app, and reported for none of its updates.
    let mut phone =
        day.phone("device-1").with("expo-recent-failed-update-ids", &format!("\"{}\"", their_phone.running()));
    phone.runs(their_phone.running(), 0);
    assert_eq!(phone.sync(expo), "one");
    for (key, update) in [(&day.key, &ours), (&theirs, &their_update)] {
        let read = day.app.get(key, &format!("/update?id={}", update.id())).await.ok();
        assert_eq!(read["reports"]["failed"], 0);
    }
    // Their key publishes nothing for our app, and none of our content for theirs.
    let ours_by_them = publish(&day.app, &theirs, &zip, with(fields.clone(), &json!({"bundleId": BUNDLE}))).await;
    ours_by_them.is(403);
    let stolen = json!({"sourceUpdateId": ours.id(), "bundleId": "com.example.theirs", "platform": "android", "version": "2.0.0"});
    day.app.post(&theirs, "/update", stolen).await.is(404);
    assert_eq!(phone.sync(expo), "nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_requests_are_answered_in_words_of_expo() {
    let mut expo = Expo::install();
    let expo = &mut expo;
    let day = Day::new(TestApp::start().await).await;
    let update = day.release("one", json!({})).await;
    let phone = day.phone("device-1");
    let long = "x".repeat(3000);
    for (name, value, status) in [
        ("expo-platform", "windows", 400),
        ("expo-runtime-version", "", 400),
        ("expo-runtime-version", long.as_str(), 400),
        ("expo-protocol-version", "2", 406),
        ("accept", "text/html", 406),
        ("accept", "application/json", 200),
        ("accept", "application/expo+json;q=0.9, multipart/mixed;q=0.1", 200),
        ("expo-protocol-version", "0", 200),
        ("eas-client-id", long.as_str(), 200),
        ("expo-channel-name", long.as_str(), 204),
        ("expo-current-update-id", "' OR 1=1", 200),
        ("expo-recent-failed-update-ids", "\"", 200),
        ("expo-recent-failed-update-ids", long.as_str(), 200),
        ("expo-expect-signature", "sig, keyid=\"main\", alg=\"rsa-v1_5-sha256\"", 204),
        ("expo-expect-signature", long.as_str(), 204),
    ] {
        let answer = phone.with(name, value).check(expo);
        assert_eq!(answer["status"], status, "{name}: {value:.60}");
        assert!(!answer["headers"].text("expo-protocol-version").is_empty());
        let said = if status == 200 { "manifest" } else { "error" };
        assert_eq!(answer["parts"][said].is_object(), status != 204, "{name}: {answer}");
    }
    // Where only a manifest can be sent, a directive is not acceptable; protocol 0 has no word for nothing.
    let mut holder = phone.clone();
    assert_eq!(holder.sync(expo), "one");
    assert_eq!(holder.with("expo-protocol-version", "0").check(expo)["status"], 404);
    day.change(&update, json!({"status": "withdrawn"})).await;
    assert_eq!(holder.with("accept", "application/json").check(expo)["status"], 406);
    for path in ["com.example.app%2Fx", "%FF", "%zz", "com.example.none"] {
        let url = format!("{}/expo/{path}", day.app.origin);
        assert_eq!(Phone::new(&url, "device-1").check(expo)["status"], 404, "{path}");
    }
}

#[tokio::test]
async fn checks_of_expo_are_counted_and_limited_like_ours() {
    let day = Day::new(TestApp::with(settings!(check_limit = 2)).await).await;
    let update = day.release("one", json!({})).await;
    let issue = day.read(&update).await["foreignIds"][0].text("id").to_owned();
    let check = async |more: &[(&str, &str)]| {
        let request = day.app.request(reqwest::Method::GET, &format!("{}/expo/{BUNDLE}", day.app.origin));
        let request = request.header("expo-platform", "android").header("expo-runtime-version", "1.0.0");
        let mut request = request.header("expo-channel-name", "production").header("expo-protocol-version", "1");
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap()
    };
    for _ in 0..2 {
        assert_eq!(check(&[]).await.status().as_u16(), 200);
    }
    let failed = format!("\"{issue}\"");
    for more in [vec![], vec![("expo-recent-failed-update-ids", failed.as_str()), ("eas-client-id", "device-1")]] {
        let refused = check(&more).await;
        assert_eq!(refused.status().as_u16(), 429);
        assert!(refused.headers().contains_key("retry-after"));
    }
    assert_eq!(day.read(&update).await["reports"]["failed"], 0);
    let app = &day.app.app;
    app.check_counts.flush(&app.db, &app.index, app.clock.now()).await.unwrap();
    assert_eq!(day.app.get(&day.key, "/usage?id=2026-11").await.ok()["checks"], 2);
}

#[tokio::test]
async fn what_is_no_export_is_refused() {
    let day = Day::new(TestApp::start().await).await;
    let metadata = |files: Value| json!({"fileMetadata": {"android": files}}).to_string();
    let listing = |text: &str| package("metadata.json", text.as_bytes());
    let missing = metadata(json!({"bundle": "index.hbc", "assets": []}));
    let map = metadata(json!({"bundle": "metadata.json", "assets": [{"path": "metadata.json.map", "ext": "map"}]}));
    let ios = json!({"fileMetadata": {"ios": {"bundle": "metadata.json", "assets": []}}}).to_string();
    let twice = metadata(json!({"bundle": "metadata.json", "assets": [{"path": "metadata.json", "ext": ""}]}));
    for (zip, fields, message) in [
        (
            package("index.html", b"no export"),
            json!({}),
            "The package has no metadata.json at its root. Publish the folder that `npx expo export` wrote.",
        ),
        (listing("{}"), json!({}), "metadata.json is not that of an Expo export; run `npx expo export` again"),
        (listing(&ios), json!({}), "the export has no android app; run `npx expo export --platform android`"),
        (
            listing(&missing),
            json!({}),
            "metadata.json lists the file index.hbc, which is not in the package. Export the app again.",
        ),
        (
            listing(&map),
            json!({}),
            "metadata.json lists the source map of the script as an asset. Phones do not need it, and it shows your source code.",
        ),
        (
            export("one", 1),
            json!({"runtimeVersion": null}),
            "runtimeVersion is required for updates of format expo. It is that of the installed app.",
        ),
        (
            export("one", 1),
            json!({"binaryRange": "^1.0.0"}),
            "Clients of format expo send no version of the app. Use runtimeVersion instead of binaryRange.",
        ),
    ] {
        day.try_release(&zip, fields).await.refused(400, message);
    }
    // One content under two names is two files.
    day.try_release(&listing(&twice), json!({})).await.created();
}
