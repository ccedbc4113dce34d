//! What a project's folder says: `launchway.toml`, the framework it is made with, and how it is built (contract part 4
//! and 10). The folder may be anybody's: nothing outside of it is read, and nothing in it is run.

pub mod file;
pub mod fingerprint;
pub mod framework;
pub mod native_version;
pub mod packages;
pub mod preset;
pub mod resolve;
pub mod shell;
pub mod source;
