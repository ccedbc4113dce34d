//! The runner, with real processes, real HTTP, and a fake server.

// Tells clippy that everything here is tests, in which `unwrap` is allowed.
#![cfg(test)]

mod builds;
mod crash;
mod fake_server;
mod faults;
mod fingerprint;
mod git;
mod git_host;
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
