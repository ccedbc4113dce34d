//! Identifiers that differ by platform and variant, in small trees as the frameworks' generators write them.

use super::*;

fn id_of(files: &[(&str, &str)], platform: Platform, variant: &Variant) -> String {
    let native = read(project(files).path(), platform, variant);
    native.bundle_id.map_or("-".to_owned(), |found| found.value)
}

fn id(files: &[(&str, &str)], platform: Platform) -> String {
    id_of(files, platform, &Variant::default())
}

fn variant(build_type: BuildType, flavor: Option<&str>) -> Variant {
    Variant {
        build_type,
        flavor: flavor.map(str::to_owned),
        ..Variant::default()
    }
}

/// An Xcode project with one app, an extension and tests. `debug` and `release` are settings of the app's
/// configurations, `shared` those of the project's.
fn xcode(name: &str, debug: &str, release: &str, shared: &str) -> String {
    format!(
        r#"// !$*UTF8*$!
{{
	archiveVersion = 1;
	objects = {{
		F1 /* Debug.xcconfig */ = {{isa = PBXFileReference; lastKnownFileType = text.xcconfig; path = Debug.xcconfig; sourceTree = "<group>"; }};
		F2 /* Release.xcconfig */ = {{isa = PBXFileReference; name = Release.xcconfig; path = Config/Release.xcconfig; sourceTree = "<group>"; }};
		G1 /* Flutter */ = {{isa = PBXGroup; children = (F1 /* Debug */, F2, ); path = Flutter; sourceTree = "<group>"; }};
		G0 = {{isa = PBXGroup; children = (G1, ); sourceTree = "<group>"; }};
		T1 /* {name} */ = {{isa = PBXNativeTarget; buildConfigurationList = L1; name = {name}; productType = "com.apple.product-type.application"; }};
		T2 = {{isa = PBXNativeTarget; buildConfigurationList = L2; name = {name}Tests; productType = "com.apple.product-type.bundle.unit-test"; }};
		P = {{isa = PBXProject; buildConfigurationList = L0; targets = (T1, T2); }};
		D1 = {{isa = XCBuildConfiguration; baseConfigurationReference = F1; buildSettings = {{ {debug} }}; name = Debug; }};
		R1 = {{isa = XCBuildConfiguration; baseConfigurationReference = F2; buildSettings = {{ {release} }}; name = Release; }};
		D2 = {{isa = XCBuildConfiguration; buildSettings = {{ PRODUCT_BUNDLE_IDENTIFIER = org.tests.other; }}; name = Debug; }};
		D0 = {{isa = XCBuildConfiguration; buildSettings = {{ {shared} }}; name = Debug; }};
		R0 = {{isa = XCBuildConfiguration; buildSettings = {{ {shared} }}; name = Release; }};
		L0 = {{isa = XCConfigurationList; buildConfigurations = (D0, R0, ); defaultConfigurationName = Release; }};
		L1 = {{isa = XCConfigurationList; buildConfigurations = (D1, R1, ); defaultConfigurationName = Release; }};
		L2 = {{isa = XCConfigurationList; buildConfigurations = (D2, ); defaultConfigurationName = Debug; }};
	}};
	rootObject = P;
}}
"#
    )
}

