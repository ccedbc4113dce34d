//! Real files of every form against what OpenSSL and keytool say of them: accepted, refused, and broken in every way.

// Says to clippy that the functions below are tests too, where `unwrap` is at home.
#![cfg(test)]

mod accepted;
mod bad_files;
mod broken;
mod fixture;
mod refused;
