//! What a project's folder says: `launchway.toml`, its framework, and how it is built
//! (`docs/reference/builds.md#where-the-plan-comes-from`). The folder may be anybody's: nothing outside it is read, and
//! nothing in it is run.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod file;
pub mod fingerprint;
pub mod framework;
pub mod native_version;
pub mod packages;
pub mod preset;
pub mod resolve;
pub mod shell;
pub mod source;
