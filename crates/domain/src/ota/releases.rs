//! The decision for clients of other services: which release a caller receives
//! (`docs/reference/foreign-clients.md#choice`). Pure and free of allocations, like the decision of our own check.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::Obstacle;
use crate::platform::Platform;
use crate::release::{BinaryRange, Format, Sequence, UpdateKind};
use crate::rollout::Rollout;
use crate::version::Version;

/// What a request says about the app that sent it.
#[derive(Clone, Debug)]
pub struct ReleaseCaller<'a> {
    /// Its platform.
    pub platform: Platform,
    /// Its configuration: what the client calls a channel, or what its deployment key stands for.
    pub configuration: Option<&'a str>,
    /// The one format that the client installs.
    pub format: Format,
    /// The runtime that the app was built with. Without it, no release that names a runtime runs.
    pub runtime_version: Option<&'a str>,
    /// The version of the installed app. Without it, no release with a range runs.
    pub binary_version: Option<&'a Version>,
    /// What the app says about its native code.
    pub native_code: NativeCode<'a>,
    /// What it runs.
    pub current: Current<'a>,
    /// What its client can do.
    pub abilities: Abilities,
}

/// What an installed app says about its native code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeCode<'a> {
    /// Nothing, since its client does not know fingerprints: every release agrees.
    Unsaid,
    /// Its fingerprint: releases without one, or with this one, agree.
    Fingerprint(&'a str),
    /// Its client knows fingerprints and does not go by them: only releases without one agree.
    Unfingerprinted,
}

/// What a caller runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Current<'a> {
    /// What its app was installed with.
    Embedded,
    /// A release of this bundle and platform.
    Known(Held<'a>),
    /// Something that no release of this server is. It is not the built-in content: nothing is taken away from this caller.
    Unknown,
}

/// A release that a caller runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held<'a> {
    /// Its place.
    pub sequence: Sequence,
    /// Its configuration. Places of different configurations are unrelated.
    pub configuration: Option<&'a str>,
    /// Whether it was withdrawn or deleted, so that devices leave it.
    pub is_withdrawn: bool,
}

/// What a client can do with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Goes to a lower release if the one that it runs was withdrawn.
    pub leaves_withdrawn: bool,
    /// Returns to the built-in content if told so.
    pub returns_to_built_in: bool,
}

impl Abilities {
    /// Of clients that do all of it.
    pub const ALL: Abilities = Abilities {
        leaves_withdrawn: true,
        returns_to_built_in: true,
    };
}

/// The properties of a published release that the decision uses. Bundle and status have been checked before.
pub trait Release {
    /// The update's id as text, such as `update_…`.
    fn id(&self) -> &str;
    /// Its place among the releases that one caller can receive.
    fn sequence(&self) -> Sequence;
    /// Whether it is content, or the return to the built-in content.
    fn kind(&self) -> UpdateKind;
    /// The form of its package; of no meaning for the return to the built-in content, which serves every format.
    fn format(&self) -> Format;
    /// Its platform.
    fn platform(&self) -> Platform;
    /// The configuration that a caller must name; `None` serves every caller.
    fn configuration(&self) -> Option<&str>;
    /// The runtime that the installed app must have; `None`: any.
    fn runtime_version(&self) -> Option<&str>;
    /// The versions of the installed app that run it; `None`: all.
    fn binary_range(&self) -> Option<&BinaryRange>;
    /// The fingerprint that the installed app must have; `None`: any.
    fn fingerprint(&self) -> Option<&str>;
    /// Whether it also runs in an app with this other fingerprint, which identifies the same native code.
    fn also_accepts(&self, _installed: &str) -> bool {
        false
    }
    /// The newest version of the installed app that it is meant for, where clients take nothing older than their app; `None`: any.
    fn newest_app(&self) -> Option<&Version> {
        None
    }
    /// The share of devices that it is offered to.
    fn rollout(&self) -> Rollout;
    /// Whether apps are asked to install it at once.
    fn is_mandatory(&self) -> bool;
}

