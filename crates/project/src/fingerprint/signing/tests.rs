//! `lwfp-1` and `lwfp-2` differ exactly in signing.

use proptest::prelude::*;

use super::*;
use crate::fingerprint::mask;

/// A file as both algorithms see it.
fn seen(name: &str, text: &str) -> (String, String) {
    let first = mask::for_path(name).map_or_else(|| text.to_owned(), |mask| mask.apply(text));
    let second = strip(name, &first).unwrap_or_else(|| first.clone());
    (first, second)
}

#[test]
fn every_pattern_is_one() {
    for (pattern, _) in XCODE
        .iter()
        .chain(&XCCONFIG)
        .chain(&PODFILE)
        .chain(&PROPERTIES)
        .chain(&SCRIPT)
    {
        assert!(pattern.is_some());
    }
}

#[test]
fn what_signs_does_not_count() {
    let rows = [
        (
            "ios/App.xcodeproj/project.pbxproj",
            "{\n\tA = 1;\n\tDEVELOPMENT_TEAM = ABCDE12345;\n\t\"CODE_SIGN_IDENTITY[sdk=iphoneos*]\" = \"iPhone Developer\";\n\tB = 2;\n}",
            "{\n\tA = 1;\n\tCODE_SIGN_STYLE = Manual;\n\t\"PROVISIONING_PROFILE_SPECIFIER[sdk=iphoneos*]\" = \"match; \\\"x\\\"\";\n\tB = 2;\n}",
        ),
        (
            "project.pbxproj",
            "TargetAttributes = { X = { CreatedOnToolsVersion = 15; DevelopmentTeam = A; ProvisioningStyle = Manual; }; };",
            "TargetAttributes = { X = { CreatedOnToolsVersion = 15; }; };",
        ),
        (
            "Release.xcconfig",
            "A = 1\nDEVELOPMENT_TEAM = X // mine\nCODE_SIGN_IDENTITY[sdk=iphoneos*] = Apple\nB = 2\n",
            "A = 1\nPROVISIONING_PROFILE = y\nB = 2\n",
        ),
        (
            "Podfile",
            "c.build_settings['DEVELOPMENT_TEAM'] = 'A'\nplatform :ios",
            "c.build_settings['DEVELOPMENT_TEAM'] = \"B\"\nplatform :ios",
        ),
        (
            "app/build.gradle",
            "android {\n  signingConfigs {\n    release {\n      storeFile file(\"}{\")\n    }\n  }\n  release {\n    signingConfig signingConfigs.release\n    minify true\n  }\n}\n",
            "android {\n  release {\n    signingConfig signingConfigs.debug\n    minify true\n  }\n}\n",
        ),
        (
            "app/build.gradle.kts",
            "release {\n    signingConfig = signingConfigs.getByName(\"debug\")\n}\n",
            "release {\n}\n",
        ),
        (
            "gradle.properties",
            "a=1\nMYAPP_UPLOAD_STORE_FILE=x.keystore\nMYAPP_UPLOAD_KEY_PASSWORD=secret\nkeyAlias=a\n",
            "a=1\nstorePassword: b\n",
        ),
        (
            "app.json",
            r#"{"expo": {"slug": "a", "owner": "me", "extra": {"eas": {"projectId": "1"}}, "updates": {"url": "u"}, "ios": {"appleTeamId": "T"}}}"#,
            r#"{"expo": {"slug": "a"}}"#,
        ),
        (
            "app.config.ts",
            "export default { extra: { eas: { projectId: '1' } }, ios: { appleTeamId: 'A' } }",
            "export default { extra: { eas: { projectId: \"2\" } }, ios: { appleTeamId: 'B' } }",
        ),
    ];
    for (name, this, that) in rows {
        let (this, that) = (seen(name, this), seen(name, that));
        assert_ne!(this.0, that.0, "{name}: lwfp-1 tells them apart");
        assert_eq!(this.1, that.1, "{name}");
    }
    for path in [
        "android/app/release.keystore",
        "android/key.properties",
        "ios/ExportOptions.plist",
        "ios/A.mobileprovision",
    ] {
        assert!(is_only_for_signing(path), "{path}");
    }
}

