//! How many connections may be open at a time.

use rustix::process::{Resource, getrlimit};

use super::values::parse;
use super::{ConfigError, RawSettings};

const MOST: usize = 10_000;
const MOST_OF_CLIENT: usize = 512;
const WANTED: &str = "a whole number from 1";

/// The maximum number of connections. The remaining file descriptors are for the database, objects and builds.
pub(super) fn max_connections(raw: &RawSettings) -> Result<usize, ConfigError> {
    let given = count(&raw.max_connections, "--max-connections")?;
    Ok(given.unwrap_or_else(|| fitting(getrlimit(Resource::Nofile).current)))
}

/// The maximum number of connections of one client address.
pub(super) fn max_connections_per_client(raw: &RawSettings, most: usize) -> Result<usize, ConfigError> {
    let given = count(&raw.max_connections_per_client, "--max-connections-per-client")?;
    Ok(given.unwrap_or_else(|| most.div_ceil(2).min(MOST_OF_CLIENT)))
}

fn count(given: &Option<String>, setting: &str) -> Result<Option<usize>, ConfigError> {
    match parse(given, setting, WANTED)? {
        Some(0) => Err(ConfigError::new(setting, format!("`0` is not {WANTED}"))),
        count => Ok(count),
    }
}

/// The number of connections that fit a limit on open files; `None` means no limit.
fn fitting(files: Option<u64>) -> usize {
    let files = files.and_then(|files| usize::try_from(files).ok());
    files.map_or(MOST, |files| (files / 4 * 3).clamp(1, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_the_files_that_the_process_may_open() {
        for (files, expected) in [(Some(1024), 768), (Some(1_000_000), MOST), (None, MOST), (Some(0), 1)] {
            assert_eq!(fitting(files), expected, "{files:?}");
        }
    }

    #[test]
    fn what_is_given_counts() {
        let settings = |all: &str, client: Option<&str>| RawSettings {
            max_connections: Some(all.to_owned()),
            max_connections_per_client: client.map(str::to_owned),
            ..RawSettings::default()
        };
        let raw = settings("5000", None);
        assert_eq!(max_connections(&raw).expect("a number"), 5000);
        assert_eq!(
            max_connections_per_client(&raw, 5000).expect("a number"),
            MOST_OF_CLIENT
        );
        assert_eq!(max_connections_per_client(&raw, 5).expect("a number"), 3);
        assert_eq!(
            max_connections_per_client(&settings("5", Some("700")), 5).expect("a number"),
            700
        );
        for wrong in ["0", "-1", "many"] {
            assert!(max_connections(&settings(wrong, None)).is_err(), "{wrong}");
            assert!(
                max_connections_per_client(&settings("5", Some(wrong)), 5).is_err(),
                "{wrong}"
            );
        }
    }
}
