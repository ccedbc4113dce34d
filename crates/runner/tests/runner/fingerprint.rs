//! `launchway fingerprint embed` in a step, as called by every preset.

use std::path::Path;
use std::sync::Arc;

use launchway_api::runner::{Finish, Lease};
use launchway_domain::build::BuildResult;
use launchway_domain::fingerprint::FingerprintDocument;
use launchway_project::resolve::AppLocation;
use launchway_runner::plan::RequestOnly;
use launchway_runner::sandbox::{BuildUser, SandboxSettings};
use launchway_runner::settings::Settings;

use crate::fake_server::{FakeServer, lease, tar_gz};
use crate::work::Working;

const EMBED: &str = "launchway fingerprint embed android";
const APP: [(&str, &str); 3] = [
    ("settings.gradle", "include ':app'\n"),
    (
        "app/build.gradle",
        "apply plugin: 'com.android.application'\nversionCode 1\n",
    ),
    ("app/src/main/AndroidManifest.xml", "<manifest/>\n"),
];

/// Files in a directory of the source, besides others.
fn below<'f>(directory: &str, files: &'f [(&str, &'f str)], others: &[(&str, &'f str)]) -> Vec<(String, &'f str)> {
    let inner = files.iter().map(|(name, text)| (format!("{directory}{name}"), *text));
    let others = others.iter().map(|(name, text)| ((*name).to_owned(), *text));
    inner.chain(others).collect()
}

fn offered(server: &FakeServer, id: &str, files: &[(String, &str)], steps: &[(&str, &str)]) -> Lease {
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    Lease {
        source: server.offer(&format!("{id}.tar.gz"), tar_gz(&files)),
        ..lease(server, id, steps)
    }
}

/// The document of these files.
fn document(files: &[(&str, &str)]) -> FingerprintDocument {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let rules = launchway_project::file::Fingerprint::default();
    let platform = launchway_domain::platform::Platform::Android;
    let found =
        launchway_project::fingerprint::app_documents(directory.path(), &AppLocation::default(), platform, &rules);
    found.unwrap().1.first
}

fn told(finish: &Finish) -> Option<FingerprintDocument> {
    let document = finish.fingerprint.clone()?;
    Some(FingerprintDocument::from_value(document).unwrap())
}

async fn a_build_tells_and_embeds(change: impl FnOnce(&mut Settings)) {
    let server = FakeServer::start().await;
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    let expected = document(&APP);
    let steps = [
        ("make", "sed -i 's/versionCode 1/versionCode 7/' app/build.gradle"),
        ("embed", EMBED),
        ("again", "launchway fingerprint embed"),
        ("look", "cat app/src/main/res/values/launchway_fingerprint.xml"),
    ];
    let files = below("", &APP, &[]);
    server.queue(offered(&server, "build_1", &files, &steps));
    let finish = server.finished("build_1").await;
    let log = server.log("build_1");
    assert_eq!(finish.status, BuildResult::Success, "{log}");
    assert_eq!(told(&finish), Some(expected.clone()), "{log}");
    assert_eq!(finish.warnings, [""; 0]);
    assert!(log.contains(&format!(">{}</string>", expected.hash())), "{log}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_build_tells_its_fingerprint_and_the_app_has_it() {
    a_build_tells_and_embeds(|_| {}).await;
}

/// As root with separate users for builds, and with Landlock; otherwise with what is available.
#[tokio::test]
async fn also_in_the_sandbox() {
    a_build_tells_and_embeds(|settings| settings.sandbox = SandboxSettings::default()).await;
}

#[tokio::test]
async fn also_where_the_program_cannot_be_reached() {
    let directory = crate::stage::open_directory();
    let hidden = directory.path().join("hidden");
    std::fs::create_dir(&hidden).unwrap();
    a_build_tells_and_embeds(|settings| {
        settings.sandbox = SandboxSettings {
            // The program is next to it: then Landlock opens no folder of it.
            readable: vec![Path::new(crate::stage::PROGRAM).parent().unwrap().to_owned()],
            hidden: vec![crate::stage::PROGRAM.into(), hidden],
            user: BuildUser::Own,
            ..SandboxSettings::default()
        };
    })
    .await;
}

#[tokio::test]
async fn a_profile_says_where_the_app_is() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    let settings =
        "[build.production]\n[build.phone]\ndirectory = 'apps/phone'\n[fingerprint]\nexclude = ['/app/notes']\n";
    let files = below(
        "apps/phone/",
        &APP,
        &[
            ("launchway.toml", settings),
            ("apps/phone/app/notes", "none"),
            ("other/x", ""),
        ],
    );
    let mut lease = offered(
        &server,
        "build_1",
        &files,
        &[("embed", &format!("cd apps/phone\n{EMBED}"))],
    );
    lease.profile = Some("phone".to_owned());
    server.queue(lease);
    let finish = server.finished("build_1").await;
    assert_eq!(told(&finish), Some(document(&APP)), "{}", server.log("build_1"));
    working.end().await.unwrap();
}

