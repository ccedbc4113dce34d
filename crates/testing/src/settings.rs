//! The settings of the tests themselves, read from the environment in this one place.

/// The value of the environment variable `name`, or nothing when it is unset, empty or not UTF-8.
///
/// Tests read their own settings (`FUZZ_RUNS`, `LAUNCHWAY_TEST_POSTGRES_URL`) through this and nothing else.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where tests read the environment"
)]
pub fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
