//! A typed client of our own API: addresses, authentication, retries, uploads and downloads, builds that are followed. It knows no command line.
//!
//! [`Client`] has one method for each endpoint in use. What it needs of the outside besides the network, waiting and
//! randomness, comes from a [`Environment`].
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
mod retry;
mod runners;
mod storage;
mod submissions;
mod transport;
mod upload;

pub use address::{AddressError, BaseUrl};
pub use admin::AuditFilter;
pub use answer::{Answer, RawAnswer};
pub use bare::BareClient;
pub use builds::BuildFilter;
pub use calls::{Paging, UpdateFilter};
pub use client::{Client, Options, Timeouts};
pub use environment::{Environment, Pause, SystemEnvironment};
pub use error::Error;
pub use follow::{BuildEvent, Following};
pub use log::BuildLog;
/// The methods of HTTP, for [`Client::raw`].
pub use reqwest::Method;
pub use retry::Reason;
pub use storage::{Broken, Download, Storage};
pub use submissions::{SubmissionFilter, Watching};
pub use upload::{Progress, Source};