/// The settings of a workspace's app may be in the app, which the step is in.
#[tokio::test]
async fn a_member_of_a_workspace_has_its_own_settings() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    // Without a framework, everything in the app's directory is native, but for what the settings exclude.
    let rules = "[fingerprint]\nexclude = ['/app/notes', '/launchway.toml']\n";
    let settings = ("apps/phone/launchway.toml", rules);
    let root = ("package.json", r#"{"workspaces": ["apps/*"]}"#);
    let rows = [
        ("build_1", vec![settings, ("apps/phone/app/notes", "none")]),
        ("build_2", Vec::new()),
    ];
    for (id, more) in rows {
        let files = below("apps/phone/", &APP, &[&[root][..], &more].concat());
        let step = format!("cd apps/phone\n{EMBED}");
        server.queue(offered(&server, id, &files, &[("embed", &step)]));
        let finish = server.finished(id).await;
        assert_eq!(told(&finish), Some(document(&APP)), "{}", server.log(id));
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn a_project_without_a_fingerprint_is_built_with_a_warning() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    let no_app = "The build has no fingerprint: no app for android found here: no configuration of NativeScript, \
        Capacitor, Expo, React Native or Flutter, and no native project";
    let no_place = "The app will not contain its fingerprint: app/src/main does not exist, so there is nothing to write \
        into; create the native project first";
    let rows = [
        ("build_1", ("README", "x"), no_app, false),
        (
            "build_2",
            ("launchway.toml", "[bild]\n"),
            "The build has no fingerprint: launchway.toml: ",
            false,
        ),
        ("build_3", ("settings.gradle", ""), no_place, true),
    ];
    for (id, file, expected, has_document) in rows {
        let files = [file, ("a/b", "")];
        let files = below("", &files, &[]);
        server.queue(offered(
            &server,
            id,
            &files,
            &[("embed", EMBED), ("after", "echo after")],
        ));
        let finish = server.finished(id).await;
        let log = server.log(id);
        assert_eq!(finish.status, BuildResult::Success, "{log}");
        assert!(finish.warnings.concat().starts_with(expected), "{:?}", finish.warnings);
        assert!(
            log.contains(&format!("Warning: {expected}")) && log.contains("after\n"),
            "{log}"
        );
        assert_eq!(finish.fingerprint.is_some(), has_document);
    }
    working.end().await.unwrap();
}

/// A trust file with a root that its key signed, from the vectors for other clients.
fn trust_file() -> String {
    let text = include_str!("../../../../sdk/vectors/trust/workflow.json");
    let vectors: serde_json::Value = serde_json::from_str(text).unwrap();
    vectors["scenarios"][0]["embedded"].to_string()
}

#[tokio::test]
async fn a_project_with_a_trust_file_gets_its_root_into_the_app() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    let trust = trust_file();
    let files = below("", &APP, &[("launchway.trust.json", trust.as_str())]);
    let look = "cat app/src/main/assets/launchway.trust.json; rm app/src/main/assets/*";
    let steps = [
        ("embed", "launchway embed android"),
        ("look", look),
        ("embed by its old name", EMBED),
        ("look again", look),
    ];
    server.queue(offered(&server, "build_1", &files, &steps));
    let finish = server.finished("build_1").await;
    let log = server.log("build_1");
    assert_eq!(finish.status, BuildResult::Success, "{log}");
    assert_eq!(told(&finish), Some(document(&APP)), "{log}");
    let root = "Root 1 of launchway.trust.json is in app/src/main/assets/launchway.trust.json";
    assert_eq!(log.matches(root).count(), 2, "{log}");
    assert_eq!(log.matches("\"repository\":").count(), 2, "{log}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn an_app_that_would_lack_its_root_is_not_built() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    let (trust, broken) = (
        trust_file(),
        trust_file().replacen("\\\"version\\\": 1", "\\\"version\\\": 2", 1),
    );
    assert_ne!(trust, broken);
    let (absent, unsigned) = (
        "the source has no launchway.trust.json, so the app would take unsigned updates",
        "launchway.trust.json has a root that is signed by 0 of the 1 keys that must sign",
    );
    let rows = [
        ("build_1", "launchway embed", None, absent),
        ("build_2", "launchway embed", Some(&broken), unsigned),
        ("build_3", EMBED, Some(&broken), unsigned),
    ];
    for (id, command, trust, expected) in rows {
        let trust: Vec<_> = trust
            .map(|text| ("launchway.trust.json", text.as_str()))
            .into_iter()
            .collect();
        let files = below("", &APP, &trust);
        server.queue(offered(&server, id, &files, &[("embed", command)]));
        let finish = server.finished(id).await;
        let log = server.log(id);
        assert_eq!(finish.status, BuildResult::Failed, "{log}");
        assert!(log.contains(&format!("Error: {expected}\n")), "{log}");
    }
    working.end().await.unwrap();
}

