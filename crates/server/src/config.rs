//! The settings of the service, read once and validated: flag, then environment, then `launchway-server.toml`.
//! A bad one stops the start with one line that names it (contract part 12).

mod networks;
mod oidc;
mod quotas;
mod raw;
mod storage;

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use launchway_domain::submission::preflight::TARGET_SDK_FLOOR;
use launchway_domain::tenancy::Tier;
use launchway_domain::usage::Quotas;

use crate::blob::s3::Credentials;
use crate::outside::address_guard::check_url;
use crate::package::Limits;

pub use networks::Networks;
pub use oidc::Oidc;
pub use raw::RawSettings;
pub use storage::{Storage, credentials_from_environment};

/// Which of the two services this is (spec part 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// For the apps that people use.
    Production,
    /// For trying things.
    Development,
}

impl Environment {
    /// The name in settings, `whoami` and pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Environment::Production => "production",
            Environment::Development => "development",
        }
    }
}

/// What a process does of the service's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Answers the API and the pages.
    pub api: bool,
    /// Answers the public check.
    pub check: bool,
    /// Runs the jobs.
    pub worker: bool,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// Every setting, validated. `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Where data lies that is not elsewhere by another setting.
    pub data_dir: PathBuf,
    /// The database; a password in it is not shown.
    pub database_url: DatabaseUrl,
    /// The object storage.
    pub storage: Storage,
    /// The address people and phones reach the service by, without a slash at the end; `None`: the one it listens on.
    pub public_url: Option<String>,
    /// Production or development.
    pub environment: Environment,
    /// The file with the master key.
    pub master_key_file: PathBuf,
    /// What this process does.
    pub roles: Roles,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Networks,
    /// Public checks a minute and client address; 0 is no limit.
    pub check_limit: u32,
    /// The tier of a new organization.
    pub default_tier: Tier,
    /// How much an organization may use in a month, by its tier.
    pub quotas: Quotas,
    /// Whether every user may make organizations.
    pub open_organizations: bool,
    /// Whether builds are run elsewhere only.
    pub no_runner: bool,
    /// Where this process runs builds.
    pub runner_dir: PathBuf,
    /// What builds of this process may read besides the system's own directories.
    pub runner_readable: Vec<PathBuf>,
    /// The file that settings are read from, whether it is there or not.
    pub settings_file: PathBuf,
    /// Whether webhooks may go over plain http and to private addresses.
    pub allow_private_webhooks: bool,
    /// The OpenID Connect provider that users may sign in through, if any.
    pub oidc: Option<Oidc>,
    /// The address of App Store Connect, without a slash at the end.
    pub app_store_connect_url: String,
    /// The address of Google Play, without a slash at the end.
    pub google_play_url: String,
    /// The API level of Android that Google Play wants apps to target.
    pub target_sdk_floor: u32,
    /// Where the metrics are served, if at all.
    pub metrics_listen: Option<SocketAddr>,
    /// Updates of one bundle that the index of checks keeps.
    pub updates_per_bundle: usize,
    /// Bytes an update package may have.
    pub max_package_size: u64,
    /// What an update package may hold.
    pub package_limits: Limits,
    /// Bytes a source archive may have.
    pub max_source_size: u64,
    /// Days that log, artifacts and source of a build are kept after its end; 0 is for ever.
    pub keep_builds_days: u32,
    /// How log lines look.
    pub log_format: LogFormat,
}

/// A database URL whose `Debug` hides what may be a password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The whole URL.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0.split_once("://"), self.0.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => write!(f, "{scheme}://…@{host}"),
            _ => f.write_str(&self.0),
        }
    }
}

/// A setting that cannot be used. Its text is the one line that the operator sees.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct ConfigError {
    /// The setting, as a flag.
    pub setting: String,
    /// What is wrong and what would do.
    pub problem: String,
}

