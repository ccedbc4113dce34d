//! Test infrastructure. Only ever a dev-dependency; it depends on no other crate of the workspace.
//!
//! All errors end the test with a message that says what is wrong and what to do.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod answer;
pub mod kill_guard;
pub mod mutator;
pub mod net;
pub mod postgres;
pub mod raw_zip;
pub mod receiver;
pub mod s3;
pub mod says;
pub mod server_process;
pub mod settings;
pub mod traced;
pub mod wait;
pub mod workspace;
