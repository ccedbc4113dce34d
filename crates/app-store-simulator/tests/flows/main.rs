//! The clients against the simulator: every destination from start to end, a fault or a crash at every request, and
//! every request and response validated against the published schemas by an independent validator.
#![expect(clippy::unwrap_used, reason = "helpers of tests stand outside of the test functions")]

mod app_store;
mod cancels;
mod changes;
mod control;
mod driver;
mod faults;
mod google_play;
mod large;
mod over_http;
mod pairs;
mod published;
mod real;
mod refusals;
mod stand;
mod survey;
mod two_at_once;
mod used_numbers;
