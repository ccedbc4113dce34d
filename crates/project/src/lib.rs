//! Reads a project directory: `launchway.toml`, the framework, and how to build the app
//! (`docs/reference/builds.md#where-the-plan-comes-from`). The directory is untrusted: nothing outside it is read, and
//! nothing in it is executed.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod bundle;
pub mod file;
pub mod fingerprint;
pub mod framework;
mod lockfile;
pub mod native_version;
pub mod packages;
pub mod preset;
pub mod resolve;
pub mod sdk;
pub mod shell;
pub mod source;
pub mod trust_file;
pub mod update_client;
pub mod workspace;
