//! The two services: production, and development for tests.

use launchway_api::words::ServiceEnvironment;

/// Which of the two services (`docs/reference/service.md#environments`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// For users.
    Production,
    /// For tests, with `--dev`.
    Development,
}

impl Service {
    /// The name in requests and in the login file.
    pub const fn as_str(self) -> &'static str {
        self.environment().as_str()
    }

    /// The value in the server's description of itself.
    pub const fn environment(self) -> ServiceEnvironment {
        match self {
            Service::Production => ServiceEnvironment::Production,
            Service::Development => ServiceEnvironment::Development,
        }
    }
}
