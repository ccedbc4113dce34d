//! The over-the-air decision: which update an installed app gets (spec part 4, contract part 7). Pure, and without
//! allocation: the check is answered from memory, by this.

mod newest;

use std::cmp::Ordering;

use crate::build_number::CurrentBuild;
use crate::platform::Platform;
use crate::rollout::Rollout;
use crate::version::Version;

pub use newest::{order, prune};

/// What an installed app tells about itself.
#[derive(Clone, Debug)]
pub struct Caller<'a> {
    /// The platform; `None` lets updates of every platform be candidates.
    pub platform: Option<Platform>,
    /// The installed version.
    pub version: Version,
    /// The installed build; without it an update of an equal version is not newer.
    pub build: Option<CurrentBuild<'a>>,
    /// The hash of what the app is natively; without it every update agrees.
    pub fingerprint: Option<&'a str>,
    /// The configuration the app is of; without it only updates without one are candidates.
    pub configuration: Option<&'a str>,
    /// The device; without it only full rollouts reach the app.
    pub device_id: Option<&'a str>,
}

/// What the decision needs to know of a published update. Bundle and status have been looked at before.
pub trait Candidate {
    /// The id as text, such as `update_…`.
    fn id(&self) -> &str;
    /// What the update is for.
    fn platform(&self) -> Platform;
    /// Its version.
    fn version(&self) -> &Version;
    /// The value of its build number.
    fn build(&self) -> u64;
    /// The configuration a check must name; `None` serves every check.
    fn configuration(&self) -> Option<&str>;
    /// What the installed app must be natively; `None` agrees with every app.
    fn fingerprint(&self) -> Option<&str>;
    /// Which devices it is offered to.
    fn rollout(&self) -> Rollout;
    /// When it was published, in epoch milliseconds.
    fn created_at(&self) -> i64;
}

/// What a caller is answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision<'c, C> {
    /// Nothing newer for this caller.
    NoUpdate,
    /// This update can be installed over the air.
    Update(&'c C),
    /// This update is newer, and like every newer one it needs another native app: a store release.
    StoreUpdate(&'c C),
}

/// Decides for one caller among the published updates of its bundle.
///
/// Of the candidates newer than the caller the newest whose fingerprint agrees wins; when none agrees, the newest of all
/// needs a store update (contract part 7). `newest_first` must be sorted by [`order`]; it may be [`prune`]d.
/// Whether the bundle has any update at all is the asker's to know.
pub fn decide<'c, C: Candidate>(caller: &Caller<'_>, newest_first: &'c [C]) -> Decision<'c, C> {
    let mut newest = None;
    // Versions and builds only fall, so behind the first one that is not newer there is no newer one.
    for update in newest_first.iter().take_while(|update| caller.is_older_than(*update)) {
        let agrees = caller.agrees_with(update);
        // A hash is reckoned for the rollout: only where its outcome matters.
        if !caller.is_served_by(update) || (!agrees && newest.is_some()) || !caller.is_reached_by(update) {
            continue;
        }
        if agrees {
            return Decision::Update(update);
        }
        newest = Some(update);
    }
    newest.map_or(Decision::NoUpdate, Decision::StoreUpdate)
}

/// What speaks against offering an update to a caller, the first that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The caller has this version and build, or newer ones.
    NotNewer,
    /// It is for another platform.
    Platform,
    /// It is for a configuration that the caller did not name.
    Configuration,
    /// The rollout does not reach the caller.
    Rollout,
    /// It needs other native code: a store release is needed.
    Fingerprint,
}

/// What speaks against offering one update to a caller; `None` when nothing does. [`decide`] asks the same of all of them.
pub fn obstacle<C: Candidate>(caller: &Caller<'_>, update: &C) -> Option<Obstacle> {
    let platform = caller.platform.is_none_or(|platform| platform == update.platform());
    if !caller.is_older_than(update) {
        Some(Obstacle::NotNewer)
    } else if !platform {
        Some(Obstacle::Platform)
    } else if !caller.is_served_by(update) {
        Some(Obstacle::Configuration)
    } else if !caller.is_reached_by(update) {
        Some(Obstacle::Rollout)
    } else if !caller.agrees_with(update) {
        Some(Obstacle::Fingerprint)
    } else {
        None
    }
}

impl Caller<'_> {
    /// Spec part 4 rule 1.
    fn is_older_than<C: Candidate>(&self, update: &C) -> bool {
        match update.version().cmp(&self.version) {
            Ordering::Greater => true,
            Ordering::Equal => self.build.is_some_and(|build| build.is_older_than(update.build())),
            Ordering::Less => false,
        }
    }

    fn is_served_by<C: Candidate>(&self, update: &C) -> bool {
        let platform = self.platform.is_none_or(|platform| platform == update.platform());
        platform
            && update
                .configuration()
                .is_none_or(|configuration| self.configuration == Some(configuration))
    }

    fn is_reached_by<C: Candidate>(&self, update: &C) -> bool {
        update.rollout().includes(update.id(), self.device_id)
    }

    /// A caller without fingerprint agrees, and so does an update without.
    fn agrees_with<C: Candidate>(&self, update: &C) -> bool {
        self.fingerprint
            .zip(update.fingerprint())
            .is_none_or(|(installed, needed)| installed == needed)
    }
}
