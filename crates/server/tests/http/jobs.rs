//! Work beside the requests.

mod batches;
mod lease;
mod sweep;