impl ConfigError {
    /// Says what is wrong with a setting.
    pub fn new(setting: &str, problem: impl Into<String>) -> Self {
        Self {
            setting: setting.to_owned(),
            problem: problem.into(),
        }
    }
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

impl Config {
    /// Validates the settings that flags and environment gave, over those of the settings file, over the defaults.
    pub fn load(given: RawSettings, credentials: Option<Credentials>) -> Result<Config, ConfigError> {
        let raw = given.over(RawSettings::from_file(given.config.as_deref())?);
        let data_dir = PathBuf::from(raw.data_dir.as_deref().unwrap_or("launchway-data"));
        let database_url = match &raw.database_url {
            Some(url)
                if ["sqlite:", "postgres://", "postgresql://"]
                    .iter()
                    .any(|scheme| url.starts_with(scheme)) =>
            {
                url.clone()
            }
            Some(_) => {
                return Err(ConfigError::new(
                    "--database-url",
                    "must start with sqlite: or postgres://",
                ));
            }
            None => format!("sqlite:{}", data_dir.join("launchway.db").display()),
        };
        let package_limits = package_limits(&raw)?;
        let oidc = Oidc::parse(&raw)?;
        Ok(Config {
            listen: parsed(&raw.listen, "--listen", "an address and port such as 127.0.0.1:8787")?
                .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8787))),
            storage: Storage::parse(raw.storage_url.as_deref(), &data_dir, credentials)?,
            public_url: raw.public_url.as_deref().map(public_url).transpose()?,
            environment: one_of(
                &raw.environment,
                "--environment",
                &[
                    ("production", Environment::Production),
                    ("development", Environment::Development),
                ],
            )?
            .unwrap_or(Environment::Production),
            master_key_file: raw
                .master_key_file
                .map_or_else(|| data_dir.join("master.key"), PathBuf::from),
            roles: roles(raw.roles.as_deref())?,
            trusted_proxies: Networks::parse(raw.trusted_proxies.as_deref().unwrap_or(""))?,
            check_limit: parsed(&raw.check_limit, "--check-limit", "a whole number, 0 for no limit")?.unwrap_or(6000),
            default_tier: parsed(&raw.default_tier, "--default-tier", "free, pro or enterprise")?
                .unwrap_or(Tier::Enterprise),
            quotas: quotas::parse(raw.quotas.as_deref().unwrap_or(""))?,
            open_organizations: truth(&raw.open_organizations, "--open-organizations")?,
            no_runner: truth(&raw.no_runner, "--no-runner")?,
            runner_dir: runner_dir(raw.runner_dir.as_deref(), &data_dir)?,
            runner_readable: paths(raw.runner_readable.as_deref().unwrap_or("")),
            settings_file: raw.config.as_deref().unwrap_or(raw::DEFAULT_FILE).into(),
            allow_private_webhooks: truth(&raw.allow_private_webhooks, "--allow-private-webhooks")?,
            oidc,
            app_store_connect_url: store_url(
                raw.app_store_connect_url.as_deref(),
                "--app-store-connect-url",
                launchway_stores::app_store::ADDRESS,
            )?,
            google_play_url: store_url(
                raw.google_play_url.as_deref(),
                "--google-play-url",
                launchway_stores::google_play::ADDRESS,
            )?,
            target_sdk_floor: parsed(&raw.target_sdk_floor, "--target-sdk-floor", "an API level such as 36")?
                .unwrap_or(TARGET_SDK_FLOOR),
            metrics_listen: parsed(
                &raw.metrics_listen,
                "--metrics-listen",
                "an address and port such as 127.0.0.1:9100",
            )?,
            updates_per_bundle: parsed(&raw.updates_per_bundle, "--updates-per-bundle", "a whole number from 1")?
                .filter(|count| *count > 0)
                .unwrap_or(200),
            max_package_size: size(&raw.max_package_size, "--max-package-size")?.unwrap_or(512 * MIB),
            package_limits,
            max_source_size: size(&raw.max_source_size, "--max-source-size")?.unwrap_or(2 * GIB),
            keep_builds_days: parsed(
                &raw.keep_builds_days,
                "--keep-builds-days",
                "a whole number of days, 0 for ever",
            )?
            .unwrap_or(180),
            log_format: one_of(
                &raw.log_format,
                "--log-format",
                &[("text", LogFormat::Text), ("json", LogFormat::Json)],
            )?
            .unwrap_or(LogFormat::Text),
            database_url: DatabaseUrl(database_url),
            data_dir,
        })
    }

    /// Whether the database is the embedded one.
    pub fn is_embedded(&self) -> bool {
        self.database_url.0.starts_with("sqlite:")
    }

    /// Where files without a name lie that only this process uses.
    pub fn scratch_dir(&self) -> PathBuf {
        self.data_dir.join("tmp")
    }
}

/// Makes a directory and those above it that are missing, for this user alone: what lies in it is nobody else's business.
pub fn make_private_dir(path: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn parsed<T: std::str::FromStr>(value: &Option<String>, setting: &str, wanted: &str) -> Result<Option<T>, ConfigError> {
    let Some(text) = value else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| ConfigError::new(setting, format!("`{text}` is not {wanted}")))
}

