//! Clients of App Store Connect and of the Google Play Developer API, and the steps that submit a binary to an app
//! store (`docs/reference/submissions.md#app-stores`). The crate has no database and no clock. The progress of a
//! submission is a value that its owner saves. A step makes at most one changing request, after it has checked whether
//! that was already done.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod app_store;
pub mod clock;
pub mod failure;
pub mod google_play;
pub mod release;
pub mod step;
pub mod survey;
pub mod transcript;
pub mod transport;

mod answer;

pub use clock::Clock;
pub use failure::AppStoreError;
pub use release::{Note, Release};
pub use step::{Cancellation, NextStep, Step};
