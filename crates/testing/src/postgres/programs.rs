//! Locates the programs of PostgreSQL.

use std::fs;
use std::path::{Path, PathBuf};

use crate::settings::setting;

/// What to do if a program is missing.
const ADVICE: &str = "Run scripts/setup, or name a running server in LAUNCHWAY_TEST_POSTGRES_URL.";

/// Where Debian installs the programs of each version, which are not in the search path.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The locations of the programs.
#[derive(Debug)]
pub(super) struct Programs {
    /// The directory of `initdb`, `pg_ctl` and `postgres`; empty if only the client is needed.
    pub(super) server: PathBuf,
    pub(super) psql: PathBuf,
}

impl Programs {
    /// The programs of server and client, from the search path or else of the newest version on the machine.
    pub(super) fn server() -> Self {
        let server = directories()
            .into_iter()
            .find(|dir| {
                ["initdb", "pg_ctl", "postgres", "psql"]
                    .iter()
                    .all(|name| dir.join(name).is_file())
            })
            .unwrap_or_else(|| panic!("The tests need PostgreSQL 15 or newer, and it is not installed. {ADVICE}"));
        Self {
            psql: server.join("psql"),
            server,
        }
    }

    /// Only the client, for an external server.
    pub(super) fn client() -> Self {
        let psql = directories()
            .into_iter()
            .map(|dir| dir.join("psql"))
            .find(|program| program.is_file())
            .unwrap_or_else(|| panic!("The tests need `psql`, and it is not installed. {ADVICE}"));
        Self {
            server: PathBuf::new(),
            psql,
        }
    }
}

/// The search path, then Debian's directories, newest version first.
fn directories() -> Vec<PathBuf> {
    let path = setting("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = path
        .split(':')
        .filter(|dir| !dir.is_empty())
        .map(PathBuf::from)
        .collect();
    directories.extend(newest_first(Path::new(DEBIAN)).into_iter().map(|dir| dir.join("bin")));
    directories
}

/// The directories in `root` whose names are numbers, highest first.
fn newest_first(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    let mut versions: Vec<u32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions
        .into_iter()
        .map(|version| root.join(version.to_string()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_versions_as_numbers() {
        let root = tempfile::tempdir().expect("a temporary directory");
        for name in ["9", "15", "17", "doc"] {
            fs::create_dir(root.path().join(name)).expect("a directory");
        }
        let expected: Vec<PathBuf> = ["17", "15", "9"].iter().map(|name| root.path().join(name)).collect();
        assert_eq!(newest_first(root.path()), expected);
        assert!(newest_first(&root.path().join("absent")).is_empty());
    }
}
