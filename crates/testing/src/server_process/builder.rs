//! The settings of a server process before it starts.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::ServerProcess;
use crate::net::free_port;
use crate::settings::setting;

/// Environment variables with a directory, and the name of the directory below the root.
pub(super) const DIRECTORIES: [(&str, &str); 7] = [
    ("HOME", "home"),
    ("XDG_CONFIG_HOME", "home/config"),
    ("XDG_DATA_HOME", "home/share"),
    ("XDG_STATE_HOME", "home/state"),
    ("XDG_CACHE_HOME", "home/cache"),
    ("TMPDIR", "tmp"),
    ("LAUNCHWAY_DATA_DIR", "data"),
];

/// How many ports are tried, as another process may take one between the check and the start.
const TRIES: usize = 5;

/// The settings of a server; by default it uses SQLite and a local directory.
///
/// The process gets its own directory as working directory, home and data directory, and from the environment only
/// `PATH`. `cargo test --workspace` builds it; the setting `LAUNCHWAY_SERVER_BIN` selects another one.
#[derive(Debug, Default)]
pub struct ServerBuilder {
    binary: Option<PathBuf>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    listen: Option<String>,
}

impl ServerBuilder {
    /// Adds an argument for the process itself. `admin` does not get it: set what both need with [`Self::env`].
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

    /// Listens on `address` instead of a free port of `127.0.0.1`, which stays free while the process is stopped. With
    /// `127.0.0.1:0` the system chooses a port that it may reassign while the process is stopped.
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

    /// Starts the process and waits until it reports that it listens.
    ///
    /// # Panics
    /// If the program is not built, or is not ready after 30 s; the message contains its output.
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

    /// Creates the directories without starting anything: for `admin` before the first start, which is then
    /// [`ServerProcess::restart_same_port`], and for commands other than `serve`.
    ///
    /// # Panics
    /// If the program is not built.
    #[must_use]
    pub fn prepare(self) -> ServerProcess {
        let root = tempfile::Builder::new()
            .prefix("launchway-server-")
            .tempdir()
            .expect("a temporary directory");
        // Others may enter, as on a real machine: the server itself must protect its secrets.
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).expect("our own directory");
        for (_, directory) in DIRECTORIES {
            // The server creates its data directory itself.
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

/// The program next to the running test: tests are in `deps/`, programs one directory up.
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
