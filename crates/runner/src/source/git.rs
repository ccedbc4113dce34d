//! Fetches a git source: the command for `git`, which runs as a step behind the wall. Neither address nor ref can be an
//! option of git, a command, or, unless the settings allow it, anything on this machine.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The environment variable with a token for `https://` repositories that are not public.
pub const TOKEN: &str = "LAUNCHWAY_GIT_TOKEN";
/// The environment variable with the private key for `ssh://` repositories and those of the form `git@host:path`.
pub const SSH_KEY: &str = "LAUNCHWAY_GIT_SSH_KEY";

const MOST_LENGTH: usize = 1000;

/// Checks the address of a repository: `https://host/path`, `ssh://user@host/path` or `user@host:path`; with
/// `allow_local` also `http://`, `file://` and absolute paths.
///
/// # Errors
/// What is wrong with it, as a sentence.
pub fn check_url(url: &str, allow_local: bool) -> Result<(), String> {
    let refuse = |problem: &str| Err(format!("The address of the git repository {problem}."));
    if url.is_empty() || url.len() > MOST_LENGTH {
        return refuse("must have 1 to 1000 characters");
    }
    if url.starts_with('-') || url.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return refuse("must not begin with '-' or contain spaces");
    }
    // `helper::address` would run a program; an IPv6 address stands in brackets behind a scheme.
    if url.split_once("::").is_some_and(|(before, _)| !before.contains("://[")) {
        return refuse("must not name a transport helper");
    }
    if allow_local && (url.starts_with("file:///") || url.starts_with('/')) {
        return Ok(());
    }
    let plain = url.strip_prefix("http://").filter(|_| allow_local);
    if let Some(rest) = url.strip_prefix("https://").or(plain) {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('@') {
            return refuse(&format!(
                "must not contain a user or password: set {TOKEN} as a secret environment variable"
            ));
        }
        return if is_host(host) { Ok(()) } else { refuse("has no host") };
    }
    if let Some(rest) = url.strip_prefix("ssh://") {
        let authority = rest.split('/').next().unwrap_or_default();
        return check_ssh(authority).map_or_else(|| refuse("must be ssh://user@host/path"), Ok);
    }
    match url.split_once(':') {
        Some((authority, path)) if authority.contains('@') && !path.is_empty() && !path.starts_with('-') => {
            check_ssh(authority).map_or_else(|| refuse("must be user@host:path"), Ok)
        }
        _ => refuse("must begin with https:// or ssh://, or have the form git@host:path"),
    }
}

/// Checks the name of a branch, tag or commit.
///
/// # Errors
/// What is wrong with it, as a sentence.
pub fn check_ref(reference: &str) -> Result<(), String> {
    let bad = |letter: char| letter.is_control() || letter.is_whitespace() || "~^:?*[\\+".contains(letter);
    let good = (1..=255).contains(&reference.len())
        && !reference.starts_with(['-', '/', '.'])
        && !reference.ends_with(['/', '.'])
        && !reference.contains("..")
        && !reference.contains("@{")
        && !reference.contains("//")
        && reference != "@"
        && !reference.ends_with(".lock")
        && !reference.contains(bad);
    match good {
        true => Ok(()),
        false => Err("The git ref must be the name of a branch, a tag or a whole commit id.".to_owned()),
    }
}

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

fn check_ssh(authority: &str) -> Option<()> {
    let (user, host) = authority.split_once('@')?;
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host,
        _ => host,
    };
    let user_fits = user
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    (user_fits && !user.is_empty() && !user.starts_with('-') && is_host(host)).then_some(())
}

fn is_host(host: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte);
    !host.is_empty() && !host.starts_with(['-', '.', ':']) && host.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_remote_addresses_pass() {
        for url in [
            "https://example.com/app.git",
            "https://example.com:8443/a/b?x",
            "https://[2001:db8::1]/app.git",
            "ssh://git@example.com/app.git",
            "ssh://git@example.com:2222/app.git",
            "git@example.com:team/app.git",
        ] {
            assert_eq!(check_url(url, false), Ok(()), "{url}");
        }
        for url in [
            "",
            "-oProxyCommand=evil",
            "--upload-pack=evil",
            "ext::sh -c evil",
            "ext::sh",
            "fd::7",
            "file:///etc",
            "/srv/app.git",
            "./app",
            "../app",
            "app.git",
            "C:/app",
            "http://example.com/app.git",
            "git://example.com/app.git",
            "ftp://example.com/app.git",
            "https://",
            "https:///app.git",
            "https://-oProxyCommand=x/app.git",
            "https://user:password@example.com/app.git",
            "https://example.com/a b",
            "https://example.com/a\nb",
            "ssh://-oProxyCommand=evil/app",
            "ssh://git@-oProxyCommand=evil/app",
            "ssh://example.com/app.git",
            "-x@example.com:app.git",
            "git@-oProxyCommand=evil:app.git",
            "git@example.com:",
            "git@example.com:-x",
            "git@exa$(x)mple.com:app",
            "host:app.git",
        ] {
            assert!(check_url(url, false).is_err(), "{url}");
        }
    }

    #[test]
    fn local_addresses_pass_only_where_they_are_allowed() {
        for url in ["file:///srv/app.git", "/srv/app.git", "http://127.0.0.1:1/app.git"] {
            assert_eq!(check_url(url, true), Ok(()), "{url}");
            assert!(check_url(url, false).is_err(), "{url}");
        }
        for url in ["ext::sh", "-x", "file://host/app", "relative"] {
            assert!(check_url(url, true).is_err(), "{url}");
        }
    }

    #[test]
    fn only_names_of_refs_pass() {
        for reference in [
            "main",
            "v1.2.3",
            "feature/x-1",
            "0123456789abcdef0123456789abcdef01234567",
            "refs/heads/main",
            "pull/7/head",
        ] {
            assert_eq!(check_ref(reference), Ok(()), "{reference}");
        }
        let long = "x".repeat(256);
        for reference in [
            "",
            "-x",
            "--upload-pack=evil",
            "a:b",
            "+main",
            "main:refs/heads/x",
            "a b",
            "a\nb",
            "a..b",
            "a~1",
            "a^",
            "*",
            "a?",
            "a[b]",
            "a\\b",
            "@",
            "@{u}",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a.",
            "a.lock",
            &long,
        ] {
            assert!(check_ref(reference).is_err(), "{reference}");
        }
    }

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