#[test]
fn react_native_has_another_id_on_each_platform() {
    let settings = r#"PRODUCT_BUNDLE_IDENTIFIER = "org.reactjs.native.example.$(PRODUCT_NAME:rfc1034identifier)"; PRODUCT_NAME = HelloWorld;"#;
    let xcode = xcode("HelloWorld", settings, settings, "");
    let gradle = "android {\n    namespace \"com.helloworld\"\n    defaultConfig {\n        applicationId \"com.helloworld\"\n    }\n}\n";
    let files = [
        ("android/app/build.gradle", gradle),
        ("ios/HelloWorld.xcodeproj/project.pbxproj", xcode.as_str()),
        ("app.json", r#"{"name": "HelloWorld", "displayName": "HelloWorld"}"#),
    ];
    assert_eq!(id(&files, Platform::Android), "com.helloworld");
    assert_eq!(id(&files, Platform::Ios), "org.reactjs.native.example.HelloWorld");
    assert_eq!(id(&files, Platform::Visionos), "-");
}

#[test]
fn flutter_has_flavors_on_both_platforms() {
    let gradle = "android {\n  defaultConfig {\n    applicationId = \"com.example.my_app\"\n  }\n  flavorDimensions += \"default\"\n  \
                  productFlavors {\n    create(\"dev\") { dimension = \"default\"; applicationIdSuffix = \".dev\" }\n  }\n}\n";
    let xcode = xcode(
        "Runner",
        "PRODUCT_BUNDLE_IDENTIFIER = com.example.myApp.debug;",
        "PRODUCT_BUNDLE_IDENTIFIER = com.example.myApp;",
        "",
    );
    let of_dev = r#"X1 = {isa = XCBuildConfiguration; buildSettings = { PRODUCT_BUNDLE_IDENTIFIER = com.example.myApp.dev; }; name = "Release-dev"; };
		L1 = {isa = XCConfigurationList; buildConfigurations = (D1, R1, X1, );"#;
    let xcode = xcode.replace(
        "L1 = {isa = XCConfigurationList; buildConfigurations = (D1, R1, );",
        of_dev,
    );
    let files = [
        ("pubspec.yaml", "name: my_app\nversion: 1.0.0+1\n"),
        ("android/app/build.gradle.kts", gradle),
        ("ios/Runner.xcodeproj/project.pbxproj", xcode.as_str()),
    ];
    let rows = [
        (
            variant(BuildType::Release, None),
            "com.example.my_app",
            "com.example.myApp",
        ),
        (
            variant(BuildType::Release, Some("dev")),
            "com.example.my_app.dev",
            "com.example.myApp.dev",
        ),
        (
            variant(BuildType::Debug, None),
            "com.example.my_app",
            "com.example.myApp.debug",
        ),
    ];
    for (variant, android, ios) in rows {
        assert_eq!(id_of(&files, Platform::Android, &variant), android, "{variant:?}");
        assert_eq!(id_of(&files, Platform::Ios, &variant), ios, "{variant:?}");
    }
}

#[test]
fn files_of_settings_count_where_the_target_says_nothing() {
    let xcode = xcode(
        "App",
        "",
        "",
        "PRODUCT_BUNDLE_IDENTIFIER = \"$(BASE).shared\"; BASE = com.example;",
    );
    let files = [
        ("ios/App/App.xcodeproj/project.pbxproj", xcode.as_str()),
        (
            "ios/App/Flutter/Debug.xcconfig",
            "#include? \"../Pods/none.xcconfig\"\n#include \"Config/Ids.xcconfig\"\n// PRODUCT_BUNDLE_IDENTIFIER = a.b\n",
        ),
        (
            "ios/App/Flutter/Config/Ids.xcconfig",
            "PRODUCT_BUNDLE_IDENTIFIER = com.example.dev // why\nPRODUCT_BUNDLE_IDENTIFIER[sdk=xros*] = com.example.vision\n#include \"Ids.xcconfig\"\n",
        ),
        ("ios/App/Flutter/Config/Release.xcconfig", "OTHER = $(x)\n"),
    ];
    assert_eq!(
        id_of(&files, Platform::Ios, &variant(BuildType::Debug, None)),
        "com.example.dev"
    );
    assert_eq!(id(&files, Platform::Ios), "com.example.shared");
    let secret = xcode.replace("path = Flutter;", "path = \"../../../outside\";");
    let files = [("ios/App/App.xcodeproj/project.pbxproj", secret.as_str())];
    assert_eq!(
        id_of(&files, Platform::Ios, &variant(BuildType::Debug, None)),
        "com.example.shared"
    );
}

#[test]
fn expo_says_it_in_json_or_in_a_script() {
    let json =
        r#"{"expo": {"ios": {"bundleIdentifier": "com.example.App"}, "android": {"package": "com.example.app"}}}"#;
    let script = "export default ({ config }) => ({\n  ...config,\n  ios: { ...config.ios, bundleIdentifier: 'com.script.App' },\n});\n";
    let dynamic = "module.exports = { expo: { ios: { bundleIdentifier: DEV ? 'a.dev' : 'a.prod' }, android: { package: 'a.b' } } };";
    let rows = [
        (vec![("app.json", json)], "com.example.app", "com.example.App"),
        (
            vec![("app.config.ts", script), ("app.json", json)],
            "com.example.app",
            "com.script.App",
        ),
        (vec![("app.config.js", dynamic), ("app.json", json)], "a.b", "-"),
        (
            vec![(
                "app.json",
                r#"{"expo": {"name": "HelloWorld", "ios": {"supportsTablet": true}}}"#,
            )],
            "-",
            "-",
        ),
    ];
    for (files, android, ios) in rows {
        assert_eq!(id(&files, Platform::Android), android, "{files:?}");
        assert_eq!(id(&files, Platform::Ios), ios, "{files:?}");
    }
}

#[test]
fn nativescript_says_it_for_all_or_for_one() {
    let config = "import { NativeScriptConfig } from '@nativescript/core';\n\nexport default {\n  id: 'org.example.app',\n  appPath: 'src',\n  \
                  ios: {\n    id: 'org.example.App',\n  },\n  android: {\n    v8Flags: '--expose_gc',\n  },\n} as NativeScriptConfig;\n";
    let files = [("nativescript.config.ts", config)];
    assert_eq!(id(&files, Platform::Ios), "org.example.App");
    assert_eq!(id(&files, Platform::Android), "org.example.app");
    assert_eq!(id(&files, Platform::Visionos), "org.example.app");
}

#[test]
fn native_apps_lie_at_the_top() {
    let xcode = xcode("Shop", "", "PRODUCT_BUNDLE_IDENTIFIER = com.shop.ios;", "");
    let files = [
        (
            "app/build.gradle.kts",
            "android { defaultConfig { applicationId = \"com.shop.android\" } }",
        ),
        ("Shop.xcodeproj/project.pbxproj", xcode.as_str()),
    ];
    assert_eq!(id(&files, Platform::Android), "com.shop.android");
    assert_eq!(id(&files, Platform::Ios), "com.shop.ios");
}

#[test]
fn of_several_apps_the_scheme_says_which() {
    let second = "T3 = {isa = PBXNativeTarget; buildConfigurationList = L2; name = Other; productType = \"com.apple.product-type.application\"; };\n\t\tP = {";
    let xcode = xcode("One", "", "PRODUCT_BUNDLE_IDENTIFIER = com.example.one;", "").replace("P = {", second);
    let files = [("ios/Project.xcodeproj/project.pbxproj", xcode.as_str())];
    assert_eq!(id(&files, Platform::Ios), "-", "two apps, and neither is the main one");
    let of_scheme = |scheme: &str| Variant {
        scheme: Some(scheme.to_owned()),
        ..Variant::default()
    };
    assert_eq!(id_of(&files, Platform::Ios, &of_scheme("One")), "com.example.one");
    assert_eq!(id_of(&files, Platform::Ios, &of_scheme("Other")), "org.tests.other");
}
