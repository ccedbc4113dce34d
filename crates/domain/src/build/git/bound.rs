//! The repositories that an organization's git credentials may be used for. Whoever may start a build chooses its repository,
//! so without this list a credential would be sent to any host, and would open every repository that it can.

use super::is_host;

/// The maximum number of entries.
const MAX_ENTRIES: usize = 100;

/// The repositories that git credentials may be used for: prefixes of URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedRepositories(Vec<Address>);

/// How a repository is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Https,
    Http,
    Ssh,
    File,
}

/// A parsed address. Two spellings of one host and port parse to the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    transport: Transport,
    /// In lower case.
    host: String,
    port: u16,
    /// The segments of the path, the last one without `.git`.
    path: Vec<String>,
    /// Whether it names a folder of repositories rather than a repository.
    is_folder: bool,
}

impl AllowedRepositories {
    /// Parses a list separated by spaces, line breaks or commas. Each entry is a repository URL or a prefix of one; without
    /// a scheme, such as `github.com/acme/`, it applies to https and SSH.
    ///
    /// # Errors
    /// A sentence that says which entry is wrong.
    pub fn parse(text: &str) -> Result<AllowedRepositories, String> {
        let separator = |letter: char| letter.is_whitespace() || letter == ',';
        let mut bound = Vec::new();
        for entry in text.split(separator).filter(|entry| !entry.is_empty()) {
            let has_scheme = entry.contains("://") || entry.contains('@');
            let spellings = match has_scheme {
                true => vec![entry.to_owned()],
                false => vec![format!("https://{entry}"), format!("ssh://git@{entry}")],
            };
            for spelling in spellings {
                let address = Address::parse(&spelling).ok_or_else(|| {
                    let shown: String = entry.chars().take(100).collect();
                    format!(
                        "`{shown}` is not the start of a repository's address, such as github.com/acme/app, \
                         https://github.com/acme/ or git@github.com:acme/app.git"
                    )
                })?;
                bound.push(address);
            }
            if bound.len() > 2 * MAX_ENTRIES {
                return Err(format!("At most {MAX_ENTRIES} addresses are allowed"));
            }
        }
        Ok(AllowedRepositories(bound))
    }

    /// Whether credentials may be used for a repository. A URL that a resolver could interpret differently (dots, escapes,
    /// a query) is not covered.
    pub fn covers(&self, url: &str) -> bool {
        Address::parse(url).is_some_and(|address| self.0.iter().any(|entry| entry.is_above(&address)))
    }

    /// The same as URLs for the `http.<url>.…` settings of git, which match whole segments of a path.
    pub fn http_urls(&self) -> Vec<String> {
        let mut urls = Vec::new();
        for entry in self.broadest() {
            let (scheme, port) = match entry.transport {
                Transport::Https => ("https", 443),
                Transport::Http => ("http", 80),
                Transport::Ssh | Transport::File => continue,
            };
            let port = match entry.port == port {
                true => String::new(),
                false => format!(":{}", entry.port),
            };
            let base = format!("{scheme}://{}{port}/{}", entry.host, entry.path.join("/"));
            if !entry.path.is_empty() {
                if !entry.is_folder {
                    urls.push(format!("{base}.git"));
                }
                urls.push(format!("{base}/"));
            } else {
                urls.push(base);
            }
        }
        urls
    }

    /// The entries that no other entry covers: git would send one header for each match.
    fn broadest(&self) -> Vec<&Address> {
        let mut broadest: Vec<&Address> = Vec::new();
        for entry in &self.0 {
            if !broadest.iter().any(|above| above.is_above(entry)) {
                broadest.retain(|below| !entry.is_above(below));
                broadest.push(entry);
            }
        }
        broadest
    }
}

impl Address {
    fn parse(url: &str) -> Option<Address> {
        let is_plain = |letter: char| letter.is_ascii_graphic() && !"%\\?#\"'<>^`{|}*$;&".contains(letter);
        if url.is_empty() || !url.chars().all(is_plain) {
            return None;
        }
        let (transport, authority, path) = divided(url)?;
        let host_and_port = match (transport, authority.split_once('@')) {
            (Transport::Ssh, Some((user, rest))) if !user.is_empty() && !rest.contains('@') => rest,
            (Transport::Ssh, _) | (_, Some(_)) => return None,
            (_, None) => authority,
        };
        let (host, port) = match transport {
            Transport::Https => split_port(host_and_port, 443)?,
            Transport::Http => split_port(host_and_port, 80)?,
            // In this form a colon begins the path.
            Transport::Ssh if !url.contains("://") => (host_and_port, 22),
            Transport::Ssh => split_port(host_and_port, 22)?,
            Transport::File => ("", 0),
        };
        if transport != Transport::File && !is_host(host) {
            return None;
        }
        let is_folder = path.is_empty() || path.ends_with('/');
        let mut path: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        if path.iter().any(|part| part == "." || part == "..") {
            return None;
        }
        if let Some(name) = path.last_mut() {
            *name = name.strip_suffix(".git").unwrap_or(name).to_owned();
        }
        Some(Address {
            transport,
            host: host.to_ascii_lowercase(),
            port,
            path,
            is_folder,
        })
    }

    /// Whether `other` equals this address or lies below it.
    fn is_above(&self, other: &Address) -> bool {
        let same_place = (self.transport, &self.host, self.port) == (other.transport, &other.host, other.port);
        // `team/` does not cover a repository named `team`.
        let is_its_name = self.is_folder && !self.path.is_empty() && self.path == other.path;
        same_place && other.path.starts_with(&self.path) && (other.is_folder || !is_its_name)
    }
}

