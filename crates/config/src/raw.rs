//! Settings as text, from the command line, the environment or the settings file: one list serves all three.
#![expect(rustdoc::bare_urls, reason = "the command line shows these comments as its help")]

use std::path::Path;

use super::ConfigError;

/// The default settings file.
pub(super) const DEFAULT_FILE: &str = "launchway-server.toml";

/// The settings before validation. `launchway-server.toml` uses the same names, with hyphens.
#[derive(Clone, Debug, Default, clap::Args, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RawSettings {
    /// Settings file [default: launchway-server.toml, if it exists]
    #[arg(
        long,
        env = "LAUNCHWAY_SERVER_CONFIG",
        global = true,
        value_name = "FILE",
        hide_env = true
    )]
    #[serde(skip)]
    pub config: Option<String>,
    /// Address and port to listen on [default: 127.0.0.1:8787]
    #[arg(
        long,
        env = "LAUNCHWAY_LISTEN",
        global = true,
        value_name = "ADDRESS",
        hide_env_values = true
    )]
    pub listen: Option<String>,
    /// Directory for the embedded database, objects and the master key [default: ./launchway-data]
    #[arg(
        long,
        env = "LAUNCHWAY_DATA_DIR",
        global = true,
        value_name = "DIR",
        hide_env_values = true
    )]
    pub data_dir: Option<String>,
    /// Database: sqlite:PATH or postgres://USER@HOST/NAME [default: SQLite in the data directory]
    #[arg(
        long,
        env = "LAUNCHWAY_DATABASE_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub database_url: Option<String>,
    /// Object storage: file:///DIR or s3://BUCKET?endpoint=…&region=… with keys in the usual AWS variables [default: the data directory]
    #[arg(
        long,
        env = "LAUNCHWAY_STORAGE_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub storage_url: Option<String>,
    /// URL at which browsers and devices reach this service [default: http:// and the listening address]
    #[arg(
        long,
        env = "LAUNCHWAY_PUBLIC_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub public_url: Option<String>,
    /// URL from which apps with Expo's client download files, such as that of a CDN before this service [default: the public URL]
    #[arg(
        long,
        env = "LAUNCHWAY_ASSET_BASE",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub asset_base: Option<String>,
    /// Send no Strict-Transport-Security header if the public URL is https
    #[arg(long, env = "LAUNCHWAY_NO_HSTS", global = true, value_name = "BOOL", hide_env_values = true,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_hsts: Option<String>,
    /// Environment: production or development [default: production]
    #[arg(
        long,
        env = "LAUNCHWAY_ENVIRONMENT",
        global = true,
        value_name = "NAME",
        hide_env_values = true
    )]
    pub environment: Option<String>,
    /// File with the master key; created if no stored secret needs an earlier one [default: master.key in the data directory]
    #[arg(
        long,
        env = "LAUNCHWAY_MASTER_KEY_FILE",
        global = true,
        value_name = "FILE",
        hide_env_values = true
    )]
    pub master_key_file: Option<String>,
    /// Directory for a snapshot of the index of checks, from which a start answers while PostgreSQL is not available [default: none]
    #[arg(
        long,
        env = "LAUNCHWAY_SNAPSHOT_DIR",
        global = true,
        value_name = "DIR",
        hide_env_values = true
    )]
    pub snapshot_dir: Option<String>,
    /// Hours after which a start refuses the snapshot, 1 to 720 [default: 24]
    #[arg(
        long,
        env = "LAUNCHWAY_SNAPSHOT_HOURS",
        global = true,
        value_name = "HOURS",
        hide_env_values = true
    )]
    pub snapshot_hours: Option<String>,
    /// Roles of this process: any of api,check,worker [default: all]
    #[arg(
        long,
        env = "LAUNCHWAY_ROLES",
        global = true,
        value_name = "LIST",
        hide_env_values = true
    )]
    pub roles: Option<String>,
    /// Proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8,::1
    #[arg(
        long,
        env = "LAUNCHWAY_TRUSTED_PROXIES",
        global = true,
        value_name = "LIST",
        hide_env_values = true
    )]
    pub trusted_proxies: Option<String>,
    /// Public checks per minute and client address, 0 for no limit [default: 6000]
    #[arg(
        long,
        env = "LAUNCHWAY_CHECK_LIMIT",
        global = true,
        value_name = "N",
        hide_env_values = true
    )]
    pub check_limit: Option<String>,
    /// Maximum number of open connections [default: three quarters of the process's limit of open files, at most 10000]
    #[arg(
        long,
        env = "LAUNCHWAY_MAX_CONNECTIONS",
        global = true,
        value_name = "N",
        hide_env_values = true
    )]
    pub max_connections: Option<String>,
    /// The same for one client address (IPv6: /64), except trusted proxies [default: half of them, at most 512]
    #[arg(
        long,
        env = "LAUNCHWAY_MAX_CONNECTIONS_PER_CLIENT",
        global = true,
        value_name = "N",
        hide_env_values = true
    )]
    pub max_connections_per_client: Option<String>,
    /// Tier of a new organization: free, pro or enterprise [default: enterprise]
    #[arg(
        long,
        env = "LAUNCHWAY_DEFAULT_TIER",
        global = true,
        value_name = "TIER",
        hide_env_values = true
    )]
    pub default_tier: Option<String>,
    /// Monthly quotas of an organization by tier (builds, build-minutes, submissions, updates, bytes), such as free:builds=30,updates=20;pro:updates=1000 [default: no limits]
    #[arg(
        long,
        env = "LAUNCHWAY_QUOTAS",
        global = true,
        value_name = "QUOTAS",
        hide_env_values = true
    )]
    pub quotas: Option<String>,
    /// Let every signed-in user create organizations
    #[arg(long, env = "LAUNCHWAY_OPEN_ORGANIZATIONS", global = true, value_name = "BOOL", hide_env_values = true,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub open_organizations: Option<String>,
    /// Directory in which this process runs builds; outside the data directory, and accessible to the users of builds [default: the data directory's name followed by -builds]
    #[arg(
        long,
        env = "LAUNCHWAY_RUNNER_DIR",
        global = true,
        value_name = "DIR",
        hide_env_values = true
    )]
    pub runner_dir: Option<String>,
    /// Directories that builds of this process may read in addition to the system's, such as toolchains, separated by commas [default: none]
    #[arg(
        long,
        env = "LAUNCHWAY_RUNNER_READABLE",
        global = true,
        value_name = "DIRS",
        hide_env_values = true
    )]
    pub runner_readable: Option<String>,
    /// TCP ports that builds of this process may connect to although a server on this machine listens there, separated by commas [default: none]
    #[arg(
        long,
        env = "LAUNCHWAY_RUNNER_OPEN_PORTS",
        global = true,
        value_name = "PORTS",
        hide_env_values = true
    )]
    pub runner_open_ports: Option<String>,
    /// Do not run builds in this process
    #[arg(long, env = "LAUNCHWAY_NO_RUNNER", global = true, value_name = "BOOL", hide_env_values = true,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_runner: Option<String>,
    /// Allow webhooks over plain http and to private addresses, for development
    #[arg(long, env = "LAUNCHWAY_ALLOW_PRIVATE_WEBHOOKS", global = true, value_name = "BOOL", hide_env_values = true,
          num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub allow_private_webhooks: Option<String>,
    /// URL of the OpenID Connect provider that users can sign in with
    #[arg(
        long,
        env = "LAUNCHWAY_OIDC_ISSUER",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub oidc_issuer: Option<String>,
    /// Client id of this service at the provider
    #[arg(
        long,
        env = "LAUNCHWAY_OIDC_CLIENT_ID",
        global = true,
        value_name = "ID",
        hide_env_values = true
    )]
    pub oidc_client_id: Option<String>,
    /// File with the client secret of this service at the provider
    #[arg(
        long,
        env = "LAUNCHWAY_OIDC_CLIENT_SECRET_FILE",
        global = true,
        value_name = "FILE",
        hide_env_values = true
    )]
    pub oidc_client_secret_file: Option<String>,
    /// URL of App Store Connect [default: https://api.appstoreconnect.apple.com]
    #[arg(
        long,
        env = "LAUNCHWAY_APP_STORE_CONNECT_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub app_store_connect_url: Option<String>,
    /// URL of the Google Play Developer API [default: https://androidpublisher.googleapis.com]
    #[arg(
        long,
        env = "LAUNCHWAY_GOOGLE_PLAY_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub google_play_url: Option<String>,
    /// Lowest Android API level that Google Play accepts as target [default: 36]
    #[arg(
        long,
        env = "LAUNCHWAY_TARGET_SDK_FLOOR",
        global = true,
        value_name = "N",
        hide_env_values = true
    )]
    pub target_sdk_floor: Option<String>,
    /// Major version of Apple's SDKs that App Store Connect requires apps to be built with [default: 26]
    #[arg(
        long,
        env = "LAUNCHWAY_APPLE_SDK_FLOOR",
        global = true,
        value_name = "N",
        hide_env_values = true
    )]
    pub apple_sdk_floor: Option<String>,
    /// Address and port that serve metrics for Prometheus at /metrics [default: off]
    #[arg(
        long,
        env = "LAUNCHWAY_METRICS_LISTEN",
        global = true,
        value_name = "ADDRESS",
        hide_env_values = true
    )]
    pub metrics_listen: Option<String>,
    /// Number of updates of a bundle that checks consider, newest first [default: 200]
    #[arg(
        long,
        env = "LAUNCHWAY_UPDATES_PER_BUNDLE",
        global = true,
        value_name = "N",
        hide_env_values = true
    )]
    pub updates_per_bundle: Option<String>,
    /// Largest update package, such as 512M [default: 512M]
    #[arg(
        long,
        env = "LAUNCHWAY_MAX_PACKAGE_SIZE",
        global = true,
        value_name = "SIZE",
        hide_env_values = true
    )]
    pub max_package_size: Option<String>,
    /// Largest unpacked size of an update package, such as 2G [default: 2G]
    #[arg(
        long,
        env = "LAUNCHWAY_MAX_UNPACKED_SIZE",
        global = true,
        value_name = "SIZE",
        hide_env_values = true
    )]
    pub max_unpacked_size: Option<String>,
    /// Largest ratio of unpacked to packed size, of an update package and of each file in it [default: 200]
    #[arg(
        long,
        env = "LAUNCHWAY_MAX_UNPACK_RATIO",
        global = true,
        value_name = "N",
        hide_env_values = true
    )]
    pub max_unpack_ratio: Option<String>,
    /// Largest source archive, such as 2G [default: 2G]
    #[arg(
        long,
        env = "LAUNCHWAY_MAX_SOURCE_SIZE",
        global = true,
        value_name = "SIZE",
        hide_env_values = true
    )]
    pub max_source_size: Option<String>,
    /// Days that the server's part of the metadata of signed updates is valid, 1 to 30 [default: 7]
    #[arg(
        long,
        env = "LAUNCHWAY_TRUST_DAYS",
        global = true,
        value_name = "DAYS",
        hide_env_values = true
    )]
    pub trust_days: Option<String>,
    /// Days that a build's log, artifacts and source are kept after it ends, 0 for unlimited [default: 180]
    #[arg(
        long,
        env = "LAUNCHWAY_KEEP_BUILDS_DAYS",
        global = true,
        value_name = "DAYS",
        hide_env_values = true
    )]
    pub keep_builds_days: Option<String>,
    /// Free space on the data disk below which uploads, artifacts and logs are refused, such as 10G; 0 for no limit
    /// [default: 1G, at most a twentieth of the disk]
    #[arg(
        long,
        env = "LAUNCHWAY_MIN_FREE_SPACE",
        global = true,
        value_name = "SIZE",
        hide_env_values = true
    )]
    pub min_free_space: Option<String>,
    /// Format of log lines: text or json [default: text]
    #[arg(
        long,
        env = "LAUNCHWAY_LOG_FORMAT",
        global = true,
        value_name = "FORMAT",
        hide_env_values = true
    )]
    pub log_format: Option<String>,
}

