//! `init` and `doctor` on an app that contains another service's update client.

use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::project::description;
use crate::session::caller;
use crate::stage::Stage;

const KEY: &str = "abcDEF123456";

/// A React Native app with CodePush, whose address is this.
fn codepush(stage: &Stage, settings: &str, address: Option<&str>) {
    let address = address.map(|url| format!("<string name=\"CodePushServerUrl\">{url}</string>"));
    let strings = format!(
        "<resources><string name=\"CodePushDeploymentKey\">{KEY}</string>{}</resources>",
        address.unwrap_or_default()
    );
    stage
        .file(
            "package.json",
            json!({"version": "1.2.3", "dependencies": {"react-native": "0.80.0", "react-native-code-push": "9.0.1"}})
                .to_string(),
        )
        .file("index.js", "import './App';\n")
        .file("launchway.toml", settings)
        .file("android/app/src/main/res/values/strings.xml", strings);
}

#[tokio::test]
async fn init_prints_what_the_client_of_another_service_needs() {
    let stage = Stage::new();
    let settings = "[server]\nurl = 'https://launchway.example.com'\n[app]\nbundle_id = 'com.example.app'\n";
    codepush(&stage, settings, None);
    let text = stage.run(&["init", "--yes"]).await;
    let lines = [
        "The app contains CodePush (react-native-code-push). It can stay and ask this server; the SDK is not added beside it.\n",
        "warning: CodePush: set the address of the server in android/app/src/main/res/values/strings.xml:\n    \
         <string moduleConfig=\"true\" name=\"CodePushServerUrl\">https://launchway.example.com/codepush/com.example.app/</string>\n",
        "Update client  CodePush: 2 steps are left to you\n",
        "--- exit 0\n",
    ];
    for line in lines {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let told = stage.json(&["init", "--json"]).await;
    assert_eq!(told["sdk"], json!(null));
    assert_eq!(told["updateClients"][0]["client"], json!("codepush"));
    assert_eq!(
        std::fs::read_to_string(stage.project().join("index.js")).expect("it is there"),
        "import './App';\n",
        "the SDK is not added"
    );
    let other = Stage::new();
    codepush(
        &other,
        settings,
        Some("https://launchway.example.com/codepush/com.example.app/"),
    );
    let told = other.json(&["init", "--json"]).await;
    assert_eq!(told["updateClients"][0]["steps"], json!([]));
}

#[tokio::test]
async fn a_new_project_with_another_client_gets_settings_only() {
    let stage = Stage::new();
    stage
        .file("package.json", json!({"dependencies": {"expo": "57", "expo-updates": "57"}}).to_string())
        .file("app.json", json!({"expo": {"android": {"package": "com.example.app"}, "ios": {"bundleIdentifier": "com.example.app"}}}).to_string());
    let text = stage
        .run(&["init", "--yes", "--url", "https://launchway.example.com"])
        .await;
    assert!(
        text.contains("\"url\": \"https://launchway.example.com/expo/com.example.app\",\n"),
        "{text}"
    );
    assert!(
        text.contains("Update client   Expo Updates: 2 steps are left to you\n"),
        "{text}"
    );
    assert!(stage.project().join("launchway.toml").exists());
}

#[tokio::test]
async fn two_update_clients_in_an_app_are_warned_of() {
    let stage = Stage::new();
    codepush(&stage, "", None);
    let packages =
        json!({"react-native": "0.80.0", "react-native-code-push": "9.0.1", "@launchway/react-native": "0.1.0"});
    stage.file("package.json", json!({"dependencies": packages}).to_string());
    let text = stage.run(&["init", "--yes"]).await;
    let expected = "warning: the app contains CodePush and the SDK; only one update client may run in an app, so remove all but one\n";
    assert!(text.contains(expected), "{text}");
    let text = stage.run(&["doctor"]).await;
    assert!(
        text.contains("problem  the app contains CodePush and the SDK; each would replace what the other installed\n"),
        "{text}"
    );
}

/// What `doctor` says of an app whose server gives this answer to its client, and what the server was asked.
async fn doctor(answer: Reply) -> (String, Vec<String>) {
    let version = description(env!("CARGO_PKG_VERSION"));
    let session = Reply::new(200, caller(json!({})).to_string());
    let server = FakeServer::start([version, session, answer]).await;
    let stage = Stage::with(&server);
    let address = format!("{}/codepush/com.example.app/", server.url());
    codepush(
        &stage,
        &format!(
            "[server]\nurl = '{}'\n[app.android]\nbundle_id = 'com.example.app'\n",
            server.url()
        ),
        Some(&address),
    );
    (stage.run(&["doctor"]).await, server.lines())
}

#[tokio::test]
async fn doctor_asks_the_server_as_the_app_would() {
    let (text, asked) = doctor(Reply::new(200, "{\"update_info\":{\"is_available\":false}}")).await;
    assert!(
        text.contains("ok       CodePush (react-native-code-push) is set up for this server\n"),
        "{text}"
    );
    let check = format!(
        "GET /codepush/com.example.app/v0.1/public/codepush/update_check?deployment_key={KEY}&app_version=1.2.3"
    );
    assert!(asked.contains(&check), "{asked:?}");
    let (text, _) = doctor(Reply::new(400, "bad")).await;
    assert!(
        text.contains(" asks http://server/codepush/com.example.app/, but the server answers 400: bad\n"),
        "{text}"
    );
}

#[tokio::test]
async fn doctor_names_the_address_that_the_app_should_have() {
    let stage = Stage::new();
    let settings = "[server]\nurl = 'http://127.0.0.1:9'\n[app]\nbundle_id = 'com.example.app'\n";
    codepush(&stage, settings, Some("https://codepush.appcenter.ms/"));
    let text = stage.run(&["doctor"]).await;
    let expected = "problem  android/app/src/main/res/values/strings.xml: CodePush asks https://codepush.appcenter.ms/ on android\n         \
                    → set the address to http://127.0.0.1:9/codepush/com.example.app/\n";
    assert!(text.contains(expected), "{text}");
}

/// What `doctor` says of an app with Expo's client that is offered an update with files at `base`; the server's own address if `None`.
async fn expo_doctor(base: Option<&str>) -> String {
    let version = description(env!("CARGO_PKG_VERSION"));
    let session = Reply::new(200, caller(json!({})).to_string());
    let server = FakeServer::start([version, session, Reply::new(200, "--part")]).await;
    let base = base.map_or_else(|| server.url(), str::to_owned);
    let manifest = json!({
        "id": "0193c9a1-7c4e-7d7e-8a9b-0123456789ab", "createdAt": "2026-11-20T10:00:00.000Z", "runtimeVersion": "1.0.0",
        "launchAsset": {
            "hash": "A".repeat(43), "key": "index", "contentType": "application/javascript",
            "url": format!("{base}/expo/com.example.app/assets/{}", "0".repeat(64)),
        },
        "assets": [], "metadata": {}, "extra": {},
    });
    server.then([Reply::new(200, manifest.to_string()), Reply::new(200, "the script")]);
    let stage = Stage::with(&server);
    let address = format!("{}/expo/com.example.app", server.url());
    let settings = json!({"expo": {
        "runtimeVersion": "1.0.0", "android": {"package": "com.example.app"},
        "updates": {"url": address, "requestHeaders": {"expo-channel-name": "production"}},
    }});
    stage
        .file(
            "package.json",
            json!({"dependencies": {"expo": "57.0.0", "expo-updates": "57.0.24"}}).to_string(),
        )
        .file("app.json", settings.to_string())
        .file(
            "launchway.toml",
            format!(
                "[server]\nurl = '{}'\n[app.android]\nbundle_id = 'com.example.app'\n",
                server.url()
            ),
        );
    stage.run(&["doctor"]).await
}

#[tokio::test]
async fn doctor_asks_for_the_files_of_an_update_of_expo() {
    const SET_UP: &str = "ok       Expo Updates (expo-updates) is set up for this server\n";
    let text = expo_doctor(None).await;
    assert!(text.contains(SET_UP) && !text.contains("downloads files"), "{text}");
    let elsewhere = FakeServer::start([Reply::new(200, "the script")]).await;
    let text = expo_doctor(Some(&elsewhere.url())).await;
    assert!(text.contains(SET_UP), "{text}");
    assert!(
        text.contains("ok       Expo Updates on android downloads files from http://"),
        "{text}"
    );
    let gone = FakeServer::start([Reply::new(404, "")]).await;
    let text = expo_doctor(Some(&gone.url())).await;
    assert!(!text.contains(SET_UP), "{text}");
    assert!(
        text.contains("problem  Expo Updates on android is offered an update whose files are at http://"),
        "{text}"
    );
    assert!(text.contains(", but the answer there is 404\n"), "{text}");
    let text = expo_doctor(Some("http://127.0.0.1:9")).await;
    assert!(
        text.contains(" http://127.0.0.1:9, but it does not respond: "),
        "{text}"
    );
    assert!(
        text.contains("a changed --asset-base does not change what was signed\n"),
        "{text}"
    );
}
