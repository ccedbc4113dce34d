//! What a process does of the service's work.

use super::ConfigError;

/// What a process does of the service's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Answers the API and the pages.
    pub api: bool,
    /// Answers the public check.
    pub check: bool,
    /// Runs the jobs.
    pub worker: bool,
}

impl Roles {
    /// Reads `--roles`; without it a process does everything.
    pub fn parse(text: Option<&str>) -> Result<Roles, ConfigError> {
        let Some(text) = text else {
            return Ok(Roles {
                api: true,
                check: true,
                worker: true,
            });
        };
        let mut roles = Roles {
            api: false,
            check: false,
            worker: false,
        };
        for name in text.split(',').map(str::trim) {
            match name {
                "api" => roles.api = true,
                "check" => roles.check = true,
                "worker" => roles.worker = true,
                _ => {
                    return Err(ConfigError::new(
                        "--roles",
                        format!("`{name}` is not one of api, check, worker"),
                    ));
                }
            }
        }
        Ok(roles)
    }
}