impl RawSettings {
    /// These settings, falling back to those of `other`. An empty text counts as unset.
    pub fn with_fallback(&self, other: RawSettings) -> RawSettings {
        fn pick(mine: &Option<String>, other: Option<String>) -> Option<String> {
            mine.clone()
                .filter(|text| !text.is_empty())
                .or(other)
                .filter(|text| !text.is_empty())
        }
        RawSettings {
            config: pick(&self.config, other.config),
            listen: pick(&self.listen, other.listen),
            data_dir: pick(&self.data_dir, other.data_dir),
            database_url: pick(&self.database_url, other.database_url),
            storage_url: pick(&self.storage_url, other.storage_url),
            public_url: pick(&self.public_url, other.public_url),
            asset_base: pick(&self.asset_base, other.asset_base),
            no_hsts: pick(&self.no_hsts, other.no_hsts),
            environment: pick(&self.environment, other.environment),
            master_key_file: pick(&self.master_key_file, other.master_key_file),
            snapshot_dir: pick(&self.snapshot_dir, other.snapshot_dir),
            snapshot_hours: pick(&self.snapshot_hours, other.snapshot_hours),
            roles: pick(&self.roles, other.roles),
            trusted_proxies: pick(&self.trusted_proxies, other.trusted_proxies),
            check_limit: pick(&self.check_limit, other.check_limit),
            max_connections: pick(&self.max_connections, other.max_connections),
            max_connections_per_client: pick(&self.max_connections_per_client, other.max_connections_per_client),
            default_tier: pick(&self.default_tier, other.default_tier),
            quotas: pick(&self.quotas, other.quotas),
            open_organizations: pick(&self.open_organizations, other.open_organizations),
            runner_dir: pick(&self.runner_dir, other.runner_dir),
            runner_readable: pick(&self.runner_readable, other.runner_readable),
            runner_open_ports: pick(&self.runner_open_ports, other.runner_open_ports),
            no_runner: pick(&self.no_runner, other.no_runner),
            allow_private_webhooks: pick(&self.allow_private_webhooks, other.allow_private_webhooks),
            oidc_issuer: pick(&self.oidc_issuer, other.oidc_issuer),
            oidc_client_id: pick(&self.oidc_client_id, other.oidc_client_id),
            oidc_client_secret_file: pick(&self.oidc_client_secret_file, other.oidc_client_secret_file),
            app_store_connect_url: pick(&self.app_store_connect_url, other.app_store_connect_url),
            google_play_url: pick(&self.google_play_url, other.google_play_url),
            target_sdk_floor: pick(&self.target_sdk_floor, other.target_sdk_floor),
            apple_sdk_floor: pick(&self.apple_sdk_floor, other.apple_sdk_floor),
            metrics_listen: pick(&self.metrics_listen, other.metrics_listen),
            updates_per_bundle: pick(&self.updates_per_bundle, other.updates_per_bundle),
            max_package_size: pick(&self.max_package_size, other.max_package_size),
            max_unpacked_size: pick(&self.max_unpacked_size, other.max_unpacked_size),
            max_unpack_ratio: pick(&self.max_unpack_ratio, other.max_unpack_ratio),
            max_source_size: pick(&self.max_source_size, other.max_source_size),
            trust_days: pick(&self.trust_days, other.trust_days),
            keep_builds_days: pick(&self.keep_builds_days, other.keep_builds_days),
            min_free_space: pick(&self.min_free_space, other.min_free_space),
            log_format: pick(&self.log_format, other.log_format),
        }
    }

    /// Reads the settings file: the named one, or `launchway-server.toml` in the current directory if it exists.
    pub fn from_file(named: Option<&str>) -> Result<RawSettings, ConfigError> {
        let named = named.filter(|name| !name.is_empty());
        let path = Path::new(named.unwrap_or(DEFAULT_FILE));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => return Ok(Self::default()),
            Err(error) => return Err(ConfigError::new("--config", format!("{}: {error}", path.display()))),
        };
        let wrong = |problem: String| ConfigError::new("--config", format!("{}{problem}", path.display()));
        let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            wrong(format!(
                ", line {}: {}",
                text[..start].lines().count().max(1),
                error.message()
            ))
        })?;
        // A number or a boolean may be unquoted: it is parsed like the text of a flag.
        for (_, value) in &mut table {
            if matches!(value, toml::Value::Integer(_) | toml::Value::Boolean(_)) {
                *value = toml::Value::String(value.to_string());
            }
        }
        table
            .try_into()
            .map_err(|error: toml::de::Error| wrong(format!(": {}", error.message())))
    }
}
