//! Fetches a git source: builds the `git` commands, which run as a step in the sandbox. Neither address nor ref can be
//! an option of git, a command, or, unless the settings allow it, a path of this machine. SSH accepts only hosts whose
//! keys are known beforehand.

pub(crate) mod ssh;

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub use launchway_domain::build::git::{AllowedRepositories, SSH_KEY, SSH_KNOWN_HOSTS, TOKEN, URLS, check_url};
pub use ssh::{Key, Ssh};

/// The host keys that these services publish.
const PUBLISHED: [(&str, &str); 4] = [
    (
        "github.com",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
    ),
    (
        "github.com",
        "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N8\
         7uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=",
    ),
    (
        "gitlab.com",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf",
    ),
    (
        "bitbucket.org",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO",
    ),
];

/// The lines of the `known_hosts` file for a fetch: the keys that the organization pins, and the published keys of
/// other hosts.
pub fn known_hosts(pinned: Option<&str>) -> String {
    let pinned = pinned.unwrap_or_default();
    let mut lines = String::from(pinned.trim_end());
    let names = |line: &str, host: &str| {
        // After a marker such as @cert-authority, the hosts are the second word.
        let mut words = line.split_whitespace().take(2).flat_map(|word| word.split(','));
        words.any(|name| name == host)
    };
    let is_pinned = |host: &str| pinned.lines().any(|line| names(line, host));
    for (host, key) in PUBLISHED.iter().filter(|(host, _)| !is_pinned(host)) {
        lines.push_str(&format!("\n{host} {key}"));
    }
    lines.push('\n');
    lines
}

/// Whether an address uses SSH.
pub fn is_ssh(url: &str) -> bool {
    url.starts_with("ssh://") || (!url.contains("://") && !url.starts_with('/'))
}

/// The commands that fetch `reference` of `url`, for an empty working directory. Both arguments are validated.
pub fn commands(url: &str, reference: &str) -> [Vec<String>; 3] {
    let git = |words: &[&str]| -> Vec<String> {
        // Templates could contain hooks.
        ["git"].iter().chain(words).map(|word| (*word).to_owned()).collect()
    };
    [
        git(&["init", "--quiet", "--template=", "."]),
        // Submodules and LFS files may have relative addresses.
        git(&["config", "remote.origin.url", url]),
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
    ]
}

/// The command that checks out what was fetched.
pub fn checkout_command() -> Vec<String> {
    let words = "git checkout --quiet --detach FETCH_HEAD";
    words.split(' ').map(str::to_owned).collect()
}

/// The command that prints the checked-out commit.
pub fn commit_command() -> Vec<String> {
    ["git", "rev-parse", "HEAD"].map(str::to_owned).to_vec()
}

/// The commands that fetch submodules with the same credentials, which the steps do not have.
pub fn submodules_command() -> Vec<String> {
    let words = "git submodule --quiet update --init --recursive --depth=1";
    words.split(' ').map(str::to_owned).collect()
}

/// The file with which a repository redirects Git LFS to another server, which would receive the token.
pub const LFS_CONFIG: &str = ".lfsconfig";

/// Makes Git LFS leave its files as pointers until they are fetched explicitly.
pub const WITHOUT_LARGE_FILES: &str = "GIT_LFS_SKIP_SMUDGE";

/// The command that lists the checked-out LFS files.
pub fn list_large_files_command() -> Vec<String> {
    ["git", "lfs", "ls-files", "--name-only"].map(str::to_owned).to_vec()
}

/// The command that fetches the LFS files.
pub fn large_files_command() -> Vec<String> {
    ["git", "lfs", "pull"].map(str::to_owned).to_vec()
}

/// The command that succeeds if Git LFS is installed.
pub fn lfs_command() -> Vec<String> {
    ["git", "lfs", "version"].map(str::to_owned).to_vec()
}

