//! The client of over-the-air updates, as a phone runs it (`docs/reference/sdk.md`).
//!
//! Everything outside the process is a port: clock, storage, network and randomness. The crate blocks; it starts no
//! threads.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod boot;
pub mod check;
mod device;
pub mod download;
mod files;
pub mod folder;
mod offer;
pub mod ports;
pub mod reports;
pub mod settings;
pub mod slot;
pub mod state;
pub mod trust;

pub use device::{Device, Launch, Mark, StartOutcome, Status, SyncError, SyncOutcome};
pub use ports::Ports;
