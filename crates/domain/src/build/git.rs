//! Checks the URL and ref of a git source: neither can be an option of git, a command, or, unless it is allowed, anything on
//! the machine that fetches it. The server checks before it accepts a build, the runner before it fetches.

mod bound;
mod revision;

pub use bound::AllowedRepositories;
pub use revision::{DIRECTORY_LABEL, Revision, check_directory};

/// The environment variable that holds a token for private `https://` repositories.
pub const TOKEN: &str = "LAUNCHWAY_GIT_TOKEN";
/// The environment variable that holds the private key for repositories reached by SSH.
pub const SSH_KEY: &str = "LAUNCHWAY_GIT_SSH_KEY";
/// The environment variable that holds the host keys that SSH accepts, as lines of a `known_hosts` file.
pub const SSH_KNOWN_HOSTS: &str = "LAUNCHWAY_GIT_SSH_KNOWN_HOSTS";

/// The environment variable that lists the repositories the token and the key may be used for, as [`AllowedRepositories`] parses them.
/// Without it they are used for none.
pub const URLS: &str = "LAUNCHWAY_GIT_URLS";

/// Whether a variable is used only to fetch a git source: no step receives it, and no build of an archive.
pub fn is_for_fetch_only(name: &str) -> bool {
    [TOKEN, SSH_KEY, SSH_KNOWN_HOSTS, URLS].contains(&name)
}

/// Whether a variable grants access to repositories: only those that [`URLS`] covers receive it.
pub fn opens_repositories(name: &str) -> bool {
    [TOKEN, SSH_KEY].contains(&name)
}

const MOST_LENGTH: usize = 1000;

/// Checks the URL of a repository: `https://host/path`, `ssh://user@host/path` or `user@host:path`; with `allow_local` also
/// `http://`, `file://` and absolute paths.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn check_url(url: &str, allow_local: bool) -> Result<(), String> {
    let refuse = |problem: &str| Err(format!("The address of the git repository {problem}"));
    if url.is_empty() || url.len() > MOST_LENGTH {
        return refuse("must have 1 to 1000 characters");
    }
    if url.starts_with('-') || url.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return refuse("must not start with `-` or contain spaces");
    }
    // `helper::address` would run a program; an IPv6 address is in brackets after a scheme.
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
        _ => refuse("must start with https:// or ssh://, or have the form git@host:path"),
    }
}

/// Checks the name of a branch, tag or commit.
///
/// # Errors
/// A sentence that says what is wrong with it.
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
        false => Err("The git ref must be the name of a branch or tag, or a full commit id".to_owned()),
    }
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
}
