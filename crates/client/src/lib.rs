//! A typed client of our own API: addresses, authentication, retries, uploads, downloads and followed builds. It is independent
//! of the command line.
//!
//! [`Client`] has one method for each endpoint in use. Besides the network it needs waiting and randomness, which an
//! [`Environment`] provides.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod address;
mod admin;
mod answer;
mod bare;
mod builds;
mod calls;
mod client;
mod download;
mod environment;
mod error;
mod fingerprints;
mod follow;
mod log;
mod machine_roots;
mod retry;
mod runners;
mod storage;
mod submissions;
mod transport;
mod trust;
mod upload;

pub use address::{AddressError, BaseUrl};
pub use admin::AuditFilter;
pub use answer::{Answer, RawAnswer};
pub use bare::BareClient;
pub use builds::BuildFilter;
pub use calls::{Paging, UpdateFilter};
pub use client::{Client, Options};
pub use environment::{Environment, Pause, SystemEnvironment};
pub use error::Error;
pub use follow::{BuildEvent, BuildFollower};
pub use log::BuildLog;
/// HTTP methods, for [`Client::raw`].
pub use reqwest::Method;
pub use retry::Reason;
pub use storage::{Download, Progress, Storage, TransferError};
pub use submissions::{SubmissionFilter, SubmissionWatcher};
pub use transport::{Timeouts, http_client};
pub use upload::Source;