/// The environment of git: no prompts, no settings of the machine except those of `config`, and only the allowed
/// transports.
pub fn environment(config: &Path, ssh: Ssh<'_>, allow_local: bool) -> BTreeMap<String, String> {
    let transports = if allow_local {
        "https:ssh:http:file"
    } else {
        "https:ssh"
    };
    let env = [
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", config.to_string_lossy().into_owned()),
        ("GIT_ALLOW_PROTOCOL", transports.to_owned()),
        ("GIT_SSH_COMMAND", ssh.command()),
        // The program need not be called `ssh`.
        ("GIT_SSH_VARIANT", "ssh".to_owned()),
        (WITHOUT_LARGE_FILES, "1".to_owned()),
    ];
    env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The settings of a fetch, as a file: no hooks, and the token for the repositories that it is bound to. Submodules use
/// the file too, and unlike environment variables or the repository's settings it is removed after the fetch.
pub fn config(bound: &AllowedRepositories, token: Option<&str>, with_lfs: bool) -> String {
    let mut config = String::from(
        "[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n\taskPass = /bin/false\n[credential]\n\thelper =\n\
         [submodule]\n\trecurse = false\n[protocol \"ext\"]\n\tallow = never\n[gc]\n\tauto = 0\n\
         [advice]\n\tdetachedHead = false\n",
    );
    if let Some(token) = token {
        let credentials = STANDARD.encode(format!("x-access-token:{token}"));
        // A redirect could lead to another host.
        config.push_str("[http]\n\tfollowRedirects = false\n");
        for url in bound.http_urls() {
            config.push_str(&format!(
                "[http {}]\n\textraHeader = \"Authorization: Basic {credentials}\"\n",
                in_quotes(&url)
            ));
        }
    }
    if with_lfs {
        config.push_str(
            "[filter \"lfs\"]\n\tprocess = git-lfs filter-process\n\tclean = git-lfs clean -- %f\n\
             \tsmudge = git-lfs smudge -- %f\n\trequired = true\n",
        );
    }
    config
}

/// Quotes a text for git's configuration files.
fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn a_token_is_for_the_repositories_that_are_named() {
        let bound = AllowedRepositories::parse("https://example.com/team/ git@example.com:other/").unwrap();
        let written = config(&bound, Some("hunter2"), false);
        let header = STANDARD.encode("x-access-token:hunter2");
        let section =
            format!("[http \"https://example.com/team/\"]\n\textraHeader = \"Authorization: Basic {header}\"\n");
        assert!(written.contains(&section), "{written}");
        assert_eq!(written.matches("extraHeader").count(), 1, "{written}");
        assert!(written.contains("followRedirects = false"), "{written}");
        let unbound = config(&AllowedRepositories::default(), Some("hunter2"), false);
        assert!(!unbound.contains("extraHeader"), "{unbound}");
        assert_eq!(in_quotes(r#"a"b\c"#), r#""a\"b\\c""#);
    }

    #[test]
    fn only_remote_transports_are_allowed() {
        let files = Ssh {
            key: None,
            known_hosts: Path::new("/known"),
        };
        let env = environment(Path::new("/config"), files, false);
        assert_eq!(env["GIT_ALLOW_PROTOCOL"], "https:ssh");
        assert_eq!(env["GIT_SSH_VARIANT"], "ssh");
    }

    #[test]
    fn the_published_keys_have_the_services_own_fingerprints() {
        let fetched: Vec<_> = PUBLISHED
            .iter()
            .map(|(host, key)| {
                let blob = STANDARD.decode(key.split(' ').nth(1).unwrap()).unwrap();
                let hash = base64::engine::general_purpose::STANDARD_NO_PAD.encode(Sha256::digest(blob));
                (*host, hash)
            })
            .collect();
        let published = [
            ("github.com", "+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"),
            ("github.com", "p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM"),
            ("gitlab.com", "eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8"),
            ("bitbucket.org", "ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM"),
        ];
        assert_eq!(fetched, published.map(|(host, hash)| (host, hash.to_owned())));
    }

    #[test]
    fn what_an_organization_pins_wins_over_what_is_published() {
        assert_eq!(known_hosts(None).lines().filter(|line| !line.is_empty()).count(), 4);
        let own = known_hosts(Some("git.example.com ssh-ed25519 AAAA\ngithub.com ssh-ed25519 BBBB\n"));
        let github: Vec<_> = own.lines().filter(|line| line.starts_with("github.com")).collect();
        assert_eq!(github, ["github.com ssh-ed25519 BBBB"]);
        assert!(own.starts_with("git.example.com ssh-ed25519 AAAA\n") && own.contains("\ngitlab.com "));
        for (url, ssh) in [
            ("ssh://git@example.com/a", true),
            ("git@example.com:a", true),
            ("https://example.com/a", false),
            ("file:///a", false),
            ("/a", false),
        ] {
            assert_eq!(is_ssh(url), ssh, "{url}");
        }
    }
}
