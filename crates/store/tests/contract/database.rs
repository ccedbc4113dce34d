//! The databases of the contract suite: created for each test, read raw, and used concurrently.

use std::ops::{AsyncFnOnce, Deref};
use std::sync::Arc;
use std::time::Duration;

use launchway_store::Db;
use launchway_testing::postgres::Postgres;
use sqlx::AssertSqlSafe;
use tempfile::TempDir;
use tokio::sync::Barrier;

/// No test takes nearly as long; one that does is stuck.
const HANGS: Duration = Duration::from_secs(120);

/// A fresh, open database; it dereferences to its [`Db`].
pub struct TestDb {
    db: Db,
    /// The URL it was opened with.
    pub url: String,
    /// Keeps the directory of the SQLite file.
    directory: Option<TempDir>,
}

impl Deref for TestDb {
    type Target = Db;

    fn deref(&self) -> &Db {
        &self.db
    }
}

/// Runs a test on its own SQLite file.
pub fn on_sqlite(test: impl AsyncFnOnce(&TestDb)) {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("launchway.db").display());
    run(url, Some(directory), test);
}

/// Runs a test on its own PostgreSQL database.
pub fn on_postgres(test: impl AsyncFnOnce(&TestDb)) {
    run(Postgres::shared().fresh_database(), None, test);
}

/// Runs one part of a test on its own threads, with a time limit.
pub fn run_async<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(HANGS, work).await.expect("the test hangs") })
}

fn run(url: String, directory: Option<TempDir>, test: impl AsyncFnOnce(&TestDb)) {
    let server_url = run_async(async {
        let db = TestDb {
            db: Db::open(&url).await.unwrap(),
            url,
            directory,
        };
        test(&db).await;
        db.close().await;
        db.directory.is_none().then(|| db.url.clone())
    });
    if let Some(url) = server_url {
        drop_database(&url);
    }
}

/// A hundred databases of eight megabytes would fill a small disk.
fn drop_database(url: &str) {
    let (server, name) = url.rsplit_once('/').unwrap();
    let (name, parameters) = name.split_once('?').unwrap_or((name, ""));
    let maintenance = format!("{server}/postgres?{parameters}");
    Postgres::shared()
        .run_sql(&maintenance, &format!("DROP DATABASE {name} WITH (FORCE)"))
        .unwrap();
}

impl TestDb {
    /// Opens the same database once more, as another process does.
    pub async fn again(&self) -> Db {
        Db::open(&self.url).await.unwrap()
    }

    /// The database's plan for a statement, as text.
    pub async fn plan(&self, sql: &str) -> String {
        let lines: Vec<String> = match &self.db {
            Db::Sqlite { writer, .. } => {
                // As the store does it: the planner does not know a limit that is bound.
                let sql = format!("EXPLAIN QUERY PLAN {}", sql.replace(" LIMIT 9", " LIMIT ?"));
                let rows: Vec<(i64, i64, i64, String)> =
                    sqlx::query_as(AssertSqlSafe(sql)).fetch_all(writer).await.unwrap();
                rows.into_iter().map(|(.., detail)| detail).collect()
            }
            Db::Postgres { pool } => {
                let mut tx = pool.begin().await.unwrap();
                // The table of a test is so small that reading all of it is cheapest.
                for setting in ["enable_seqscan", "enable_bitmapscan"] {
                    let sql = format!("SET LOCAL {setting} = off");
                    sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await.unwrap();
                }
                let sql = format!("EXPLAIN {sql}");
                let rows: Vec<(String,)> = sqlx::query_as(AssertSqlSafe(sql)).fetch_all(&mut *tx).await.unwrap();
                rows.into_iter().map(|(line,)| line).collect()
            }
            Db::Later(_) => unreachable!("tests open their database"),
        };
        lines.join("\n") + "\n"
    }

    /// Runs one statement without the store; returns the number of affected rows.
    pub async fn raw(&self, sql: &str) -> u64 {
        let sql = AssertSqlSafe(sql);
        match &self.db {
            Db::Sqlite { writer, .. } => sqlx::query(sql).execute(writer).await.unwrap().rows_affected(),
            Db::Postgres { pool } => sqlx::query(sql).execute(pool).await.unwrap().rows_affected(),
            Db::Later(_) => unreachable!("tests open their database"),
        }
    }

    /// Reads one column of texts without the store.
    pub async fn raw_texts(&self, sql: &str) -> Vec<String> {
        let sql = AssertSqlSafe(sql);
        match &self.db {
            Db::Sqlite { writer, .. } => sqlx::query_scalar(sql).fetch_all(writer).await.unwrap(),
            Db::Postgres { pool } => sqlx::query_scalar(sql).fetch_all(pool).await.unwrap(),
            Db::Later(_) => unreachable!("tests open their database"),
        }
    }

    /// The tables of the store.
    pub async fn tables(&self) -> Vec<String> {
        self.raw_texts(match &self.db {
            Db::Sqlite { .. } => {
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' \
                 AND name NOT LIKE '!_sqlx%' ESCAPE '!' ORDER BY name"
            }
            Db::Postgres { .. } => {
                "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' \
                 AND table_name NOT LIKE '!_sqlx%' ESCAPE '!' ORDER BY table_name"
            }
            Db::Later(_) => unreachable!("tests open their database"),
        })
        .await
    }

    /// The columns of a table, in order.
    pub async fn columns(&self, table: &str) -> Vec<String> {
        self.raw_texts(&match &self.db {
            Db::Sqlite { .. } => format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"),
            Db::Postgres { .. } => format!(
                "SELECT column_name::text FROM information_schema.columns \
                 WHERE table_schema = 'public' AND table_name = '{table}' ORDER BY ordinal_position"
            ),
            Db::Later(_) => unreachable!("tests open their database"),
        })
        .await
    }

    /// Every row of a table as text, sorted.
    pub async fn rows_of(&self, table: &str) -> Vec<String> {
        let shown = |column: &String| format!("COALESCE(CAST({column} AS TEXT), 'NULL')");
        let line: Vec<String> = self.columns(table).await.iter().map(shown).collect();
        let mut rows = self
            .raw_texts(&format!("SELECT {} FROM {table}", line.join(" || '|' || ")))
            .await;
        rows.sort();
        rows
    }

    /// Starts `count` tasks that begin together, half of them on a second connection pool, like two nodes. Returns their
    /// results in the order of their numbers.
    pub async fn at_once<T, F>(&self, count: usize, task: impl Fn(Db, usize) -> F) -> Vec<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let other = self.again().await;
        let start = Arc::new(Barrier::new(count));
        let running: Vec<_> = (0..count)
            .map(|number| {
                let (start, db) = (start.clone(), if number % 2 == 0 { &self.db } else { &other });
                let work = task(db.clone(), number);
                tokio::spawn(async move {
                    start.wait().await;
                    work.await
                })
            })
            .collect();
        let mut answers = Vec::with_capacity(count);
        for task in running {
            answers.push(task.await.unwrap());
        }
        other.close().await;
        answers
    }

    /// Returns when a transaction waits for another's lock. On SQLite it waits for the only writer, which cannot be
    /// observed: there this only yields to the other tasks.
    pub async fn until_one_waits(&self) {
        match &self.db {
            Db::Sqlite { .. } => tokio::task::yield_now().await,
            Db::Postgres { .. } => {
                let waiting = "SELECT pid::text FROM pg_stat_activity \
                               WHERE datname = current_database() AND wait_event_type = 'Lock'";
                while self.raw_texts(waiting).await.is_empty() {}
            }
            Db::Later(_) => unreachable!("tests open their database"),
        }
    }
}
