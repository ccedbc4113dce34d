//! The settings of the service, read once and validated: flag, then environment, then `launchway-server.toml`. An
//! invalid one stops the start with one line that names it (`docs/reference/operation.md#bad-settings`).
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod addresses;
mod connections;
mod networks;
mod oidc;
mod quotas;
mod raw;
mod roles;
mod secrets;
mod snapshot;
mod storage;
mod storage_credentials;
mod values;
mod variables;

use std::net::SocketAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use launchway_api::words::ServiceEnvironment as Environment;
use launchway_domain::submission::preflight::{APPLE_SDK_FLOOR, TARGET_SDK_FLOOR};
use launchway_domain::tenancy::Tier;
use launchway_domain::usage::Quotas;
use launchway_outbound::provider::ProviderSettings;
use launchway_package::Limits;

use addresses::{app_store_connect_url, google_play_url, own_address, runner_dir};
use values::{GIB, MIB, one_of, parse, paths, ports, size, size_or_zero, truth};

pub use addresses::DatabaseUrl;
pub use networks::Networks;
pub use raw::RawSettings;
pub use roles::Roles;
pub use snapshot::SnapshotSettings;
pub use storage::Storage;
pub use storage_credentials::{StorageCredentials, credentials_from_environment};
pub use variables::unknown_variables;

/// The environment that this process serves (`docs/reference/service.md#environments`).
fn environment(raw: &RawSettings) -> Result<Environment, ConfigError> {
    let choices = Environment::ALL.map(|environment| (environment.as_str(), environment));
    Ok(one_of(&raw.environment, "--environment", &choices)?.unwrap_or(Environment::Production))
}

/// The format of log lines.
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
    /// The address and port to listen on.
    pub listen: SocketAddr,
    /// The directory for all data that no other setting places elsewhere.
    pub data_dir: PathBuf,
    /// The database. A password in the URL is hidden.
    pub database_url: DatabaseUrl,
    /// The object storage.
    pub storage: Storage,
    /// The address at which people and phones reach the service, without a trailing slash; `None`: the listening
    /// address.
    pub public_url: Option<String>,
    /// The address from which clients of Expo download files, without a trailing slash; `None`: the public one.
    pub asset_base: Option<String>,
    /// Whether to omit the header that restricts browsers to https.
    pub no_hsts: bool,
    /// Production or development.
    pub environment: Environment,
    /// The file with the master key.
    pub master_key_file: PathBuf,
    /// The local snapshot of the index; `None`: this process keeps none.
    pub snapshot: Option<SnapshotSettings>,
    /// The roles of this process.
    pub roles: Roles,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Networks,
    /// Public checks a minute from one client address; 0 means no limit.
    pub check_limit: u32,
    /// The maximum number of open connections.
    pub max_connections: usize,
    /// The maximum number of open connections from one client address.
    pub max_connections_per_client: usize,
    /// The tier of a new organization.
    pub default_tier: Tier,
    /// The monthly quotas of an organization, by tier.
    pub quotas: Quotas,
    /// Whether every user may create organizations.
    pub open_organizations: bool,
    /// Whether this process runs no builds.
    pub no_runner: bool,
    /// The directory in which this process runs builds.
    pub runner_dir: PathBuf,
    /// Directories that builds of this process may read in addition to the system's.
    pub runner_readable: Vec<PathBuf>,
    /// TCP ports that builds of this process may connect to although a local server listens there.
    pub runner_open_ports: Vec<u16>,
    /// The settings file, which may be missing.
    pub settings_file: PathBuf,
    /// Whether webhooks may use plain http and private addresses.
    pub allow_private_webhooks: bool,
    /// The OpenID Connect provider that users may sign in through, if any.
    pub oidc: Option<ProviderSettings>,
    /// The address of App Store Connect, without a trailing slash.
    pub app_store_connect_url: String,
    /// The address of Google Play, without a trailing slash.
    pub google_play_url: String,
    /// The Android API level that Google Play requires apps to target.
    pub target_sdk_floor: u32,
    /// The major version of Apple's SDKs that App Store Connect requires apps to be built with.
    pub apple_sdk_floor: u32,
    /// The address that serves metrics; `None`: off.
    pub metrics_listen: Option<SocketAddr>,
    /// The number of updates of one bundle in the index of checks.
    pub updates_per_bundle: usize,
    /// The maximum size of an update package in bytes.
    pub max_package_size: u64,
    /// The limits on the contents of an update package.
    pub package_limits: Limits,
    /// The maximum size of a source archive in bytes.
    pub max_source_size: u64,
    /// Days that snapshot and timestamp of an app's signed updates are valid.
    pub trust_days: u32,
    /// Days that log, artifacts and source of a build are kept after its end; 0 means for ever.
    pub keep_builds_days: u32,
    /// Bytes to leave free on the data disk; `None`: a default that depends on the size of the disk.
    pub min_free_space: Option<u64>,
    /// The format of log lines.
    pub log_format: LogFormat,
}

/// An invalid setting. Its text is the one line that the operator sees.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct ConfigError {
    /// The setting, as a flag.
    pub setting: String,
    /// What is wrong and which values are valid.
    pub problem: String,
}

