//! The migrations of each database: files that the build script lists and the program embeds.

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{SqlSafeStr, SqlStr};

/// The number of a migration, its description, and its SQL.
type File = (i64, &'static str, &'static str);

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// The migrator of a database. It ignores migrations of a newer release: they only expand the schema, and nodes of two
/// releases run side by side during an upgrade.
pub(crate) fn of(files: &[File]) -> Migrator {
    let migration = |&(version, description, sql): &File| {
        let sql: SqlStr = sql.into_sql_str();
        Migration::new(version, description.into(), MigrationType::Simple, sql, false)
    };
    let mut migrator = Migrator::with_migrations(files.iter().map(migration).collect());
    migrator.set_ignore_missing(true);
    migrator
}

/// The number of the newest migration.
pub(crate) fn newest(migrator: &Migrator) -> i64 {
    migrator.iter().map(|migration| migration.version).max().unwrap_or(0)
}
