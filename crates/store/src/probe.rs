//! What a database is like before it is opened: its schema and what this program may do there. Changes nothing.

use std::collections::BTreeMap;
use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use crate::OpenError;
use crate::db::{LOCK_TIMEOUT, NEEDED_SCHEMA, refuse_newer, sqlite_code};
use crate::migrations;

/// The oldest release of PostgreSQL that works.
const OLDEST_POSTGRES: i64 = 15;

/// SQLite's code of a file that may only be read.
const SQLITE_READONLY: u32 = 8;

/// The schema of a database, beside that of this program. The numbers are those of the newest migrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// The file of the database is missing; a start creates it.
    Missing,
    /// The database has no tables of the service; a start creates them.
    Empty,
    /// A start migrates it.
    Older {
        /// The schema of the database.
        found: i64,
        /// The schema of this program.
        known: i64,
    },
    /// The schema of this program.
    Current(i64),
    /// A newer release migrated it, and this program works on it.
    Newer {
        /// The schema of the database.
        found: i64,
        /// The schema of this program.
        known: i64,
    },
}

/// A database that the service can start on.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its schema.
    pub schema: Schema,
    /// The facts of the installation, such as the check value of the master key.
    pub facts: BTreeMap<String, String>,
}

/// Why the service cannot start on a database.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The database does not open, or is too new.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database or its user may only read.
    #[error("is not writable: {0}")]
    ReadOnly(#[source] sqlx::Error),
    /// The server of the database is a read-only copy of another.
    #[error("accepts no changes; use the address of the primary server")]
    Standby,
    /// The PostgreSQL server is too old.
    #[error("is on PostgreSQL {found}, but {OLDEST_POSTGRES} or newer is needed")]
    OldServer {
        /// Its major version.
        found: i64,
    },
    /// The user may not create tables, and some are missing.
    #[error("does not let its user create tables, which the start has to do; grant CREATE on the schema")]
    NoTables,
}

/// Whether the tables of the service exist, what is in them, and whether they can be written.
macro_rules! look {
    ($connection:expr, $tables:expr, $migrations:expr) => {{
        let (tables,): (i64,) = sqlx::query_as($tables)
            .fetch_one(&mut *$connection)
            .await
            .map_err(OpenError::Connect)?;
        if tables < 2 {
            Probe {
                schema: Schema::Empty,
                facts: BTreeMap::new(),
            }
        } else {
            let (found,): (i64,) = sqlx::query_as("SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations")
                .fetch_one(&mut *$connection)
                .await
                .map_err(OpenError::Connect)?;
            let facts: Vec<(String, String)> = sqlx::query_as("SELECT name, value FROM meta")
                .fetch_all(&mut *$connection)
                .await
                .map_err(OpenError::Connect)?;
            sqlx::query("UPDATE meta SET value = value WHERE name = ''")
                .execute(&mut *$connection)
                .await
                .map_err(ProbeError::ReadOnly)?;
            let facts: BTreeMap<String, String> = facts.into_iter().collect();
            let migrator = migrations::of($migrations);
            refuse_newer(&migrator, facts.get(NEEDED_SCHEMA).map(String::as_str))?;
            Probe {
                schema: compare(found, migrations::newest(&migrator)),
                facts,
            }
        }
    }};
}

impl Probe {
    /// Looks at the database at `url` without migrating or creating anything.
    ///
    /// # Errors
    /// Why [`crate::Db::open`] would fail.
    pub async fn of(url: &str) -> Result<Probe, ProbeError> {
        if url.starts_with("sqlite:") {
            of_sqlite(url).await
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            of_postgres(url).await
        } else {
            Err(OpenError::BadUrl.into())
        }
    }
}

async fn of_sqlite(url: &str) -> Result<Probe, ProbeError> {
    let options = SqliteConnectOptions::from_str(url).map_err(|_| OpenError::BadUrl)?;
    if matches!(options.get_filename().try_exists(), Ok(false)) {
        return Ok(Probe {
            schema: Schema::Missing,
            facts: BTreeMap::new(),
        });
    }
    let options = options.create_if_missing(false).busy_timeout(LOCK_TIMEOUT);
    let mut connection: SqliteConnection = options.connect().await.map_err(OpenError::Connect)?;
    // The lock of the writer first: a change by a running server in between would make the attempt to write fail.
    let transaction = connection.begin_with("BEGIN IMMEDIATE").await;
    let mut transaction = transaction.map_err(|error| match sqlite_code(&error) {
        Some(SQLITE_READONLY) => ProbeError::ReadOnly(error),
        _ => OpenError::Connect(error).into(),
    })?;
    let tables = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('_sqlx_migrations', 'meta')";
    let probe = look!(&mut *transaction, tables, migrations::SQLITE);
    transaction.rollback().await.map_err(OpenError::Connect)?;
    connection.close().await.map_err(OpenError::Connect)?;
    Ok(probe)
}

async fn of_postgres(url: &str) -> Result<Probe, ProbeError> {
    let options = PgConnectOptions::from_str(url).map_err(|_| OpenError::BadUrl)?;
    let options = options.application_name("launchway");
    let connected = tokio::time::timeout(LOCK_TIMEOUT, options.connect()).await;
    let connected = connected.unwrap_or(Err(sqlx::Error::PoolTimedOut));
    let mut connection: PgConnection = connected.map_err(OpenError::Connect)?;
    let facts = "SELECT CAST(current_setting('server_version_num') AS BIGINT) / 10000, \
                 current_setting('transaction_read_only') = 'on', \
                 COALESCE(has_schema_privilege(current_schema(), 'CREATE'), FALSE)";
    let (version, is_read_only, may_create): (i64, bool, bool) = sqlx::query_as(facts)
        .fetch_one(&mut connection)
        .await
        .map_err(OpenError::Connect)?;
    if version < OLDEST_POSTGRES {
        return Err(ProbeError::OldServer { found: version });
    }
    if is_read_only {
        return Err(ProbeError::Standby);
    }
    let mut transaction = connection.begin().await.map_err(OpenError::Connect)?;
    let tables =
        "SELECT COUNT(*) FROM unnest(ARRAY['_sqlx_migrations', 'meta']) AS name WHERE to_regclass(name) IS NOT NULL";
    let probe = look!(&mut *transaction, tables, migrations::POSTGRES);
    transaction.rollback().await.map_err(OpenError::Connect)?;
    connection.close().await.map_err(OpenError::Connect)?;
    match probe.schema {
        Schema::Empty | Schema::Older { .. } if !may_create => Err(ProbeError::NoTables),
        _ => Ok(probe),
    }
}

fn compare(found: i64, known: i64) -> Schema {
    match found.cmp(&known) {
        std::cmp::Ordering::Less => Schema::Older { found, known },
        std::cmp::Ordering::Equal => Schema::Current(known),
        std::cmp::Ordering::Greater => Schema::Newer { found, known },
    }
}
