//! What the commands on signed updates share: private keys, whoever can sign here, the file that developers commit, and the
//! server's metadata as it was verified (`docs/reference/trust.md#command-line`).

pub mod change;
pub mod differences;
pub mod drafts;
pub mod file;
#[cfg(test)]
mod fixture;
pub mod keys;
pub mod memory;
pub mod next_versions;
pub mod package;
pub mod passphrases;
pub mod publication;
pub mod renewal;
pub mod repository;
pub mod setup;
pub mod sign_with;
pub mod signers;
