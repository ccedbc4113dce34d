//! Apps that are called something else on each platform, as the templates of React Native, Flutter and Expo make them.

use serde_json::json;

use crate::fake_server::{FakeServer, Reply};
use crate::stage::{Stage, page};

/// The folders of React Native's template, as far as they name the app.
fn react_native(stage: &Stage) {
    let xcode = r#"{ objects = {
        T = {isa = PBXNativeTarget; buildConfigurationList = L; name = HelloWorld; productType = "com.apple.product-type.application"; };
        R = {isa = XCBuildConfiguration; buildSettings = {
            PRODUCT_BUNDLE_IDENTIFIER = "org.reactjs.native.example.$(PRODUCT_NAME:rfc1034identifier)"; PRODUCT_NAME = HelloWorld; };
            name = Release; };
        L = {isa = XCConfigurationList; buildConfigurations = (R, ); defaultConfigurationName = Release; };
        P = {isa = PBXProject; };
    }; rootObject = P; }"#;
    let gradle = "android {\n    defaultConfig {\n        applicationId \"com.helloworld\"\n    }\n    productFlavors {\n        \
                  staging { applicationIdSuffix \".staging\" }\n    }\n}\n";
    stage
        .file(
            "package.json",
            json!({"dependencies": {"react-native": "0.87.0"}}).to_string(),
        )
        .file("package-lock.json", "{}")
        .file("node_modules/react-native/package.json", "{}")
        .file("android/app/build.gradle", gradle)
        .file("ios/HelloWorld.xcodeproj/project.pbxproj", xcode);
}

/// The bundle identifier that a command asks the server for.
async fn asked_for(stage: &mut Stage, arguments: &[&str]) -> String {
    let server = FakeServer::start([Reply::new(200, page(&[], 0, 0))]).await;
    let url = server.url();
    stage.run(&[arguments, &["--url", &url]].concat()).await;
    let lines = server.lines();
    let query = lines
        .first()
        .and_then(|line| line.split_once("bundleId="))
        .map(|(_, rest)| rest);
    query
        .and_then(|rest| rest.split('&').next())
        .unwrap_or("nothing")
        .to_owned()
}

#[tokio::test]
async fn init_writes_an_id_for_each_platform_and_commands_use_them() {
    let mut stage = Stage::new();
    react_native(&stage);
    let told = stage.json(&["init", "--yes", "--json"]).await;
    let ids = json!({"android": "com.helloworld", "ios": "org.reactjs.native.example.HelloWorld"});
    assert_eq!((&told["bundleId"], &told["bundleIds"]), (&json!(null), &ids));
    let written = std::fs::read_to_string(stage.project().join("launchway.toml")).expect("the file");
    assert!(
        written.contains("[app.ios]\nbundle_id = \"org.reactjs.native.example.HelloWorld\"\n"),
        "{written}"
    );
    assert!(
        written.contains("[app.android]\nbundle_id = \"com.helloworld\"\n"),
        "{written}"
    );

    stage.set("LAUNCHWAY_API_KEY", crate::stage::KEY);
    for (platform, destination, id) in [
        ("android", "internal", "com.helloworld"),
        ("ios", "testflight", "org.reactjs.native.example.HelloWorld"),
    ] {
        assert_eq!(
            asked_for(
                &mut stage,
                &["submit", platform, "--latest", "--destination", destination]
            )
            .await,
            id
        );
    }
    let flag = [
        "submit",
        "ios",
        "--latest",
        "--destination",
        "testflight",
        "--bundle-id",
        "com.flag",
    ];
    assert_eq!(asked_for(&mut stage, &flag).await, "com.flag");
}

#[tokio::test]
async fn without_a_file_the_native_project_says_it() {
    let mut stage = Stage::new();
    react_native(&stage);
    stage.set("LAUNCHWAY_API_KEY", crate::stage::KEY);
    for (platform, destination, id) in [
        ("android", "internal", "com.helloworld"),
        ("ios", "testflight", "org.reactjs.native.example.HelloWorld"),
    ] {
        assert_eq!(
            asked_for(
                &mut stage,
                &["submit", platform, "--latest", "--destination", destination]
            )
            .await,
            id
        );
    }
}

#[tokio::test]
async fn an_update_goes_to_the_app_of_its_platform_and_profile() {
    let mut stage = Stage::new();
    react_native(&stage);
    stage
        .set("LAUNCHWAY_API_KEY", crate::stage::KEY)
        .file("dist/index.html", "x")
        .file(
            "launchway.toml",
            "[app]\nbundle_id = 'com.helloworld'\n[app.ios]\nbundle_id = 'com.example.ios'\n\
             [build.production]\n[build.staging]\nflavor = 'staging'\n[build.staging.android]\nbundle_id = 'com.helloworld.staging'\n",
        );
    let rows = [
        ("android", "production", "com.helloworld"),
        ("android", "staging", "com.helloworld.staging"),
        ("ios", "production", "com.example.ios"),
        ("ios", "staging", "com.example.ios"),
    ];
    for (platform, profile, id) in rows {
        let update = [
            "update",
            platform,
            "--dir",
            "dist",
            "--version",
            "1.0.0",
            "--all-configurations",
            "--profile",
            profile,
        ];
        assert_eq!(asked_for(&mut stage, &update).await, id, "{platform} {profile}");
        let needed = ["native-needed", platform, "--against", "latest", "--profile", profile];
        assert_eq!(asked_for(&mut stage, &needed).await, id, "{platform} {profile}");
    }
}

#[tokio::test]
async fn doctor_names_the_line_that_calls_the_app_something_else() {
    let stage = Stage::new();
    react_native(&stage);
    stage.file("launchway.toml", "[server]\n\n[app]\nbundle_id = 'com.helloworld'\n");
    let text = stage.run(&["doctor"]).await;
    let problem = "problem  launchway.toml, line 4 says com.helloworld, but the app on ios is \
                   org.reactjs.native.example.HelloWorld (ios/HelloWorld.xcodeproj/project.pbxproj)";
    assert!(text.contains(problem), "{text}");
    assert!(
        text.contains("write bundle_id = \"org.reactjs.native.example.HelloWorld\" below [app.ios] in launchway.toml"),
        "{text}"
    );
    assert!(
        text.contains("ok       the app is com.helloworld on android (android/app/build.gradle)"),
        "{text}"
    );

    stage.file(
        "launchway.toml",
        "[app.ios]\nbundle_id = 'org.reactjs.native.example.HelloWorld'\n[app.android]\nbundle_id = 'com.helloworld'\n\
         [build.production]\n[build.staging]\nextends = 'production'\nflavor = 'staging'\n",
    );
    let text = stage.run(&["doctor"]).await;
    let problem = "launchway.toml, line 4 says com.helloworld, but what [build.staging] builds for android is com.helloworld.staging";
    assert!(text.contains(problem), "{text}");
    assert!(
        text.contains("\"com.helloworld.staging\" below [build.staging.android] in launchway.toml"),
        "{text}"
    );
}
