//! The runner: real processes, real HTTP, a fake server.

mod stage;
mod steps;
mod walls;
