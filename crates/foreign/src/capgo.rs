//! Capgo (`docs/reference/capgo.md`): what `@capgo/capacitor-updater` and `@capgo/electron-updater` ask, and what they are answered.

mod channels;
mod choice;
mod device;
mod fields;
mod files;
mod name;
mod request;
mod response;
mod stats;

pub use channels::{Channel, ChannelAnswer, ChannelRequest};
pub use choice::{CapgoRelease, Choice, choose, current};
pub use device::{Device, DevicePlatform};
pub use files::{FILES_PATH, MAX_FILES, MAX_PATHS_BYTES, Manifest, PackedFile, PackedFiles};
pub use name::{BUILT_IN, version_name};
pub use request::{MAX_BODY_BYTES, UpdateRequest};
pub use response::{ErrorCode, Kind, Response, UpdateAnswer};
pub use stats::{MAX_STATS_BYTES, MAX_STATS_EVENTS, StatsEvent, read_stats, stats_answer};