fn one_of<T: Copy>(value: &Option<String>, setting: &str, choices: &[(&str, T)]) -> Result<Option<T>, ConfigError> {
    let Some(text) = value else { return Ok(None) };
    match choices.iter().find(|(name, _)| name == text) {
        Some((_, choice)) => Ok(Some(*choice)),
        None => {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            Err(ConfigError::new(
                setting,
                format!("`{text}` is not one of {}", names.join(", ")),
            ))
        }
    }
}

/// Paths with commas between them.
fn paths(list: &str) -> Vec<PathBuf> {
    let each = list.split(',').map(str::trim).filter(|path| !path.is_empty());
    each.map(PathBuf::from).collect()
}

/// Where builds run: never in the data directory, which is closed to them.
fn runner_dir(given: Option<&str>, data_dir: &Path) -> Result<PathBuf, ConfigError> {
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
        let problem = format!("`{given}` is in the data directory, which builds must not see; name a place outside");
        return Err(ConfigError::new("--runner-dir", problem));
    }
    Ok(dir)
}

fn package_limits(raw: &RawSettings) -> Result<Limits, ConfigError> {
    let default = Limits::default();
    let ratio = parsed(&raw.max_unpack_ratio, "--max-unpack-ratio", "a whole number from 1")?;
    Ok(Limits {
        max_unpacked: size(&raw.max_unpacked_size, "--max-unpacked-size")?.unwrap_or(default.max_unpacked),
        max_ratio: ratio.map_or(default.max_ratio, NonZeroU64::get),
        ..default
    })
}

/// The address of a store.
fn store_url(given: Option<&str>, setting: &str, usual: &str) -> Result<String, ConfigError> {
    let text = given.unwrap_or(usual);
    let url = check_url(text, true).map_err(|refused| ConfigError::new(setting, refused.to_string()))?;
    match (url.query(), url.fragment()) {
        (None, None) => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err(ConfigError::new(setting, "must have no query and no fragment")),
    }
}

fn truth(value: &Option<String>, setting: &str) -> Result<bool, ConfigError> {
    Ok(one_of(
        value,
        setting,
        &[("true", true), ("false", false), ("1", true), ("0", false)],
    )?
    .unwrap_or(false))
}

/// Bytes, also with `K`, `M` or `G` behind the number.
fn size(value: &Option<String>, setting: &str) -> Result<Option<u64>, ConfigError> {
    let Some(text) = value else { return Ok(None) };
    let (digits, factor) = match text
        .trim_end_matches(['B', 'b'])
        .split_at_checked(text.len().saturating_sub(1))
    {
        Some((digits, "K" | "k")) => (digits, 1 << 10),
        Some((digits, "M" | "m")) => (digits, MIB),
        Some((digits, "G" | "g")) => (digits, GIB),
        _ => (text.as_str(), 1),
    };
    let bytes = digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .filter(|bytes| *bytes > 0);
    bytes
        .map(Some)
        .ok_or_else(|| ConfigError::new(setting, format!("`{text}` is not a size such as 536870912 or 512M")))
}

fn public_url(text: &str) -> Result<String, ConfigError> {
    let url = text.trim_end_matches('/');
    let wrong = || {
        ConfigError::new(
            "--public-url",
            format!("`{text}` is not an address such as https://updates.example.com"),
        )
    };
    let uri: http::Uri = url.parse().map_err(|_| wrong())?;
    let plain = matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty());
    let whole = uri.path() == "/" && uri.query().is_none() && !url.contains(['@', '#']);
    if plain && whole {
        Ok(url.to_owned())
    } else {
        Err(wrong())
    }
}

