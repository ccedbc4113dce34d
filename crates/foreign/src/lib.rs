//! The protocols of other services' update clients, without I/O: reads their requests, and writes answers in their words. Each
//! protocol is a module of its own, and none imports another.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod capgo;
pub mod codepush;
pub mod expo;
pub mod exports;
pub mod hot_updater;

mod place;
mod query;

pub use place::Place;
