//! How an app's scripts become the content of an update: the commands of the framework's bundler, and where it writes.

use std::path::{Path, PathBuf};

use launchway_domain::platform::Platform;

use crate::framework::{self, Framework};
use crate::packages::{Packages, join};
use crate::preset;
use crate::shell::quote;
use crate::source::Source;

/// The environment variable with the directory that a script writes into.
pub const OUTPUT: &str = "LAUNCHWAY_BUNDLE_DIR";

/// The bundler of an app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundler {
    /// The framework.
    pub framework: Framework,
    /// A script for `sh -eu`, which starts in the root of the source.
    pub script: String,
    /// Where the content is afterwards.
    pub content: Content,
}

/// Where a bundler leaves the content of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// In the directory that [`OUTPUT`] names.
    Output,
    /// In this directory of the source, with its `package.json`.
    Directory(String),
    /// In the folder `app` of the only directory below this one that has it.
    AppBelow(String),
}

/// Why there is no bundler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundlerError {
    /// The script that starts the app is not where React Native looks for it.
    #[error("no index.js found for the bundler of React Native")]
    NoEntry,
    /// The bundler wrote nothing, or more than one app.
    #[error("the bundler left no app with a package.json in {0}")]
    NoContent(String),
}

/// The bundler of the app in `directory`; `None` for a framework whose content is built by a command of the project.
///
/// # Errors
/// The bundler needs a file that is missing.
pub fn bundler(
    root: &Path,
    directory: &str,
    named: Option<Framework>,
    platform: Platform,
) -> Result<Option<Bundler>, BundlerError> {
    let source = Source::new(root);
    let Some(packages) = Packages::read(&source, directory) else {
        return Ok(None);
    };
    let framework = named.or_else(|| framework::detect(&source, directory, Some(&packages), platform));
    let (framework, script, content) = match framework {
        Some(Framework::ReactNative) => {
            let entry = react_native_entry(&source, directory, platform).ok_or(BundlerError::NoEntry)?;
            let bundle = format!("{} react-native bundle --entry-file {}", packages.exec(), quote(&entry));
            (Framework::ReactNative, metro(&bundle, platform), Content::Output)
        }
        Some(Framework::Expo) => {
            // Gradle and Xcode projects of Expo find the entry file by the same script.
            let entry =
                format!("entry=$(node -e \"require('expo/scripts/resolveAppEntry')\" \"$PWD\" {platform} absolute)\n");
            let bundle = format!("{} expo export:embed --entry-file \"$entry\"", packages.exec());
            let script = entry + &metro(&bundle, platform);
            (Framework::Expo, script, Content::Output)
        }
        Some(Framework::NativeScript) => {
            let script = nativescript(&preset::ns(&packages), platform);
            let content = match platform {
                Platform::Android => Content::Directory(join(directory, "platforms/android/app/src/main/assets/app")),
                Platform::Ios | Platform::Visionos => {
                    Content::AppBelow(join(directory, &format!("platforms/{platform}")))
                }
            };
            (Framework::NativeScript, script, content)
        }
        _ => return Ok(None),
    };
    Ok(Some(Bundler {
        framework,
        script: preset::in_directory(directory, &script),
        content,
    }))
}

/// The command that writes the content of a NativeScript app. Its checks are about native builds, such as an emulator and a licence, and an
/// update has no native part; the option that leaves that part out came with version 9 of its command line.
fn nativescript(ns: &str, platform: Platform) -> String {
    let version = "require('nativescript/package.json').version.split('.')[0]";
    format!(
        "native=$(node -p \"{version} >= 9 ? '--skip-native' : ''\" 2>/dev/null || true)\n\
         NS_SKIP_ENV_CHECK=true {ns} prepare {platform} --release $native"
    )
}

/// The rest of a command of Metro: the bundle has the name that the SDK looks for, and all assets are beside it.
fn metro(bundle: &str, platform: Platform) -> String {
    let name = match platform {
        Platform::Android => "index.android.bundle",
        Platform::Ios | Platform::Visionos => "main.jsbundle",
    };
    format!(
        "{bundle} --platform {platform} --dev false --bundle-output \"${OUTPUT}/{name}\" --assets-dest \"${OUTPUT}\""
    )
}

/// The script that React Native's own builds start from, relative to the app.
fn react_native_entry(source: &Source, directory: &str, platform: Platform) -> Option<String> {
    let stems = [format!("index.{platform}"), "index".to_owned()];
    let names = stems
        .iter()
        .flat_map(|stem| ["js", "jsx", "ts", "tsx"].map(|ending| format!("{stem}.{ending}")));
    names.into_iter().find(|name| source.has_file(&join(directory, name)))
}

