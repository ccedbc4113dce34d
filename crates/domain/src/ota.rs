//! The over-the-air decision: which update an installed app receives (`docs/reference/updates.md#choice`). Pure and free of
//! allocations, because this code answers the check from memory.

mod newest;
mod releases;

use std::cmp::Ordering;

use crate::build_number::CurrentBuild;
use crate::platform::Platform;
use crate::rollout::Rollout;
use crate::version::Version;

pub use newest::{order, prune};
pub use releases::{
    Abilities, Current, Held, NativeCode, Release, ReleaseCaller, ReleaseDecision, decide_release, is_forced,
    prune_releases, release_obstacle, release_order,
};

/// The parameters of a check: the installed app's own description.
#[derive(Clone, Debug)]
pub struct Caller<'a> {
    /// The platform; `None` lets updates of every platform be candidates.
    pub platform: Option<Platform>,
    /// The installed version.
    pub version: Version,
    /// The installed build. Without it, and without `running`, an update of an equal version is not newer.
    pub build: Option<CurrentBuild<'a>>,
    /// The update of the installed version that the app reports to run, if it is known; `build` takes precedence.
    pub running: Option<Running>,
    /// The fingerprint of the installed app; without it every update is compatible.
    pub fingerprint: Option<&'a str>,
    /// The configuration of the app; without it only updates without one are candidates.
    pub configuration: Option<&'a str>,
    /// The device; without it only full rollouts reach the app.
    pub device_id: Option<&'a str>,
}

/// An update that an app runs, of the version that the app reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its platform. Build numbers of different platforms are unrelated.
    pub platform: Platform,
    /// Its build number.
    pub build: u64,
}

/// The properties of a published update that the decision uses. Bundle and status have been checked before.
pub trait Candidate {
    /// The id as text, such as `update_…`.
    fn id(&self) -> &str;
    /// Its platform.
    fn platform(&self) -> Platform;
    /// Its version.
    fn version(&self) -> &Version;
    /// The value of its build number.
    fn build(&self) -> u64;
    /// The configuration a check must name; `None` serves every check.
    fn configuration(&self) -> Option<&str>;
    /// The fingerprint that the installed app must have; `None` is compatible with every app.
    fn fingerprint(&self) -> Option<&str>;
    /// Whether it also runs in an app with this other fingerprint, which identifies the same native code.
    fn also_accepts(&self, _installed: &str) -> bool {
        false
    }
    /// The share of devices it is offered to.
    fn rollout(&self) -> Rollout;
    /// When it was published, in epoch milliseconds.
    fn created_at(&self) -> i64;
}

impl<C: Candidate> Candidate for &C {
    fn id(&self) -> &str {
        (*self).id()
    }

    fn platform(&self) -> Platform {
        (*self).platform()
    }

    fn version(&self) -> &Version {
        (*self).version()
    }

    fn build(&self) -> u64 {
        (*self).build()
    }

    fn configuration(&self) -> Option<&str> {
        (*self).configuration()
    }

    fn fingerprint(&self) -> Option<&str> {
        (*self).fingerprint()
    }

    fn also_accepts(&self, installed: &str) -> bool {
        (*self).also_accepts(installed)
    }

    fn rollout(&self) -> Rollout {
        (*self).rollout()
    }

    fn created_at(&self) -> i64 {
        (*self).created_at()
    }
}

/// The answer to a caller.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision<C> {
    /// There is nothing newer for this caller.
    NoUpdate,
    /// This update can be installed over the air.
    Update(C),
    /// This update is newer, but like every newer one it needs another native app: a store release.
    StoreUpdate(C),
}

/// Decides for one caller among the published updates of its bundle.
///
/// Of the candidates newer than the caller, the newest with a compatible fingerprint wins; if none is compatible, the
/// newest of all needs a store update (`docs/reference/updates.md#choice`). `newest_first` must be sorted by [`order`]; it
/// may be [`prune`]d. The caller of this function must know whether the bundle has any update at all.
///
/// Takes updates one by one, because an index that holds them packed reads no more of them than the decision needs.
pub fn decide<C: Candidate>(caller: &Caller<'_>, newest_first: impl IntoIterator<Item = C>) -> Decision<C> {
    let mut newest = None;
    // Versions and builds only decrease, so nothing newer follows the first one that is not newer.
    for update in newest_first.into_iter().take_while(|update| caller.is_below(update)) {
        let agrees = caller.agrees_with(&update);
        // The rollout costs a hash: compute it only if its outcome matters.
        let is_for_caller = caller.is_served_by(&update) && caller.is_older_than(&update);
        if !is_for_caller || (!agrees && newest.is_some()) || !caller.is_reached_by(&update) {
            continue;
        }
        if agrees {
            return Decision::Update(update);
        }
        newest = Some(update);
    }
    newest.map_or(Decision::NoUpdate, Decision::StoreUpdate)
}

/// The first reason not to offer an update to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The caller has this version and build, or a newer one.
    NotNewer,
    /// It is for another platform.
    Platform,
    /// It is for a configuration that the caller did not name.
    Configuration,
    /// The rollout does not reach the caller.
    Rollout,
    /// It needs other native code: a store release is needed.
    Fingerprint,
    /// The client does not install its format.
    Format,
    /// It needs an app that was built with another runtime.
    Runtime,
    /// It needs an app of another version.
    Range,
}

/// The reason not to offer one update to a caller; `None` if there is none. [`decide`] applies the same rules to all
/// updates.
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
    /// Whether the update is newer: its version is greater, or the versions are equal and its build number is greater than
    /// the installed one. The update that the app runs supplies the installed build only for its own platform.
    fn is_older_than<C: Candidate>(&self, update: &C) -> bool {
        let is_comparable = match (self.build, self.running) {
            (None, Some(running)) => running.platform == update.platform() || *update.version() != self.version,
            _ => true,
        };
        is_comparable && self.is_below(update)
    }

    /// Whether the update is above the installed version and build, whatever its platform. Along a list in [`order`] this
    /// is true up to some position, and false from there on.
    fn is_below<C: Candidate>(&self, update: &C) -> bool {
        match update.version().cmp(&self.version) {
            Ordering::Greater => true,
            Ordering::Equal => match (self.build, self.running) {
                (Some(build), _) => build.is_older_than(update.build()),
                (None, Some(running)) => running.build < update.build(),
                (None, None) => false,
            },
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

    /// An update without a fingerprint, or a caller without one, is always compatible.
    fn agrees_with<C: Candidate>(&self, update: &C) -> bool {
        self.fingerprint
            .zip(update.fingerprint())
            .is_none_or(|(installed, needed)| installed == needed || update.also_accepts(installed))
    }
}
