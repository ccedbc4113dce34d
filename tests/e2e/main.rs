//! The whole service from outside: the real programs as processes, real app bundles, both databases, both storages.
//!
//! Build the programs with `cargo test --workspace --no-run`, or run scripts/test. What takes minutes is ignored as a long
//! run and belongs to scripts/test-long.

// Says to clippy that everything below is a test, where `unwrap` is at home.
#![cfg(test)]

mod api;
mod browser;
mod cli;
mod deployment;
mod dice;
mod packages;
mod projects;
mod proxy;

mod audit;
mod browser_login;
mod builds;
mod chaos_builds;
mod demo;
mod first_run;
mod following;
mod full_disk;
mod journeys;
mod kill;
mod memory;
mod outage;
mod phones_day;
mod refusals;
mod rotation;
mod schemathesis;
mod secrets;
mod stopping;
mod store_simulator;
mod submissions;
mod upgrade;
mod webhooks;
