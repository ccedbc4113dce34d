//! Settings: defaults, errors, the settings file, secrets.

use std::path::{Path, PathBuf};

use launchway_domain::tenancy::Tier;

use super::values::size;
use super::{Config, RawSettings};

fn load(change: impl FnOnce(&mut RawSettings)) -> Result<Config, String> {
    let mut raw = RawSettings::default();
    change(&mut raw);
    Config::load(raw, None).map_err(|error| error.to_string())
}

#[test]
fn defaults_are_those_of_the_reference() {
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
    let cases: [(Change, &str); 19] = [
        (
            |raw| raw.runner_dir = Some("launchway-data/builds".into()),
            "--runner-dir: `launchway-data/builds` is in the data directory, which builds must not access; choose a \
             directory outside it",
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
            |raw| raw.asset_base = Some("https://cdn.example.com/files".into()),
            "--asset-base: `https://cdn.example.com/files` is not an address such as https://updates.example.com",
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
            |raw| raw.trust_days = Some("31".into()),
            "--trust-days: `31` is not a whole number of days, 1 to 30",
        ),
        (
            |raw| raw.snapshot_hours = Some("721".into()),
            "--snapshot-hours: `721` is not a whole number of hours, 1 to 720",
        ),
        (
            |raw| raw.snapshot_hours = Some("0".into()),
            "--snapshot-hours: `0` is not a whole number of hours, 1 to 720",
        ),
        (
            |raw| raw.snapshot_dir = Some("/var/lib/launchway-snapshot".into()),
            "--snapshot-dir: needs PostgreSQL; a SQLite database is on this machine already",
        ),
        (
            |raw| raw.keep_builds_days = Some("-1".into()),
            "--keep-builds-days: `-1` is not a whole number of days, 0 for no limit",
        ),
        (
            |raw| raw.updates_per_bundle = Some("0".into()),
            "--updates-per-bundle: `0` is not a whole number from 1",
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
fn a_provider_is_named_wholly_and_over_https() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let (secret, empty) = (file("secret", " hunter2\n"), file("empty", "\n"));
    let missing = dir.path().join("missing").display().to_string();
    let load_with = |issuer: Option<&str>, client: Option<&str>, file: Option<&str>| {
        load(|raw| {
            raw.oidc_issuer = issuer.map(str::to_owned);
            raw.oidc_client_id = client.map(str::to_owned);
            raw.oidc_client_secret_file = file.map(str::to_owned);
        })
    };
    let (issuer, client) = (Some("https://login.example.com/realm/"), Some("launchway"));
    let config = load_with(issuer, client, Some(&secret)).expect("whole");
    assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
    let oidc = config.oidc.expect("a provider");
    assert_eq!(
        (
            oidc.issuer.as_str(),
            oidc.client_id.as_str(),
            oidc.client_secret.as_str()
        ),
        ("https://login.example.com/realm/", "launchway", "hunter2")
    );
    let partly = "--oidc-issuer: must be set together with --oidc-client-id and --oidc-client-secret-file";
    for (issuer, client, file) in [
        (issuer, None, None),
        (None, client, None),
        (None, None, Some(secret.as_str())),
        (issuer, client, None),
        (issuer, None, Some(&secret)),
        (None, client, Some(&secret)),
    ] {
        assert_eq!(load_with(issuer, client, file).expect_err(partly), partly);
    }
    for (issuer, problem) in [
        ("login.example.com", "must be a URL such as"),
        ("ldap://login.example.com", "must start with https:// or http://"),
        (
            "https://ada:secret@login.example.com",
            "must not contain a user name or password",
        ),
        ("https://login.example.com/?a=b", "must have no query and no fragment"),
        ("https://login.example.com/#a", "must have no query and no fragment"),
        ("http://login.example.com", "must start with https://; http is only for"),
        ("http://8.8.8.8", "must start with https://; http is only for"),
        ("http://[2606:4700::1111]", "must start with https://; http is only for"),
        (
            "http://localhost.example.com",
            "must start with https://; http is only for",
        ),
    ] {
        let error = load_with(Some(issuer), client, Some(&secret)).expect_err(issuer);
        assert!(
            error.starts_with(&format!("--oidc-issuer: {problem}")),
            "{issuer}: {error}"
        );
    }
    for near in [
        "localhost:8080",
        "127.0.0.1",
        "10.1.2.3",
        "[::1]",
        "keycloak:8080",
        "login.internal",
        "box.local",
    ] {
        let issuer = format!("http://{near}");
        load_with(Some(&issuer), client, Some(&secret)).expect(near);
    }
    let setting = "--oidc-client-secret-file: ";
    let error = load_with(issuer, client, Some(&empty)).expect_err("empty");
    assert_eq!(error, format!("{setting}{empty}: is empty"));
    let error = load_with(issuer, client, Some(&missing)).expect_err("missing");
    assert!(error.starts_with(&format!("{setting}{missing}: ")), "{error}");
    let error = load_with(issuer, Some(" "), Some(&secret)).expect_err("no client");
    assert_eq!(error, "--oidc-client-id: must not be empty");
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
fn a_snapshot_names_its_database_without_secrets() {
    let load = |url: &str| {
        load(|raw| {
            raw.database_url = Some(url.into());
            raw.snapshot_dir = Some("snapshot".into());
        })
        .expect("valid")
    };
    let config = load("postgres://me:secret@db.internal/launchway");
    let snapshot = config.snapshot.expect("it is on");
    assert_eq!((snapshot.dir.as_path(), snapshot.hours), (Path::new("snapshot"), 24));
    for (url, place) in [
        (
            "postgres://me:secret@db.internal/launchway",
            "db.internal:5432/launchway",
        ),
        (
            "postgresql://db.internal:6432/launchway?password=secret",
            "db.internal:6432/launchway",
        ),
        (
            "postgres:///launchway?host=/run/postgresql&port=5433",
            "/run/postgresql:5433/launchway",
        ),
        ("postgres://[::1]/x?dbname=y", "[::1]:5432/y"),
    ] {
        assert_eq!(load(url).database_url.place(), place, "{url}");
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
fn the_floor_of_free_space_can_be_turned_off() {
    let floor = |text: &str| load(|raw| raw.min_free_space = Some(text.into())).map(|config| config.min_free_space);
    for off in ["0", "0G"] {
        assert_eq!(floor(off), Ok(Some(0)), "{off}");
    }
    assert_eq!(floor("10G"), Ok(Some(10 << 30)));
    assert_eq!(
        floor("-1"),
        Err("--min-free-space: `-1` is not a size such as 536870912 or 512M, or 0".to_owned())
    );
    let other = load(|raw| raw.max_package_size = Some("0".into())).map(|config| config.max_package_size);
    assert_eq!(
        other,
        Err("--max-package-size: `0` is not a size such as 536870912 or 512M".to_owned())
    );
}

#[test]
fn sizes_take_units() {
    for (text, bytes) in [("7", 7), ("2K", 2048), ("512M", 536_870_912), ("2G", 2_147_483_648)] {
        assert_eq!(size(&Some(text.to_owned()), "--x"), Ok(Some(bytes)), "{text}");
    }
    assert!(size(&Some("0".into()), "--x").is_err() && size(&Some("99999999999G".into()), "--x").is_err());
}