#[test]
fn everything_else_counts() {
    let rows = [
        (
            "project.pbxproj",
            "CODE_SIGN_ENTITLEMENTS = A;",
            "CODE_SIGN_ENTITLEMENTS = B;",
        ),
        (
            "project.pbxproj",
            "MY_DEVELOPMENT_TEAM_X = A;",
            "MY_DEVELOPMENT_TEAM_X = B;",
        ),
        (
            "project.pbxproj",
            "PRODUCT_BUNDLE_IDENTIFIER = a.b;",
            "PRODUCT_BUNDLE_IDENTIFIER = a.c;",
        ),
        (
            "A.xcconfig",
            "CODE_SIGN_ENTITLEMENTS = A\n",
            "CODE_SIGN_ENTITLEMENTS = B\n",
        ),
        ("A.xcconfig", "OTHER = $(DEVELOPMENT_TEAM)\n", "OTHER = x\n"),
        ("build.gradle", "minSdk 23\n", "minSdk 24\n"),
        (
            "build.gradle",
            "signingConfigs {\n}\nminSdk 23\n",
            "signingConfigs {\n}\nminSdk 24\n",
        ),
        (
            "build.gradle",
            "signingConfigs { never closed\nminSdk 23\n",
            "signingConfigs { never closed\nminSdk 24\n",
        ),
        (
            "gradle.properties",
            "android.useAndroidX=true\n",
            "android.useAndroidX=false\n",
        ),
        ("gradle.properties", "restoreFileSystem=a\n", "restoreFileSystem=b\n"),
        (
            "app.json",
            r#"{"expo": {"runtimeVersion": "1"}}"#,
            r#"{"expo": {"runtimeVersion": "2"}}"#,
        ),
        (
            "app.json",
            r#"{"expo": {"updates": {"enabled": true}}}"#,
            r#"{"expo": {"updates": {"enabled": false}}}"#,
        ),
        (
            "app.json",
            r#"{"expo": {"extra": {"api": "a"}}}"#,
            r#"{"expo": {"extra": {"api": "b"}}}"#,
        ),
        (
            "app.json",
            r#"{"expo": {"android": {"googleServicesFile": "./a.json"}}}"#,
            r#"{"expo": {"android": {"googleServicesFile": "./b.json"}}}"#,
        ),
        (
            "app.config.js",
            "{ firebase: { projectId: 'a' } }",
            "{ firebase: { projectId: 'b' } }",
        ),
        ("google-services.json", "{\"a\": 1}", "{\"a\": 2}"),
    ];
    for (name, this, that) in rows {
        assert_ne!(seen(name, this).1, seen(name, that).1, "{name}: {that}");
    }
    assert!(
        !is_only_for_signing("android/app/google-services.json") && !is_only_for_signing("ios/App/App.entitlements")
    );
}

/// The content of a signing block hides nothing behind it: braces and quotes in comments and strings do not count.
#[test]
fn a_gradle_block_ends_at_its_own_brace() {
    let script = |inside: &str, sdk: u8| {
        format!("android {{\n  signingConfigs {{\n    {inside}\n  }}\n  defaultConfig {{ minSdk = {sdk} }}\n}}\n")
    };
    let both = [
        "// {",
        "// don't {",
        "/* { */",
        "/* \" { */",
        "/*\n * {\n */",
        r#"storePassword = "{""#,
        r#"storePassword = "\"{""#,
        "storePassword = \"\"\"{\n \"{ \"\"\"",
        r#"storePassword = "a${b("}")}{""#,
        r#"storePassword = "${ /* } */ "{${c}" }""#,
        "release { } // }",
    ];
    let groovy = [
        "storePassword '{'",
        r"storePassword 'it\'s {'",
        "storePassword '''{\n'{'''",
        r#"storePassword """\"""{""""#,
        "storePassword = /{/",
        r"storePassword = /\/{/",
        r#"storePassword(/{${"}"}/)"#,
        "storePassword = $/ {/ $/$ {/$",
        "x = 6 / 2 // {",
        "/* /* { */",
    ];
    let kotlin = [
        "val a = '{'",
        r#"val a = '\''; val b = "{""#,
        r#"val a = """\""" // {"#,
        r#"val a = """{"""""#,
        "`{`()",
        "/* /* { */ { */",
        "val a = 6 / 2 / 1 // {",
    ];
    let rows = both
        .iter()
        .flat_map(|inside| [("a.gradle", inside), ("a.gradle.kts", inside)]);
    let rows = rows.chain(groovy.iter().map(|inside| ("a.gradle", inside)));
    for (name, inside) in rows.chain(kotlin.iter().map(|inside| ("a.gradle.kts", inside))) {
        let left = strip(name, &script(inside, 23)).unwrap();
        assert_eq!(left, strip(name, &script("", 23)).unwrap(), "{name}: {inside}");
        assert!(
            left.contains("minSdk = 23") && !left.contains("signingConfigs"),
            "{name}: {inside}: {left}"
        );
    }
}

