//! Dumps the whole database as lines of JSON, read from one snapshot, and restores it into an empty database of either kind.
//! One format serves both kinds because the schema contains only texts and numbers.

use std::io::{BufRead, Write};

use futures::TryStreamExt;
use serde_json::{Map, Value};
use sqlx::{AssertSqlSafe, Column, Row, TypeInfo, ValueRef};

use crate::{StoreError, System, Tx};

/// Every table of a backup, parents before children. The others are worthless later: the log of changes (a node reads all
/// of a restored database), the counts of the current minute and day, the leases of jobs, the locks and turns of apps, the
/// turns of organizations and when they were last served, forms that wait for a sign-in, and the totals of lists, which the
/// database counts anew.
pub const TABLES: [&str; 50] = [
    "meta",
    "revision",
    "orgs",
    "users",
    "members",
    "invitations",
    "reset_links",
    "device_logins",
    "sessions",
    "two_factor",
    "recovery_codes",
    "api_keys",
    "apps",
    "build_numbers",
    "uploads",
    "packages",
    "updates",
    "foreign_ids",
    "deployment_keys",
    "fingerprints",
    "report_devices",
    "report_counts",
    "report_days",
    "report_reasons",
    "crash_updates",
    "crash_groups",
    "crash_devices",
    "events",
    "audit",
    "audit_heads",
    "idempotency",
    "data_keys",
    "env_vars",
    "credentials",
    "webhooks",
    "deliveries",
    "delivery_tries",
    "usage",
    "runner_tokens",
    "runners",
    "builds",
    "log_tails",
    "log_segments",
    "artifacts",
    "submissions",
    "submission_files",
    "trust_repositories",
    "trust_online_keys",
    "trust_files",
    "trust_drafts",
];

/// Why a dump cannot be written or restored.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file.
    #[error("cannot read or write the dump: {0}")]
    Io(#[from] std::io::Error),
    /// A line is not valid in a dump.
    #[error("line {0} of the dump is damaged, or from a newer version")]
    Line(usize),
    /// The database is not empty.
    #[error("the database is not empty")]
    NotEmpty,
}

macro_rules! dump_rows {
    ($tx:expr, $sql:expr, $table:expr, $out:expr) => {{
        let mut rows = sqlx::query(AssertSqlSafe($sql)).fetch(&mut **$tx);
        let mut count = 0u64;
        while let Some(row) = rows.try_next().await.map_err(StoreError::from)? {
            let mut fields = Map::new();
            for column in row.columns() {
                let raw = row.try_get_raw(column.ordinal()).map_err(StoreError::from)?;
                let value = if raw.is_null() {
                    Value::Null
                } else if raw.type_info().name() == "TEXT" {
                    row.try_get::<String, _>(column.ordinal()).map_err(StoreError::from)?.into()
                } else {
                    row.try_get::<i64, _>(column.ordinal()).map_err(StoreError::from)?.into()
                };
                fields.insert(column.name().to_owned(), value);
            }
            serde_json::to_writer(&mut *$out, &serde_json::json!({"table": $table, "row": fields}))
                .map_err(std::io::Error::from)?;
            $out.write_all(b"\n")?;
            count += 1;
        }
        count
    }};
}

macro_rules! insert_row {
    ($tx:expr, $sql:expr, $values:expr) => {{
        let mut query = sqlx::query(AssertSqlSafe($sql));
        for value in $values {
            query = match value {
                Value::String(text) => query.bind(text),
                Value::Number(number) => query.bind(number.as_i64()),
                // Nulls are omitted: a missing column is null, whatever its type.
                _ => query,
            };
        }
        query.execute(&mut **$tx).await.map_err(StoreError::from)?;
    }};
}

impl System<'_> {
    /// Writes every row as a line `{"table", "row"}`; returns the number of rows. The transaction must be read-only.
    pub async fn dump(&mut self, out: &mut (dyn Write + Send)) -> Result<u64, DumpError> {
        let mut rows = 0;
        for table in TABLES {
            let sql = format!("SELECT * FROM {table}");
            rows += match &mut *self.tx {
                Tx::Sqlite(tx) => dump_rows!(tx, sql, table, out),
                Tx::Postgres(tx) => dump_rows!(tx, sql, table, out),
            };
        }
        Ok(rows)
    }

    /// Restores the lines that [`System::dump`] wrote into an empty database; returns their number.
    pub async fn restore_dump(&mut self, lines: &mut (dyn BufRead + Send)) -> Result<u64, DumpError> {
        if self.has_orgs().await? {
            return Err(DumpError::NotEmpty);
        }
        execute!(self.tx, "DELETE FROM meta")?;
        execute!(self.tx, "DELETE FROM revision")?;
        let (mut text, mut number) = (String::new(), 0);
        while lines.read_line(&mut text)? > 0 {
            number += 1;
            let (table, row) = read_line(&text).ok_or(DumpError::Line(number))?;
            self.insert(table, row).await?;
            text.clear();
        }
        Ok(number as u64)
    }

    async fn insert(&mut self, table: &'static str, mut row: Map<String, Value>) -> Result<(), DumpError> {
        row.retain(|_, value| !value.is_null());
        let columns: Vec<&str> = row.keys().map(String::as_str).collect();
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("${place}")).collect();
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES ({})",
            columns.join(", "),
            places.join(", ")
        );
        match &mut *self.tx {
            Tx::Sqlite(tx) => insert_row!(tx, sql, row.into_values()),
            Tx::Postgres(tx) => insert_row!(tx, sql, row.into_values()),
        }
        Ok(())
    }
}

/// The table and row of a line. Names become part of SQL, so a table must be known and a column must be a plain word.
fn read_line(text: &str) -> Option<(&'static str, Map<String, Value>)> {
    let Value::Object(mut line) = serde_json::from_str(text).ok()? else {
        return None;
    };
    let table = TABLES
        .into_iter()
        .find(|table| line.get("table").is_some_and(|name| name == table))?;
    let Value::Object(row) = line.remove("row")? else {
        return None;
    };
    let plain = |name: &String| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit())
    };
    let known = |value: &Value| matches!(value, Value::Null | Value::String(_)) || value.as_i64().is_some();
    (!row.is_empty() && row.keys().all(plain) && row.values().all(known)).then_some((table, row))
}
