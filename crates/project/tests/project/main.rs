//! Sources of each framework and the plans that they resolve to; what the steps of those plans do.

// Says to clippy that the functions below are tests too, where `unwrap` is at home.
#![cfg(test)]

mod fixtures;
mod plans;
mod real;
mod refused;
mod scripts;
