//! How git reaches repositories by SSH. If there is a key, git starts this program instead of `ssh`. It passes the key
//! on only for repositories that the key is bound to, which submodules may not be.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use launchway_domain::build::git::{AllowedRepositories, SSH_KEY, URLS};
use launchway_project::shell::quote;

/// The hidden first argument of the program.
pub(crate) const COMMAND: &str = "__git-ssh";
/// The remote programs of a fetch.
const REMOTE_PROGRAMS: [&str; 3] = ["git-upload-pack", "git-lfs-authenticate", "git-lfs-transfer"];

/// The files that SSH uses for authentication: ours and the host's.
#[derive(Clone, Copy, Debug)]
pub struct Ssh<'f> {
    /// The private key, if there is one.
    pub key: Option<Key<'f>>,
    /// The accepted host keys, in addition to the machine's `/etc/ssh/ssh_known_hosts`.
    pub known_hosts: &'f Path,
}

/// A private key, and where it may be used.
#[derive(Clone, Copy, Debug)]
pub struct Key<'f> {
    /// The key file.
    pub file: &'f Path,
    /// The repositories that the key is bound to, in the format of [`AllowedRepositories`].
    pub urls: &'f str,
    /// The path of this program for the user of the build.
    pub program: &'f Path,
}

impl Ssh<'_> {
    /// The value of `GIT_SSH_COMMAND`.
    pub(super) fn command(&self) -> String {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let words = match self.key {
            None => [&["ssh".to_owned()][..], &options(&path(self.known_hosts))].concat(),
            Some(key) => vec![
                path(key.program),
                COMMAND.to_owned(),
                key.urls.to_owned(),
                path(self.known_hosts),
                path(key.file),
            ],
        };
        let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
        quoted.join(" ")
    }
}

fn options(known_hosts: &str) -> Vec<String> {
    let mut options = [
        "-F",
        "/dev/null",
        "-oBatchMode=yes",
        "-oStrictHostKeyChecking=yes",
        "-oUpdateHostKeys=no",
    ]
    .map(str::to_owned)
    .to_vec();
    options.push(format!("-oUserKnownHostsFile={known_hosts}"));
    options
}

/// Becomes `ssh` with the key, as the arguments after [`COMMAND`] specify, unless the key is not bound to the
/// repository.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let [urls, known_hosts, key, call @ ..] = words.as_slice() else {
        return ExitCode::FAILURE;
    };
    let bound = AllowedRepositories::parse(urls).unwrap_or_default();
    let problem = match repository(call) {
        None => "launchway: this ssh command does not fetch a repository".to_owned(),
        Some(address) if !bound.covers(&address) => {
            format!("launchway: {SSH_KEY} is not used for {address}: {URLS} does not include it")
        }
        Some(_) => {
            let mut ssh = Command::new("ssh");
            ssh.args(options(known_hosts))
                .args(["-oIdentitiesOnly=yes", "-i"])
                .arg(key);
            // `exec` returns only on failure.
            format!("launchway: cannot start ssh: {}", ssh.args(call).exec())
        }
    };
    let _ = writeln!(io::stderr(), "{problem}");
    // The exit code of ssh for connection errors.
    ExitCode::from(255)
}

/// The address of the repository that git or Git LFS calls `ssh` for; `None` for any other call.
fn repository(call: &[String]) -> Option<String> {
    let mut words = call.iter().map(String::as_str);
    let mut port = None;
    let host = loop {
        match words.next()? {
            "-p" => port = Some(words.next()?),
            "-o" => {
                words.next()?;
            }
            "-4" | "-6" | "--" => {}
            option if option.starts_with("-o") => {}
            option if option.starts_with('-') => return None,
            host => break host,
        }
    };
    let path = remote_path(words.next()?)?;
    if words.next().is_some() {
        return None;
    }
    let user = if host.contains('@') { "" } else { "git@" };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("ssh://{user}{host}{port}/{}", path.trim_start_matches('/')))
}

/// The path in a command such as `git-upload-pack '/team/app.git'`, as git quotes it, or `git-lfs-authenticate team/app
/// download`.
fn remote_path(command: &str) -> Option<&str> {
    let (program, rest) = command.split_once(' ')?;
    let (path, behind) = match rest.strip_prefix('\'') {
        // A quote inside the path is not supported.
        Some(quoted) => quoted.split_once('\'')?,
        None => rest.split_once(' ').unwrap_or((rest, "")),
    };
    let is_plain = behind
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == ' ');
    (REMOTE_PROGRAMS.contains(&program) && is_plain).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_must_be_known_and_paths_are_quoted() {
        let files = Ssh {
            key: None,
            known_hosts: Path::new("/known hosts"),
        };
        let command = files.command();
        assert!(command.starts_with("ssh -F /dev/null "), "{command}");
        assert!(command.contains("-oStrictHostKeyChecking=yes"), "{command}");
        assert!(command.ends_with("'-oUserKnownHostsFile=/known hosts'"), "{command}");
        let key = Key {
            file: Path::new("/a'b"),
            urls: "github.com/a b.example",
            program: Path::new("/bin/launchway"),
        };
        let with_key = Ssh {
            key: Some(key),
            ..files
        };
        assert_eq!(
            with_key.command(),
            r"/bin/launchway __git-ssh 'github.com/a b.example' '/known hosts' '/a'\''b'"
        );
    }

    #[test]
    fn the_repository_of_a_call_is_known() {
        let of = |call: &[&str]| repository(&call.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let upload = "git-upload-pack '/acme/app.git'";
        for (call, address) in [
            (vec!["git@github.com", upload], "ssh://git@github.com/acme/app.git"),
            (
                vec!["-o", "SendEnv=GIT_PROTOCOL", "-p", "2222", "git@a.example", upload],
                "ssh://git@a.example:2222/acme/app.git",
            ),
            (
                vec!["-4", "--", "a.example", "git-upload-pack 'acme/app'"],
                "ssh://git@a.example/acme/app",
            ),
            (
                vec![
                    "-oControlMaster=auto",
                    "git@a.example",
                    "git-lfs-authenticate acme/app.git download",
                ],
                "ssh://git@a.example/acme/app.git",
            ),
        ] {
            assert_eq!(of(&call).as_deref(), Some(address), "{call:?}");
        }
        for call in [
            vec![],
            vec!["git@a.example"],
            vec!["-F", "/evil", "git@a.example", upload],
            vec!["git@a.example", "sh -c evil"],
            vec!["git@a.example", "git-receive-pack '/acme/app.git'"],
            vec!["git@a.example", "git-upload-pack '/acme/app'\\''/../evil'"],
            vec!["git@a.example", "git-upload-pack '/acme/app'; evil"],
            vec!["git@a.example", upload, "evil"],
        ] {
            assert_eq!(of(&call), None, "{call:?}");
        }
    }
}
