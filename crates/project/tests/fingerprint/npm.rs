//! Projects made with npm, and what a change of them changes in their fingerprints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use launchway_domain::fingerprint::{Change, Fingerprint, FingerprintDocument, diff};
use launchway_domain::platform::Platform;
use launchway_project::file;
use launchway_project::fingerprint::{collect, embed, framework};
use tempfile::TempDir;

/// A project in a folder of its own, with its packages.
pub struct Project {
    folder: TempDir,
    name: PathBuf,
}

impl Project {
    /// An empty folder.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = PathBuf::from("project");
        fs::create_dir(folder.path().join(&name)).unwrap();
        Self { folder, name }
    }

    /// Where it is.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// The same in another folder.
    pub fn moved(&mut self) {
        let other = PathBuf::from("elsewhere/deep");
        fs::create_dir_all(self.folder.path().join("elsewhere")).unwrap();
        fs::rename(self.root(), self.folder.path().join(&other)).unwrap();
        self.name = other;
    }

    /// The project in a folder of an npm package, such as a template.
    pub fn unpack(package: &str, inner: &str) -> Self {
        let project = Self::new();
        let packed = project.run("npm", &["pack", "--silent", package]);
        let archive = packed.lines().last().expect("npm names the file").to_owned();
        project.run("tar", &["xzf", &archive, "--strip-components=1"]);
        fs::remove_file(project.root().join(archive)).unwrap();
        Self {
            name: project.name.join(inner),
            folder: project.folder,
        }
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.root().join(path)).unwrap();
        assert!(text.contains(from), "{path} has {from}");
        self.write(path, text.replace(from, to));
    }

    /// Runs a program in the project and gives what it prints.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.root()).env("CI", "1");
        let output = command.output().unwrap_or_else(|error| panic!("{program}: {error}"));
        let (printed, errors) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{program} {arguments:?}:\n{printed}{errors}");
        printed.into_owned()
    }

    /// Installs packages besides those that are there.
    pub fn install(&self, packages: &[&str]) {
        let fixed = [
            "install",
            "--ignore-scripts",
            "--save-exact",
            "--legacy-peer-deps",
            "--loglevel=error",
        ];
        self.run("npm", &[&fixed[..], packages].concat());
    }

    pub fn document(&self, platform: Platform) -> FingerprintDocument {
        let framework = framework(&self.root(), platform).unwrap();
        collect(&self.root(), framework, platform, &file::Fingerprint::default()).unwrap()
    }

    pub fn documents(&self) -> [FingerprintDocument; 2] {
        [Platform::Android, Platform::Ios].map(|platform| self.document(platform))
    }

    pub fn embed(&self, platform: Platform, hash: &Fingerprint) -> Vec<embed::Embedded> {
        let framework = framework(&self.root(), platform).unwrap();
        embed::embed(&self.root(), framework, platform, hash).unwrap()
    }

    /// Bumps versions and build numbers, and does all else that must not count, in the folders of native projects.
    pub fn disturb(&self, folders: &[&str]) {
        for folder in folders {
            each_file(&self.root().join(folder), &disturb);
            for file in [
                ".DS_Store",
                "build/outputs/app.apk",
                ".gradle/checksums.lock",
                "DerivedData/info.plist",
            ] {
                self.write(&format!("{folder}/{file}"), "made anew");
            }
        }
    }
}

/// What differs, in sentences.
pub fn changes(from: &FingerprintDocument, to: &FingerprintDocument) -> Vec<String> {
    diff(from, to).iter().map(Change::to_string).collect()
}

fn each_file(folder: &Path, change: &dyn Fn(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("node_modules") => {}
            true => each_file(&path, change),
            false => change(&path),
        }
    }
}

fn disturb(path: &Path) {
    if let Ok(text) = fs::read_to_string(path) {
        let text = text
            .replace("versionCode 1\n", "versionCode 7\n")
            .replace("versionName \"1.0\"", "versionName \"1.7\"")
            .replace("MARKETING_VERSION = 1.0;", "MARKETING_VERSION = 1.7;")
            .replace("CURRENT_PROJECT_VERSION = 1;", "CURRENT_PROJECT_VERSION = 7;")
            .replace("\r\n", "\n")
            .replace('\n', "\r\n");
        fs::write(path, text).unwrap();
    }
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000))
        .unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
