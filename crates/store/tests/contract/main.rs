//! The store's contract: one body of tests, run on SQLite and on PostgreSQL. One file per table family, as in `src/`.

// Tells clippy that everything here is test code, where `unwrap` is allowed.
#![cfg(test)]

/// Makes two tests of each `async fn name(db: &TestDb)`: `sqlite::name` and `postgres::name`. Use it once per file.
macro_rules! contract {
    ($($(#[$note:meta])* async fn $name:ident($db:ident: &TestDb) $body:block)+) => {
        $($(#[$note])* async fn $name($db: &$crate::database::TestDb) $body)+

        mod sqlite {
            $(#[test]
            fn $name() {
                $crate::database::on_sqlite(super::$name);
            })+
        }

        mod postgres {
            $(#[test]
            fn $name() {
                $crate::database::on_postgres(super::$name);
            })+
        }
    };
}

/// One call on an organization's rows, in its own transaction that commits: `org_writes!(db, org, rename("x"))`.
macro_rules! org_writes {
    ($db:expr, $org:expr, $call:ident($($value:expr),* $(,)?)) => {{
        let mut tx = $db.write().await.unwrap();
        let answer = tx.org($org).$call($($value),*).await.unwrap();
        tx.commit().await.unwrap();
        answer
    }};
}

/// One call on an organization's rows, in a read-only transaction.
macro_rules! org_reads {
    ($db:expr, $org:expr, $call:ident($($value:expr),* $(,)?)) => {{
        let mut tx = $db.read().await.unwrap();
        tx.org($org).$call($($value),*).await.unwrap()
    }};
}

/// One call on all rows, in its own transaction that commits.
macro_rules! system_writes {
    ($db:expr, $call:ident($($value:expr),* $(,)?)) => {{
        let mut tx = $db.write().await.unwrap();
        let answer = tx.system("a test").$call($($value),*).await.unwrap();
        tx.commit().await.unwrap();
        answer
    }};
}

/// One call on all rows, in a read-only transaction.
macro_rules! system_reads {
    ($db:expr, $call:ident($($value:expr),* $(,)?)) => {{
        let mut tx = $db.read().await.unwrap();
        tx.system("a test").$call($($value),*).await.unwrap()
    }};
}

mod api_keys;
mod app_store_turns;
mod apps;
mod audit;
mod build_numbers;
mod build_outputs;
mod build_queue;
mod builds;
mod changes;
mod coverage;
mod crashes;
mod credentials;
mod data_keys;
mod database;
mod deliveries;
mod departures;
mod deployment_keys;
mod device_logins;
mod dump;
mod env_vars;
mod errors;
mod expansion;
mod expo;
mod failed_tries;
mod holdings;
mod idempotency;
mod index_rows;
mod invitations;
mod job_leases;
mod kept_forms;
mod limits;
mod list_folding;
mod list_lives;
mod list_plans;
mod list_totals;
mod members;
mod opening;
mod orgs;
mod outages;
mod outbox;
mod packages;
mod probe;
mod records;
mod releases;
mod reports;
mod runners;
mod schema;
mod sessions;
mod submissions;
mod tenancy;
mod tenants;
mod texts;
mod transactions;
mod trust_drafts;
mod trust_files;
mod trust_online_keys;
mod trust_repositories;
mod trust_targets;
mod two_factor;
mod updates;
mod uploads;
mod usage;
mod users;
mod webhooks;
