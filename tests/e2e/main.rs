//! The whole service from outside: the real programs as processes, real app bundles, both databases, both storages.
//!
//! Build the programs with `cargo test --workspace --no-run`, or run scripts/test. Tests that take minutes are marked
//! `#[ignore]` as long runs and belong to scripts/test-long.

// Tells clippy that everything below is test code, where `unwrap` is allowed.
#![cfg(test)]

mod api;
mod browser;
mod cli;
mod deployment;
mod dice;
mod packages;
mod phone;
mod priorities;
mod projects;
mod proxy;
mod signed;

mod audit;
mod browser_login;
mod builds;
mod bundlers;
mod chaos_builds;
mod demo;
mod first_run;
mod following;
mod full_disk;
mod imports;
mod journeys;
mod kill;
mod local_snapshot;
mod memory;
mod outage;
mod phone_faults;
mod phones_day;
mod refusals;
mod rotation;
mod schemathesis;
mod sdk;
mod secrets;
mod signed_publishing;
mod signing_keys;
mod stopping;
mod store_simulator;
mod submissions;
mod terminal_phone;
mod upgrade;
mod webhooks;
