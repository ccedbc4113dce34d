//! Background jobs.

mod batches;
mod lease;
pub mod signed;
mod sweep;
