//! The clients against the simulator: every destination to its end, a fault or a crash at every call, and every request
//! and answer held against the published schemas by a validator that is not ours.
#![expect(clippy::unwrap_used, reason = "helpers of tests stand outside of the test functions")]

mod app_store;
mod changes;
mod control;
mod faults;
mod google_play;
mod large;
mod over_http;
mod pairs;
mod published;
mod real;
mod stand;
mod two_at_once;
mod used_numbers;
