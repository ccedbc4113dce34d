//! Clients of App Store Connect and of the Google Play Developer API, and the steps that bring a binary through a store
//! (`docs/reference/submissions.md#app-stores`). No database and no clock of its own: what a submission has reached is a
//! value that its owner keeps, and a step makes at most one call that changes something, after it has read whether that was
//! done before.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod app_store;
pub mod clock;
pub mod failure;
pub mod google_play;
pub mod release;
pub mod step;
pub mod token;
pub mod transport;

mod answer;

pub use clock::Clock;
pub use failure::AppStoreError;
pub use release::{Note, Release};
pub use step::{Step, Then};
