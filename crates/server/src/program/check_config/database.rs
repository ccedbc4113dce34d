//! The database, and whether the master key is the one that it was sealed with.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use launchway_config::Config;
use launchway_store::{OpenError, Probe, ProbeError, Schema};
use launchway_vault::key_files::waiting;
use launchway_vault::{MASTER_KEY_CHECK, MasterKey};

use super::findings::Finding;
use super::folders;

const SUBJECT: &str = "database";
const KEY: &str = "master key";

/// Looks at the database without migrating it, then at the key.
pub(super) async fn look(config: &Config) -> Vec<Finding> {
    let (finding, check) = match Probe::of(config.database_url.reveal()).await {
        Ok(probe) => (schema(config, probe.schema), probe.facts.get(MASTER_KEY_CHECK).cloned()),
        Err(error) => return vec![refusal(config, &error)],
    };
    let mut findings = vec![finding];
    findings.push(key(&config.master_key_file, check.as_deref()));
    findings.extend(open_to_others(&config.master_key_file));
    findings
}

/// The database as it may be shown: its address without a password.
fn shown(config: &Config) -> String {
    format!("{:?}", config.database_url)
}

fn schema(config: &Config, schema: Schema) -> Finding {
    let shown = shown(config);
    match schema {
        Schema::Missing => Finding::ok(SUBJECT, format!("{shown} is missing; the start creates it")),
        Schema::Empty => Finding::ok(SUBJECT, format!("{shown} is empty; the start creates its tables")),
        Schema::Current(found) => Finding::ok(
            SUBJECT,
            format!("{shown} is writable and up to date (migration {found})"),
        ),
        Schema::Older { found, known } => Finding::ok(
            SUBJECT,
            format!("{shown} is writable; the start migrates it from {found} to {known}"),
        ),
        Schema::Newer { found, known } => Finding::warning(
            SUBJECT,
            format!("{shown} has migration {found}, but this release knows only {known}"),
            "start the newer release, unless an upgrade is running",
        ),
    }
}

fn refusal(config: &Config, error: &ProbeError) -> Finding {
    let remedy = match error {
        ProbeError::Open(OpenError::BadUrl) => "correct --database-url",
        ProbeError::Open(OpenError::Connect(_)) if config.is_embedded() => {
            "check that the file is a database, and that the user of the server owns it and its directory"
        }
        ProbeError::Open(OpenError::Connect(_)) => {
            "check address, user, password and name in --database-url, and that the server runs"
        }
        ProbeError::Open(OpenError::TooNew { .. } | OpenError::Migrate(_)) => {
            "use the newest release that worked on this database"
        }
        ProbeError::ReadOnly(_) => "give the user of --database-url the right to write",
        ProbeError::Standby => "set --database-url to the primary server",
        ProbeError::OldServer { .. } => "upgrade PostgreSQL",
        ProbeError::NoTables => "run GRANT CREATE ON SCHEMA for the user of --database-url",
    };
    Finding::error(SUBJECT, format!("{} {error}", shown(config)), remedy)
}

/// The key file, given the check value in the database.
fn key(file: &Path, check: Option<&str>) -> Finding {
    let shown = file.display();
    let restore = "restore the file from its backup; without it the stored secrets are lost";
    let beside = |check: &str| MasterKey::read_file(&waiting(file)).is_ok_and(|key| key.fits(check));
    match (MasterKey::read_file(file), check) {
        (Ok(key), Some(check)) if key.fits(check) => Finding::ok(KEY, format!("{shown} is the key of this database")),
        (_, Some(check)) if beside(check) => {
            Finding::ok(KEY, format!("{shown} is being rotated; the start completes it"))
        }
        (Ok(_), Some(_)) => Finding::error(KEY, format!("{shown} is not the key of this database"), restore),
        (Ok(_), None) => Finding::ok(KEY, format!("{shown} is readable; the new database is sealed with it")),
        (Err(error), Some(_)) if error.kind() == std::io::ErrorKind::NotFound => Finding::error(
            KEY,
            format!("{shown} is missing, although the database was sealed with it"),
            restore,
        ),
        (Err(error), None) if error.kind() == std::io::ErrorKind::NotFound => {
            folders::new_file(KEY, "--master-key-file", file)
        }
        (Err(error), _) => Finding::error(
            KEY,
            format!("cannot read {shown}: {error}"),
            "give the file to the user of the server, or set --master-key-file to another one",
        ),
    }
}

fn open_to_others(file: &Path) -> Option<Finding> {
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        let text = format!("other users of this machine can read {}", file.display());
        Finding::warning(KEY, text, format!("run chmod 600 {}", file.display()))
    })
}
