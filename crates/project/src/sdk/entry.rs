//! Finds the script that starts an app, and whether any of its code calls the SDK.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::script;
use crate::framework::Framework;
use crate::packages::{Packages, join};
use crate::source::Source;

/// Files that are read at most when code is searched, and bytes of each.
const MOST_FILES: usize = 20_000;
const LARGEST_FILE: u64 = 1 << 20;

/// Folders without code of the app: packages, and what builds write.
const SKIPPED: [&str; 12] = [
    "node_modules",
    "platforms",
    "dist",
    "build",
    "coverage",
    "hooks",
    "vendor",
    "Pods",
    "DerivedData",
    "launchway-out",
    "App_Resources",
    "target",
];

/// The endings of scripts and pages, and of native code.
const SCRIPTS: [&str; 11] = [
    "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "html",
];
const NATIVE: [&str; 6] = ["java", "kt", "swift", "m", "mm", "dart"];

/// The script that starts the app in `directory`, from the root of the source; `None` if it is not known.
pub fn entry_file(source: &Source, directory: &str, framework: Framework, packages: &Packages) -> Option<String> {
    let candidates = match framework {
        Framework::Capacitor => of_page(source, directory)
            .into_iter()
            .chain(each(&["src/main", "src/index", "src/app/main"]))
            .collect(),
        Framework::ReactNative => each(&["index", "src/index", "App"]),
        Framework::Expo => of_expo(packages),
        Framework::NativeScript => of_main(packages)
            .into_iter()
            .chain(each(&["src/app", "src/main", "app/app", "app/main"]))
            .collect(),
        Framework::Flutter | Framework::Gradle | Framework::Xcode => Vec::new(),
    };
    let mut places = candidates.into_iter().map(|path| join(directory, &path));
    places.find(|path| source.has_file(path))
}

/// The names of a script in each language.
fn each(stems: &[&str]) -> Vec<String> {
    let endings = ["ts", "tsx", "js", "jsx", "mjs"];
    let names = |stem: &&str| endings.map(|ending| format!("{stem}.{ending}"));
    stems.iter().flat_map(names).collect()
}

/// `main` of `package.json`, which may lack its ending.
fn of_main(packages: &Packages) -> Vec<String> {
    let main = packages.value("/main").and_then(|main| main.as_str());
    let Some(main) = main
        .map(|main| main.trim_start_matches("./"))
        .filter(|main| !main.is_empty())
    else {
        return Vec::new();
    };
    let stem = main.rsplit_once('.').map_or(main, |(stem, _)| stem);
    std::iter::once(main.to_owned()).chain(each(&[main, stem])).collect()
}

fn of_expo(packages: &Packages) -> Vec<String> {
    let main = packages
        .value("/main")
        .and_then(|main| main.as_str())
        .unwrap_or_default();
    if main.contains("expo-router") {
        return each(&["app/_layout", "src/app/_layout"]);
    }
    let is_default = main.is_empty() || main.contains("AppEntry");
    let own = if is_default { Vec::new() } else { of_main(packages) };
    own.into_iter().chain(each(&["index", "App", "src/App"])).collect()
}

/// The module that the app's page loads. A page that a bundler reads names it by its path in the source.
fn of_page(source: &Source, directory: &str) -> Vec<String> {
    let pages = ["index.html", "src/index.html", "public/index.html"];
    let of = |page: &&str| {
        let text = source.text(&join(directory, page))?;
        let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        let src = module_source(&text)?;
        Some(match src.strip_prefix('/') {
            Some(from_root) => from_root.to_owned(),
            None => join(folder, src.trim_start_matches("./")),
        })
    };
    pages.iter().filter_map(of).collect()
}

/// `src` of the first `<script type="module">`.
fn module_source(page: &str) -> Option<&str> {
    let tags = page.split("<script").skip(1);
    let mut tags = tags.filter_map(|rest| rest.split_once('>').map(|(tag, _)| tag));
    tags.find_map(|tag| {
        let is_module = attribute(tag, "type") == Some("module");
        attribute(tag, "src").filter(|src| is_module && !src.contains(':') && !src.contains(".."))
    })
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}="))?;
    let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(value, _)| value)
}

/// Whether code of the app in `root` calls `sync()` of the SDK.
pub fn calls_sync(root: &Path, framework: Framework) -> bool {
    code(root, framework).any(|(_, text)| script::calls_sync(&text))
}

