//! The client against simulated phones: storage that fails or dies at each write, hostile servers, signed updates, and
//! random lives of the boot machine.

// Tells clippy that the functions below are test code, where `unwrap` is allowed.
#![cfg(test)]

mod boot;
mod checks;
mod choices;
mod deaths;
mod disk;
mod downloads;
mod installs;
mod json;
mod kills;
mod lives;
mod metadata;
mod phone;
mod renewals;
mod reporting;
#[path = "../../../trust/tests/trust/repository.rs"]
#[expect(dead_code, reason = "the tests of the crate below use the rest")]
mod repository;
mod revocations;
mod rounds;
mod sdks;
mod signed;
mod states;
mod trust_faults;

// For the repository, whose file belongs to another crate.
use ring as _;
