//! The databases of the contract suite: created for each test, read raw, and used concurrently.

use std::ops::{AsyncFnOnce, Deref};
use std::sync::Arc;
use std::time::Duration;

use launchway_store::{Db, STATEMENTS};
use launchway_testing::postgres::Postgres;
use launchway_testing::traced::Traced;
use sqlx::{AssertSqlSafe, PgPool, SqlitePool};
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

/// How a database runs a statement.
#[derive(Debug)]
pub struct Plan {
    /// The statement.
    pub sql: String,
    /// What the database does, a step in a line.
    pub steps: String,
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

async fn sqlite_steps(writer: &SqlitePool, sql: &str) -> String {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let steps: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain).fetch_all(writer).await.unwrap();
    steps.into_iter().map(|(.., detail)| detail + "\n").collect()
}

async fn postgres_steps(pool: &PgPool, sql: &str) -> String {
    let mut tx = pool.begin().await.unwrap();
    // The table of a test is so small that reading all of it is cheapest.
    for setting in ["enable_seqscan", "enable_bitmapscan"] {
        let sql = format!("SET LOCAL {setting} = off");
        sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await.unwrap();
    }
    let explain = AssertSqlSafe(format!("EXPLAIN {sql}"));
    let steps: Vec<(String,)> = sqlx::query_as(explain).fetch_all(&mut *tx).await.unwrap();
    steps.into_iter().map(|(line,)| line + "\n").collect()
}

/// A statement with texts in place of its parameters. The last come first, so that `$1` is not found in `$10`.
fn with_values(sql: &str, values: &[&str]) -> String {
    let numbered = values.iter().enumerate().rev();
    numbered.fold(sql.to_owned(), |sql, (at, value)| {
        sql.replace(&format!("${}", at + 1), &format!("'{value}'"))
    })
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

    /// The database's plans for the statements of the store that `calls` runs. `values` stand for `$1`, `$2` and so on: PostgreSQL
    /// plans for values, SQLite plans a statement before it has any.
    pub async fn plans(&self, values: &[&str], calls: impl AsyncFnOnce()) -> Vec<Plan> {
        let traced = Traced::of(STATEMENTS);
        calls().await;
        let mut plans = Vec::new();
        for sql in traced.take() {
            let steps = match &self.db {
                Db::Sqlite { writer, .. } => sqlite_steps(writer, &sql).await,
                Db::Postgres { pool } => postgres_steps(pool, &with_values(&sql, values)).await,
                Db::Later(_) => unreachable!("tests open their database"),
            };
            plans.push(Plan { sql, steps });
        }
        assert!(!plans.is_empty(), "the calls run no statement");
        plans
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
