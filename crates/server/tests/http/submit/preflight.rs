//! What a store would refuse is reported before any call to it.

use serde_json::json;

use super::create::SIMULATOR;
use crate::stage::Stage;
use crate::stage::app_stores::{APK, IPA, changed_ipa, id_of};
use crate::support::{Fields, Setup};

const UNSIGNED: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/unsigned-utf16.apk");
const DEBUGGABLE: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/signed.aab");
const ONLY_32_BIT_IPA: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/only-32-bit.ipa");
const ONLY_32_BIT_AAB: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/only-32-bit.aab");
const DEBUG_SIGNED: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/debug-signed.aab");
const NO_PURPOSE: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/no-purpose.ipa");
const NO_PURPOSE_OF_A_LIBRARY: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/library-purpose.ipa");

#[tokio::test]
async fn what_the_store_would_refuse_is_told_before_any_call() {
    let without_icon = changed_ipa(|name, _| name != "Payload/Example.app/Assets.car");
    let of_another_app = changed_ipa(|name, bytes| {
        let (old, new) = (b"com.example.app", b"com.example.apk");
        if name == "Payload/Example.app/Info.plist" {
            let at = bytes.windows(old.len()).position(|part| part == old).unwrap();
            bytes[at..at + old.len()].copy_from_slice(new);
        }
        true
    });
    for (name, bytes, code, message, fix) in [
        ("App.ipa", SIMULATOR, "SIMULATOR_BUILD", "ITMS-90087", "Build for devices"),
        ("app.apk", UNSIGNED, "UNSIGNED", "not signed", "Sign the build"),
        ("app.aab", DEBUGGABLE, "DEBUGGABLE", "debuggable", "buildType release"),
        ("app.aab", DEBUG_SIGNED, "SIGNATURE_MISMATCH", "signed in debug mode", "Sign with the upload key"),
        ("App.ipa", &without_icon[..], "ICON_MISSING", "ITMS-90713", "Add an app icon"),
        (
            "App.ipa",
            &of_another_app[..],
            "PROFILE_UNFIT",
            "The embedded provisioning profile is for com.example.app, not for com.example.apk",
            "covers the bundle id",
        ),
        ("App.ipa", ONLY_32_BIT_IPA, "ARCHITECTURE_MISSING", "no code for arm64", "for arm64 as well"),
        (
            "app.aab",
            ONLY_32_BIT_AAB,
            "ARCHITECTURE_MISSING",
            "not for arm64-v8a",
            "the 64-bit counterpart of every 32-bit",
        ),
        (
            "App.ipa",
            NO_PURPOSE,
            "PURPOSE_STRING_MISSING",
            "Info.plist lacks NSCameraUsageDescription. The store would say: ITMS-90683",
            "Add the missing keys",
        ),
        (
            "App.ipa",
            NO_PURPOSE_OF_A_LIBRARY,
            "PURPOSE_STRING_MISSING",
            "Info.plist lacks NSPhotoLibraryUsageDescription. The store would say: ITMS-90683",
            "Add the missing keys",
        ),
    ] {
        let mut stage = Stage::new().app_stores().await;
        let destination = if name == "App.ipa" { "testflight" } else { "internal" };
        let id = stage.submitted(name, bytes, json!({"destination": destination})).await;
        let failed = stage.ended(id).await;
        assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!(code)), "{failed:#}");
        for (field, words) in [("message", message), ("fix", fix)] {
            assert!(failed["error"][field].as_str().unwrap().contains(words), "{failed:#}");
        }
        assert_eq!(stage.calls(), 0, "{code}");
        let retry = stage.retry(id).await.expect(400);
        assert!(retry.text("message").starts_with("A retry would fail"), "{retry}");
    }
}

#[tokio::test]
async fn the_sdk_of_xcode_is_asked_too() {
    let mut setup = Setup::default();
    setup.settings.apple_sdk_floor = Some("27".to_owned());
    let mut stage = Stage::new().with(setup).app_stores().await;
    let id = stage.submitted("App.ipa", IPA, json!({"destination": "testflight"})).await;
    let failed = stage.ended(id).await;
    assert_eq!(failed["error"]["code"], "SDK_TOO_OLD", "{failed:#}");
    assert!(failed["error"].text("message").contains("built with the SDK 26.0"), "{failed:#}");
    assert_eq!(stage.calls(), 0);
}

#[tokio::test]
async fn the_target_sdk_and_the_bundle_id_of_a_build_are_asked_too() {
    let mut setup = Setup::default();
    setup.settings.target_sdk_floor = Some("36".to_owned());
    let mut stage = Stage::new().with(setup).app_stores().await;
    let id = stage.submitted("app.apk", APK, json!({"destination": "alpha"})).await;
    assert_eq!(stage.ended(id).await["error"]["code"], "TARGET_SDK_TOO_LOW");
    let runner = stage.runner(&stage.key, &[]).await;
    let other = |build: &mut launchway_domain::build::Build| build.bundle_id = "com.example.other".to_owned();
    let build = stage.queue(stage.org, other).await;
    let held = stage.take(&runner).await;
    let apk = held.send("app.apk", APK, APK).await;
    held.finish(json!({"artifacts": [apk]})).await.ok();
    let id = id_of(&stage.submit(json!({"buildId": build.to_string(), "destination": "internal"})).await.created());
    assert_eq!(stage.ended(id).await["error"]["code"], "BUNDLE_ID_MISMATCH");
    assert_eq!(stage.calls(), 0);
}
