//! The macros that run one SQL text on either driver, and the store's error. Each statement is a trace event.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::str::FromStr;

use launchway_domain::id::{Id, Kind};

/// The target of the trace events of statements. They carry the text, whose values are placeholders.
pub const STATEMENTS: &str = "launchway_store::statements";

/// Why a database operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, is locked, or is too busy to answer in time.
    #[error("the database is not available: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// The disk of the database is full.
    #[error("the database's disk is full: {0}")]
    Full(#[source] sqlx::Error),
    /// A stored value violates the schema's rules.
    #[error("cannot read the value of the column {0}")]
    Corrupt(&'static str),
    /// Like [`StoreError::Corrupt`], of an update among many that were read.
    #[error("cannot read the value of the column {column} of the update {update}")]
    CorruptUpdate {
        /// The column.
        column: &'static str,
        /// The update's id as it is stored.
        update: String,
    },
    /// Any other error: a defect.
    #[error("the database returned an error: {0}")]
    Refused(#[source] sqlx::Error),
}

impl StoreError {
    /// The database did not answer within the time that a caller has.
    #[must_use]
    pub fn timed_out() -> StoreError {
        StoreError::Unavailable(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()))
    }

    /// The same error, which names the update with this id if a value of it cannot be read.
    pub(crate) fn of_update(self, id: &str) -> StoreError {
        match self {
            StoreError::Corrupt(column) => StoreError::CorruptUpdate {
                column,
                update: id.to_owned(),
            },
            other => other,
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if is_unavailable(&error) {
            return StoreError::Unavailable(error);
        }
        // SQLite's FULL, and PostgreSQL's class for it.
        match code_of(&error).as_deref() {
            Some("13" | "53100") => StoreError::Full(error),
            _ => StoreError::Refused(error),
        }
    }
}

/// Whether the database cannot be reached, is locked, or is too busy to answer in time.
pub(crate) fn is_unavailable(error: &sqlx::Error) -> bool {
    if matches!(
        error,
        sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
    ) {
        return true;
    }
    let code = code_of(error).unwrap_or_default();
    match &*code {
        "53100" => false,
        // PostgreSQL: class 08 connection, 57P0x shutdown, 53xxx resources, 40001/40P01 conflicts.
        "40001" | "40P01" | "57P01" | "57P02" | "57P03" | "55P03" => true,
        code if code.starts_with("08") || code.starts_with("53") => true,
        // SQLite: the low byte is BUSY (5), LOCKED (6), IOERR (10), CANTOPEN (14).
        code => code.len() < 5 && matches!(code.parse::<u32>().map(|number| number & 0xff), Ok(5 | 6 | 10 | 14)),
    }
}

/// Whether the database takes no changes, as a server of PostgreSQL on standby.
pub(crate) fn is_read_only(error: &sqlx::Error) -> bool {
    code_of(error).as_deref() == Some("25006")
}

fn code_of(error: &sqlx::Error) -> Option<Cow<'_, str>> {
    error.as_database_error()?.code()
}

/// Parses a stored text into a typed value.
pub(crate) fn typed<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(column))
}

