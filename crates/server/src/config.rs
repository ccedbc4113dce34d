//! The settings of the service, read once and validated: flag, then environment, then `launchway-server.toml`.
//! A bad one stops the start with one line that names it (`docs/reference/operation.md#bad-settings`).

mod addresses;
mod connections;
mod networks;
mod oidc;
mod quotas;
mod raw;
mod roles;
mod secrets;
mod storage;
mod values;

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use launchway_api::words::ServiceEnvironment as Environment;
use launchway_domain::submission::preflight::TARGET_SDK_FLOOR;
use launchway_domain::tenancy::Tier;
use launchway_domain::usage::Quotas;

use crate::blob::s3::Credentials;
use crate::package::Limits;
use addresses::{app_store_connect_url, google_play_url, public_url, runner_dir};
use values::{GIB, MIB, one_of, parsed, paths, ports, size, size_or_zero, truth};

pub use addresses::DatabaseUrl;
pub use networks::Networks;
pub use oidc::Oidc;
pub use raw::RawSettings;
pub use roles::Roles;
pub use storage::{Storage, credentials_from_environment};

/// Which of the two environments this process serves (`docs/reference/service.md#environments`).
fn environment(raw: &RawSettings) -> Result<Environment, ConfigError> {
    let choices = Environment::ALL.map(|environment| (environment.as_str(), environment));
    Ok(one_of(&raw.environment, "--environment", &choices)?.unwrap_or(Environment::Production))
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl LogFormat {
    fn parse(raw: &RawSettings) -> Result<LogFormat, ConfigError> {
        let choices = [("text", LogFormat::Text), ("json", LogFormat::Json)];
        Ok(one_of(&raw.log_format, "--log-format", &choices)?.unwrap_or(LogFormat::Text))
    }
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
    /// Whether browsers are not told to come by https only.
    pub no_hsts: bool,
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
    /// Connections that are open at a time.
    pub max_connections: usize,
    /// Connections of one client address that are open at a time.
    pub max_connections_per_client: usize,
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
    /// TCP ports that builds of this process may connect to though something of this machine listens there.
    pub runner_open_ports: Vec<u16>,
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
    /// Bytes that stay free on the disk of the data; `None` is the default for the size of the disk.
    pub min_free_space: Option<u64>,
    /// How log lines look.
    pub log_format: LogFormat,
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

impl Config {
    /// Validates the settings that flags and environment gave, over those of the settings file, over the defaults.
    pub fn load(given: RawSettings, credentials: Option<Credentials>) -> Result<Config, ConfigError> {
        let raw = given.over(RawSettings::from_file(given.config.as_deref())?);
        let data_dir = PathBuf::from(raw.data_dir.as_deref().unwrap_or("launchway-data"));
        let database_url = DatabaseUrl::parse(raw.database_url.as_deref(), &data_dir)?;
        let package_limits = package_limits(&raw)?;
        let oidc = Oidc::parse(&raw)?;
        let max_connections = connections::most(&raw)?;
        let max_connections_per_client = connections::most_of_client(&raw, max_connections)?;
        Ok(Config {
            listen: parsed(&raw.listen, "--listen", "an address and port such as 127.0.0.1:8787")?
                .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8787))),
            storage: Storage::parse(raw.storage_url.as_deref(), &data_dir, credentials)?,
            public_url: raw.public_url.as_deref().map(public_url).transpose()?,
            no_hsts: truth(&raw.no_hsts, "--no-hsts")?,
            environment: environment(&raw)?,
            master_key_file: raw
                .master_key_file
                .as_deref()
                .map_or_else(|| data_dir.join("master.key"), PathBuf::from),
            roles: Roles::parse(raw.roles.as_deref())?,
            trusted_proxies: Networks::parse(raw.trusted_proxies.as_deref().unwrap_or(""))?,
            check_limit: parsed(&raw.check_limit, "--check-limit", "a whole number, 0 for no limit")?.unwrap_or(6000),
            max_connections,
            max_connections_per_client,
            default_tier: parsed(&raw.default_tier, "--default-tier", "free, pro or enterprise")?
                .unwrap_or(Tier::Enterprise),
            quotas: quotas::parse(raw.quotas.as_deref().unwrap_or(""))?,
            open_organizations: truth(&raw.open_organizations, "--open-organizations")?,
            no_runner: truth(&raw.no_runner, "--no-runner")?,
            runner_dir: runner_dir(raw.runner_dir.as_deref(), &data_dir)?,
            runner_readable: paths(raw.runner_readable.as_deref().unwrap_or("")),
            runner_open_ports: ports(raw.runner_open_ports.as_deref().unwrap_or(""), "--runner-open-ports")?,
            settings_file: raw.config.as_deref().unwrap_or(raw::DEFAULT_FILE).into(),
            allow_private_webhooks: truth(&raw.allow_private_webhooks, "--allow-private-webhooks")?,
            oidc,
            app_store_connect_url: app_store_connect_url(&raw)?,
            google_play_url: google_play_url(&raw)?,
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
            min_free_space: size_or_zero(&raw.min_free_space, "--min-free-space")?,
            log_format: LogFormat::parse(&raw)?,
            database_url,
            data_dir,
        })
    }

    /// Whether the database is the embedded one.
    pub fn is_embedded(&self) -> bool {
        self.database_url.reveal().starts_with("sqlite:")
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

fn package_limits(raw: &RawSettings) -> Result<Limits, ConfigError> {
    let default = Limits::default();
    let ratio = parsed(&raw.max_unpack_ratio, "--max-unpack-ratio", "a whole number from 1")?;
    Ok(Limits {
        max_unpacked: size(&raw.max_unpacked_size, "--max-unpacked-size")?.unwrap_or(default.max_unpacked),
        max_ratio: ratio.map_or(default.max_ratio, NonZeroU64::get),
        ..default
    })
}

#[cfg(test)]
mod tests;
