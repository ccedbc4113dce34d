//! Fetches a git source: the command for `git`, which runs as a step behind the wall. Neither address nor ref can be an
//! option of git, a command, or, unless the settings allow it, anything on this machine.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub use launchway_domain::build::git::{TOKEN, check_ref, check_url};

/// The environment variable with the private key for `ssh://` repositories and those of the form `git@host:path`.
pub const SSH_KEY: &str = "LAUNCHWAY_GIT_SSH_KEY";

/// The commands that fetch `reference` of `url`, in the empty directory in which they run. Both have been checked.
pub fn commands(url: &str, reference: &str) -> [Vec<String>; 3] {
    let git = |words: &[&str]| -> Vec<String> {
        // Templates could bring hooks.
        ["git"].iter().chain(words).map(|word| (*word).to_owned()).collect()
    };
    [
        git(&["init", "--quiet", "--template=", "."]),
        git(&[
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--",
            url,
            reference,
        ]),
        git(&["checkout", "--quiet", "--detach", "FETCH_HEAD"]),
    ]
}

/// The command that prints which commit it is.
pub fn commit_command() -> Vec<String> {
    ["git", "rev-parse", "HEAD"].map(str::to_owned).to_vec()
}

/// What git is told through its environment: no questions, no hooks, no settings of the machine, no transport but those
/// that are allowed.
pub fn environment(
    url: &str,
    token: Option<&str>,
    key_file: Option<&Path>,
    allow_local: bool,
) -> BTreeMap<String, String> {
    let transports = if allow_local {
        "https:ssh:http:file"
    } else {
        "https:ssh"
    };
    let mut settings = vec![
        ("core.hooksPath".to_owned(), "/dev/null".to_owned()),
        ("core.fsmonitor".to_owned(), "false".to_owned()),
        ("core.askPass".to_owned(), "/bin/false".to_owned()),
        ("credential.helper".to_owned(), String::new()),
        ("submodule.recurse".to_owned(), "false".to_owned()),
        ("protocol.ext.allow".to_owned(), "never".to_owned()),
        ("gc.auto".to_owned(), "0".to_owned()),
        ("advice.detachedHead".to_owned(), "false".to_owned()),
    ];
    let origin = url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    if let (Some(host), Some(token)) = (origin, token) {
        // Only for this host: the header must not follow a redirect elsewhere.
        let credentials = STANDARD.encode(format!("x-access-token:{token}"));
        settings.push((
            format!("http.https://{host}/.extraHeader"),
            format!("Authorization: Basic {credentials}"),
        ));
        settings.push(("http.followRedirects".to_owned(), "false".to_owned()));
    }
    // Each build is the first to see a host, unless the machine's own list in /etc/ssh knows it.
    let mut ssh =
        "ssh -F /dev/null -oBatchMode=yes -oStrictHostKeyChecking=accept-new -oUserKnownHostsFile=/dev/null".to_owned();
    if let Some(file) = key_file {
        let quoted = file.to_string_lossy().replace('\'', r"'\''");
        ssh.push_str(&format!(" -oIdentitiesOnly=yes -i '{quoted}'"));
    }
    let mut env = BTreeMap::from([
        ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()),
        ("GIT_ALLOW_PROTOCOL".to_owned(), transports.to_owned()),
        ("GIT_SSH_COMMAND".to_owned(), ssh),
        ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string()),
    ]);
    for (index, (name, value)) in settings.into_iter().enumerate() {
        env.insert(format!("GIT_CONFIG_KEY_{index}"), name);
        env.insert(format!("GIT_CONFIG_VALUE_{index}"), value);
    }
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stays_out_of_the_command_and_with_its_host() {
        let env = environment("https://example.com/app.git", Some("hunter2"), None, false);
        let count: usize = env["GIT_CONFIG_COUNT"].parse().unwrap();
        assert!(env.contains_key(&format!("GIT_CONFIG_VALUE_{}", count - 1)));
        assert!(
            env.values()
                .any(|value| value == "http.https://example.com/.extraHeader")
        );
        assert!(
            commands("https://example.com/app.git", "main")
                .concat()
                .iter()
                .all(|word| !word.contains("hunter2"))
        );
        let without = environment(
            "git@example.com:app.git",
            Some("hunter2"),
            Some(Path::new("/a'b")),
            false,
        );
        assert!(without.values().all(|value| !value.contains("extraHeader")));
        assert!(without["GIT_SSH_COMMAND"].ends_with(r"-i '/a'\''b'"));
        assert_eq!(without["GIT_ALLOW_PROTOCOL"], "https:ssh");
    }
}
