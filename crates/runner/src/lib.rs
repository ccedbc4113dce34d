//! Runs builds: leases them from a server, fetches the source, runs the steps in a sandbox, and sends log, artifacts
//! and result (`docs/reference/builds.md#runners`). The server embeds this library, and `launchway runner` runs it.
//!
//! The crate supports Unix; on other systems it is empty.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![cfg(unix)]
#![deny(missing_docs)]

mod artifacts;
mod attempt;
mod build;
mod cache;
mod context;
mod delivery;
mod effort;
mod environment;
pub mod executor;
mod glob;
mod inside;
mod journal;
pub mod labels;
pub mod local;
mod log;
pub mod machine;
mod phases;
pub mod plan;
pub mod protocol;
mod runner;
pub mod sandbox;
pub mod settings;
mod side_tasks;
mod source;
mod source_tool;
mod step_tool;
mod stop;
pub mod token;
mod workspace;

pub use runner::{Runner, RunnerError, WorkDirectory};
pub use side_tasks::Stage;
