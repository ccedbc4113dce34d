//! Real binaries of every format, compared with the output of other programs: accepted, refused, and corrupted.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

mod accepted;
mod broken;
mod bundles;
mod fixture;
mod refused;
