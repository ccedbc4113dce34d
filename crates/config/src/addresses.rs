//! Addresses: the database, the service itself, the app stores, and the directory of builds.

use std::path::{Path, PathBuf};

use launchway_outbound::address_guard::check_url;
use reqwest::Url;

use super::{ConfigError, RawSettings};

/// A database URL whose `Debug` hides anything that may be a password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Parses `--database-url`; the default is `launchway.db` in the data directory.
    pub fn parse(given: Option<&str>, data_dir: &Path) -> Result<DatabaseUrl, ConfigError> {
        let Some(url) = given else {
            let path = data_dir.join("launchway.db");
            return Ok(DatabaseUrl(format!("sqlite:{}", path.display())));
        };
        let known = ["sqlite:", "postgres://", "postgresql://"];
        if known.iter().any(|scheme| url.starts_with(scheme)) {
            return Ok(DatabaseUrl(url.to_owned()));
        }
        Err(ConfigError::new(
            "--database-url",
            "must start with sqlite: or postgres://",
        ))
    }

    /// Whether the database is embedded, not a server.
    pub fn is_embedded(&self) -> bool {
        self.0.starts_with("sqlite:")
    }

    /// Which database it is: host, port and name, or the path of an embedded one.
    pub fn place(&self) -> String {
        let Ok(url) = Url::parse(&self.0) else {
            return String::new();
        };
        let given = |name: &str| {
            let mut pairs = url.query_pairs();
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        let host = url.host_str().filter(|host| !host.is_empty()).map(str::to_owned);
        let host = given("host").or_else(|| given("hostaddr")).or(host).unwrap_or_default();
        let port = given("port").or_else(|| url.port().map(|port| port.to_string()));
        let port = port.unwrap_or_else(|| "5432".to_owned());
        let name = given("dbname").unwrap_or_else(|| url.path().trim_start_matches('/').to_owned());
        format!("{host}:{port}/{name}")
    }

    /// The complete URL, password included.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_embedded() {
            return f.write_str(&self.0);
        }
        // The password may be before the host or in the query.
        let Ok(url) = Url::parse(&self.0) else {
            return f.write_str("postgres://…");
        };
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let user = if url.username().is_empty() { "" } else { "…@" };
        write!(
            f,
            "postgres://{user}{}{port}{}",
            url.host_str().unwrap_or_default(),
            url.path()
        )
    }
}

/// An address of the service, without a path; `None` if none is given.
pub fn own_address(given: Option<&str>, setting: &str) -> Result<Option<String>, ConfigError> {
    let Some(text) = given else { return Ok(None) };
    let url = text.trim_end_matches('/');
    let wrong = || {
        ConfigError::new(
            setting,
            format!("`{text}` is not an address such as https://updates.example.com"),
        )
    };
    let uri: http::Uri = url.parse().map_err(|_| wrong())?;
    let plain = matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty());
    let whole = uri.path() == "/" && uri.query().is_none() && !url.contains(['@', '#']);
    if plain && whole {
        Ok(Some(url.to_owned()))
    } else {
        Err(wrong())
    }
}

/// The address of App Store Connect.
pub fn app_store_connect_url(raw: &RawSettings) -> Result<String, ConfigError> {
    let given = raw.app_store_connect_url.as_deref();
    store_url(
        given,
        "--app-store-connect-url",
        launchway_app_stores::app_store::ADDRESS,
    )
}

/// The address of Google Play.
pub fn google_play_url(raw: &RawSettings) -> Result<String, ConfigError> {
    let given = raw.google_play_url.as_deref();
    store_url(given, "--google-play-url", launchway_app_stores::google_play::ADDRESS)
}

fn store_url(given: Option<&str>, setting: &str, usual: &str) -> Result<String, ConfigError> {
    let text = given.unwrap_or(usual);
    let url = check_url(text, true).map_err(|refused| ConfigError::new(setting, refused.to_string()))?;
    match (url.query(), url.fragment()) {
        (None, None) => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err(ConfigError::new(setting, "must have no query and no fragment")),
    }
}

/// The directory in which builds run: never inside the data directory, which builds cannot access.
pub fn runner_dir(given: Option<&str>, data_dir: &Path) -> Result<PathBuf, ConfigError> {
    let Some(given) = given else {
        let mut beside = data_dir.components().as_path().as_os_str().to_owned();
        beside.push("-builds");
        return Ok(beside.into());
    };
    let wrong = |error: std::io::Error| ConfigError::new("--runner-dir", error.to_string());
    let (dir, data) = (
        std::path::absolute(given).map_err(wrong)?,
        std::path::absolute(data_dir).map_err(wrong)?,
    );
    if dir.starts_with(&data) {
        let problem =
            format!("`{given}` is in the data directory, which builds must not access; choose a directory outside it");
        return Err(ConfigError::new("--runner-dir", problem));
    }
    Ok(dir)
}
