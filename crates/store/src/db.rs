//! Opening the database by its URL: pools, pragmas, migrations, transactions.

use std::fs::OpenOptions;
use std::future::ready;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Connection, Postgres, Transaction};

use crate::gate::Gate;
use crate::sql::{is_read_only, is_unavailable};
use crate::{StoreError, Tx, Watch, migrations};

/// How long a caller waits for a connection or a lock before the error is "not available".
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause before SQLite is retried.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
/// How long the last checkpoint waits for another process that reads.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(250);
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 16;
/// Begins a transaction of PostgreSQL that reads one state.
const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The database of the service.
#[derive(Clone, Debug)]
pub enum Db {
    /// Embedded: one writer, several readers, write-ahead log, every commit synced.
    Sqlite {
        /// The only connection that writes.
        writer: SqlitePool,
        /// Connections that read.
        readers: SqlitePool,
    },
    /// A PostgreSQL server, version 15 or newer.
    Postgres {
        /// Connections for everything.
        pool: PgPool,
    },
    /// A PostgreSQL server that did not answer at the start (see [`Db::later`]).
    Later(Gate),
}

/// Why the database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is neither `sqlite:` nor `postgres:`, or not well formed.
    #[error("must be sqlite:PATH or postgres://USER@HOST/DATABASE")]
    BadUrl,
    /// The server or file refuses the connection.
    #[error("is not accessible: {0}")]
    Connect(#[source] sqlx::Error),
    /// The schema cannot be brought up to date.
    #[error("cannot be migrated: {0}")]
    Migrate(#[from] MigrateError),
    /// A newer release changed the schema so that this one must not work on it.
    #[error(
        "requires a launchway-server release with migration {needed}, but this one has {known}; start the newer release"
    )]
    TooNew {
        /// The oldest schema that a program must support.
        needed: i64,
        /// The schema that this program supports.
        known: i64,
    },
}

impl OpenError {
    /// Whether the server does not answer, so that a later try may succeed.
    pub fn is_unavailable(&self) -> bool {
        match self {
            // Such as a proxy that accepts a connection and closes it, because it reaches no server.
            OpenError::Connect(sqlx::Error::Protocol(_)) => true,
            OpenError::Connect(cause) => is_unavailable(cause),
            OpenError::Migrate(MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _)) => {
                is_unavailable(cause) || is_read_only(cause)
            }
            OpenError::BadUrl | OpenError::Migrate(_) | OpenError::TooNew { .. } => false,
        }
    }
}

/// The row of `meta` that names the oldest schema a program must support to work on this database. Migrations only expand
/// the schema, so no migration writes it yet; the first that removes something must.
pub(crate) const NEEDED_SCHEMA: &str = "needed_schema";

macro_rules! needed_schema {
    ($connection:expr) => {
        sqlx::query_as::<_, (String,)>("SELECT value FROM meta WHERE name = $1")
            .bind(NEEDED_SCHEMA)
            .fetch_optional($connection)
            .await
            .map_err(OpenError::Connect)?
            .map(|(version,)| version)
    };
}

impl Db {
    /// Opens the database at `url` and migrates its schema. A missing SQLite file is created.
    pub async fn open(url: &str) -> Result<Db, OpenError> {
        if url.starts_with("sqlite:") {
            Self::open_sqlite(url).await
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Self::open_postgres(url).await
        } else {
            Err(OpenError::BadUrl)
        }
    }

    /// A PostgreSQL server that does not answer yet. Every call fails with [`StoreError::Unavailable`] until
    /// [`Db::arrive`].
    pub fn later() -> Db {
        Db::Later(Gate::default())
    }

    /// Lets this database and its clones use the connections of one that was opened meanwhile; returns false unless this
    /// one waits for a PostgreSQL server.
    pub fn arrive(&self, opened: &Db) -> bool {
        match (self, opened) {
            (Db::Later(gate), Db::Postgres { pool }) => gate.open(pool.clone()),
            _ => false,
        }
    }

    /// Whether the server has answered since the start.
    pub fn has_arrived(&self) -> bool {
        match self {
            Db::Later(gate) => gate.is_open(),
            Db::Sqlite { .. } | Db::Postgres { .. } => true,
        }
    }

