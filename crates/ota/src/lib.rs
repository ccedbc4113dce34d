//! The in-memory index that answers the public update check and serves signed metadata, how it follows the database,
//! and the tokens with which devices report results.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod bytes;
mod entry;
mod extension;
mod foreign;
mod index;
mod loader;
mod long_texts;
mod package;
mod prefetch;
mod record;
mod row_memory;
mod shard;
mod staging;
mod texts;
mod trust;
mod updates;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod packed_tests;
#[cfg(test)]
mod snapshot_tests;

pub mod follow;
pub mod report_token;
pub mod snapshot;

pub use entry::Entry;
pub use foreign::{
    CapgoManifests, Deployment, ExpoIssue, ExpoReleases, ForeignBundle, ForeignIndex, ForeignRelease, NamedRelease,
    StoredFile, StoredFiles,
};
pub use index::{Callers, Index, Place};
pub use long_texts::LongTexts;
pub use trust::{Download, ServedFile, TrustQuery, TrustSet};
pub use updates::Updates;
