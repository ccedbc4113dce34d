//! Real binaries of every form against what other programs say of them: read, refused, and broken in every way.

// Says to clippy that the functions below are tests too, where `unwrap` is at home.
#![cfg(test)]

mod accepted;
mod broken;
mod fixture;
mod refused;