impl ConfigError {
    /// An error about a setting.
    pub fn new(setting: &str, problem: impl Into<String>) -> Self {
        Self {
            setting: setting.to_owned(),
            problem: problem.into(),
        }
    }
}

impl Config {
    /// Validates the settings: flags and environment take precedence over the settings file, which takes precedence
    /// over the defaults.
    pub fn load(given: RawSettings, credentials: Option<StorageCredentials>) -> Result<Config, ConfigError> {
        let raw = given.with_fallback(RawSettings::from_file(given.config.as_deref())?);
        let data_dir = PathBuf::from(raw.data_dir.as_deref().unwrap_or("launchway-data"));
        let database_url = DatabaseUrl::parse(raw.database_url.as_deref(), &data_dir)?;
        let snapshot = SnapshotSettings::parse(&raw, &database_url)?;
        let oidc = oidc::parse(&raw)?;
        let max_connections = connections::max_connections(&raw)?;
        let max_connections_per_client = connections::max_connections_per_client(&raw, max_connections)?;
        Ok(Config {
            listen: parse(&raw.listen, "--listen", "an address and port such as 127.0.0.1:8787")?
                .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8787))),
            storage: Storage::parse(raw.storage_url.as_deref(), &data_dir, credentials)?,
            public_url: own_address(raw.public_url.as_deref(), "--public-url")?,
            asset_base: own_address(raw.asset_base.as_deref(), "--asset-base")?,
            no_hsts: truth(&raw.no_hsts, "--no-hsts")?,
            environment: environment(&raw)?,
            master_key_file: master_key_file(&raw, &data_dir),
            snapshot,
            roles: Roles::parse(raw.roles.as_deref())?,
            trusted_proxies: Networks::parse(raw.trusted_proxies.as_deref().unwrap_or(""))?,
            check_limit: parse(&raw.check_limit, "--check-limit", "a whole number, 0 for no limit")?.unwrap_or(6000),
            max_connections,
            max_connections_per_client,
            default_tier: parse(&raw.default_tier, "--default-tier", "free, pro or enterprise")?
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
            target_sdk_floor: parse(&raw.target_sdk_floor, "--target-sdk-floor", "an API level such as 36")?
                .unwrap_or(TARGET_SDK_FLOOR),
            apple_sdk_floor: parse(&raw.apple_sdk_floor, "--apple-sdk-floor", "a major version such as 26")?
                .unwrap_or(APPLE_SDK_FLOOR),
            metrics_listen: parse(
                &raw.metrics_listen,
                "--metrics-listen",
                "an address and port such as 127.0.0.1:9100",
            )?,
            updates_per_bundle: parse::<NonZeroUsize>(
                &raw.updates_per_bundle,
                "--updates-per-bundle",
                "a whole number from 1",
            )?
            .map_or(200, NonZeroUsize::get),
            max_package_size: size(&raw.max_package_size, "--max-package-size")?.unwrap_or(512 * MIB),
            package_limits: package_limits(&raw)?,
            max_source_size: size(&raw.max_source_size, "--max-source-size")?.unwrap_or(2 * GIB),
            trust_days: trust_days(&raw)?,
            keep_builds_days: keep_builds_days(&raw)?,
            min_free_space: size_or_zero(&raw.min_free_space, "--min-free-space")?,
            log_format: LogFormat::parse(&raw)?,
            database_url,
            data_dir,
        })
    }

    /// Whether the database is the embedded one.
    pub fn is_embedded(&self) -> bool {
        self.database_url.is_embedded()
    }

    /// The directory for unnamed files that only this process uses.
    pub fn scratch_dir(&self) -> PathBuf {
        self.data_dir.join("tmp")
    }
}

fn master_key_file(raw: &RawSettings, data_dir: &Path) -> PathBuf {
    let given = raw.master_key_file.as_deref();
    given.map_or_else(|| data_dir.join("master.key"), PathBuf::from)
}

fn keep_builds_days(raw: &RawSettings) -> Result<u32, ConfigError> {
    const WANTED: &str = "a whole number of days, 0 for no limit";
    Ok(parse(&raw.keep_builds_days, "--keep-builds-days", WANTED)?.unwrap_or(180))
}

/// The lifetime of snapshot and timestamp: the longer, the longer a network can hide updates.
fn trust_days(raw: &RawSettings) -> Result<u32, ConfigError> {
    const WANTED: &str = "a whole number of days, 1 to 30";
    let days: u32 = parse(&raw.trust_days, "--trust-days", WANTED)?.unwrap_or(7);
    if !(1..=30).contains(&days) {
        return Err(ConfigError::new("--trust-days", format!("`{days}` is not {WANTED}")));
    }
    Ok(days)
}

fn package_limits(raw: &RawSettings) -> Result<Limits, ConfigError> {
    let default = Limits::default();
    let ratio = parse(&raw.max_unpack_ratio, "--max-unpack-ratio", "a whole number from 1")?;
    Ok(Limits {
        max_unpacked: size(&raw.max_unpacked_size, "--max-unpacked-size")?.unwrap_or(default.max_unpacked),
        max_ratio: ratio.map_or(default.max_ratio, NonZeroU64::get),
        ..default
    })
}

#[cfg(test)]
mod tests;