fn roles(text: Option<&str>) -> Result<Roles, ConfigError> {
    let Some(text) = text else {
        return Ok(Roles {
            api: true,
            check: true,
            worker: true,
        });
    };
    let mut roles = Roles {
        api: false,
        check: false,
        worker: false,
    };
    for name in text.split(',').map(str::trim) {
        match name {
            "api" => roles.api = true,
            "check" => roles.check = true,
            "worker" => roles.worker = true,
            _ => {
                return Err(ConfigError::new(
                    "--roles",
                    format!("`{name}` is not one of api, check, worker"),
                ));
            }
        }
    }
    Ok(roles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(change: impl FnOnce(&mut RawSettings)) -> Result<Config, String> {
        let mut raw = RawSettings::default();
        change(&mut raw);
        Config::load(raw, None).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_are_the_contracts() {
        let config = load(|_| {}).expect("defaults are valid");
        assert_eq!(config.listen.to_string(), "127.0.0.1:8787");
        assert_eq!(config.database_url.reveal(), "sqlite:launchway-data/launchway.db");
        assert_eq!(config.runner_dir, Path::new("launchway-data-builds"));
        assert!(config.runner_readable.is_empty());
        let several = load(|raw| raw.runner_readable = Some("/opt/sdk, /opt/java,".into())).expect("two places");
        assert_eq!(several.runner_readable, ["/opt/sdk", "/opt/java"].map(PathBuf::from));
        assert_eq!(config.master_key_file, Path::new("launchway-data/master.key"));
        assert_eq!((config.check_limit, config.default_tier), (6000, Tier::Enterprise));
        assert_eq!(
            (config.max_package_size, config.max_source_size),
            (536_870_912, 2_147_483_648)
        );
    }

    #[test]
    fn a_bad_setting_is_one_line_that_names_it() {
        type Change = fn(&mut RawSettings);
        let cases: [(Change, &str); 13] = [
            (
                |raw| raw.runner_dir = Some("launchway-data/builds".into()),
                "--runner-dir: `launchway-data/builds` is in the data directory, which builds must not see; name a place outside",
            ),
            (
                |raw| raw.listen = Some("here".into()),
                "--listen: `here` is not an address and port such as 127.0.0.1:8787",
            ),
            (
                |raw| raw.database_url = Some("mysql://x".into()),
                "--database-url: must start with sqlite: or postgres://",
            ),
            (
                |raw| raw.storage_url = Some("ftp://x".into()),
                "--storage-url: must be file:///DIRECTORY or s3://BUCKET?endpoint=…&region=…",
            ),
            (
                |raw| raw.public_url = Some("example.com".into()),
                "--public-url: `example.com` is not an address such as https://updates.example.com",
            ),
            (
                |raw| raw.environment = Some("test".into()),
                "--environment: `test` is not one of production, development",
            ),
            (
                |raw| raw.roles = Some("api,cook".into()),
                "--roles: `cook` is not one of api, check, worker",
            ),
            (
                |raw| raw.trusted_proxies = Some("10.0.0.0/40".into()),
                "--trusted-proxies: `10.0.0.0/40` is not an address or a network such as 10.0.0.0/8",
            ),
            (
                |raw| raw.default_tier = Some("gold".into()),
                "--default-tier: `gold` is not free, pro or enterprise",
            ),
            (
                |raw| raw.quotas = Some("free:updates".into()),
                "--quotas: `updates` is not a limit such as updates=20",
            ),
            (
                |raw| raw.max_package_size = Some("big".into()),
                "--max-package-size: `big` is not a size such as 536870912 or 512M",
            ),
            (
                |raw| raw.keep_builds_days = Some("-1".into()),
                "--keep-builds-days: `-1` is not a whole number of days, 0 for ever",
            ),
            (
                |raw| raw.max_unpack_ratio = Some("0".into()),
                "--max-unpack-ratio: `0` is not a whole number from 1",
            ),
        ];
        for (change, line) in cases {
            assert_eq!(load(change).expect_err(line), line);
        }
    }

    #[test]
    fn the_settings_file_takes_numbers_and_names_what_is_wrong() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("settings.toml");
        let load_file = |text: &str| {
            std::fs::write(&file, text).expect("written");
            load(|raw| raw.config = Some(file.display().to_string()))
        };
        let config = load_file("check-limit = 0\nopen-organizations = true\nlisten = '127.0.0.1:1'").expect("valid");
        assert!(config.check_limit == 0 && config.open_organizations && config.listen.port() == 1);
        let errors = [
            ("listen =", "line 1"),
            ("a = 1", "unknown field `a`"),
            (
                "check-limit = 'x'",
                "--check-limit: `x` is not a whole number, 0 for no limit",
            ),
            (
                "open-organizations = 'maybe'",
                "--open-organizations: `maybe` is not one of true, false, 1, 0",
            ),
        ];
        for (text, part) in errors {
            let error = load_file(text).expect_err(text);
            assert!(error.contains(part) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn a_password_is_not_printed() {
        let config = load(|raw| raw.database_url = Some("postgres://me:secret@db/launchway".into())).expect("valid");
        let printed = format!("{config:?}");
        assert!(
            printed.contains("postgres://…@db/launchway") && !printed.contains("secret"),
            "{printed}"
        );
    }

    #[test]
    fn sizes_take_units() {
        for (text, bytes) in [("7", 7), ("2K", 2048), ("512M", 536_870_912), ("2G", 2_147_483_648)] {
            assert_eq!(size(&Some(text.to_owned()), "--x"), Ok(Some(bytes)), "{text}");
        }
        assert!(size(&Some("0".into()), "--x").is_err() && size(&Some("99999999999G".into()), "--x").is_err());
    }
}