/// The answer to a caller.
#[derive(Debug, PartialEq, Eq)]
pub enum ReleaseDecision<'c, C> {
    /// It keeps what it runs.
    UpToDate,
    /// It installs this release.
    Update(&'c C),
    /// What it runs was withdrawn: it installs this lower release.
    RollBackTo(&'c C),
    /// It returns to the built-in content: because of this release, or, without one, because what it runs was withdrawn and no
    /// other release is left.
    BuiltIn(Option<&'c C>),
    /// It keeps what it runs. This release is higher, but needs another binary: another runtime, version or fingerprint, which
    /// is not always a newer one.
    OtherBinary(&'c C),
}

/// Decides for one caller among the published releases of its bundle.
///
/// `highest_first` must be sorted by [`release_order`]; it may be [`prune_releases`]d. `reaches` says whether a release is offered to
/// the caller's device: each protocol has its own rule for rollouts, and some tell what failed before. It is asked only where the
/// answer matters. The result never is the release that the caller runs.
pub fn decide_release<'c, C: Release>(
    caller: &ReleaseCaller<'_>,
    highest_first: &'c [C],
    reaches: impl Fn(&C) -> bool,
) -> ReleaseDecision<'c, C> {
    let position = Position::of(caller);
    let mut other_binary = None;
    for release in highest_first {
        let sequence = release.sequence();
        if sequence <= position.floor {
            break;
        }
        let runs = caller.obstacle_in_binary(release).is_none();
        let matters = runs || (other_binary.is_none() && sequence > position.held);
        if !matters || sequence == position.held || !caller.is_served_by(release) || !reaches(release) {
            continue;
        }
        if !runs {
            other_binary = Some(release);
        } else if release.kind() == UpdateKind::Embedded {
            return caller.built_in(Some(release));
        } else if sequence < position.held {
            return ReleaseDecision::RollBackTo(release);
        } else {
            return ReleaseDecision::Update(release);
        }
    }
    if position.must_leave && caller.abilities.returns_to_built_in {
        return ReleaseDecision::BuiltIn(None);
    }
    other_binary.map_or(ReleaseDecision::UpToDate, ReleaseDecision::OtherBinary)
}

/// Whether a caller must install what it is offered at once: a release above the one that it runs, which it could have received, is
/// mandatory, even if a higher one that is not is offered in its place.
pub fn is_forced<C: Release>(caller: &ReleaseCaller<'_>, highest_first: &[C]) -> bool {
    let held = Position::of(caller).held;
    highest_first
        .iter()
        .take_while(|release| release.sequence() > held)
        .any(|release| {
            release.is_mandatory() && caller.is_served_by(release) && caller.obstacle_in_binary(release).is_none()
        })
}

/// The first reason not to offer one release to a caller; `None` if there is none. [`decide_release`] applies the same rules to all
/// releases.
pub fn release_obstacle<C: Release>(
    caller: &ReleaseCaller<'_>,
    release: &C,
    reaches: impl Fn(&C) -> bool,
) -> Option<Obstacle> {
    let position = Position::of(caller);
    if release.sequence() <= position.floor || release.sequence() == position.held {
        Some(Obstacle::NotNewer)
    } else if release.platform() != caller.platform {
        Some(Obstacle::Platform)
    } else if !caller.is_in_configuration_of(release) {
        Some(Obstacle::Configuration)
    } else if !caller.reads_format_of(release) {
        Some(Obstacle::Format)
    } else if !reaches(release) {
        Some(Obstacle::Rollout)
    } else {
        caller.obstacle_in_binary(release)
    }
}

/// Orders releases by falling sequence, then by falling id, so that no two are equal.
pub fn release_order<C: Release>(this: &C, that: &C) -> Ordering {
    let falling = that.sequence().cmp(&this.sequence());
    falling.then_with(|| that.id().cmp(this.id()))
}

/// Drops the releases that no caller can receive, and that change no answer: those below one that everybody receives whom they
/// could reach. A mandatory one stays unless a mandatory one covers it, since it forces what is above it.
///
/// Takes and returns a list sorted by [`release_order`].
pub fn prune_releases<C: Release>(highest_first: Vec<C>) -> Vec<C> {
    let mut covered = BTreeMap::new();
    let mut kept = Vec::with_capacity(highest_first.len());
    for release in &highest_first {
        let reach = |format: Option<Format>, mandatory: bool| {
            let range = release.binary_range().map(BinaryRange::as_str);
            let needs = (release.runtime_version(), range, release.fingerprint());
            (release.platform(), release.configuration(), format, needs, mandatory)
        };
        // A return to the built-in content serves every format, so only another one covers it.
        let format = (release.kind() == UpdateKind::Update).then(|| release.format());
        let is_mandatory = release.is_mandatory();
        // An app that is newer than the release above is not meant for it, and may be for this one.
        let newest_app = release.newest_app();
        let is_covered =
            |above: &Option<&Version>| above.is_none_or(|above| newest_app.is_some_and(|newest| newest <= above));
        kept.push(!covered.get(&reach(format, is_mandatory)).is_some_and(is_covered));
        if release.rollout() == Rollout::FULL {
            let mut cover = |reach| {
                let above = covered.entry(reach).or_insert(newest_app);
                *above = above.zip(newest_app).map(|(one, other)| one.max(other));
            };
            cover(reach(format, false));
            if is_mandatory {
                cover(reach(format, true));
            }
        }
    }
    highest_first
        .into_iter()
        .zip(kept)
        .filter_map(|(release, keep)| keep.then_some(release))
        .collect()
}

/// Where a caller stands in the order of releases.
struct Position {
    /// The place of what it runs; [`Sequence::EMBEDDED`] if that is the built-in content or unknown.
    held: Sequence,
    /// Only releases above this place are offered.
    floor: Sequence,
    /// Whether it must leave what it runs.
    must_leave: bool,
}

impl Position {
    fn of(caller: &ReleaseCaller<'_>) -> Self {
        let (held, must_leave) = match caller.current {
            Current::Known(held) if held.configuration.is_none() || held.configuration == caller.configuration => {
                (held.sequence, held.is_withdrawn && caller.abilities.leaves_withdrawn)
            }
            Current::Embedded | Current::Unknown | Current::Known(_) => (Sequence::EMBEDDED, false),
        };
        Self {
            held,
            floor: if must_leave { Sequence::EMBEDDED } else { held },
            must_leave,
        }
    }
}

impl ReleaseCaller<'_> {
    fn is_served_by<C: Release>(&self, release: &C) -> bool {
        release.platform() == self.platform && self.is_in_configuration_of(release) && self.reads_format_of(release)
    }

    fn is_in_configuration_of<C: Release>(&self, release: &C) -> bool {
        release
            .configuration()
            .is_none_or(|configuration| self.configuration == Some(configuration))
    }

    fn reads_format_of<C: Release>(&self, release: &C) -> bool {
        release.kind() == UpdateKind::Embedded || release.format() == self.format
    }

    /// The first thing of the installed app that keeps a release from running in it.
    fn obstacle_in_binary<C: Release>(&self, release: &C) -> Option<Obstacle> {
        let has_runtime = release
            .runtime_version()
            .is_none_or(|needed| self.runtime_version == Some(needed));
        let is_in_range = release
            .binary_range()
            .is_none_or(|range| self.binary_version.is_some_and(|version| range.contains(version)));
        let agrees = release.fingerprint().is_none_or(|needed| match self.native_code {
            NativeCode::Unsaid => true,
            NativeCode::Fingerprint(installed) => installed == needed || release.also_accepts(installed),
            NativeCode::Unfingerprinted => false,
        });
        if !has_runtime {
            Some(Obstacle::Runtime)
        } else if !is_in_range {
            Some(Obstacle::Range)
        } else {
            (!agrees).then_some(Obstacle::Fingerprint)
        }
    }

    /// The answer that leads back to the built-in content, for a client that can return to it and does not run it already.
    fn built_in<'c, C>(&self, release: Option<&'c C>) -> ReleaseDecision<'c, C> {
        if self.abilities.returns_to_built_in && self.current != Current::Embedded {
            ReleaseDecision::BuiltIn(release)
        } else {
            ReleaseDecision::UpToDate
        }
    }
}
