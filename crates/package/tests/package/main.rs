//! Packages of every kind, valid, hostile and corrupted.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

mod archives;
mod broken;
