//! The runner: real processes, real HTTP, a fake server.

mod builds;
mod crash;
mod fake_server;
mod faults;
mod git;
mod logs;
mod stage;
mod steps;
mod walls;
mod work;
