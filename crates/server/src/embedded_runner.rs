//! The runner inside the server, so that the first build needs nothing else (contract part 4).

use launchway_domain::id::RunnerId;

/// The runner inside this process, as its server knows it.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// Its id.
    pub runner: RunnerId,
    /// Where it reaches the server: an address of this machine.
    pub origin: String,
}