/// The files of the app's own code in `root`, with their texts: scripts if the app consists of packages, else native code.
/// What is not UTF-8 is replaced.
pub fn code(root: &Path, framework: Framework) -> impl Iterator<Item = (PathBuf, String)> {
    let is_script = super::package(framework).is_some();
    let endings = if is_script { &SCRIPTS[..] } else { &NATIVE[..] };
    let is_skipped = move |name: &str| SKIPPED.contains(&name) || (is_script && matches!(name, "android" | "ios"));
    let root = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    let walk = WalkBuilder::new(root)
        .follow_links(false)
        .filter_entry(move |entry| entry.depth() == 0 || !is_skipped(&entry.file_name().to_string_lossy()))
        .build();
    let files = walk.flatten().take(MOST_FILES);
    let code = files.filter(move |entry| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let ending = entry.path().extension().and_then(|ending| ending.to_str());
        let size = entry.metadata().map_or(u64::MAX, |data| data.len());
        is_file && ending.is_some_and(|ending| endings.contains(&ending)) && size <= LARGEST_FILE
    });
    code.filter_map(|entry| {
        let bytes = fs::read(entry.path()).ok()?;
        Some((entry.into_path(), String::from_utf8_lossy(&bytes).into_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files by their paths.
    type Files<'a> = &'a [(&'a str, &'a str)];

    fn project(files: Files) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        directory
    }

    fn entry(framework: Framework, files: Files) -> Option<String> {
        let directory = project(files);
        let source = Source::new(directory.path());
        let packages = Packages::read(&source, "").unwrap();
        entry_file(&source, "", framework, &packages)
    }

    #[test]
    fn the_entry_file_is_the_one_that_the_project_names() {
        let page = |src: &str| format!("<script src=\"a.js\"></script>\n<script type=\"module\" src='{src}'></script>");
        let (from_root, beside) = (page("/src/boot.ts"), page("./boot.js"));
        let none = ("package.json", "{}");
        let rows: [(Framework, Files, Option<&str>); 11] = [
            (
                Framework::Capacitor,
                &[
                    none,
                    ("index.html", from_root.as_str()),
                    ("src/boot.ts", ""),
                    ("src/main.ts", ""),
                ],
                Some("src/boot.ts"),
            ),
            (
                Framework::Capacitor,
                &[none, ("src/index.html", beside.as_str()), ("src/boot.js", "")],
                Some("src/boot.js"),
            ),
            (
                Framework::Capacitor,
                &[none, ("src/index.html", "<app-root></app-root>"), ("src/main.ts", "")],
                Some("src/main.ts"),
            ),
            (
                Framework::Capacitor,
                &[
                    none,
                    ("www/index.html", "<script src=\"app.js\"></script>"),
                    ("www/app.js", ""),
                ],
                None,
            ),
            (
                Framework::ReactNative,
                &[none, ("index.js", ""), ("App.tsx", "")],
                Some("index.js"),
            ),
            (
                Framework::Expo,
                &[
                    ("package.json", r#"{"main": "expo-router/entry"}"#),
                    ("app/_layout.tsx", ""),
                    ("index.js", ""),
                ],
                Some("app/_layout.tsx"),
            ),
            (
                Framework::Expo,
                &[
                    ("package.json", r#"{"main": "node_modules/expo/AppEntry.js"}"#),
                    ("App.js", ""),
                ],
                Some("App.js"),
            ),
            (
                Framework::NativeScript,
                &[
                    ("package.json", r#"{"main": "./src/boot"}"#),
                    ("src/boot.ts", ""),
                    ("src/app.ts", ""),
                ],
                Some("src/boot.ts"),
            ),
            (
                Framework::NativeScript,
                &[("package.json", r#"{"main": "app/app.js"}"#), ("app/app.ts", "")],
                Some("app/app.ts"),
            ),
            (
                Framework::NativeScript,
                &[
                    ("package.json", r#"{"main": "../outside.ts"}"#),
                    ("package-lock.json", "{}"),
                ],
                None,
            ),
            (Framework::Gradle, &[none, ("index.js", "")], None),
        ];
        for (framework, files, expected) in rows {
            assert_eq!(entry(framework, files).as_deref(), expected, "{framework:?} {files:?}");
        }
    }

    #[test]
    fn a_call_is_found_anywhere_in_the_code_of_the_app() {
        let call = "import { Launchway } from '@launchway/react-native';\nLaunchway.sync();\n";
        let rows = [
            ("src/deep/start.tsx", call, Framework::ReactNative, true),
            ("node_modules/a/index.js", call, Framework::ReactNative, false),
            ("android/a.js", call, Framework::ReactNative, false),
            ("src/notes.md", call, Framework::ReactNative, false),
            ("src/page.vue", call, Framework::Capacitor, true),
            (
                "app/src/main/java/Main.java",
                "launchway.sync(callback);",
                Framework::Gradle,
                true,
            ),
            ("App/Main.swift", "Launchway.sync()", Framework::Xcode, true),
            ("App/Main.swift", "Launchway.start()", Framework::Xcode, false),
        ];
        for (path, text, framework, expected) in rows {
            let directory = project(&[(path, text)]);
            assert_eq!(calls_sync(directory.path(), framework), expected, "{path}");
        }
    }
}
