//! The settings of a server process before it starts.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::ServerProcess;
use crate::net::free_port;
use crate::settings::setting;

/// Environment variables that name a directory, and the directory's name below the root.
pub(super) const DIRECTORIES: [(&str, &str); 7] = [
    ("HOME", "home"),
    ("XDG_CONFIG_HOME", "home/config"),
    ("XDG_DATA_HOME", "home/share"),
    ("XDG_STATE_HOME", "home/state"),
    ("XDG_CACHE_HOME", "home/cache"),
    ("TMPDIR", "tmp"),
    ("LAUNCHWAY_DATA_DIR", "data"),
];

/// Ports tried before giving up, as another process may take one between the look and the start.
const TRIES: usize = 5;

/// The settings of a server; without any it runs on SQLite and a local directory.
///
/// The process gets a directory of its own as working directory, home and place for data, and of the environment only
/// `PATH`. It is built by `cargo test --workspace`; the setting `LAUNCHWAY_SERVER_BIN` names another one.
#[derive(Debug, Default)]
pub struct ServerBuilder {
    binary: Option<PathBuf>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    listen: Option<String>,
}

impl ServerBuilder {
    /// Adds an argument for the process itself. `admin` does not get it: give what both need as [`Self::env`].
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a setting, such as `LAUNCHWAY_DATABASE_URL`, or another environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Listens on `address` instead of a free port of `127.0.0.1` that stays free when the process is stopped for a
    /// while. With `127.0.0.1:0` the system chooses one that it may give away meanwhile.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = Some(address.into());
        self
    }

    /// Runs another program.
    #[must_use]
    pub fn binary(mut self, path: impl Into<PathBuf>) -> Self {
        self.binary = Some(path.into());
        self
    }

    /// Starts the process and waits until it says that it listens.
    ///
    /// # Panics
    /// When the program is not built, or is not ready after 30 s; the message has all that it wrote.
    #[must_use]
    pub fn start(self) -> ServerProcess {
        let may_move = self.listen.is_none();
        let mut server = self.prepare();
        let mut tries = TRIES;
        while let Err(stdout) = server.run() {
            tries -= 1;
            let again = may_move && tries > 0 && server.stderr().contains("in use");
            assert!(again, "The server did not start.\n{}", server.output(&stdout));
            server.listen = local_address();
        }
        server
    }

    /// Makes the directories but starts nothing: for `admin` before the first start, which is then
    /// [`ServerProcess::restart_same_port`], and for commands other than `serve`.
    ///
    /// # Panics
    /// When the program is not built.
    #[must_use]
    pub fn prepare(self) -> ServerProcess {
        let root = tempfile::Builder::new()
            .prefix("launchway-server-")
            .tempdir()
            .expect("a temporary directory");
        // As on a real machine others may enter: what is secret the server must protect itself.
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).expect("our own directory");
        for (_, directory) in DIRECTORIES {
            // The server makes its data directory itself.
            if directory != "data" {
                fs::create_dir_all(root.path().join(directory)).expect("a new directory");
            }
        }
        ServerProcess {
            binary: self.binary.unwrap_or_else(built_server),
            root,
            arguments: self.arguments,
            environment: self.environment,
            listen: self.listen.unwrap_or_else(local_address),
            running: None,
        }
    }
}

fn local_address() -> String {
    format!("127.0.0.1:{}", free_port())
}

/// The program beside the running test: tests lie in `deps/`, programs one directory higher.
fn built_server() -> PathBuf {
    if let Some(path) = setting("LAUNCHWAY_SERVER_BIN") {
        return PathBuf::from(path);
    }
    let test = std::env::current_exe().expect("the path of the running test");
    let binary = test
        .ancestors()
        .nth(2)
        .expect("a test lies two directories deep")
        .join("launchway-server");
    assert!(
        binary.is_file(),
        "{} is not there. Build it with `cargo test --workspace --no-run`, or run scripts/test.",
        binary.display()
    );
    binary
}
