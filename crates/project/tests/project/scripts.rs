//! Executes the steps with stubs of the tools: the files that they write, and the arguments that they pass.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use launchway_domain::build::plan::Step;
use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;
use launchway_project::resolve::resolve;
use tempfile::TempDir;

use crate::fixtures::*;

/// Records its arguments.
const NOTE: &str = "#!/bin/sh\necho \"$(basename \"$0\")${PWD#\"$SOURCE\"}: $*\" >> \"$CALLS\"\n";

/// Stubs that do more than that. Their property lists are lines of `key=value`.
const TOOLS: [(&str, &str); 5] = [
    (
        "plutil",
        "case \"$1\" in\n-extract) line=$(grep -F \"$2=\" \"$6\") || exit 1; printf '%s\\n' \"${line#*=}\" ;;\n\
         -replace) grep -vF \"$2=\" \"$5\" > \"$5.new\"; echo \"$2=$4\" >> \"$5.new\"; mv \"$5.new\" \"$5\" ;;\nesac\n",
    ),
    (
        "security",
        "case \"$1\" in\ncms) cp \"$4\" \"$6\" ;;\ncreate-keychain) : > \"$4\" ;;\n\
         list-keychains) if [ $# = 3 ]; then echo \"    \\\"$SOURCE/login.keychain-db\\\"\"; \
         echo '    \"/gone.keychain-db\"'; fi ;;\n\
         find-identity) echo '  1) AB12 \"Apple Development: Team (T1)\"'; \
         echo '  2) CD34 \"Apple Distribution: Team (T1)\"'; echo '     2 valid identities found' ;;\n\
         delete-keychain) rm \"$2\" ;;\nesac\n",
    ),
    // Keeps the home directory of the user unchanged.
    ("id", "echo nobody-of-this-name\n"),
    ("uuidgen", "echo keychain-password\n"),
    (
        "xcodebuild",
        "case \"$*\" in\n*-exportArchive*) mkdir -p build/launchway; : > build/launchway/App.ipa ;;\n\
         build*) mkdir -p \"$TMPDIR/launchway/derived/Build/Products/Debug-iphonesimulator/App.app\" ;;\nesac\n",
    ),
];
const SILENT: [&str; 7] = ["npm", "npx", "pod", "flutter", "ditto", "pnpm", "launchway"];

/// A source, and the tools to build it.
struct Stage {
    directory: TempDir,
    env: Vec<(String, String)>,
}

