//! The in-memory index that answers the public update check and serves signed metadata, how it follows the database,
//! and the tokens with which devices report results.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod bundle;
mod index;
mod long_texts;
mod trust;
mod updates;

pub mod follow;
pub mod report_token;

pub use bundle::Entry;
pub use index::{Callers, Index};
pub use long_texts::LongTexts;
pub use trust::{Download, ServedFile, TrustQuery, TrustSet};
pub use updates::Updates;
