//! Background jobs.

mod batches;
mod lease;
mod sweep;
