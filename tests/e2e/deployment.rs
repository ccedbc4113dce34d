//! The deployment of the service for a test: one server on the embedded database and a local directory, or several on
//! one PostgreSQL and one S3 bucket.

use std::fmt;
use std::path::Path;

use launchway_testing::postgres::Postgres;
use launchway_testing::s3::S3Server;
use launchway_testing::server_process::{ServerBuilder, ServerProcess};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use tempfile::TempDir;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::api::Api;

/// The database and object storage of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// SQLite, objects in a local directory.
    SqliteDirectory,
    /// PostgreSQL, objects in an S3 bucket.
    PostgresS3,
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ground::SqliteDirectory => "SQLite + directory",
            Ground::PostgresS3 => "PostgreSQL + S3",
        })
    }
}

/// Servers of one service with their database and object storage.
pub struct Deployment {
    pub nodes: Vec<ServerProcess>,
    /// The database's URL, unless it is the embedded one.
    database_url: Option<String>,
    bucket: Option<S3Server>,
    key_folder: TempDir,
    _turn: Turn,
}

/// An organization, and a key of it with all permissions.
pub struct Team {
    pub id: String,
    pub key: String,
}

/// Tests that measure a server's time run alone.
static TURN: RwLock<()> = RwLock::const_new(());

/// Held while a test has servers.
#[expect(dead_code, reason = "they are held, not read")]
pub enum Turn {
    Beside(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

impl Turn {
    /// For a test that may run beside others.
    pub async fn beside_others() -> Turn {
        Turn::Beside(TURN.read().await)
    }

    /// For a test that measures time.
    pub async fn alone() -> Turn {
        Turn::Alone(TURN.write().await)
    }
}

impl Deployment {
    /// One server, which may run beside other tests.
    pub async fn start(ground: Ground) -> Deployment {
        Self::with(ground, Turn::beside_others().await, |builder| builder)
    }

    /// One server with additional settings.
    pub fn with(ground: Ground, turn: Turn, more: impl Fn(ServerBuilder) -> ServerBuilder) -> Deployment {
        match ground {
            Ground::SqliteDirectory => Deployment {
                nodes: vec![more(builder()).start()],
                database_url: None,
                bucket: None,
                key_folder: tempfile::tempdir().unwrap(),
                _turn: turn,
            },
            Ground::PostgresS3 => {
                let database = Postgres::shared().fresh_database();
                Self::on_database(&database, 1, turn, more)
            }
        }
    }

    /// Servers on one PostgreSQL database, one new bucket and one master key.
    pub fn on_database(
        database_url: &str,
        nodes: usize,
        turn: Turn,
        more: impl Fn(ServerBuilder) -> ServerBuilder,
    ) -> Deployment {
        let (bucket, key_folder) = (S3Server::start(), tempfile::tempdir().unwrap());
        let key_file = key_folder.path().join("master.key");
        let server = || {
            let builder = builder()
                .env("LAUNCHWAY_DATABASE_URL", database_url)
                .env("LAUNCHWAY_STORAGE_URL", bucket.storage_url())
                .env("LAUNCHWAY_MASTER_KEY_FILE", key_file.to_str().unwrap())
                .env("AWS_ACCESS_KEY_ID", &bucket.access_key)
                .env("AWS_SECRET_ACCESS_KEY", &bucket.secret_key);
            more(builder).start()
        };
        Deployment {
            nodes: (0..nodes).map(|_| server()).collect(),
            database_url: Some(database_url.to_owned()),
            bucket: Some(bucket),
            key_folder,
            _turn: turn,
        }
    }

    /// The first server.
    pub fn node(&self) -> &ServerProcess {
        &self.nodes[0]
    }

    /// Ends the object storage with all its objects.
    pub fn stop_storage(&mut self) {
        self.bucket = None;
    }

    /// Runs a statement on the database directly, bypassing the service.
    pub async fn sql(&self, statement: &str) {
        match &self.database_url {
            Some(url) => {
                Postgres::shared().run_sql(url, statement).unwrap();
            }
            None => {
                let mut connection = self.sqlite().await;
                sqlx::query(AssertSqlSafe(statement))
                    .execute(&mut connection)
                    .await
                    .unwrap();
                connection.close().await.unwrap();
            }
        }
    }

    /// The rows of a query, sent to the database directly, whose only column is a text.
    pub async fn texts(&self, query: &str) -> Vec<String> {
        match &self.database_url {
            Some(url) => {
                let rows = Postgres::shared().run_sql(url, query).unwrap();
                rows.lines().map(str::to_owned).collect()
            }
            None => {
                let mut connection = self.sqlite().await;
                let rows = sqlx::query_scalar(AssertSqlSafe(query))
                    .fetch_all(&mut connection)
                    .await;
                connection.close().await.unwrap();
                rows.unwrap()
            }
        }
    }

    /// The embedded database, opened concurrently with the server.
    async fn sqlite(&self) -> SqliteConnection {
        let url = format!("sqlite:{}", self.node().data_dir().join("launchway.db").display());
        SqliteConnection::connect(&url).await.unwrap()
    }

    /// The database as exported by its own tools: the embedded one's files, or a dump.
    pub fn database_bytes(&self) -> Vec<u8> {
        match &self.database_url {
            Some(url) => Postgres::shared().dump(url),
            None => {
                let folder = self.node().data_dir();
                let files = ["launchway.db", "launchway.db-wal", "launchway.db-shm"];
                files
                    .iter()
                    .flat_map(|file| std::fs::read(folder.join(file)).unwrap_or_default())
                    .collect()
            }
        }
    }

    /// Where nodes of one database keep their master key.
    pub fn key_folder(&self) -> &Path {
        self.key_folder.path()
    }

    /// A new organization.
    pub fn team(&self) -> Team {
        team(self.node())
    }

    /// The API of the first server with the key of a new organization.
    pub fn api(&self) -> Api {
        Api::new(self.node(), &self.team().key)
    }
}

/// A server that does not limit checks and runs no builds itself, unless configured otherwise.
fn builder() -> ServerBuilder {
    ServerProcess::builder()
        .env("LAUNCHWAY_CHECK_LIMIT", "0")
        .env("LAUNCHWAY_NO_RUNNER", "true")
}

/// A new organization, created by the operator's commands.
pub fn team(server: &ServerProcess) -> Team {
    let text = |object: &serde_json::Value, field: &str| object[field].as_str().unwrap().to_owned();
    let org = server.admin(&["create-org", "--name", "Team"]);
    let id = text(&org, "id");
    let scopes = "build,submit,update";
    let key = server.admin(&[
        "create-key",
        "--org",
        &id,
        "--name",
        "all",
        "--scopes",
        scopes,
        "--admin",
    ]);
    Team {
        id,
        key: text(&key, "key"),
    }
}

impl Drop for Deployment {
    /// A failed test prints the last output of its servers.
    fn drop(&mut self) {
        if std::thread::panicking() {
            for (number, node) in self.nodes.iter().enumerate() {
                let log = node.stderr();
                let last: Vec<&str> = log.lines().rev().take(40).collect();
                println!("--- the log of server {number} ends with");
                last.iter().rev().for_each(|line| println!("{line}"));
            }
        }
    }
}
