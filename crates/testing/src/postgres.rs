//! A throw-away PostgreSQL for tests: one per test process, and a database of its own for each test.

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

/// Ports tried before giving up. One is nearly always enough: another process must take the port in the moment between
/// the look and the start.
const TRIES: usize = 5;

/// A PostgreSQL server for tests, without durability and without passwords, gone with the test process.
///
/// It survives the kill of a server process under test as a real one does, because only the machine's own fall needs
/// what is turned off (`fsync`, `full_page_writes`); a commit is still a commit.
#[derive(Debug)]
pub struct Postgres {
    /// URL of the server with its maintenance database.
    url: String,
    programs: Programs,
    /// None when the server is another's.
    keeper: Option<Keeper>,
}

impl Postgres {
    /// The server that all tests of this process share, started at first use. It is the one of the setting
    /// `LAUNCHWAY_TEST_POSTGRES_URL` (any database of it; the role must be allowed to create databases, and databases
    /// made by tests stay there) or else a new one.
    ///
    /// # Panics
    /// When PostgreSQL is not installed or does not start.
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

    /// A server for this test alone, for tests that stop it. It takes a second or two.
    ///
    /// # Panics
    /// When PostgreSQL is not installed or does not start.
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

    /// Makes an empty database and gives its URL. No two calls give the same one, also between processes.
    ///
    /// # Panics
    /// When the server does not answer or refuses.
    #[must_use]
    pub fn fresh_database(&self) -> String {
        static MADE: AtomicU32 = AtomicU32::new(0);
        loop {
            let name = format!("test_{}_{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed));
            match self.run_sql(&self.url, &format!("CREATE DATABASE {name}")) {
                Ok(_) => return with_database(&self.url, &name),
                // Left behind on another's server by an earlier process with the same id.
                Err(message) if message.contains("already exists") => {}
                Err(message) => panic!("PostgreSQL did not make a database: {message}"),
            }
        }
    }

    /// Runs one statement as the server's owner in the database `url` and gives its result as text, one line a row,
    /// fields separated by `|`.
    ///
    /// # Errors
    /// What `psql` wrote to standard error.
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
    /// What `psql` wrote to standard error.
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

    /// The database `url` as its own tool writes it out.
    ///
    /// # Panics
    /// When that fails.
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

    /// Ends the server at once, as a crash would: connections break, and the next start recovers.
    ///
    /// # Panics
    /// When it does not end, or is not our own.
    pub fn stop(&mut self) {
        let keeper = self.own();
        assert!(
            keeper.stop().is_ok(),
            "PostgreSQL does not stop. Its log ends with:\n{}",
            keeper.log()
        );
    }

    /// Starts the stopped server again, on the same port with the same databases, and waits until it answers.
    ///
    /// # Panics
    /// When it does not start, or is not our own.
    pub fn start(&mut self) {
        let keeper = self.own();
        assert!(
            keeper.start_again().is_ok(),
            "PostgreSQL does not start again. Its log ends with:\n{}",
            keeper.log()
        );
    }

    /// [`Self::stop`], then [`Self::start`].
    ///
    /// # Panics
    /// As they do.
    pub fn restart(&mut self) {
        self.stop();
        self.start();
    }

    /// The directory in which a server of our own keeps everything; gone with it.
    ///
    /// # Panics
    /// When the server is another's.
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

/// `url` with the database `name` in place of its own, parameters kept.
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
