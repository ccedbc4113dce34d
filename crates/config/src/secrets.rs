//! Where this machine stores secrets of the service, and on which ports it serves them: builds must not reach either.

use std::path::{Path, PathBuf};

use reqwest::Url;

use super::{Config, Storage};

/// The default port of PostgreSQL.
const POSTGRES: u16 = 5432;
/// Parameters of a PostgreSQL URL that name files.
const FILES: [&str; 5] = ["sslkey", "sslcert", "sslrootcert", "sslcrl", "passfile"];
/// Variables that name files with credentials of the database and the object storage.
const VARIABLES: [&str; 6] = [
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "PGPASSFILE",
    "PGSERVICEFILE",
];
/// The locations of such files in the home directory of the service's user.
const AT_HOME: [&str; 5] = [".aws", ".pgpass", ".postgresql", ".pg_service.conf", ".config/gcloud"];

impl Config {
    /// Every file and directory that contains a secret of the service.
    pub fn secret_places(&self) -> Vec<PathBuf> {
        // An exhaustive pattern, so that a new setting cannot be forgotten here.
        let Config {
            data_dir,
            database_url,
            storage,
            master_key_file,
            settings_file,
            oidc,
            snapshot,
            // Settings for builds, and settings that are not paths.
            runner_dir: _,
            runner_readable: _,
            runner_open_ports: _,
            listen: _,
            public_url: _,
            asset_base: _,
            environment: _,
            roles: _,
            trusted_proxies: _,
            check_limit: _,
            default_tier: _,
            quotas: _,
            open_organizations: _,
            no_runner: _,
            allow_private_webhooks: _,
            app_store_connect_url: _,
            google_play_url: _,
            target_sdk_floor: _,
            apple_sdk_floor: _,
            metrics_listen: _,
            updates_per_bundle: _,
            max_package_size: _,
            package_limits: _,
            max_source_size: _,
            trust_days: _,
            keep_builds_days: _,
            min_free_space: _,
            no_hsts: _,
            max_connections: _,
            max_connections_per_client: _,
            log_format: _,
        } = self;
        let mut places = vec![data_dir.clone(), settings_file.clone()];
        places.extend([master_key_file.clone(), with_ending(master_key_file, ".new")]);
        if let Storage::Directory(root) = storage {
            places.push(root.clone());
        }
        places.extend(oidc.iter().map(|oidc| oidc.client_secret_file.clone()));
        places.extend(snapshot.iter().map(|snapshot| snapshot.dir.clone()));
        places.extend(of_database(database_url.reveal()));
        places.extend(of_environment());
        places
    }

    /// The local TCP ports on which the service and its data stores listen.
    pub fn own_ports(&self) -> Vec<u16> {
        let mut ports = vec![self.listen.port()];
        ports.extend(self.metrics_listen.map(|address| address.port()));
        if !self.is_embedded() {
            let port = Url::parse(self.database_url.reveal()).ok().and_then(|url| url.port());
            ports.push(port.unwrap_or(POSTGRES));
        }
        if let Storage::S3 { url, .. } = &self.storage {
            ports.extend(endpoint_port(url));
        }
        ports
    }
}

/// The files of an embedded database, or those that the URL of another one names.
fn of_database(address: &str) -> Vec<PathBuf> {
    if let Some(path) = address.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        let path = Path::new(path.split('?').next().unwrap_or_default());
        return ["", "-wal", "-shm", "-journal"]
            .map(|ending| with_ending(path, ending))
            .into();
    }
    let Ok(url) = Url::parse(address) else {
        return Vec::new();
    };
    let named = url.query_pairs().filter(|(name, _)| FILES.contains(&name.as_ref()));
    named.map(|(_, path)| PathBuf::from(path.into_owned())).collect()
}

#[expect(clippy::disallowed_methods, reason = "settings are read here, and only here")]
fn of_environment() -> Vec<PathBuf> {
    let named = VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let at_home = home.iter().flat_map(|home| AT_HOME.iter().map(|name| home.join(name)));
    named.chain(at_home).filter(|path| path.is_absolute()).collect()
}

/// The port of an object storage on this machine.
fn endpoint_port(storage: &str) -> Option<u16> {
    let url = Url::parse(storage).ok()?;
    let (_, endpoint) = url.query_pairs().find(|(name, _)| name == "endpoint")?;
    let endpoint = Url::parse(&endpoint).ok()?;
    let host = endpoint.host_str()?.trim_matches(['[', ']']).to_owned();
    let is_here = host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    is_here.then(|| endpoint.port_or_known_default()).flatten()
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawSettings;

    #[test]
    fn every_file_with_a_secret_is_hidden_from_builds() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("oidc"), "hunter2").unwrap();
        std::fs::write(path("settings.toml"), "").unwrap();
        let raw = RawSettings {
            config: Some(path("settings.toml")),
            data_dir: Some(path("data")),
            master_key_file: Some(path("keys/master.key")),
            database_url: Some(format!(
                "postgres://db:6543/launchway?sslkey={0}/key&sslcert={0}/cert",
                path("tls")
            )),
            storage_url: Some(format!("file://{}", path("objects"))),
            oidc_issuer: Some("https://id.example.com".to_owned()),
            oidc_client_id: Some("launchway".to_owned()),
            oidc_client_secret_file: Some(path("oidc")),
            metrics_listen: Some("127.0.0.1:9100".to_owned()),
            snapshot_dir: Some(path("snapshot")),
            ..RawSettings::default()
        };
        // Every setting that names a local path is one of these, except those for builds.
        let config = Config::load(raw, None).unwrap();
        let places = config.secret_places();
        for place in [
            "data",
            "settings.toml",
            "keys/master.key",
            "keys/master.key.new",
            "objects",
            "oidc",
            "tls/key",
            "tls/cert",
            "snapshot",
        ] {
            assert!(places.contains(&directory.path().join(place)), "{place}: {places:?}");
        }
        assert_eq!(config.own_ports(), [8787, 9100, 6543]);
    }

    #[test]
    fn an_embedded_database_is_files_and_remote_storage_no_port() {
        let files = of_database("sqlite:///srv/launchway.db?mode=rwc");
        let expected =
            ["", "-wal", "-shm", "-journal"].map(|ending| PathBuf::from(format!("/srv/launchway.db{ending}")));
        assert_eq!(files, expected);
        assert_eq!(of_database("sqlite:own.db")[1], PathBuf::from("own.db-wal"));
        let port = |endpoint: &str| endpoint_port(&format!("s3://bucket?endpoint={endpoint}&region=x"));
        assert_eq!(port("http://127.0.0.1:9000"), Some(9000));
        assert_eq!(port("http://localhost:9000"), Some(9000));
        assert_eq!(port("https://[::1]"), Some(443));
        assert_eq!(port("https://s3.example.com"), None);
        assert_eq!(endpoint_port("s3://bucket"), None);
    }
}
