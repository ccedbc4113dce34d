//! The rules of rounds once more, independent of the client: it knows which generation of metadata the phone has seen, and
//! compares generations instead of files.

use std::collections::BTreeSet;

use launchway_device::ports::Clock;
use launchway_domain::time::{DAY, HOUR, SECOND};

use super::world::Step;
use crate::phone::StoppedClock;
use crate::repository::NOW;

/// Metadata that the server had at some time.
#[derive(Clone)]
struct Generation {
    root: u64,
    version: i64,
    expires: i64,
    signed: BTreeSet<u32>,
    revoked: BTreeSet<u32>,
}

/// The phone and its server according to the rules. `None` is the embedded app, which is older than all updates.
pub struct Model {
    now: i64,
    generations: Vec<Generation>,
    lag: usize,
    offered: Option<u32>,
    root: u64,
    /// The generation that the phone trusts.
    trusted: Option<Generation>,
    /// What it never starts.
    revoked: BTreeSet<u32>,
    refreshed: Option<i64>,
    running: Option<u32>,
    last_good: Option<u32>,
    next: Option<u32>,
}

impl Model {
    pub fn new() -> Self {
        let now = i64::try_from(StoppedClock.now()).unwrap();
        // Before its world began, the repository had been published once, at its own time.
        let version = (NOW / SECOND + 1).max(now / SECOND);
        Self {
            now,
            generations: vec![Generation {
                root: 1,
                version,
                expires: now + 7 * DAY,
                signed: BTreeSet::new(),
                revoked: BTreeSet::new(),
            }],
            lag: 0,
            offered: None,
            root: 1,
            trusted: None,
            revoked: BTreeSet::new(),
            refreshed: None,
            running: None,
            last_good: None,
            next: None,
        }
    }

    pub fn perform(&mut self, step: &Step) -> Option<String> {
        match step {
            Step::Sync => return Some(self.sync()),
            Step::Start => return Some(self.start()),
            Step::Sign(number) => self.publish(|next| {
                next.signed.insert(*number);
            }),
            Step::Revoke(number) => self.publish(|next| {
                next.signed.remove(number);
                next.revoked.insert(*number);
            }),
            Step::Renew => self.publish(|_| ()),
            Step::ReplaceKey => {
                let second = self.now / SECOND;
                self.publish(|next| (next.root, next.version) = (next.root + 1, second));
            }
            Step::Lag(lag) => self.lag = *lag,
            Step::Offer(number) => self.offered = *number,
            Step::Pass(hours) => self.now += i64::from(*hours) * HOUR,
        }
        None
    }

    fn publish(&mut self, change: impl FnOnce(&mut Generation)) {
        let mut next = self.generations.last().unwrap().clone();
        next.version = (next.version + 1).max(self.now / SECOND);
        next.expires = self.now + 7 * DAY;
        change(&mut next);
        self.generations.push(next);
    }

    fn sync(&mut self) -> String {
        let served = self.generations[(self.generations.len() - 1).saturating_sub(self.lag)].clone();
        let offered = self.offered.filter(|offered| Some(*offered) > self.running);
        let due = served.root > self.root
            || self
                .trusted
                .as_ref()
                .is_none_or(|trusted| served.version > trusted.version)
            || self.refreshed.is_none_or(|refreshed| self.now >= refreshed + DAY);
        let refreshed = if due { self.refresh(&served) } else { Ok(()) };
        let Some(offered) = offered else {
            return refreshed.map_or_else(|code| format!("refused {code}"), |()| "nothing".to_owned());
        };
        let first = refreshed.and_then(|()| self.permit(offered));
        let (pause, last) = match first {
            Err("not-signed" | "timestamp rollback") => {
                let again = self.refresh(&served).and_then(|()| self.permit(offered));
                (" after a pause", again)
            }
            other => ("", other),
        };
        match last {
            Ok(()) => {
                self.next = Some(offered);
                format!("staged update_{offered}{pause}")
            }
            Err(code) => format!("refused {code}{pause}"),
        }
    }

    fn refresh(&mut self, served: &Generation) -> Result<(), &'static str> {
        if served.root > self.root {
            (self.root, self.trusted) = (served.root, None);
        } else if served.root < self.root {
            return Err("timestamp too-few-signatures");
        }
        if self
            .trusted
            .as_ref()
            .is_some_and(|trusted| served.version < trusted.version)
        {
            return Err("timestamp rollback");
        }
        if self.now >= served.expires {
            return Err("timestamp expired");
        }
        self.trusted = Some(served.clone());
        self.revoked = served.revoked.clone();
        self.refreshed = Some(self.now);
        Ok(())
    }

    fn permit(&self, offered: u32) -> Result<(), &'static str> {
        let trusted = self.trusted.as_ref().unwrap();
        if self.now >= trusted.expires {
            // The message is about the metadata as a whole, so it names no role.
            Err("expired")
        } else if !trusted.signed.contains(&offered) {
            Err("not-signed")
        } else if trusted.revoked.contains(&offered) {
            Err("revoked")
        } else {
            Ok(())
        }
    }

    fn start(&mut self) -> String {
        let may_run = |number: &u32| !self.revoked.contains(number);
        if self.running.is_some_and(|running| !may_run(&running)) {
            self.running = self.last_good.take().filter(may_run);
        }
        let next = self.next.filter(may_run).filter(|next| self.running != Some(*next));
        if next.is_some() {
            self.last_good = std::mem::replace(&mut self.running, next);
        }
        self.next = None;
        self.running
            .map_or_else(|| "runs embedded".to_owned(), |number| format!("runs update_{number}"))
    }
}
