//! The embedded runner as its server knows it: its enrolment and the local address that only it uses.

use std::ops::RangeInclusive;

use launchway_domain::id::RunnerId;

/// The runner inside this process.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// Its id.
    pub runner: RunnerId,
    /// The address at which it reaches the server: a local one.
    pub origin: String,
    /// The user ids that its builds run as.
    pub builders: RangeInclusive<u32>,
}