#[tokio::test]
async fn an_app_with_the_sdk_gets_its_settings_or_is_not_built() {
    let server = FakeServer::start().await;
    let working = Working::start(&server);
    let named = "[server]\nurl = 'https://launchway.example.com'\n[sdk]\nwifi_only = true\n";
    let look = "cat app/src/main/assets/launchway.json";
    let steps = [("embed", EMBED), ("look", look), ("again", EMBED)];
    for (id, settings) in [("build_1", named), ("build_2", "[sdk]\n")] {
        let files = below("", &APP, &[("launchway.toml", settings)]);
        let mut lease = offered(&server, id, &files, &steps);
        lease.configuration = Some("nightly".to_owned());
        server.queue(lease);
    }
    let finish = server.finished("build_1").await;
    let log = server.log("build_1");
    assert_eq!(finish.status, BuildResult::Success, "{log}");
    let expected =
        "{\"serverUrl\":\"https://launchway.example.com/api\",\"configuration\":\"nightly\",\"wifiOnly\":true}";
    assert!(log.contains(expected), "{log}");
    let said = "Settings of the SDK for https://launchway.example.com/api are in app/src/main/assets/launchway.json";
    assert_eq!(log.matches(said).count(), 2, "{log}");
    let finish = server.finished("build_2").await;
    let log = server.log("build_2");
    assert_eq!(finish.status, BuildResult::Failed, "{log}");
    let missing = "Error: the app contains the SDK, but launchway.toml does not name its server";
    assert!(log.contains(missing), "{log}");
    working.end().await.unwrap();
}

#[tokio::test]
async fn everything_else_is_for_the_runners_own_launchway() {
    let server = FakeServer::start().await;
    let own = crate::stage::open_directory();
    let program = own.path().join("launchway");
    std::fs::write(&program, "#!/bin/sh\necho \"own: $*\"\n").unwrap();
    let made = std::process::Command::new("chmod").arg("755").arg(&program).status();
    assert!(made.unwrap().success());
    let path = format!("{}:{}", own.path().display(), launchway_runner::settings::DEFAULT_PATH);
    let readable = own.path().to_owned();
    let change = |settings: &mut Settings| {
        settings.path = path;
        settings.sandbox.readable.push(readable);
    };
    let working = Working::with(&server, change, Arc::new(RequestOnly));
    let files = below("", &APP, &[]);
    let steps = [
        ("whoami", "launchway whoami --json"),
        ("wrong", "launchway fingerprint embed web || echo \"code $?\""),
    ];
    server.queue(offered(&server, "build_1", &files, &steps));
    let finish = server.finished("build_1").await;
    let log = server.log("build_1");
    assert_eq!((finish.status.as_str(), finish.fingerprint), ("success", None), "{log}");
    assert!(log.contains("own: whoami --json\n"), "{log}");
    assert!(
        log.contains("usage: launchway embed [PLATFORM] [--generated]\ncode 2\n"),
        "{log}"
    );
    working.end().await.unwrap();
}
