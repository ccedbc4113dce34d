//! Background jobs.

mod batches;
mod lease;
mod list_totals;
pub mod signed;
mod sweep;
