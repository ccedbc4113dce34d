//! Sources of each framework, the plans that they resolve to, and the behavior of their steps.

// Marks the functions below as test code for clippy, so that `unwrap` is allowed.
#![cfg(test)]

mod fixtures;
mod plans;
mod real;
mod refused;
mod scripts;
mod workspaces;
