//! What requests leave in memory on its way to the database, written in batches.

pub mod check_counts;
pub mod last_used;
pub mod report_queue;
