//! Files in native projects that are not native code of the app: generated files, files of one machine, signing files,
//! and the files that `embed` writes.

use super::embed::ANDROID_FILE;
use crate::trust_file;

/// Directories that never count.
const FOLDERS: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".idea",
    ".vscode",
    ".gradle",
    ".kotlin",
    ".cxx",
    ".externalNativeBuild",
    ".dart_tool",
    ".swiftpm",
    ".symlinks",
    ".bundle",
    ".expo",
    "node_modules",
    "DerivedData",
    "Pods",
    "xcuserdata",
    "xcschemes",
    // Capacitor's copies of plugins, which the document lists with their versions.
    "capacitor-cordova-android-plugins",
    "capacitor-cordova-ios-plugins",
];

/// Files that never count.
const FILES: &[&str] = &[
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
    ".gitattributes",
    ".gitkeep",
    ".npmkeep",
    ".editorconfig",
    ".ruby-version",
    "Gemfile",
    "Gemfile.lock",
    "README.md",
    ".xcode.env",
    ".xcode.env.local",
    "local.properties",
    "key.properties",
    "keystore.properties",
    "contents.xcworkspacedata",
    "IDEWorkspaceChecks.plist",
    "WorkspaceSettings.xcsettings",
    // Generated from the list of plugins, with paths that differ between package managers.
    "capacitor.settings.gradle",
    "capacitor.build.gradle",
    "capacitor.plugins.json",
    "cordova_plugins.js",
    "GeneratedPluginRegistrant.h",
    "GeneratedPluginRegistrant.java",
    "GeneratedPluginRegistrant.kt",
    "GeneratedPluginRegistrant.m",
    "GeneratedPluginRegistrant.swift",
    "ExpoModulesProvider.swift",
    "Generated.xcconfig",
    "flutter_export_environment.sh",
    "PackageList.java",
    ".flutter-plugins",
    ".flutter-plugins-dependencies",
    ".last_build_id",
    ".packages",
    ANDROID_FILE,
];

/// Suffixes of names that never count.
const ENDS: &[&str] = &[
    "~",
    ".swp",
    ".orig",
    ".iml",
    ".log",
    ".hprof",
    ".apk",
    ".aab",
    ".ipa",
    ".dex",
    ".class",
    ".xcuserstate",
    // Signing files, which a build puts in place.
    ".jks",
    ".keystore",
    ".p12",
    ".p8",
    ".mobileprovision",
    ".provisionprofile",
];

/// Suffixes of paths that never count: copies of what an update contains, or of what the document lists elsewhere.
const PATHS: &[&str] = &[
    "src/main/assets/public",
    "src/main/assets/capacitor.config.json",
    "src/main/assets/index.android.bundle",
    // The settings of the SDK, which `embed` writes.
    "src/main/assets/launchway.json",
    "ios/App/App/public",
    "ios/App/App/config.xml",
    "ios/App/App/capacitor.config.json",
    "CapApp-SPM/Package.swift",
];

/// Whether the file or directory never counts. `path` is relative to the project or package, with forward slashes.
pub fn is_left_out(path: &str, is_folder: bool) -> bool {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ends_with = |end: &&str| {
        path.strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    if PATHS.iter().any(ends_with) {
        return true;
    }
    if !is_folder {
        // The root of signed updates, in the project and embedded.
        return trust_file::is_name(name) || FILES.contains(&name) || ENDS.iter().any(|end| name.ends_with(end));
    }
    let in_source = above.split('/').any(|part| part == "src");
    match name {
        // A Java package may have this name.
        "build" | ".build" | "captures" | "ephemeral" | "fastlane" => !in_source,
        "test" | "androidTest" => above.ends_with("/src"),
        _ => FOLDERS.contains(&name),
    }
}

/// Whether the file of a package concerns only scripts, pages and readers: an update contains it, or nothing needs it.
/// The specifications from which React Native generates native code count as native.
pub fn is_script(path: &str) -> bool {
    const SCRIPTS: &[&str] = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];
    const OTHERS: &[&str] = &["map", "md", "css", "scss", "html", "vue", "svelte", "flow", "dart"];
    const NAMES: &[&str] = &[
        "package.json",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "yarn.lock",
        "LICENSE",
        "CHANGELOG",
        "tsconfig.json",
        "pubspec.lock",
    ];
    const FOLDERS: &[&str] = &["example", "examples", "docs", "__tests__", "test"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    if SCRIPTS.contains(&end) {
        let stem = stem.strip_suffix(".d").unwrap_or(stem);
        return !(stem.starts_with("Native") || stem.ends_with("NativeComponent"));
    }
    let top = path.split('/').next().filter(|top| top.len() < path.len());
    OTHERS.contains(&end) || NAMES.contains(&name) || top.is_some_and(|top| FOLDERS.contains(&top))
}
