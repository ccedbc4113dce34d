//! The settings of the tests, read from the environment only here.

/// The value of the environment variable `name`; `None` if it is unset, empty or not UTF-8.
///
/// Tests read their settings (`FUZZ_RUNS`, `LAUNCHWAY_TEST_POSTGRES_URL`) only through this function.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where tests read the environment"
)]
pub fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
