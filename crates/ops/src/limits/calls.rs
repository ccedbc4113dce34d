//! Rate limits by minute: requests of an organization by its tier (`docs/reference/conventions.md#rate-limits`), and
//! attempts of a client address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use launchway_domain::time::{EpochMs, MINUTE};
use launchway_os::random::Random;
use launchway_store::Db;

use crate::api_error::ApiError;
use crate::limits::clients::ClientLimiter;
use crate::limits::networks::client_name;

/// Subjects of past minutes are removed when the table has grown to this size, and again when it has doubled.
const PRUNE_AT: usize = 10_000;

/// Attempts that are counted by client address, and shared by the nodes of one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tries {
    /// Wrong passwords and codes.
    SignIns,
    /// Logins that a command line begins.
    DeviceLogins,
    /// Polls of the state of such a login: several commands, each every five seconds.
    DeviceKeys,
}

impl Tries {
    const ALL: [Tries; 3] = [Tries::SignIns, Tries::DeviceLogins, Tries::DeviceKeys];

    /// The limit of one client per minute.
    const fn limit(self) -> u32 {
        match self {
            Tries::SignIns => 20,
            Tries::DeviceLogins => 10,
            Tries::DeviceKeys => 120,
        }
    }

    /// The prefix of the subject's name in the database. Nodes of other versions use the same ones.
    const fn name(self) -> &'static str {
        match self {
            Tries::SignIns => "address",
            Tries::DeviceLogins => "device",
            Tries::DeviceKeys => "device-key",
        }
    }

    fn subject(self, address: IpAddr) -> String {
        format!("{}:{}", self.name(), client_name(address))
    }
}

/// The requests that a window has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Requests a minute.
    pub limit: u32,
    /// Requests left in this minute.
    pub remaining: u32,
    /// When the minute ends, in epoch seconds.
    pub reset: i64,
    /// Whether this request exceeds the limit.
    pub exceeded: bool,
}

impl Quota {
    /// Seconds until the window ends, at least one.
    pub fn wait(&self, now: EpochMs) -> u64 {
        u64::try_from(self.reset - now.div_euclid(1000)).unwrap_or(0).max(1)
    }
}

/// Counts requests in fixed windows of a minute: in memory with the embedded database, which only one process uses, and
/// in PostgreSQL if several nodes share the count.
///
/// A subject is an organization, a user, or one of a fixed number of buckets. Client addresses, which strangers can
/// invent without end, are counted in tables of constant size. So no flood fills a table, and no count is ever skipped.
pub struct CallLimiter {
    db: Db,
    counts: Mutex<Counts>,
    addresses: [ClientLimiter; Tries::ALL.len()],
}

struct Counts {
    of: HashMap<String, (i64, i64)>,
    prune_at: usize,
}

impl CallLimiter {
    /// A limiter for the processes that share this database.
    pub fn new(db: Db, random: &dyn Random) -> Self {
        let counts = Counts {
            of: HashMap::new(),
            prune_at: PRUNE_AT,
        };
        Self {
            db,
            counts: Mutex::new(counts),
            addresses: Tries::ALL.map(|tries| ClientLimiter::new(tries.limit(), random)),
        }
    }

    /// Counts one request of a subject against a limit. The subject must not be something that strangers can invent.
    pub async fn count(&self, subject: &str, limit: u32, now: EpochMs) -> Result<Quota, ApiError> {
        let minute = now.div_euclid(MINUTE);
        let count = if self.db.is_shared() {
            let mut tx = self.db.write().await?;
            let count = tx
                .system("the subject is the tenant, or has none yet")
                .count_call(subject, minute)
                .await?;
            tx.commit().await?;
            count
        } else {
            self.count_here(subject, minute, 1)
        };
        Ok(quota(count, limit, minute))
    }

    /// Uncounts one request that was counted in this minute.
    pub async fn take_back(&self, subject: &str, now: EpochMs) -> Result<(), ApiError> {
        let minute = now.div_euclid(MINUTE);
        if self.db.is_shared() {
            let mut tx = self.db.write().await?;
            tx.system("the subject has no tenant yet")
                .uncount_call(subject, minute)
                .await?;
            tx.commit().await?;
        } else {
            self.count_here(subject, minute, -1);
        }
        Ok(())
    }

    /// Counts an attempt of a client address. An address over its limit on this node does not reach the database.
    pub async fn count_address(&self, tries: Tries, address: IpAddr, now: EpochMs) -> Result<(), ApiError> {
        self.addresses[tries as usize]
            .count(address, now)
            .map_err(ApiError::RateLimited)?;
        if self.db.is_shared() {
            let quota = self.count(&tries.subject(address), tries.limit(), now).await?;
            if quota.exceeded {
                return Err(ApiError::RateLimited(quota.wait(now)));
            }
        }
        Ok(())
    }

    /// Uncounts an attempt of a client address that was counted at this time.
    pub async fn take_back_address(&self, tries: Tries, address: IpAddr, at: EpochMs) -> Result<(), ApiError> {
        self.addresses[tries as usize].take_back(address, at);
        if self.db.is_shared() {
            self.take_back(&tries.subject(address), at).await?;
        }
        Ok(())
    }

    fn count_here(&self, subject: &str, minute: i64, add: i64) -> i64 {
        let mut counts = self.counts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if counts.of.len() >= counts.prune_at {
            counts.of.retain(|_, (then, _)| *then >= minute);
            counts.prune_at = (2 * counts.of.len()).max(PRUNE_AT);
        }
        let entry = counts.of.entry(subject.to_owned()).or_insert((minute, 0));
        // If the clock was set back a little, the count continues; if it was set back further, the count restarts.
        if entry.0 != minute && entry.0 != minute + 1 {
            *entry = (minute, 0);
        }
        entry.1 = (entry.1 + add).max(0);
        entry.1
    }
}

fn quota(count: i64, limit: u32, minute: i64) -> Quota {
    let remaining = u32::try_from(i64::from(limit) - count).unwrap_or(0);
    Quota {
        limit,
        remaining,
        reset: (minute + 1) * 60,
        exceeded: count > i64::from(limit),
    }
}
