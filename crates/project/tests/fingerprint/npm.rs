//! Projects that npm installs, and the effect of changes on their fingerprints.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use launchway_domain::fingerprint::{Change, Fingerprint, FingerprintDocument, diff};
use launchway_domain::platform::Platform;
use launchway_project::file;
use launchway_project::fingerprint::{collect, embed, framework};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

/// Timeout of a program. npm takes minutes on a loaded machine, but never a quarter of an hour.
const LIMIT: Duration = Duration::from_secs(900);
const PLATFORMS: [Platform; 2] = [Platform::Android, Platform::Ios];

/// A project in a temporary directory, with its packages.
pub struct Project {
    folder: TempDir,
    name: PathBuf,
}

impl Project {
    /// An empty directory.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = PathBuf::from("project");
        fs::create_dir(folder.path().join(&name)).unwrap();
        Self { folder, name }
    }

    /// Its path.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// The same project in another directory.
    pub fn moved(&mut self) {
        let other = PathBuf::from("elsewhere/deep");
        fs::create_dir_all(self.folder.path().join("elsewhere")).unwrap();
        fs::rename(self.root(), self.folder.path().join(&other)).unwrap();
        self.name = other;
    }

    /// The project in a directory of an npm package, such as a template.
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

    /// Runs a program in the project and returns its output. A program that hangs, as npm sometimes does when its
    /// registry does not answer, is killed with all its children.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let named = format!("{program} {}", arguments.join(" "));
        let place = |name: &str| self.folder.path().join(name);
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.root()).env("CI", "1");
        // Files, because a pipe stays open as long as any process that inherited it lives.
        let open = |name: &str| fs::File::create(place(name)).unwrap();
        command.stdin(Stdio::null()).stdout(open("out")).stderr(open("err"));
        let mut child = command
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{named}: {error}"));
        let group = Pid::from_child(&child);
        let (ended, end) = channel();
        let waiting = thread::spawn(move || ended.send(child.wait()));
        let status = end.recv_timeout(LIMIT);
        if status.is_err() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = waiting.join();
        let text = |name: &str| String::from_utf8_lossy(&fs::read(place(name)).unwrap()).into_owned();
        let (printed, errors) = (text("out"), text("err"));
        let Ok(status) = status else {
            let minutes = LIMIT.as_secs() / 60;
            panic!(
                "{named} did not end within {minutes} minutes: see that npm reaches its registry\n{printed}{errors}"
            );
        };
        assert!(status.unwrap().success(), "{named}:\n{printed}{errors}");
        printed
    }

    /// Reinstalls the packages of the lockfile.
    pub fn install_again(&self) {
        self.run(
            "npm",
            &["ci", "--ignore-scripts", "--legacy-peer-deps", "--loglevel=error"],
        );
    }

    /// Makes all changes that must not count: in the native directories, elsewhere, and by `embed`.
    pub fn hold_still(&mut self, folders: &[&str]) {
        let before = self.documents();
        self.moved();
        assert_eq!(self.documents(), before, "another folder");
        self.disturb(folders);
        assert_eq!(self.documents(), before, "line ends, modes, times, versions, leftovers");
        for (platform, document) in PLATFORMS.into_iter().zip(&before) {
            assert!(self.embed(platform, &document.hash())[0].changed);
            assert!(!self.embed(platform, &document.hash())[0].changed);
        }
        assert_eq!(self.documents(), before, "the fingerprint itself");
        self.install_again();
        assert_eq!(self.documents(), before, "the same packages again");
    }

    /// The differences on Android.
    pub fn changed(&self, from: &FingerprintDocument) -> Vec<String> {
        changes(from, &self.document(Platform::Android))
    }

    /// A patch of native code in a package counts, as the only reason, while it exists.
    pub fn patch(&self, from: &FingerprintDocument, package: &str, version: &str) {
        let name = package.replace('/', "+");
        let path = format!("patches/{name}+{version}.patch");
        self.write(&path, "--- a/android/src/A.java\n+++ b/android/src/A.java\n");
        let patched = self.changed(from);
        let expected = format!("Native plugin version changed: {package} {version} -> {version}+patch.");
        assert!(patched.len() == 1 && patched[0].starts_with(&expected), "{patched:?}");
        fs::remove_dir_all(self.root().join("patches")).unwrap();
        assert_eq!(self.changed(from), [""; 0]);
    }

    /// A change of a file counts as `expected`, as the only reason, while it exists.
    pub fn edit(&self, from: &FingerprintDocument, path: &str, expected: &str) {
        let text = fs::read(self.root().join(path)).unwrap();
        self.write(path, [&text[..], b"\n<!-- more -->\n"].concat());
        assert_eq!(self.changed(from), [expected], "{path}");
        self.write(path, text);
        assert_eq!(self.changed(from), [""; 0]);
    }

    /// Installs additional packages.
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
        PLATFORMS.map(|platform| self.document(platform))
    }

    pub fn embed(&self, platform: Platform, hash: &Fingerprint) -> Vec<embed::Embedded> {
        let framework = framework(&self.root(), platform).unwrap();
        embed::embed(&self.root(), framework, platform, hash).unwrap()
    }

    /// Increases versions and build numbers and makes all other changes that must not count, in the native directories.
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

/// The differences, in sentences.
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