    async fn open_sqlite(url: &str) -> Result<Db, OpenError> {
        let options = SqliteConnectOptions::from_str(url)
            .map_err(|_| OpenError::BadUrl)?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(LOCK_TIMEOUT)
            .foreign_keys(true);
        make_private(options.get_filename());
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(LOCK_TIMEOUT)
            .before_acquire(|connection, _| Box::pin(ready(Ok(is_free(connection)))));
        let writer = connect_sqlite(writer, &options).await?;
        // One transaction that takes the writer's lock first: if several processes start together, one migrates.
        let mut migration = writer.begin_with("BEGIN IMMEDIATE").await.map_err(OpenError::Connect)?;
        // Not `run`: its future is not `Send` when it borrows a connection.
        let migrator = migrations::of(migrations::SQLITE);
        migrator.run_direct(None, &mut *migration, false).await?;
        refuse_newer(&migrator, needed_schema!(&mut *migration).as_deref())?;
        migration.commit().await.map_err(OpenError::Connect)?;
        let readers = SqlitePoolOptions::new()
            .max_connections(SQLITE_READERS)
            .acquire_timeout(LOCK_TIMEOUT)
            .before_acquire(|connection, _| Box::pin(ready(Ok(is_free(connection)))));
        let readers = connect_sqlite(readers, &options.create_if_missing(false).read_only(true)).await?;
        Ok(Db::Sqlite { writer, readers })
    }

    async fn open_postgres(url: &str) -> Result<Db, OpenError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|_| OpenError::BadUrl)?
            .application_name("launchway");
        let pool = PgPoolOptions::new()
            .max_connections(POSTGRES_CONNECTIONS)
            .acquire_timeout(LOCK_TIMEOUT)
            .after_connect(|connection, _| Box::pin(wait_for_locks(connection, LOCK_TIMEOUT)))
            .connect_with(options)
            .await
            .map_err(OpenError::Connect)?;
        // If several processes start together, one migrates, and the others wait as long as that takes.
        let mut connection = pool.acquire().await.map_err(OpenError::Connect)?;
        wait_for_locks(&mut connection, Duration::ZERO)
            .await
            .map_err(OpenError::Connect)?;
        let migrator = migrations::of(migrations::POSTGRES);
        migrator.run_direct(None, &mut *connection, false).await?;
        refuse_newer(&migrator, needed_schema!(&mut *connection).as_deref())?;
        wait_for_locks(&mut connection, LOCK_TIMEOUT)
            .await
            .map_err(OpenError::Connect)?;
        Ok(Db::Postgres { pool })
    }

    /// Begins a transaction that may write. On SQLite it waits for the writer first, so that it never fails halfway.
    pub async fn write(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            Db::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Db::Postgres { pool } => Tx::Postgres(begin(pool, "BEGIN").await?),
            Db::Later(gate) => Tx::Postgres(begin(gate.pool()?, "BEGIN").await?),
        })
    }

    /// Begins a read-only transaction on a snapshot of its own.
    pub async fn read(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            Db::Sqlite { readers, .. } => Tx::Sqlite(readers.begin().await?),
            Db::Postgres { pool } => Tx::Postgres(begin(pool, SNAPSHOT).await?),
            Db::Later(gate) => Tx::Postgres(begin(gate.pool()?, SNAPSHOT).await?),
        })
    }

    /// Watches for changes made by any process (see [`Watch::changed`]).
    pub async fn watch(&self) -> Result<Watch, StoreError> {
        Ok(match self {
            Db::Sqlite { readers, .. } => Watch::Sqlite {
                connection: readers.acquire().await?.detach(),
                version: -1,
            },
            Db::Postgres { pool } => listen(pool).await?,
            Db::Later(gate) => listen(gate.pool()?).await?,
        })
    }

    /// Whether per-minute counts are shared with other processes through the database.
    pub fn is_shared(&self) -> bool {
        matches!(self, Db::Postgres { .. } | Db::Later(_))
    }

    /// Closes every connection after the running work is done. The file of an embedded database is then whole without the
    /// files beside it, unless another process still reads.
    pub async fn close(&self) {
        match self {
            Db::Sqlite { writer, readers } => {
                readers.close().await;
                let last = writer.acquire().await;
                // From here on nobody else gets a connection, so nothing is written behind the checkpoint.
                let closed = writer.close();
                if let Ok(connection) = last {
                    checkpoint(connection.detach()).await;
                }
                closed.await;
            }
            Db::Postgres { pool } => pool.close().await,
            Db::Later(gate) => {
                if let Ok(pool) = gate.pool() {
                    pool.close().await;
                }
            }
        }
    }
}

