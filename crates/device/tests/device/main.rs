//! The client against simulated phones: storage that fails or dies at each write, hostile servers, and random lives of
//! the boot machine.

// Tells clippy that the functions below are test code, where `unwrap` is allowed.
#![cfg(test)]

mod boot;
mod checks;
mod deaths;
mod disk;
mod downloads;
mod installs;
mod json;
mod kills;
mod lives;
mod phone;
mod reporting;
mod revocations;
