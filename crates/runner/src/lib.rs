//! Runs builds: leases them from a server, fetches the source, runs the steps behind a wall, and sends log, artifacts and
//! result (contract part 4). The server embeds it, and `launchway runner` is it.
//!
//! It is for Unix systems; elsewhere the crate is empty.
#![cfg(unix)]
#![deny(missing_docs)]

pub mod artifacts;
pub mod cache;
pub mod environment;
pub mod executor;
mod glob;
pub mod inside;
pub mod journal;
pub mod labels;
pub mod log;
pub mod protocol;
pub mod settings;
pub mod source;
pub mod token;
pub mod wall;
pub mod workspace;
pub mod world;