/// Declares the struct of a row, read by column names. The driver's own derive would make cargo build the drivers and their
/// dependencies twice: once for the program, and once for the compiler that expands the derive.
macro_rules! row {
    (@read $name:ident from $row:ty: $($field:ident)*) => {
        impl sqlx::FromRow<'_, $row> for $name {
            fn from_row(row: &$row) -> Result<Self, sqlx::Error> {
                Ok($name {
                    $($field: sqlx::Row::try_get(row, stringify!($field))?,)*
                })
            }
        }
    };
    ($visibility:vis struct $name:ident {
        $($(#[$attribute:meta])* $field_visibility:vis $field:ident: $type:ty,)*
    }) => {
        $visibility struct $name {
            $($(#[$attribute])* $field_visibility $field: $type,)*
        }
        row!(@read $name from sqlx::sqlite::SqliteRow: $($field)*);
        row!(@read $name from sqlx::postgres::PgRow: $($field)*);
    };
}

/// The ids in the `IN` list of a statement: at most those of a page, each once. Padded with copies of the last one to a
/// power of two, so that a connection prepares few texts.
pub(crate) struct IdList(Vec<String>);

impl IdList {
    pub(crate) fn of<K: Kind>(ids: &[Id<K>]) -> IdList {
        let mut texts: Vec<_> = ids.iter().map(ToString::to_string).collect();
        texts.sort_unstable();
        texts.dedup();
        if let Some(last) = texts.last().cloned() {
            texts.resize(texts.len().next_power_of_two(), last);
        }
        IdList(texts)
    }

    pub(crate) fn texts(&self) -> &[String] {
        &self.0
    }

    /// The statement, with the placeholders of the ids between its two parts: `$2` and on, as `$1` is the organization.
    pub(crate) fn statement(&self, head: &str, tail: &str) -> String {
        let mut text = String::from(head);
        for number in 2..self.0.len() + 2 {
            let separator = if number == 2 { " (" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{separator}${number}");
        }
        text + ") " + tail
    }
}

/// Rows of an id and a name, by the id.
pub(crate) fn names<K: Kind>(
    column: &'static str,
    rows: Vec<(String, String)>,
) -> Result<HashMap<Id<K>, String>, StoreError> {
    rows.into_iter()
        .map(|(id, name)| Ok((typed(column, &id)?, name)))
        .collect()
}

/// Traces a statement, so that tests can count them.
macro_rules! trace_statement {
    ($sql:expr) => {
        tracing::trace!(target: $crate::sql::STATEMENTS, sql = $sql)
    };
}

/// Runs a statement on the driver of the transaction; returns the number of affected rows.
macro_rules! execute {
    ($tx:expr, $sql:expr $(, $value:expr)* $(,)?) => {{
        trace_statement!($sql);
        match &mut *$tx {
            $crate::tx::Tx::Sqlite(tx) => {
                sqlx::query($sql)$(.bind($value))*.execute(&mut **tx).await.map(|done| done.rows_affected())
            }
            $crate::tx::Tx::Postgres(tx) => {
                sqlx::query($sql)$(.bind($value))*.execute(&mut **tx).await.map(|done| done.rows_affected())
            }
        }
        .map_err($crate::sql::StoreError::from)
    }};
}

/// Inserts all rows with one statement. It is not kept prepared, because their number varies.
macro_rules! insert_all {
    ($tx:expr, $head:literal, $rows:expr, |$row:pat_param| [$($value:expr),* $(,)?] $(,)?) => {{
        trace_statement!($head);
        match &mut *$tx {
            $crate::tx::Tx::Sqlite(tx) => {
                let mut query = sqlx::QueryBuilder::<sqlx::Sqlite>::new($head);
                query.push_values($rows, |mut values, $row| { values$(.push_bind($value))*; });
                query.build().persistent(false).execute(&mut **tx).await.map(drop)
            }
            $crate::tx::Tx::Postgres(tx) => {
                let mut query = sqlx::QueryBuilder::<sqlx::Postgres>::new($head);
                query.push_values($rows, |mut values, $row| { values$(.push_bind($value))*; });
                query.build().persistent(false).execute(&mut **tx).await.map(drop)
            }
        }
        .map_err($crate::sql::StoreError::from)
    }};
}

/// The maximum number of bookkeeping rows that one call deletes: writers of SQLite wait for each other.
pub const FORGOTTEN_AT_ONCE: u64 = 1000;

/// Deletes old rows, at most [`FORGOTTEN_AT_ONCE`](crate::FORGOTTEN_AT_ONCE) of them. The outer condition protects a row
/// that another transaction has just renewed.
macro_rules! forget {
    ($tx:expr, $table:literal, $key:literal, $old:literal $(, $value:expr)* $(,)?) => {
        execute!(
            $tx,
            concat!(
                "DELETE FROM ", $table, " WHERE ", $old, " AND (", $key, ") IN (SELECT ", $key, " FROM ", $table, " WHERE ",
                $old, " LIMIT 1000)"
            )
            $(, $value)*
        )
    };
}

/// Reads at most one row into a `row!` or a tuple.
macro_rules! fetch_optional {
    ($tx:expr, $row:ty, $sql:expr $(, $value:expr)* $(,)?) => {{
        trace_statement!($sql);
        match &mut *$tx {
            $crate::tx::Tx::Sqlite(tx) => {
                sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_optional(&mut **tx).await
            }
            $crate::tx::Tx::Postgres(tx) => {
                sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_optional(&mut **tx).await
            }
        }
        .map_err($crate::sql::StoreError::from)
    }};
}

/// Reads exactly one row.
macro_rules! fetch_one {
    ($tx:expr, $row:ty, $sql:expr $(, $value:expr)* $(,)?) => {{
        trace_statement!($sql);
        match &mut *$tx {
            $crate::tx::Tx::Sqlite(tx) => sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_one(&mut **tx).await,
            $crate::tx::Tx::Postgres(tx) => sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_one(&mut **tx).await,
        }
        .map_err($crate::sql::StoreError::from)
    }};
}

/// Reads every row.
macro_rules! fetch_all {
    ($tx:expr, $row:ty, $sql:expr $(, $value:expr)* $(,)?) => {{
        trace_statement!($sql);
        match &mut *$tx {
            $crate::tx::Tx::Sqlite(tx) => sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_all(&mut **tx).await,
            $crate::tx::Tx::Postgres(tx) => sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_all(&mut **tx).await,
        }
        .map_err($crate::sql::StoreError::from)
    }};
}

/// Reads every row of a statement with the organization as `$1` and an `IN` list of ids between its two parts.
macro_rules! fetch_all_of {
    ($tx:expr, $row:ty, $head:expr, $ids:expr, $tail:expr, $org:expr $(,)?) => {{
        let ids = $crate::sql::IdList::of($ids);
        let rows = if ids.texts().is_empty() {
            Ok(Vec::new())
        } else {
            let sql = ids.statement($head, $tail);
            trace_statement!(&*sql);
            let sql = sqlx::AssertSqlSafe(sql);
            match &mut *$tx {
                $crate::tx::Tx::Sqlite(tx) => {
                    let query = sqlx::query_as::<sqlx::Sqlite, $row>(sql).bind($org);
                    let query = ids.texts().iter().fold(query, |query, id| query.bind(id));
                    query.fetch_all(&mut **tx).await
                }
                $crate::tx::Tx::Postgres(tx) => {
                    let query = sqlx::query_as::<sqlx::Postgres, $row>(sql).bind($org);
                    let query = ids.texts().iter().fold(query, |query, id| query.bind(id));
                    query.fetch_all(&mut **tx).await
                }
            }
        };
        rows.map_err($crate::sql::StoreError::from)
    }};
}

/// Reads every row of a composed statement with the organization as `$1` and further texts. PostgreSQL plans it for these
/// values: a plan for any values would read the whole list where few rows match.
macro_rules! fetch_all_bound {
    ($tx:expr, $row:ty, $sql:expr, $org:expr, $texts:expr $(, $value:expr)* $(,)?) => {{
        let sql: String = $sql;
        trace_statement!(&*sql);
        let sql = sqlx::AssertSqlSafe(sql);
        match &mut *$tx {
            $crate::tx::Tx::Sqlite(tx) => {
                let query = sqlx::query_as::<sqlx::Sqlite, $row>(sql).bind($org);
                let query = $texts.fold(query, |query, text| query.bind(text));
                query$(.bind($value))*.fetch_all(&mut **tx).await
            }
            $crate::tx::Tx::Postgres(tx) => {
                let query = sqlx::query_as::<sqlx::Postgres, $row>(sql).persistent(false).bind($org);
                let query = $texts.fold(query, |query, text| query.bind(text));
                query$(.bind($value))*.fetch_all(&mut **tx).await
            }
        }
        .map_err($crate::sql::StoreError::from)
    }};
}

/// Reads every row of a statement that locks rows if there is more than one writer: PostgreSQL receives `$lock`, such as `
/// FOR UPDATE SKIP LOCKED`, between the two parts of the text; SQLite, which has a single writer, does not support it.
macro_rules! fetch_all_locked {
    ($tx:expr, $row:ty, $head:expr, $lock:literal, $tail:literal $(, $value:expr)* $(,)?) => {{
        trace_statement!(concat!($head, $tail));
        match &mut *$tx {
            $crate::tx::Tx::Sqlite(tx) => {
                sqlx::query_as::<_, $row>(concat!($head, $tail))$(.bind($value))*.fetch_all(&mut **tx).await
            }
            $crate::tx::Tx::Postgres(tx) => {
                sqlx::query_as::<_, $row>(concat!($head, $lock, $tail))$(.bind($value))*.fetch_all(&mut **tx).await
            }
        }
        .map_err($crate::sql::StoreError::from)
    }};
}

/// Reads rows one by one and runs an action for each. Yields to other tasks in between, however fast the rows arrive.
macro_rules! for_each {
    ($tx:expr, $row:ty, $sql:expr, |$name:pat_param| $work:expr $(, $value:expr)* $(,)?) => {{
        use futures::TryStreamExt;
        trace_statement!($sql);
        match &mut *$tx {
            $crate::tx::Tx::Sqlite(tx) => {
                let mut rows = sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch(&mut **tx);
                while let Some($name) = rows.try_next().await? {
                    $work;
                    tokio::task::consume_budget().await;
                }
            }
            $crate::tx::Tx::Postgres(tx) => {
                let mut rows = sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch(&mut **tx);
                while let Some($name) = rows.try_next().await? {
                    $work;
                    tokio::task::consume_budget().await;
                }
            }
        }
        Ok(())
    }};
}
