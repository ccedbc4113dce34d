//! Malicious trees and files never cause a panic, and the result for a tree is always the same.

use proptest::prelude::*;

use super::*;

/// Possible contents where a text is expected.
fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "[\\[\\]{}\":,a-z0-9/.@\r\n \\\\]{0,120}".prop_map(String::into_bytes),
        prop::sample::select(vec![
            "{}",
            "[]",
            "null",
            "{\"plugins\": {\"android\": [{}]}}",
            "{\"dependencies\": {\"..\": \"\", \"a/../b\": \"1\", \"@a\": 1, \"x\": null}}",
            "{\"expo\": {\"icon\": \"./../../x\", \"plugins\": [[[[]]]]}}",
            "packages:\n  a:\n    version: \"1\"\n",
            "<plist><dict><key>LaunchwayFingerprint</key></dict>",
            "<plist><dict><key>LaunchwayTrust</key><string>{}</string></dict></plist>",
            "ios: { '",
            "export default { ios: { NativeSource: [{ path: '/etc/passwd' }] } }",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

/// Files that decide what counts.
fn path() -> impl Strategy<Value = String> {
    let known = vec![
        "package.json",
        "package-lock.json",
        "pnpm-workspace.yaml",
        "node_modules/@capacitor/camera/package.json",
        "node_modules/expo-asset/expo-module.config.json",
        "node_modules/both/react-native.config.js",
        "app.json",
        "app.config.ts",
        "nativescript.config.ts",
        "pubspec.lock",
        ".flutter-plugins-dependencies",
        ".gitignore",
        "android/.fingerprintignore",
        "android/app/build.gradle",
        "android/app/src/main/AndroidManifest.xml",
        "ios/App/App/Info.plist",
        "ios/App/Podfile.lock",
        "ios/App/App.xcodeproj/project.pbxproj",
        "patches/@capacitor+camera+8.2.0.patch",
    ];
    prop_oneof![
        prop::sample::select(known).prop_map(str::to_owned),
        "(android|ios|App_Resources)(/[a-zé.\u{301} ]{1,4}){1,4}x".prop_map(|path| path.replace("/./", "/_/")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn no_tree_is_too_strange(
        files in prop::collection::vec((path(), content()), 1..5),
        make in prop::sample::select(vec![
            capacitor as Make, nativescript, react_native, expo, flutter,
        ]),
        links in prop::collection::vec(("android/[a-c]{1,2}", "(\\.\\./){0,4}[a-c/.]{0,6}"), 0..3),
    ) {
        let project = make();
        for (path, content) in files {
            let path = project.root().join(path);
            // Two of them may use one name for a file and a directory.
            if fs::create_dir_all(path.parent().unwrap()).is_ok() {
                let _ = fs::write(path, content);
            }
        }
        #[cfg(unix)]
        for (link, target) in links {
            let _ = std::os::unix::fs::symlink(target, project.root().join(link));
        }
        for platform in Platform::ALL {
            let (one, other) = (project.try_collect(platform), project.try_collect(platform));
            prop_assert_eq!(&one, &other);
            if let Err(error) = one {
                prop_assert!(!error.to_string().is_empty());
            }
            if let Ok(framework) = framework(&project.root(), platform) {
                let hash = launchway_domain::fingerprint::Fingerprint::parse("abc").unwrap();
                let _ = embed::embed(&project.root(), framework, platform, &hash);
                let _ = embed::embed_trust(&project.root(), framework, platform, &trusting::app_trust(1));
            }
        }
    }

    #[test]
    fn masks_take_any_text(name in path(), text in any::<String>()) {
        if let Some(mask) = mask::for_path(&name) {
            let once = mask.apply(&text);
            prop_assert_eq!(mask.apply(&text), once);
        }
    }
}

#[test]
fn folders_in_folders_end_somewhere() {
    let project = capacitor();
    project.write(&format!("android/{}a", "a/".repeat(140)), "a");
    assert!(
        project
            .problem(Platform::Android)
            .ends_with("exclude files that are not native in .fingerprintignore")
    );
}

#[cfg(unix)]
#[test]
fn links_that_multiply_end_somewhere() {
    let project = capacitor();
    // Each directory contains the next one twice: two to the power of forty directories without a limit.
    for level in 0..40 {
        let folder = project.root().join(format!("farm/{level}"));
        fs::create_dir_all(&folder).unwrap();
        for name in ["a", "b"] {
            std::os::unix::fs::symlink(format!("../{}", level + 1), folder.join(name)).unwrap();
        }
    }
    project.write("farm/40/file", "a");
    std::os::unix::fs::symlink("../farm/0", project.root().join("android/farm")).unwrap();
    assert!(
        project
            .problem(Platform::Android)
            .ends_with("exclude files that are not native in .fingerprintignore")
    );
}
