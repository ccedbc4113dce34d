//! The wire format: requests and responses of the API, one file per resource.
//! Field names are camelCase, times are ISO 8601 in UTC with milliseconds, sizes are bytes, durations are seconds
//! (`docs/reference/conventions.md#requests-and-responses`).
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod apps;
pub mod audit;
pub mod auth;
pub mod builds;
pub mod check;
pub mod credentials;
pub mod deployment_keys;
pub mod device_logins;
pub mod env_vars;
pub mod error;
pub mod expo;
pub mod fingerprints;
pub mod keys;
pub mod lists;
pub mod names;
pub mod open;
pub mod orgs;
pub mod reports;
pub mod runner;
pub mod runners;
pub mod secret;
pub mod submissions;
pub mod trust;
pub mod updates;
pub mod uploads;
pub mod usage;
pub mod webhooks;
pub mod words;
