//! The address of a server as people write it, normalized to `{scheme}://{host}{path}/api`.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

/// The base address of the API, which ends in `/api` without a trailing slash (`docs/reference/service.md#base-address`).
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// Why a text is not a valid address of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is not a URL, or has no host.
    #[error("must be an address such as https://launchway.example.com")]
    NotAUrl,
    /// Its scheme is neither `https` nor `http`.
    #[error("must start with https:// or http://")]
    Scheme,
    /// It contains a user name or password.
    #[error("must not contain a user name or password")]
    Credentials,
    /// It has a query or fragment.
    #[error("must not contain ? or #")]
    Tail,
}

impl BaseUrl {
    /// The URL of an endpoint. `path` begins with a slash and may contain a query; dots in it cannot change the host.
    pub fn join(&self, path: &str) -> Result<Url, AddressError> {
        let base = self.0.as_str().trim_end_matches('/');
        let joined = Url::parse(&format!("{base}{path}")).map_err(|_| AddressError::NotAUrl)?;
        if joined.origin() == self.0.origin() {
            Ok(joined)
        } else {
            Err(AddressError::NotAUrl)
        }
    }

    /// The URL of a public file beside the API. `path` begins with a slash; dots in it cannot change the host.
    pub(crate) fn join_beside(&self, path: &str) -> Result<Url, AddressError> {
        let mut root = self.0.clone();
        let above = self.0.path().strip_suffix("/api").unwrap_or_default().to_owned();
        root.set_path(&above);
        Self(root).join(path)
    }

    /// The dashboard's page of a build, a submission or an update; `None` for an id that no address can contain.
    pub fn page_of(&self, id: &str) -> Option<Url> {
        let mut page = self.join_beside("/go").ok()?;
        page.path_segments_mut().ok()?.push(id);
        Some(page)
    }

    /// Scheme, host and port, for messages.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// Whether traffic to it can be read in transit: plain HTTP to another machine.
    pub fn is_open_to_eavesdroppers(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let local = host == "localhost" || host.ends_with(".localhost") || host == "[::1]" || host.starts_with("127.");
        self.0.scheme() == "http" && !local
    }

    pub(crate) fn is_plain_http(&self) -> bool {
        self.0.scheme() == "http"
    }
}

impl FromStr for BaseUrl {
    type Err = AddressError;

    /// Parses `https://host` and `https://host/api` alike, with or without a trailing slash.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if !lower.starts_with("https://") && !lower.starts_with("http://") {
            return Err(if text.is_empty() {
                AddressError::NotAUrl
            } else {
                AddressError::Scheme
            });
        }
        let mut url = Url::parse(text).map_err(|_| AddressError::NotAUrl)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::Tail);
        }
        let path = url.path().trim_end_matches('/');
        let path = if path.ends_with("/api") {
            path.to_owned()
        } else {
            format!("{path}/api")
        };
        url.set_path(&path);
        Ok(Self(url))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn brings_every_way_of_writing_to_one_form() {
        let rows = [
            ("https://host.example", "https://host.example/api"),
            ("https://host.example/", "https://host.example/api"),
            ("https://host.example/api", "https://host.example/api"),
            ("https://host.example/api/", "https://host.example/api"),
            (" HTTPS://Host.Example:443 ", "https://host.example/api"),
            ("http://127.0.0.1:8787", "http://127.0.0.1:8787/api"),
            ("https://host.example/mobile", "https://host.example/mobile/api"),
            ("https://host.example/mobile/api", "https://host.example/mobile/api"),
            ("https://host.example/myapi", "https://host.example/myapi/api"),
        ];
        for (written, read) in rows {
            assert_eq!(
                written.parse::<BaseUrl>().expect(written).to_string(),
                read,
                "{written}"
            );
        }
    }

    #[test]
    fn public_files_lie_beside_the_api() {
        let rows = [
            ("https://host.example", "https://host.example/tuf/a/1.root.json"),
            (
                "https://host.example/mobile",
                "https://host.example/mobile/tuf/a/1.root.json",
            ),
        ];
        for (address, expected) in rows {
            let base: BaseUrl = address.parse().expect(address);
            let url = base.join_beside("/tuf/a/1.root.json").expect("a path");
            assert_eq!(url.as_str(), expected);
        }
    }

    #[test]
    fn says_why_a_text_is_no_address() {
        let rows = [
            ("", AddressError::NotAUrl),
            ("host.example", AddressError::Scheme),
            ("localhost:8787", AddressError::Scheme),
            ("ftp://host.example", AddressError::Scheme),
            ("https://", AddressError::NotAUrl),
            ("https://ada:secret@host.example", AddressError::Credentials),
            ("https://host.example/?x=1", AddressError::Tail),
            ("https://host.example/#top", AddressError::Tail),
        ];
        for (written, why) in rows {
            assert_eq!(written.parse::<BaseUrl>().expect_err(written), why, "{written}");
        }
    }

    #[test]
    fn knows_who_can_listen() {
        let rows = [
            ("https://host.example", false),
            ("http://host.example", true),
            ("http://127.0.0.1:8787", false),
            ("http://localhost:8787", false),
            ("http://[::1]:8787", false),
            ("http://localhost.evil.example", true),
        ];
        for (address, open) in rows {
            assert_eq!(
                address.parse::<BaseUrl>().expect(address).is_open_to_eavesdroppers(),
                open,
                "{address}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_path_leaves_the_host(path in "/.{0,40}") {
            let base: BaseUrl = "https://host.example".parse().expect("an address");
            if let Ok(url) = base.join(&path) {
                prop_assert_eq!(url.host_str(), Some("host.example"));
            }
        }

        #[test]
        fn reading_twice_changes_nothing(path in "[a-z/.]{0,20}") {
            if let Ok(once) = format!("https://host.example/{path}").parse::<BaseUrl>() {
                prop_assert_eq!(once.to_string().parse::<BaseUrl>(), Ok(once));
            }
        }
    }
}
