//! What in the configuration of a project keeps its app from running updates.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::framework::Framework;
use crate::packages::join;
use crate::source::Source;

/// Files that can turn V8 snapshots on in a NativeScript project, and what does.
const SNAPSHOT_FILES: [&str; 7] = [
    "package.json",
    "app/package.json",
    "webpack.config.js",
    "webpack.config.ts",
    "nativescript.config.ts",
    "nativescript.config.js",
    "App_Resources/Android/app.gradle",
];
const SNAPSHOT_MARKS: [&str; 8] = [
    "snapshot: true",
    "--env.snapshot",
    "--env snapshot",
    "compileSnapshot",
    "NativeScriptSnapshotPlugin",
    "heapSnapshotBlob",
    "heapSnapshotScript",
    "nativescript-dev-android-snapshot",
];
/// Where snapshots themselves are.
const SNAPSHOTS: &str = "App_Resources/Android/src/main/assets/snapshots";
const SNAPSHOT_LIBRARIES: &str = "App_Resources/Android/src/main/jniLibs";

/// What turns V8 snapshots on in a NativeScript app: code in a snapshot is part of the binary, and updates do not replace
/// it.
pub fn snapshot(source: &Source, directory: &str) -> Option<String> {
    let in_file = SNAPSHOT_FILES.iter().map(|name| join(directory, name)).find(|path| {
        let text = source.text(path).unwrap_or_default();
        let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.any(|line| SNAPSHOT_MARKS.iter().any(|mark| line.contains(mark)))
    });
    let folder = join(directory, SNAPSHOTS);
    let in_folder = || source.has_directory(&folder).then(|| folder.clone());
    let libraries = join(directory, SNAPSHOT_LIBRARIES);
    let library = || {
        let names = source.names(&libraries).into_iter();
        let mut paths = names.map(|name| format!("{libraries}/{name}/libsnapshot.so"));
        paths.find(|path| source.has_file(path))
    };
    in_file.or_else(in_folder).or_else(library)
}

/// The address from which a Capacitor app loads its pages, in place of its own files, with the file that names it.
pub fn live_reload(source: &Source, directory: &str) -> Option<(String, String)> {
    let config = Framework::Capacitor
        .configs(source, directory)
        .into_iter()
        .flatten()
        .next();
    // Capacitor copies the configuration into the native projects.
    let copies = [
        "android/app/src/main/assets/capacitor.config.json",
        "ios/App/App/capacitor.config.json",
    ];
    config.into_iter().chain(copies).find_map(|name| {
        let path = join(directory, name);
        let text = source.text(&path)?;
        let url = match serde_json::from_str::<Value>(&text) {
            Ok(config) => config.pointer("/server/url")?.as_str().map(str::to_owned),
            Err(_) => of_script(&text),
        };
        Some((path, url?))
    })
}

/// The file with the preference of Capacitor that switches the SDK off.
pub fn disabled(source: &Source, directory: &str) -> Option<String> {
    static PREFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"<preference\s[^>]*name\s*=\s*["']DisableDeploy["'][^>]*value\s*=\s*["']true["']"#).ok()
    });
    let files = ["android/app/src/main/res/xml/config.xml", "ios/App/App/config.xml"];
    let mut paths = files.iter().map(|name| join(directory, name));
    paths.find(|path| {
        let text = source.text(path).unwrap_or_default();
        PREFERENCE.as_ref().is_some_and(|preference| preference.is_match(&text))
    })
}