/// Listens for the revisions that PostgreSQL announces.
async fn listen(pool: &PgPool) -> Result<Watch, sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(crate::changes::CHANNEL).await?;
    Ok(Watch::Postgres { listener })
}

/// Moves the write-ahead log into the file of the database, and closes the connection. SQLite does that itself only for the
/// last connection of all, which in this process watches for changes and cannot write.
async fn checkpoint(mut connection: SqliteConnection) {
    let wait = format!("PRAGMA busy_timeout = {}", CHECKPOINT_WAIT.as_millis());
    for statement in [wait.as_str(), "PRAGMA wal_checkpoint(TRUNCATE)"] {
        // What cannot be moved stays in the log, which the next start reads.
        let _ = sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
            .execute(&mut connection)
            .await;
    }
    let _ = connection.close().await;
}

/// Refuses a database that requires a newer schema than this program supports.
pub(crate) fn refuse_newer(migrator: &Migrator, needed: Option<&str>) -> Result<(), OpenError> {
    let known = migrations::newest(migrator);
    // A value that is not a number was written by a newer release.
    let needed = needed.map_or(0, |version| version.parse().unwrap_or(i64::MAX));
    if needed > known {
        return Err(OpenError::TooNew { needed, known });
    }
    Ok(())
}

/// Begins a transaction on PostgreSQL, and completes it even if the caller is dropped meanwhile. The driver does not track
/// an interrupted BEGIN: its transaction, possibly read-only, would leak to the next user of the connection.
async fn begin(pool: &PgPool, statement: &'static str) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
    let pool = pool.clone();
    tokio::spawn(async move { pool.begin_with(statement).await })
        .await
        .unwrap_or(Err(sqlx::Error::WorkerCrashed))
}

/// Creates the missing file of a database with access for its owner only. SQLite gives the files next to it, such as its
/// log, the same permissions.
fn make_private(file: &Path) {
    // If the file exists or cannot be created, SQLite reports the error better.
    let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
}

/// Connects a pool to the file. SQLite does not wait for others where it might deadlock: while it switches to the
/// write-ahead log, and while the last connection of another process checkpoints that log. So we wait ourselves.
async fn connect_sqlite(pool: SqlitePoolOptions, options: &SqliteConnectOptions) -> Result<SqlitePool, OpenError> {
    let mut left = LOCK_TIMEOUT;
    loop {
        match pool.clone().connect_with(options.clone()).await {
            Err(error) if is_busy(&error) && !left.is_zero() => {
                tokio::time::sleep(BUSY_PAUSE).await;
                left = left.saturating_sub(BUSY_PAUSE);
            }
            done => return done.map_err(OpenError::Connect),
        }
    }
}

/// Whether SQLite reports that another connection is in the way: the low byte of its code is BUSY.
fn is_busy(error: &sqlx::Error) -> bool {
    sqlite_code(error) == Some(5)
}

/// The low byte of SQLite's code, which is the kind of an error.
pub(crate) fn sqlite_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error().and_then(|error| error.code())?;
    Some(code.parse::<u32>().ok()? & 0xff)
}

/// Whether a returned connection is outside a transaction. SQLite itself rolls back when the disk is full or broken; the
/// driver then believes forever that a transaction is open, so such a connection is discarded.
fn is_free(connection: &SqliteConnection) -> bool {
    !connection.is_in_transaction()
}

/// Sets how long statements of a connection wait for a lock; zero waits forever.
async fn wait_for_locks(connection: &mut PgConnection, timeout: Duration) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT set_config('lock_timeout', $1, false)")
        .bind(timeout.as_millis().to_string())
        .execute(connection)
        .await?;
    Ok(())
}