/// Splits an address into transport, host and path.
fn divided(url: &str) -> Option<(Transport, &str, &str)> {
    if let Some(path) = url.strip_prefix("file://").filter(|path| path.starts_with('/')) {
        return Some((Transport::File, "", path));
    }
    let schemes = [
        ("https://", Transport::Https),
        ("http://", Transport::Http),
        ("ssh://", Transport::Ssh),
    ];
    for (scheme, transport) in schemes {
        if let Some(rest) = url.strip_prefix(scheme) {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            return Some((transport, authority, path));
        }
    }
    let (authority, path) = url.split_once(':').filter(|_| !url.contains("://"))?;
    Some((Transport::Ssh, authority, path))
}

/// Splits a host from its port. An IPv6 address is in brackets.
fn split_port(text: &str, usual: u16) -> Option<(&str, u16)> {
    let behind_brackets = text.rfind(']').map_or(0, |end| end + 1);
    match text.get(behind_brackets..)?.rfind(':') {
        None => Some((text, usual)),
        Some(colon) => {
            let (host, port) = text.split_at(behind_brackets + colon);
            let port = port
                .get(1..)
                .filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))?;
            Some((host, if port.is_empty() { usual } else { port.parse().ok()? }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> AllowedRepositories {
        AllowedRepositories::parse(text).unwrap()
    }

    #[test]
    fn other_spellings_of_the_same_repository_are_covered() {
        let bound = bound("github.com/acme/app, https://git.example.com:8443\ngit@ssh.example.com:team/");
        for url in [
            "https://github.com/acme/app",
            "https://github.com/acme/app.git",
            "https://GitHub.COM/acme/app.git",
            "https://github.com:443/acme/app.git",
            "https://github.com:/acme/app.git",
            "https://github.com//acme//app.git/",
            "git@github.com:acme/app.git",
            "deploy@GITHUB.com:/acme/app",
            "ssh://git@github.com/acme/app.git",
            "ssh://git@github.com:22/acme/app.git",
            "https://git.example.com:8443/any/thing",
            "ssh://git@ssh.example.com/team/one",
            "git@ssh.example.com:team/group/two.git",
        ] {
            assert!(bound.covers(url), "{url}");
        }
    }

    #[test]
    fn other_hosts_ports_and_paths_are_not() {
        let bound = bound("github.com/acme/app https://git.example.com/team/ ssh://git@ssh.example.com/team/");
        for url in [
            "",
            "https://evil.example/acme/app.git",
            "https://github.com.evil.example/acme/app",
            "https://evilgithub.com/acme/app",
            "https://github.com@evil.example/acme/app",
            "https://github.com:443@evil.example/acme/app",
            "https://evil.example\\@github.com/acme/app",
            "https://evil.example#@github.com/acme/app",
            "https://user@github.com/acme/app",
            "https://github.com./acme/app",
            "https://140.82.121.4/acme/app",
            "https://github.com:8443/acme/app",
            "https://github.com:65979/acme/app",
            "http://github.com/acme/app",
            "https://github.com/acme/application",
            "https://github.com/acme/app.evil",
            "https://github.com/acme",
            "https://github.com/Acme/app",
            "https://github.com/acme/app/../../evil/app",
            "https://github.com/acme/app/%2e%2e/private",
            "https://github.com/acme/app/..%2f..%2fevil",
            "https://github.com/acme/app/..;/private",
            "https://github.com/evil/app?/acme/app",
            "https://github.com?/acme/app",
            "https://git.example.com/team",
            "https://git.example.com/team.git",
            "https://git.example.com/teams/app",
            "git@git.example.com:team/app",
            "https://ssh.example.com/team/app",
            "git@github.com:evil/app.git",
            "git@evil.example:acme/app.git",
            "git@github.com@evil.example:acme/app.git",
            "ssh://git@github.com:2222/acme/app.git",
            "ssh://git@ssh.example.com/~evil/team/app",
            "git@ssh.example.com:../team/app",
            "file:///acme/app",
            "/acme/app",
        ] {
            assert!(!bound.covers(url), "{url}");
        }
        assert!(!AllowedRepositories::default().covers("https://github.com/acme/app"));
    }

    #[test]
    fn git_is_told_whole_segments() {
        let bound =
            bound("GitHub.com/acme/app https://git.example.com:8443 http://127.0.0.1:81/team/ git@example.com:x");
        assert_eq!(
            bound.http_urls(),
            [
                "https://github.com/acme/app.git",
                "https://github.com/acme/app/",
                "https://git.example.com:8443/",
                "http://127.0.0.1:81/team/",
            ]
        );
        let twice = AllowedRepositories::parse(
            "https://a.example/x https://a.example/x/y https://a.example/x/ https://a.example/x.git",
        )
        .unwrap();
        assert_eq!(twice.http_urls(), ["https://a.example/x.git", "https://a.example/x/"]);
        let folder = AllowedRepositories::parse("https://[2001:db8::1]:8443/team").unwrap();
        assert_eq!(
            folder.http_urls(),
            [
                "https://[2001:db8::1]:8443/team.git",
                "https://[2001:db8::1]:8443/team/"
            ]
        );
    }

    #[test]
    fn what_is_no_address_is_refused() {
        assert_eq!(AllowedRepositories::parse(" ,\n"), Ok(AllowedRepositories::default()));
        for text in [
            "*.example.com",
            "https://",
            "https://a\"b/",
            "user:pass@",
            "https://u:p@example.com",
            "-x",
            "a$(x)",
        ] {
            let problem = AllowedRepositories::parse(text).unwrap_err();
            assert!(problem.contains("is not the start of"), "{text}: {problem}");
        }
        assert!(
            AllowedRepositories::parse(&"a.example ".repeat(101))
                .unwrap_err()
                .contains("100 addresses")
        );
    }
}
