//! The runner: real processes, real HTTP, a fake server.

// Says to clippy that all of this is tests, where `unwrap` is at home.
#![cfg(test)]

mod builds;
mod crash;
mod fake_server;
mod faults;
mod fingerprint;
mod git;
mod git_hosts;
mod life;
mod logs;
mod network;
mod sandbox;
mod sources;
mod stage;
mod steps;
mod stopping;
mod swapped;
mod work;
