//! Real files of every format, compared with the output of OpenSSL and keytool: accepted, refused, and corrupted.

// Tells clippy that the functions below are tests, in which `unwrap` is allowed.
#![cfg(test)]

mod accepted;
mod bad_files;
mod broken;
mod fixture;
mod refused;