/// A fingerprint that differs too often is better than one that misses a change.
#[test]
fn an_unclear_gradle_script_stays_whole() {
    for text in [
        "signingConfigs {\n}\n}\n",
        "{ signingConfigs {\n}\n",
        "signingConfigs {\n a '{\n}\n",
        "signingConfigs {\n a \"${'\"\n}\n",
        "signingConfigs {\n /* {\n}\n",
        "signingConfigs {\n '''\n}\n",
        "signingConfigs {\n a = /{\n}\n",
        "signingConfigs {\n a /{/\n}\n",
        "signingConfigs {\n return / {/\n}\n",
        "signingConfigs {\n a\n/{/\n}\n",
        "signingConfigs {\n a++ /{/\n}\n",
        "signingConfigs {\n a$/{/$\n}\n",
        "signingConfigs {\n \\u007b\n}\n",
        "signingConfigs {\n \\ {\n}\n",
        // Comments and strings are never split.
        "/*\nsigningConfigs {\n*/\n",
        "a = '''\nsigningConfigs {\n}\nsigningConfig x\n'''\n",
    ] {
        assert_eq!(strip("build.gradle", text).unwrap(), text);
    }
    let left = strip(
        "build.gradle",
        "a {\n  signingConfig b; minify true\n  signingConfig c;\n}\n",
    );
    assert_eq!(left.unwrap(), "a {\n; minify true\n}\n");
}

/// A line of a file: whether it signs, and its number. The values need no quotes.
fn line(kind: &'static str) -> impl Strategy<Value = (bool, String)> {
    let signing: &[&str] = match kind {
        "properties" => &["storeFile", "MYAPP_STORE_PASSWORD", "keyAlias", "release.keyPassword"],
        _ => &[
            "DEVELOPMENT_TEAM",
            "CODE_SIGN_STYLE",
            "CODE_SIGN_IDENTITY",
            "PROVISIONING_PROFILE_SPECIFIER",
        ],
    };
    let names = (any::<bool>(), prop::sample::select(signing.to_vec()), 0..4_u8, 0..4_u8);
    names.prop_map(move |(signs, name, other, value)| {
        let name = if signs {
            name.to_owned()
        } else {
            format!("OTHER_{other}")
        };
        let end = if kind == "pbxproj" { ";" } else { "" };
        (signs, format!("\t{name} = v{value}{end}\n"))
    })
}

fn text(lines: &[(bool, String)], with_signing: bool) -> String {
    let kept = lines.iter().filter(|(signs, _)| with_signing || !signs);
    kept.map(|(_, line)| line.as_str()).collect()
}

proptest! {
    #[test]
    fn the_two_algorithms_differ_by_the_signing_set(
        (name, this, that) in prop::sample::select(vec![
            ("project.pbxproj", "pbxproj"),
            ("App.xcconfig", "xcconfig"),
            ("gradle.properties", "properties"),
        ])
        .prop_flat_map(|(name, kind)| {
            let lines = || prop::collection::vec(line(kind), 0..6);
            (Just(name), lines(), lines())
        })
    ) {
        let (one, other) = (seen(name, &text(&this, true)), seen(name, &text(&that, true)));
        prop_assert_eq!(one.0 == other.0, text(&this, true) == text(&that, true));
        prop_assert_eq!(one.1 == other.1, text(&this, false) == text(&that, false));
    }
}
