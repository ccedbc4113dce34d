//! Fingerprints of real projects, made with npm; long runs with more of them; the published trees.

// Says to clippy that the functions below are tests too, where `unwrap` is at home.
#![cfg(test)]

mod capacitor;
mod expo;
mod nativescript;
mod npm;
mod react_native;
mod size;
mod trees;