impl Stage {
    fn new(files: Files) -> Self {
        let directory = project(&[("tools/x", ""), ("tmp/x", ""), ("home/x", ""), ("calls", "")]);
        let tool = |path: PathBuf, rest: &str| {
            fs::write(&path, format!("{NOTE}{rest}")).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        };
        for (name, rest) in TOOLS.into_iter().chain(SILENT.map(|name| (name, ""))) {
            tool(directory.path().join("tools").join(name), rest);
        }
        add(&directory.path().join("source"), files);
        let gradlew = directory.path().join("source/android/gradlew");
        if gradlew.exists() {
            tool(
                gradlew.clone(),
                "out=app/build/outputs; mkdir -p $out/bundle/release $out/apk/release\n\
                 cp \"$SOURCE/made.aab\" $out/bundle/release/app-release.aab\n",
            );
            // As extracted from a ZIP that was packed on Windows.
            fs::set_permissions(gradlew, Permissions::from_mode(0o644)).unwrap();
        }
        Self {
            directory,
            env: Vec::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn set(&mut self, name: &str, value: impl AsRef<Path>) {
        self.env
            .push((name.to_owned(), value.as_ref().to_string_lossy().into_owned()));
    }

    /// The file of a credential.
    fn credential(&mut self, name: &str, content: &str) {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        self.set(name, path);
    }

    fn steps(&self, platform: Platform, build_type: BuildType, distribution: Distribution) -> Vec<Step> {
        let request = request(platform, build_type, distribution);
        resolve(&self.path("source"), &request).unwrap().plan.steps
    }

    /// Runs the steps as a runner does, up to the first that fails; returns that one and its output.
    fn run(&self, shell: &[&str], steps: &[Step]) -> Result<(), (String, String)> {
        let path = format!("{}:/usr/bin:/bin", self.path("tools").display());
        for step in steps {
            let mut command = Command::new(shell[0]);
            command
                .args(&shell[1..])
                .arg("-c")
                .arg(&step.run)
                .current_dir(self.path("source"));
            command
                .env_clear()
                .env("PATH", &path)
                .env("HOME", self.path("home"))
                .env("TMPDIR", self.path("tmp"));
            command
                .env("CALLS", self.path("calls"))
                .env("SOURCE", self.path("source"));
            command
                .env("LAUNCHWAY_BUNDLE_ID", "com.example.app")
                .envs(self.env.clone());
            let output = command.output().unwrap();
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err((step.name.clone(), said));
            }
        }
        Ok(())
    }

    /// A file as text, with the changing directory replaced by its name.
    fn text(&self, name: &str) -> String {
        let text = fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        text.replace(&*self.directory.path().to_string_lossy(), "/stage")
    }
}

const SHELLS: [&[&str]; 2] = [&["/bin/bash", "-eo", "pipefail"], &["/bin/sh", "-e"]];

fn profile(app: &str, uuid: &str, rest: &str) -> String {
    format!("UUID={uuid}\nTeamIdentifier.0=T1\nEntitlements.application-identifier=T1.{app}\n{rest}\n")
}

/// All credentials that an organization may have for an app with an extension.
fn with_profiles(stage: &mut Stage) {
    let store = "Entitlements.get-task-allow=false";
    let internal = "Entitlements.get-task-allow=false\nProvisionedDevices=2";
    let development = "Entitlements.get-task-allow=true\nProvisionedDevices=2";
    for (nth, content) in [
        ("", profile("com.example.app.widget", "widget-internal", internal)),
        ("_2", profile("com.example.app", "app-store", store)),
        ("_3", profile("com.example.app", "app-internal", internal)),
        ("_4", profile("*", "any-development", development)),
    ] {
        stage.credential(&format!("LAUNCHWAY_PROVISIONING_PROFILE{nth}"), &content);
    }
}

fn with_certificate(stage: &mut Stage) {
    stage.credential("LAUNCHWAY_APPLE_CERTIFICATE", "p12");
    stage.set("LAUNCHWAY_APPLE_CERTIFICATE_PASSWORD", "it's $secret");
}

#[test]
fn an_ios_app_is_signed_with_what_fits() {
    for shell in SHELLS {
        let mut stage = Stage::new(CAPACITOR);
        fs::write(stage.path("source/login.keychain-db"), "").unwrap();
        with_profiles(&mut stage);
        with_certificate(&mut stage);
        stage.set("LAUNCHWAY_VERSION", "1.2.3");
        stage.set("LAUNCHWAY_BUILD_NUMBER", "42");
        let literal = "CFBundleShortVersionString=1.0\nCFBundleVersion=$(CURRENT_PROJECT_VERSION)\n";
        add(
            &stage.path("source"),
            &[
                ("ios/App/App/Info.plist", literal),
                ("ios/App/Pods/X/Info.plist", literal),
                ("ios/App/X.framework/Info.plist", literal),
            ],
        );
        let steps = stage.steps(Platform::Ios, BuildType::Release, Distribution::Internal);
        stage.run(shell, &steps).unwrap();
        let settings = stage.text("tmp/launchway/build.xcconfig");
        assert_snapshot!("ios_settings", settings);
        let options = stage.text("tmp/launchway/ExportOptions.plist");
        assert_snapshot!("ios_export_options", options);
        let plist: plist::Value = plist::Value::from_reader_xml(options.as_bytes()).unwrap();
        let profiles = plist.as_dictionary().unwrap()["provisioningProfiles"]
            .as_dictionary()
            .unwrap();
        assert_eq!(profiles["com.example.app"].as_string(), Some("app-internal"));
        let calls = stage.text("calls");
        let told: Vec<&str> = calls
            .lines()
            .filter(|line| !line.starts_with("plutil") && !line.starts_with("id"))
            .collect();
        assert_snapshot!("ios_calls", told.join("\n"));
        assert_eq!(
            stage.text("source/ios/App/App/Info.plist"),
            "CFBundleVersion=$(CURRENT_PROJECT_VERSION)\nCFBundleShortVersionString=1.2.3\n"
        );
        assert_eq!(stage.text("source/ios/App/Pods/X/Info.plist"), literal);
        assert_eq!(stage.text("source/ios/App/X.framework/Info.plist"), literal);
        assert!(
            !stage.path("tmp/launchway/signing.keychain-db").exists(),
            "it goes with the build"
        );
        for folder in ["MobileDevice", "Developer/Xcode/UserData"] {
            let folder = stage.path("home/Library").join(folder).join("Provisioning Profiles");
            assert!(folder.join("app-internal.mobileprovision").exists());
            assert!(!folder.join("app-store.mobileprovision").exists());
        }
    }
}

#[test]
fn each_distribution_takes_its_profiles() {
    for (distribution, method, main) in [
        (Distribution::Store, "app-store-connect", "app-store"),
        (Distribution::Internal, "release-testing", "app-internal"),
        (Distribution::Development, "debugging", "any-development"),
    ] {
        let mut stage = Stage::new(CAPACITOR);
        with_profiles(&mut stage);
        with_certificate(&mut stage);
        let steps = stage.steps(Platform::Ios, BuildType::Release, distribution);
        stage.run(SHELLS[0], &steps).unwrap();
        assert_eq!(stage.text("tmp/launchway/main-profile").trim(), main);
        let options = stage.text("tmp/launchway/ExportOptions.plist");
        assert!(options.contains(&format!("<string>{method}</string>")), "{options}");
        let identity = match distribution {
            Distribution::Development => "CODE_SIGN_IDENTITY = Apple Development: Team (T1)",
            _ => "CODE_SIGN_IDENTITY = Apple Distribution: Team (T1)",
        };
        assert!(stage.text("tmp/launchway/build.xcconfig").contains(identity));
    }
    let mut stage = Stage::new(CAPACITOR);
    with_certificate(&mut stage);
    let enterprise = profile("com.example.app", "app-enterprise", "ProvisionsAllDevices=true");
    stage.credential("LAUNCHWAY_PROVISIONING_PROFILE", &enterprise);
    let steps = stage.steps(Platform::Ios, BuildType::Release, Distribution::Internal);
    stage.run(SHELLS[0], &steps).unwrap();
    let options = stage.text("tmp/launchway/ExportOptions.plist");
    assert!(options.contains("<key>method</key><string>enterprise</string>"));
    let steps = stage.steps(Platform::Ios, BuildType::Release, Distribution::Store);
    let (step, said) = stage.run(SHELLS[0], &steps).unwrap_err();
    assert_eq!(
        (step.as_str(), said.as_str()),
        (
            "prepare signing",
            "No provisioning profile among the credentials is for store distribution. Add one.\n"
        )
    );
}

#[test]
fn without_a_certificate_the_key_of_app_store_connect_signs() {
    let mut stage = Stage::new(REACT_NATIVE);
    fs::remove_file(stage.path("source/Gemfile")).unwrap();
    stage.credential("LAUNCHWAY_APP_STORE_CONNECT_KEY", "p8");
    stage.set("LAUNCHWAY_APP_STORE_CONNECT_KEY_ID", "K1");
    stage.set("LAUNCHWAY_APP_STORE_CONNECT_KEY_ISSUER_ID", "I1");
    let steps = stage.steps(Platform::Ios, BuildType::Release, Distribution::Store);
    stage.run(SHELLS[1], &steps).unwrap();
    assert_snapshot!("ios_calls_with_a_key", stage.text("calls"));
    assert_eq!(stage.text("tmp/launchway/build.xcconfig"), "");
}

#[test]
fn a_simulator_needs_no_key() {
    let mut stage = Stage::new(XCODE);
    stage.set("LAUNCHWAY_VERSION", "1.2.3");
    let steps = stage.steps(Platform::Ios, BuildType::Debug, Distribution::Simulator);
    stage.run(SHELLS[0], &steps).unwrap();
    assert_eq!(
        stage.text("tmp/launchway/build.xcconfig"),
        "MARKETING_VERSION = 1.2.3\n"
    );
    let calls = stage.text("calls");
    let last = calls.lines().last().unwrap();
    assert_eq!(
        last,
        "ditto: -c -k --keepParent /stage/tmp/launchway/derived/Build/Products/Debug-iphonesimulator/App.app \
         build/launchway/App.app.zip"
    );
}

#[test]
fn an_android_release_must_be_signed() {
    for shell in SHELLS {
        let stage = Stage::new(REACT_NATIVE);
        let steps = stage.steps(Platform::Android, BuildType::Release, Distribution::Store);
        fs::write(stage.path("source/made.aab"), "PK\0base/manifest\0META-INF/MANIFEST.MF").unwrap();
        let (step, said) = stage.run(shell, &steps).unwrap_err();
        assert_eq!(step, "check signature");
        assert_eq!(
            said,
            "android/app/build/outputs/bundle/release/app-release.aab is not signed. Add an Android keystore to the \
             credentials, or sign the app in the project.\n"
        );
        fs::write(
            stage.path("source/made.aab"),
            b"PK\0\xffbase/manifest\0META-INF/UPLOAD.RSA",
        )
        .unwrap();
        stage.run(shell, &steps).unwrap();
        add(
            &stage.path("source/android/app/build/outputs/apk"),
            &[("free/app-free-release-unsigned.apk", "")],
        );
        let (_, said) = stage.run(shell, &steps).unwrap_err();
        assert!(
            said.starts_with("android/app/build/outputs/apk/free/app-free-release-unsigned.apk is not"),
            "{said}"
        );
        let init = stage.text("tmp/launchway/init.gradle");
        assert!(init.starts_with("// Gives the app") && init.ends_with("}\n"), "{init}");
        let calls = stage.text("calls");
        let gradle = calls.lines().find(|line| line.starts_with("gradlew")).unwrap();
        assert_eq!(
            gradle,
            "gradlew/android: --no-daemon --console=plain --init-script /stage/tmp/launchway/init.gradle \
             :app:bundleRelease"
        );
    }
}

#[test]
fn nativescript_keeps_passwords_from_the_command_line() {
    let mut stage = Stage::new(NATIVESCRIPT);
    let steps = stage.steps(Platform::Android, BuildType::Release, Distribution::Internal);
    let (step, said) = stage.run(SHELLS[0], &steps).unwrap_err();
    assert_eq!(step, "find keystore");
    assert_eq!(
        said,
        "NativeScript needs a signing key for releases. Add an Android keystore to the credentials.\n"
    );
    stage.credential("LAUNCHWAY_ANDROID_KEYSTORE", "jks");
    stage.set("LAUNCHWAY_ANDROID_KEYSTORE_PASSWORD", "top secret");
    stage.set("LAUNCHWAY_ANDROID_KEYSTORE_KEY_ALIAS", "up load");
    add(&stage.path("source/platforms/android/app/build/outputs"), &[("x", "")]);
    stage.run(SHELLS[1], &steps).unwrap();
    let calls = stage.text("calls");
    assert!(!calls.contains("top secret"), "{calls}");
    assert_eq!(
        calls.lines().last().unwrap(),
        "npx: ns build android --release --key-store-path /stage/LAUNCHWAY_ANDROID_KEYSTORE --key-store-password \
         in-the-environment --key-store-alias up load --key-store-alias-password in-the-environment"
    );
    assert!(
        !stage.path("home/.gradle/init.d/launchway.gradle").exists(),
        "it goes with the step"
    );
}

#[test]
fn flutter_is_told_version_and_build_number() {
    let mut stage = Stage::new(FLUTTER);
    add(&stage.path("source/build/app/outputs"), &[("x", "")]);
    stage.set("LAUNCHWAY_VERSION", "1.2.3");
    stage.set("LAUNCHWAY_BUILD_NUMBER", "42");
    for platform in [Platform::Android, Platform::Ios] {
        let steps = stage.steps(platform, BuildType::Release, Distribution::Store);
        stage.run(SHELLS[1], &steps).unwrap();
    }
    let calls = stage.text("calls");
    let told: Vec<&str> = calls
        .lines()
        .filter(|line| line.starts_with("flutter: build"))
        .collect();
    assert_eq!(
        told,
        [
            "flutter: build appbundle --release --build-name=1.2.3 --build-number=42",
            "flutter: build ipa --release --export-options-plist=/stage/tmp/launchway/ExportOptions.plist \
             --build-name=1.2.3 --build-number=42",
        ]
    );
}
