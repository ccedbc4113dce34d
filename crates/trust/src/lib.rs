//! Signed updates: The Update Framework as Launchway uses it, without I/O
//! (`docs/reference/trust.md`). The server, the command line and the client in Rust share it.
//! Nothing here reads a clock, a file or the network, and every input is hostile.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod client;
mod digest;
pub mod draft;
pub mod floors;
mod form_error;
mod identity;
pub mod json;
mod key;
pub mod metadata;
pub mod next_role;
pub mod one_trip;
pub mod online;
mod pem;
pub mod profile;
mod role;
mod role_error;
mod signing_key;
mod succession;
mod trust_file;
mod trusted_metadata;
mod update;
pub mod workflow;

pub use digest::{Sha256, Sha256Error};
pub use identity::{Identity, RepositoryId, RepositoryIdError};
pub use key::{KEY_TYPE, PublicKey, PublicKeyError, SCHEME};
pub use role::{TopLevel, UpdateRole, UpdateRoleError};
pub use role_error::{Reason, RoleError};
pub use signing_key::{SigningKey, SigningKeyError};
pub use succession::SuccessionError;
pub use trust_file::{TrustFile, TrustFileError};
pub use trusted_metadata::{RoleState, StoredFiles, TrustedMetadata};
pub use update::{Update, target_path};
