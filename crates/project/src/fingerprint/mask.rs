//! Masks fields of native manifests that change with every release, such as versions and build numbers, and those that
//! differ between equivalent machines: the path to `node_modules`, and where CocoaPods installs pods.

use std::sync::LazyLock;

use regex::Regex;

use super::expo_config;

/// Removes what does not count from a text.
#[derive(Clone, Copy)]
pub enum Mask {
    /// Replaces matches of patterns.
    Rules(&'static LazyLock<Rules>),
    /// Keeps some lines of `Podfile.lock`.
    Pods,
    /// Removes fields from the configuration of an Expo project.
    ExpoConfig,
}

impl Mask {
    /// The text that counts.
    pub fn apply(self, text: &str) -> String {
        match self {
            Mask::Rules(rules) => rules.apply(text),
            Mask::Pods => pods(text),
            Mask::ExpoConfig => expo_config::masked(text),
        }
    }
}

/// Replacements, applied in order.
pub struct Rules(Vec<(Regex, &'static str)>);

impl Rules {
    /// The patterns are constants; a test compiles each of them.
    fn new(rules: &[(&str, &'static str)]) -> Self {
        let made = |(pattern, with): &(&str, &'static str)| Some((Regex::new(pattern).ok()?, *with));
        Self(rules.iter().filter_map(made).collect())
    }

    fn apply(&self, text: &str) -> String {
        let rules = self.0.iter();
        rules.fold(text.to_owned(), |text, (pattern, with)| {
            pattern.replace_all(&text, *with).into_owned()
        })
    }
}

/// Workspaces and pnpm keep packages elsewhere.
const NODE_MODULES: (&str, &str) = (
    r#"(?:\.\./)*node_modules/(?:\.pnpm/[^/'"\n]+/node_modules/)?"#,
    "node_modules/",
);
const MANIFEST_RULES: &[(&str, &str)] = &[(r#"(\bandroid:version(?:Code|Name)\s*=\s*)(?:"[^"]*"|'[^']*')"#, "$1")];
const GRADLE_RULES: &[(&str, &str)] = &[
    (
        r#"\b(version(?:Code|Name))(\s*=\s*|\s*\(\s*|[ \t]+)(?:[0-9]+|"[^"\n$]*"|'[^'\n]*')"#,
        "$1$2",
    ),
    NODE_MODULES,
];
const PROPERTIES_RULES: &[(&str, &str)] = &[(
    r"(?mi)^([ \t]*(?:app[._]?)?version[._]?(?:code|name)[ \t]*[=:]).*$",
    "$1",
)];
const PLIST_RULES: &[(&str, &str)] = &[
    (
        r"(<key>CFBundle(?:ShortVersionString|Version)</key>\s*)<(?:string|integer)>[^<]*</(?:string|integer)>",
        "$1",
    ),
    // The output of `embed`, which must not change the fingerprint.
    (
        r"[ \t]*<key>Launchway(?:Fingerprint|Trust|Settings)</key>\s*<string>[^<]*</string>[ \t]*\n?",
        "",
    ),
];
const XCODE_RULES: &[(&str, &str)] = &[
    (
        r#"\b(MARKETING_VERSION|CURRENT_PROJECT_VERSION)(\s*=\s*)(?:"[^"\n]*"|[^;"\n]*);"#,
        "$1$2;",
    ),
    NODE_MODULES,
];
const XCCONFIG_RULES: &[(&str, &str)] = &[(
    r"(?m)^([ \t]*(?:MARKETING_VERSION|CURRENT_PROJECT_VERSION)[ \t]*=).*$",
    "$1",
)];
const CORDOVA_RULES: &[(&str, &str)] = &[
    // Sequential, because a match ends behind the attribute.
    (r#"(<widget\b[^>]*?\s)version\s*=\s*(?:"[^"]*"|'[^']*')"#, "$1"),
    (
        r#"(<widget\b[^>]*?\s)android-versionCode\s*=\s*(?:"[^"]*"|'[^']*')"#,
        "$1",
    ),
    (
        r#"(<widget\b[^>]*?\s)ios-CFBundleVersion\s*=\s*(?:"[^"]*"|'[^']*')"#,
        "$1",
    ),
];
const PUBSPEC_RULES: &[(&str, &str)] = &[(r"(?m)^version[ \t]*:.*$", "version:")];
const SCRIPT_RULES: &[(&str, &str)] = &[(
    r#"\b(version|versionCode|buildNumber)(["']?\s*:\s*)(?:[0-9]+|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)"#,
    "$1$2",
)];
const PODFILE_RULES: &[(&str, &str)] = &[
    // Capacitor writes the list of plugins to this file.
    (r"(?ms)^def capacitor_pods\b.*?^end\b", "def capacitor_pods end"),
    NODE_MODULES,
];

static MANIFEST: LazyLock<Rules> = LazyLock::new(|| Rules::new(MANIFEST_RULES));
static GRADLE: LazyLock<Rules> = LazyLock::new(|| Rules::new(GRADLE_RULES));
static PROPERTIES: LazyLock<Rules> = LazyLock::new(|| Rules::new(PROPERTIES_RULES));
static PLIST: LazyLock<Rules> = LazyLock::new(|| Rules::new(PLIST_RULES));
static XCODE: LazyLock<Rules> = LazyLock::new(|| Rules::new(XCODE_RULES));
static XCCONFIG: LazyLock<Rules> = LazyLock::new(|| Rules::new(XCCONFIG_RULES));
static CORDOVA: LazyLock<Rules> = LazyLock::new(|| Rules::new(CORDOVA_RULES));
static PUBSPEC: LazyLock<Rules> = LazyLock::new(|| Rules::new(PUBSPEC_RULES));
static SCRIPT: LazyLock<Rules> = LazyLock::new(|| Rules::new(SCRIPT_RULES));
static PODFILE: LazyLock<Rules> = LazyLock::new(|| Rules::new(PODFILE_RULES));

/// The mask for a file with this path, if there is one.
pub fn for_path(path: &str) -> Option<Mask> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let rules = match name {
        "Podfile.lock" => return Some(Mask::Pods),
        "app.json" | "app.config.json" => return Some(Mask::ExpoConfig),
        "AndroidManifest.xml" => &MANIFEST,
        "project.pbxproj" => &XCODE,
        "config.xml" => &CORDOVA,
        "pubspec.yaml" => &PUBSPEC,
        "Podfile" => &PODFILE,
        "app.config.js" | "app.config.ts" | "app.config.cjs" | "app.config.mjs" => &SCRIPT,
        _ if name.ends_with(".gradle") || name.ends_with(".gradle.kts") => &GRADLE,
        _ if name.ends_with(".properties") => &PROPERTIES,
        _ if name.ends_with("Info.plist") => &PLIST,
        _ if name.ends_with(".xcconfig") => &XCCONFIG,
        _ => return None,
    };
    Some(Mask::Rules(rules))
}

/// The pods that are not plugins. Plugin pods come from paths, and the document has their versions.
fn pods(lock: &str) -> String {
    let from_path: Vec<&str> = section(lock, "EXTERNAL SOURCES:")
        .filter_map(|line| {
            line.strip_prefix("  ")
                .filter(|rest| !rest.starts_with(' '))?
                .strip_suffix(':')
        })
        .map(|name| name.trim_matches('"'))
        .collect();
    let is_own = |pod: &str| {
        let name = pod
            .trim_start_matches(['"', ' '])
            .split([' ', '/', '"'])
            .next()
            .unwrap_or(pod);
        !from_path.contains(&name)
    };
    let pods = section(lock, "PODS:").filter_map(|line| line.strip_prefix("  - "));
    pods.filter(|pod| is_own(pod))
        .map(|pod| format!("{}\n", pod.trim_end_matches(':').trim_matches('"')))
        .collect()
}

/// The lines of a section of `Podfile.lock`.
fn section<'t>(lock: &'t str, name: &'static str) -> impl Iterator<Item = &'t str> {
    let lines = lock.lines().skip_while(move |line| line.trim_end() != name).skip(1);
    lines.take_while(|line| line.is_empty() || line.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        let all = [
            MANIFEST_RULES,
            GRADLE_RULES,
            PROPERTIES_RULES,
            PLIST_RULES,
            XCODE_RULES,
            XCCONFIG_RULES,
            CORDOVA_RULES,
            PUBSPEC_RULES,
            SCRIPT_RULES,
            PODFILE_RULES,
        ];
        for (pattern, _) in all.into_iter().flatten() {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
        }
    }

    /// Whether both texts have the same masked form in a file of this name.
    fn same(name: &str, this: &str, that: &str) -> bool {
        let mask = for_path(name).unwrap_or_else(|| panic!("{name} has a mask"));
        mask.apply(this) == mask.apply(that)
    }

    #[test]
    fn versions_and_build_numbers_do_not_count() {
        let rows = [
            (
                "android/app/src/main/AndroidManifest.xml",
                "<manifest android:versionCode=\"1\" android:versionName='1.0' package=\"a\">",
                "<manifest android:versionCode=\"23\" android:versionName='2.0-b' package=\"a\">",
            ),
            (
                "app/build.gradle",
                "versionCode 1\nversionName \"1.0\"\n",
                "versionCode 20\nversionName \"2.0.1\"\n",
            ),
            (
                "app/build.gradle.kts",
                "versionCode = 1\nversionName = \"1.0\"\nversionCode(1)",
                "versionCode = 2\nversionName = \"1.1\"\nversionCode(2)",
            ),
            (
                "gradle.properties",
                "VERSION_NAME=1.0\nversionCode = 3",
                "VERSION_NAME=2.0\nversionCode = 4",
            ),
            (
                "ios/App/Info.plist",
                "<key>CFBundleShortVersionString</key>\n\t<string>1.0</string><key>CFBundleVersion</key><string>1</string>",
                "<key>CFBundleShortVersionString</key>\n\t<string>2.0</string><key>CFBundleVersion</key><string>$(X)</string>",
            ),
            (
                "ios/App/Info.plist",
                "<dict>\n\t<key>A</key>\n</dict>",
                "<dict>\n\t<key>A</key>\n\t<key>LaunchwayFingerprint</key>\n\t<string>abc</string>\n</dict>",
            ),
            (
                "ios/App/Info.plist",
                "<dict>\n\t<key>A</key>\n</dict>",
                "<dict>\n\t<key>A</key>\n\t<key>LaunchwayTrust</key>\n\t<string>{\"root\":\"\"}</string>\n</dict>",
            ),
            (
                "ios/App/Info.plist",
                "<dict>\n\t<key>A</key>\n</dict>",
                "<dict>\n\t<key>A</key>\n\t<key>LaunchwaySettings</key>\n\t<string>{\"serverUrl\":\"\"}</string>\n</dict>",
            ),
            (
                "project.pbxproj",
                "CURRENT_PROJECT_VERSION = 1;\nMARKETING_VERSION = 1.0;",
                "CURRENT_PROJECT_VERSION = 45;\nMARKETING_VERSION = \"2.0 beta\";",
            ),
            ("App.xcconfig", "MARKETING_VERSION = 1.0", "MARKETING_VERSION = 1.1"),
            (
                "config.xml",
                "<?xml version='1.0'?><widget id=\"a\" version=\"1.0\" android-versionCode=\"1\" ios-CFBundleVersion=\"1\">",
                "<?xml version='1.0'?><widget id=\"a\" version=\"2.0\" android-versionCode=\"2\" ios-CFBundleVersion=\"3\">",
            ),
            (
                "pubspec.yaml",
                "name: a\nversion: 1.0.0+1\n",
                "name: a\nversion: 1.0.1+2\n",
            ),
            (
                "app.json",
                r#"{"expo": {"version": "1", "ios": {"buildNumber": "1"}, "android": {"versionCode": 1}, "slug": "a"}}"#,
                r#"{"expo": {"slug": "a", "version": "2", "ios": {"buildNumber": "2"}, "android": {"versionCode": 2}}}"#,
            ),
            (
                "app.config.ts",
                "export default { version: '1.0.0', android: { versionCode: 3 } }",
                "export default { version: '1.1.0', android: { versionCode: 4 } }",
            ),
            (
                "settings.gradle",
                "new File('../node_modules/a/android')",
                "new File('../../../node_modules/.pnpm/a@1.0.0_b@2/node_modules/a/android')",
            ),
            (
                "Podfile",
                "def capacitor_pods\n  pod 'A'\nend\ntarget 'App' do\nend",
                "def capacitor_pods\n  pod 'A'\n  pod 'B'\nend\ntarget 'App' do\nend",
            ),
        ];
        for (name, this, that) in rows {
            assert!(
                same(name, this, that),
                "{name}: {}",
                for_path(name).unwrap().apply(that)
            );
        }
    }

    #[test]
    fn everything_else_counts() {
        let rows = [
            (
                "AndroidManifest.xml",
                "<manifest package=\"a\" android:versionCode=\"1\">",
                "<manifest package=\"b\" android:versionCode=\"1\">",
            ),
            ("build.gradle", "minSdkVersion 23", "minSdkVersion 24"),
            ("build.gradle", "implementation 'a:b:1.0'", "implementation 'a:b:1.1'"),
            ("build.gradle", "myVersionCode 1", "myVersionCode 2"),
            ("gradle.properties", "kotlinVersion=1", "kotlinVersion=2"),
            (
                "Info.plist",
                "<key>CFBundleName</key><string>A</string>",
                "<key>CFBundleName</key><string>B</string>",
            ),
            (
                "project.pbxproj",
                "IPHONEOS_DEPLOYMENT_TARGET = 14.0;",
                "IPHONEOS_DEPLOYMENT_TARGET = 15.0;",
            ),
            ("config.xml", "<plugin version=\"1\"/>", "<plugin version=\"2\"/>"),
            (
                "pubspec.yaml",
                "dependencies:\n  a:\n    version: 1",
                "dependencies:\n  a:\n    version: 2",
            ),
            ("app.json", r#"{"expo": {"slug": "a"}}"#, r#"{"expo": {"slug": "b"}}"#),
            ("app.config.ts", "{ minVersion: '1' }", "{ minVersion: '2' }"),
            ("Podfile", "platform :ios, '13'", "platform :ios, '14'"),
        ];
        for (name, this, that) in rows {
            assert!(!same(name, this, that), "{name}: {that}");
        }
    }

    #[test]
    fn of_pods_those_count_that_are_no_plugins() {
        let lock = "PODS:\n  - Alamofire (5.9.0)\n  - Capacitor (7.0.0):\n    - CapacitorCordova\n  - \"A+B (1.0)\"\n\
                    \nDEPENDENCIES:\n  - Alamofire\n\nEXTERNAL SOURCES:\n  Capacitor:\n    :path: \"../../node_modules\"\n\
                    \nSPEC CHECKSUMS:\n  Alamofire: 1\n\nCOCOAPODS: 1.15.2\n";
        assert_eq!(pods(lock), "Alamofire (5.9.0)\nA+B (1.0)\n");
        assert!(same(
            "Podfile.lock",
            lock,
            &lock.replace("1.15.2", "1.16").replace("7.0.0", "7.0.1")
        ));
        assert!(!same("Podfile.lock", lock, &lock.replace("5.9.0", "5.9.1")));
    }
}
