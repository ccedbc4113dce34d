//! Limits on pages: by client address before anything is read, then by session and organization. Each node counts
//! separately, in memory.

use std::net::IpAddr;

use launchway_domain::id::{OrgId, SessionId};
use launchway_domain::time::EpochMs;
use launchway_os::random::Random;

use crate::api_error::ApiError;
use crate::limits::clients::ClientLimiter;

/// Pages a minute that one browser may load: ten a second, including live parts.
const PER_SESSION: u32 = 600;
/// Higher than the limit of a session, because an office may share an address.
const PER_ADDRESS: u32 = 3000;
const PER_ORG: u32 = 6000;

/// Counts pages.
pub struct PageLimits {
    addresses: ClientLimiter,
    sessions: ClientLimiter,
    orgs: ClientLimiter,
}

impl PageLimits {
    /// Creates counters at zero.
    pub fn new(random: &dyn Random) -> PageLimits {
        PageLimits {
            addresses: ClientLimiter::new(PER_ADDRESS, random),
            sessions: ClientLimiter::new(PER_SESSION, random),
            orgs: ClientLimiter::new(PER_ORG, random),
        }
    }

    /// Counts a page of an organization that a session loads. A session over its limit does not count for the
    /// organization.
    pub fn count(&self, session: SessionId, org: OrgId, now: EpochMs) -> Result<(), ApiError> {
        // The low bits of an id are random.
        let number = |id: u128| id as u64;
        self.sessions
            .count_number(number(session.uuid().as_u128()), now)
            .and_then(|()| self.orgs.count_number(number(org.uuid().as_u128()), now))
            .map_err(ApiError::RateLimited)
    }

    /// Counts a page that an address loads. Returns the seconds to wait if the address is over its limit.
    pub fn count_address(&self, address: IpAddr, now: EpochMs) -> Result<(), u64> {
        self.addresses.count(address, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use launchway_os::random::SystemRandom;

    #[test]
    fn a_session_over_its_limit_does_not_use_up_its_organization() {
        let limits = PageLimits::new(&SystemRandom);
        let (org, other) = (OrgId::new(1, [1; 10]), OrgId::new(1, [2; 10]));
        let session = |number: u8| SessionId::new(1, [number; 10]);
        let loaded = (0..2 * PER_ORG).filter(|_| limits.count(session(1), org, 0).is_ok());
        assert_eq!(loaded.count(), PER_SESSION as usize);
        assert!(limits.count(session(2), org, 0).is_ok());
        for number in 2..=10 {
            for _ in 0..PER_SESSION {
                let _ = limits.count(session(number), org, 0);
            }
        }
        assert!(
            limits.count(session(11), org, 0).is_err(),
            "the organization has had its pages"
        );
        assert!(limits.count(session(12), other, 0).is_ok());
        assert!(limits.count(session(1), org, 60_000).is_ok());
    }
}