/// `url` of the block `server` in a script.
fn of_script(text: &str) -> Option<String> {
    static SERVER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bserver['\x22]?\s*:\s*\{([^}]*)\}").ok());
    static URL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\burl['\x22]?\s*:\s*['\x22`]([^'\x22`]+)['\x22`]").ok());
    let (server, url) = (SERVER.as_ref()?, URL.as_ref()?);
    let block = server.captures(text)?.get(1)?.as_str();
    let mut code = block.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.find_map(|line| Some(url.captures(line)?.get(1)?.as_str().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project(path: &str, text: &str) -> (tempfile::TempDir, Source) {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
        let source = Source::new(directory.path());
        (directory, source)
    }

    #[test]
    fn snapshots_are_found_where_they_are_turned_on() {
        let rows = [
            (
                "package.json",
                r#"{"scripts": {"release": "ns build android --env.snapshot"}}"#,
                true,
            ),
            (
                "package.json",
                r#"{"android": {"heapSnapshotBlob": "../snapshots"}}"#,
                true,
            ),
            (
                "webpack.config.js",
                "config.plugins.push(new NativeScriptSnapshotPlugin({}));",
                true,
            ),
            ("webpack.config.js", "webpack.init({ ...env, snapshot: true });", true),
            ("webpack.config.js", "// NativeScriptSnapshotPlugin was here", false),
            (
                "App_Resources/Android/src/main/assets/snapshots/x86/snapshot.blob",
                "",
                true,
            ),
            (
                "App_Resources/Android/src/main/jniLibs/arm64-v8a/libsnapshot.so",
                "",
                true,
            ),
            (
                "App_Resources/Android/src/main/jniLibs/arm64-v8a/libother.so",
                "",
                false,
            ),
            (
                "src/package.json",
                r#"{"android": {"heapSnapshotBlob": "../snapshots"}}"#,
                false,
            ),
        ];
        for (path, text, expected) in rows {
            let (_directory, source) = project(path, text);
            assert_eq!(snapshot(&source, "").is_some(), expected, "{path}: {text}");
        }
        let (_directory, source) = project("apps/phone/package.json", "{\"a\": \"--env snapshot\"}");
        assert_eq!(
            snapshot(&source, "apps/phone").as_deref(),
            Some("apps/phone/package.json")
        );
    }

    #[test]
    fn an_address_that_is_left_in_the_configuration_is_found() {
        let url = "http://192.168.1.2:8100";
        let rows = [
            (
                "capacitor.config.json",
                r#"{"server": {"url": "http://192.168.1.2:8100"}}"#,
                Some(url),
            ),
            (
                "capacitor.config.json",
                r#"{"server": {"cleartext": true}, "url": "x"}"#,
                None,
            ),
            (
                "capacitor.config.ts",
                "const config = {\n  server: {\n    url: 'http://192.168.1.2:8100',\n    cleartext: true\n  }\n}",
                Some(url),
            ),
            (
                "capacitor.config.ts",
                "const config = { server: { cleartext: true, url: `http://192.168.1.2:8100` } }",
                Some(url),
            ),
            (
                "capacitor.config.ts",
                "const config = {\n  server: {\n    // url: 'http://192.168.1.2:8100',\n  }\n}",
                None,
            ),
            (
                "capacitor.config.ts",
                "const config = { server: { url: process.env.LIVE } }",
                None,
            ),
            ("capacitor.config.ts", "const config = { plugins: { url: 'x' } }", None),
            (
                "android/app/src/main/assets/capacitor.config.json",
                r#"{"server": {"url": "http://192.168.1.2:8100"}}"#,
                Some(url),
            ),
        ];
        for (path, text, expected) in rows {
            let (_directory, source) = project(path, text);
            let found = live_reload(&source, "");
            assert_eq!(
                found,
                expected.map(|url| (path.to_owned(), url.to_owned())),
                "{path}: {text}"
            );
        }
    }

    #[test]
    fn the_preference_that_switches_updates_off_is_found() {
        let config =
            |value: &str| format!("<widget>\n<preference name=\"DisableDeploy\" value=\"{value}\" />\n</widget>");
        let path = "ios/App/App/config.xml";
        let (_directory, source) = project(path, &config("true"));
        assert_eq!(disabled(&source, "").as_deref(), Some(path));
        let (_directory, source) = project(path, &config("false"));
        assert_eq!(disabled(&source, ""), None);
    }
}
