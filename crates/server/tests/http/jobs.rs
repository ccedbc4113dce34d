//! Work beside the requests.

mod lease;
mod sweep;
