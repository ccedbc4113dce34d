//! What the tests stand on. Only ever a dev-dependency; it knows no other crate of the workspace.
//!
//! Everything here is for tests, so what goes wrong ends the test with a message that says why and what to do.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod leash;
pub mod mutator;
pub mod net;
pub mod postgres;
pub mod receiver;
pub mod s3;
pub mod server_process;
pub mod settings;