impl Content {
    /// The directory with the content, after the bundler has run in `root` with this output directory.
    ///
    /// # Errors
    /// The content is not where the bundler should have left it.
    pub fn find(&self, root: &Path, output: &Path) -> Result<PathBuf, BundlerError> {
        let source = Source::new(root);
        let is_app = |directory: &str| source.has_file(&format!("{directory}/package.json"));
        let below = match self {
            Content::Output => return Ok(output.to_owned()),
            // Without the file, which is written last, the app would not start.
            Content::Directory(path) if is_app(path) => return Ok(root.join(path)),
            Content::Directory(path) => return Err(BundlerError::NoContent(path.clone())),
            Content::AppBelow(path) => path,
        };
        let names = source.names(below);
        let mut apps = names
            .iter()
            .map(|name| format!("{below}/{name}/app"))
            .filter(|app| is_app(app));
        match (apps.next(), apps.next()) {
            (Some(app), None) => Ok(root.join(app)),
            _ => Err(BundlerError::NoContent(below.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    type Files<'a> = &'a [(&'a str, &'a str)];

    fn project(files: Files<'_>) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().expect("it lies in the directory")).expect("space");
            fs::write(path, text).expect("space");
        }
        directory
    }

    const REACT_NATIVE: (&str, &str) = ("package.json", r#"{"dependencies": {"react-native": "0.80"}}"#);

    #[test]
    fn the_entry_of_the_platform_comes_first() {
        let rows: [(Files<'_>, Platform, Option<&str>); 4] = [
            (&[REACT_NATIVE, ("index.js", "")], Platform::Android, Some("index.js")),
            (
                &[REACT_NATIVE, ("index.js", ""), ("index.ios.js", "")],
                Platform::Ios,
                Some("index.ios.js"),
            ),
            (&[REACT_NATIVE, ("index.tsx", "")], Platform::Ios, Some("index.tsx")),
            (&[REACT_NATIVE, ("App.tsx", "")], Platform::Ios, None),
        ];
        for (files, platform, entry) in rows {
            let directory = project(files);
            let found = bundler(directory.path(), "", None, platform);
            match entry {
                Some(entry) => {
                    let bundler = found.expect("an entry").expect("a bundler");
                    assert!(
                        bundler.script.contains(&format!("--entry-file {entry} ")),
                        "{bundler:?}"
                    );
                }
                None => assert_eq!(found, Err(BundlerError::NoEntry)),
            }
        }
    }

    #[test]
    fn each_framework_has_its_commands() {
        let expo = (
            "package.json",
            r#"{"dependencies": {"expo": "53", "react-native": "0.79"}}"#,
        );
        let script = (
            "package.json",
            r#"{"devDependencies": {"@nativescript/core": "8", "nativescript": "8"}}"#,
        );
        let web = ("package.json", r#"{"dependencies": {"@capacitor/cli": "8"}}"#);
        let rows: [(Files<'_>, &str); 3] = [
            (
                &[REACT_NATIVE, ("index.js", ""), ("yarn.lock", "")],
                "yarn react-native bundle --entry-file index.js --platform android --dev false \
                 --bundle-output \"$LAUNCHWAY_BUNDLE_DIR/index.android.bundle\" --assets-dest \"$LAUNCHWAY_BUNDLE_DIR\"",
            ),
            (
                &[expo],
                "entry=$(node -e \"require('expo/scripts/resolveAppEntry')\" \"$PWD\" android absolute)\n\
                 npx expo export:embed --entry-file \"$entry\" --platform android --dev false \
                 --bundle-output \"$LAUNCHWAY_BUNDLE_DIR/index.android.bundle\" --assets-dest \"$LAUNCHWAY_BUNDLE_DIR\"",
            ),
            (
                &[script],
                "native=$(node -p \"require('nativescript/package.json').version.split('.')[0] >= 9 ? '--skip-native' : ''\" \
                 2>/dev/null || true)\nNS_SKIP_ENV_CHECK=true npx ns prepare android --release $native",
            ),
        ];
        for (files, script) in rows {
            let directory = project(files);
            let bundler = bundler(directory.path(), "", None, Platform::Android);
            assert_eq!(bundler.expect("good").expect("a bundler").script, script);
        }
        let directory = project(&[web]);
        assert_eq!(bundler(directory.path(), "", None, Platform::Android), Ok(None));
        assert_eq!(bundler(directory.path(), "other", None, Platform::Android), Ok(None));
    }

    #[test]
    fn the_content_of_nativescript_is_the_only_app() {
        let manifest = ("package.json", r#"{"dependencies": {"@nativescript/core": "8"}}"#);
        let one = ("platforms/ios/Example/app/package.json", "{}");
        let output = Path::new("/unused");
        let directory = project(&[
            manifest,
            one,
            ("platforms/ios/Podfile", ""),
            ("platforms/ios/Pods/a", ""),
        ]);
        let bundler = bundler(directory.path(), "", None, Platform::Ios)
            .expect("good")
            .expect("a bundler");
        assert!(
            bundler
                .script
                .ends_with("NS_SKIP_ENV_CHECK=true ns prepare ios --release $native"),
            "{bundler:?}"
        );
        let found = bundler.content.find(directory.path(), output);
        assert_eq!(found, Ok(directory.path().join("platforms/ios/Example/app")));
        for files in [&[manifest][..], &[one, ("platforms/ios/Other/app/package.json", "{}")]] {
            let found = bundler.content.find(project(files).path(), output);
            assert_eq!(found, Err(BundlerError::NoContent("platforms/ios".to_owned())));
        }
    }
}
