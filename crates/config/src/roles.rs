//! The roles of a process.

use super::ConfigError;

/// The roles of a process: which parts of the service it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Serves the API and the pages.
    pub api: bool,
    /// Serves the public check and signed metadata.
    pub check: bool,
    /// Runs the jobs.
    pub worker: bool,
}

impl Roles {
    /// Parses `--roles`; by default a process has every role.
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
