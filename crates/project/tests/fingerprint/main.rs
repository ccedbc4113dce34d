//! Fingerprints of real projects that npm installs; long runs with more of them; the published trees.

// Marks the functions below as test code for clippy, so that `unwrap` is allowed.
#![cfg(test)]

mod capacitor;
mod expo;
mod nativescript;
mod npm;
mod react_native;
mod size;
mod trees;
