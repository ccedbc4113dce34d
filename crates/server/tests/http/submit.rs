//! `/submit`: create, list, read, change, cancel, resume, delete; and the work on submissions, to the end, against both
//! stores in the same process.

mod cancels;
mod changes;
mod crashes;
mod create;
mod flows;
mod nodes;
mod preflight;
mod refusals;
mod secrets;
mod store_events;
mod turns;
mod urgent;
mod used_numbers;
