//! hot-updater, as its client speaks it (`docs/reference/hot-updater.md`): the npm package `@hot-updater/react-native` 0.36.

mod answer;
mod bundle_id;
mod check;
mod choice;
mod coerce;
mod cohort;
mod file_hash;
mod manifest;

pub use answer::{Answer, Offer, Refusal, Status, knows_up_to_date};
pub use bundle_id::{BundleId, BundleIdError};
pub use check::{UpdateCheck, UpdateStrategy};
pub use choice::{HotUpdaterRelease, caller, choose, current};
pub use cohort::Cohort;
pub use file_hash::{FileHash, FileHashError};
pub use manifest::{MANIFEST_FILE, MAX_MANIFEST_BYTES, bundle_id_of};
