//! A temporary PostgreSQL for tests: one per test process, and a separate database for each test.

mod keeper;
mod programs;

use std::path::Path;
use std::process::{self, Command};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::net::free_port;
use crate::settings::setting;
use keeper::Keeper;
use programs::Programs;

/// How many ports are tried. One is nearly always enough: a retry is needed only if another process takes the port
/// between the check and the start.
const TRIES: usize = 5;

/// A PostgreSQL server for tests, without durability and passwords, removed with the test process.
///
/// It survives the crash of a server under test like a real one, because the disabled settings (`fsync`,
/// `full_page_writes`) matter only when the machine crashes; a commit is still a commit.
#[derive(Debug)]
pub struct Postgres {
    /// The URL of the server with its maintenance database.
    url: String,
    programs: Programs,
    /// `None` for an external server.
    keeper: Option<Keeper>,
}

impl Postgres {
    /// The server that all tests of this process share, started at first use. With the setting
    /// `LAUNCHWAY_TEST_POSTGRES_URL` it is that server (any database of it; the role must be allowed to create
    /// databases, and databases created by tests stay there); otherwise it is a new one.
    ///
    /// # Panics
    /// If PostgreSQL is not installed or does not start.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Postgres> = OnceLock::new();
        SHARED.get_or_init(|| match setting("LAUNCHWAY_TEST_POSTGRES_URL") {
            Some(url) => Self {
                url,
                programs: Programs::client(),
                keeper: None,
            },
            None => Self::start_own(),
        })
    }

    /// A server for one test, for tests that stop it. Starting it takes a second or two.
    ///
    /// # Panics
    /// If PostgreSQL is not installed or does not start.
    #[must_use]
    pub fn start_own() -> Self {
        let programs = Programs::server();
        let mut keeper = Keeper::create(&programs);
        let port = (0..TRIES).map(|_| free_port()).find(|port| keeper.start(*port).is_ok());
        let port = port.unwrap_or_else(|| panic!("PostgreSQL does not start. Its log ends with:\n{}", keeper.log()));
        Self {
            url: format!("postgres://launchway@127.0.0.1:{port}/postgres"),
            programs,
            keeper: Some(keeper),
        }
    }

    /// Creates an empty database and returns its URL, which is unique, also among processes.
    ///
    /// # Panics
    /// If the server does not answer or refuses.
    #[must_use]
    pub fn fresh_database(&self) -> String {
        static MADE: AtomicU32 = AtomicU32::new(0);
        loop {
            let name = format!("test_{}_{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed));
            match self.run_sql(&self.url, &format!("CREATE DATABASE {name}")) {
                Ok(_) => return with_database(&self.url, &name),
                // Left on an external server by an earlier process with the same id.
                Err(message) if message.contains("already exists") => {}
                Err(message) => panic!("PostgreSQL did not make a database: {message}"),
            }
        }
    }

    /// Runs one statement as the server's owner in the database `url`. Returns its result as text, one line per row,
    /// fields separated by `|`.
    ///
    /// # Errors
    /// The error output of `psql`.
    pub fn run_sql(&self, url: &str, sql: &str) -> Result<String, String> {
        let output = Command::new(&self.programs.psql)
            .args([
                "--no-psqlrc",
                "--quiet",
                "--tuples-only",
                "--no-align",
                "--set=ON_ERROR_STOP=1",
            ])
            .args(["--command", sql, "--dbname", url])
            .env("LC_ALL", "C")
            .output()
            .map_err(|error| format!("`psql` cannot be started: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
        }
    }

    /// Runs the statements of a file as the server's owner in the database `url`, in one transaction.
    ///
    /// # Errors
    /// The error output of `psql`.
    pub fn run_script(&self, url: &str, file: &Path) -> Result<(), String> {
        let output = Command::new(&self.programs.psql)
            .args([
                "--no-psqlrc",
                "--quiet",
                "--single-transaction",
                "--set=ON_ERROR_STOP=1",
            ])
            .args(["--output=/dev/null", "--dbname", url, "--file"])
            .arg(file)
            .env("LC_ALL", "C")
            .output()
            .map_err(|error| format!("`psql` cannot be started: {error}"))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
        }
    }

    /// The output of `pg_dump` for the database `url`.
    ///
    /// # Panics
    /// If that fails.
    pub fn dump(&self, url: &str) -> Vec<u8> {
        let program = self.programs.psql.with_file_name("pg_dump");
        let output = Command::new(&program)
            .args(["--dbname", url])
            .env("LC_ALL", "C")
            .output();
        let output = output.unwrap_or_else(|error| panic!("{} cannot be started: {error}", program.display()));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// Stops the server immediately, like a crash: connections break, and the next start recovers.
    ///
    /// # Panics
    /// If it does not stop, or is an external server.
    pub fn stop(&mut self) {
        let keeper = self.own();
        assert!(
            keeper.stop().is_ok(),
            "PostgreSQL does not stop. Its log ends with:\n{}",
            keeper.log()
        );
    }

    /// Starts the stopped server on the same port with the same databases, and waits until it answers.
    ///
    /// # Panics
    /// If it does not start, or is an external server.
    pub fn start(&mut self) {
        let keeper = self.own();
        assert!(
            keeper.restart().is_ok(),
            "PostgreSQL does not start again. Its log ends with:\n{}",
            keeper.log()
        );
    }

    /// [`Self::stop`], then [`Self::start`].
    ///
    /// # Panics
    /// Like both.
    pub fn restart(&mut self) {
        self.stop();
        self.start();
    }

    /// The data directory of a server of our own, removed with it.
    ///
    /// # Panics
    /// If the server is an external one.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.keeper
            .as_ref()
            .expect("another's server has no directory here")
            .directory()
    }

    fn own(&mut self) -> &mut Keeper {
        self.keeper
            .as_mut()
            .expect("only a server from `Postgres::start_own` can be stopped")
    }
}

/// `url` with the database `name` instead of its own; parameters are kept.
fn with_database(url: &str, name: &str) -> String {
    let (address, parameters) = match url.split_once('?') {
        Some((address, parameters)) => (address, format!("?{parameters}")),
        None => (url, String::new()),
    };
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    format!("{}/{name}{parameters}", &address[..end])
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn replaces_only_the_database() {
        for (url, expected) in [
            ("postgres://me@host:5432/postgres", "postgres://me@host:5432/x"),
            ("postgres://me:p@host", "postgres://me:p@host/x"),
            ("postgres://host/", "postgres://host/x"),
            ("postgres://host/a?sslmode=disable", "postgres://host/x?sslmode=disable"),
            ("postgres://host?host=/run/pg", "postgres://host/x?host=/run/pg"),
        ] {
            assert_eq!(with_database(url, "x"), expected);
        }
    }
}
