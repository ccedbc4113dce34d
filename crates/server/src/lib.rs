//! launchway-server: the service that builds, submits and updates mobile apps. See ARCHITECTURE.md for the walks through it.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod admin;
pub mod command_error;
pub mod embedded_runner;
pub mod program;
