//! Random histories of an app's releases, as a server keeps them: published for any platform, configuration, format and binary, paused,
//! resumed, withdrawn, and rolled out to more and to fewer devices.

use std::collections::HashMap;

use launchway_domain::ota::{Release, prune_releases, release_order};
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format, Sequence, UpdateKind};
use launchway_domain::rollout::Rollout;
use launchway_domain::time::EpochMs;
use launchway_domain::version::Version;
use launchway_foreign::expo::{UNDO_SPAN, created_at, reissued};
use launchway_foreign::hot_updater::BundleId;
use proptest::prelude::*;
use uuid::Uuid;

use super::releases::TestRelease;

const CONFIGURATIONS: [&str; 2] = ["production", "beta"];
const RUNTIMES: [&str; 2] = ["1", "2"];
const FINGERPRINTS: [&str; 2] = ["native-a", "native-b"];
const RANGES: [&str; 4] = ["*", "^1.0.0", "2.x", ">=1.2.0 <3.0.0"];
const VERSIONS: [&str; 4] = ["1.0.0", "1.2.0", "2.0.0", "3.1.0"];
const PLATFORMS: [Platform; 2] = [Platform::Ios, Platform::Android];

/// What a publisher or the user of the device does.
#[derive(Clone, Debug)]
pub enum Act {
    /// A release is published.
    Publish(Draft),
    /// A release is no longer offered; devices keep it.
    Pause(usize),
    /// A paused release is offered again.
    Resume(usize),
    /// A release is taken back.
    Withdraw(usize),
    /// A release is offered to another share of devices.
    RollOut(usize, u8),
    /// The app asks for another configuration from now on.
    Enter(usize),
    /// The app is installed again, from this binary.
    Install(usize),
}

/// A release that is to be published, as numbers that choose its properties.
#[derive(Clone, Debug)]
pub struct Draft {
    is_embedded: bool,
    format: Format,
    is_elsewhere: bool,
    configuration: usize,
    range: usize,
    runtime: usize,
    fingerprint: usize,
    rollout: u8,
    is_mandatory: bool,
    version: usize,
    content: u8,
}

/// The device and its app.
#[derive(Clone, Debug)]
pub struct Device {
    pub platform: Platform,
    pub configuration: Option<&'static str>,
    pub runtime_version: &'static str,
    pub binary: Version,
    /// What the client of hot-updater says about the native code, if it goes by it.
    pub fingerprint: Option<&'static str>,
    pub id: String,
    pub cohort: u16,
    /// The id of the built-in content, for hot-updater: between those of releases.
    pub min_bundle_id: BundleId,
    /// How often a new update fails to start on it: every time this number divides the count of installs.
    pub fails_every: usize,
}

/// The releases of one app, as the server knows them.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// All of them, in the order of their publication.
    pub releases: Vec<TestRelease>,
    /// Those that are offered, as the decision takes them.
    pub offered: Vec<TestRelease>,
    /// By the ids under which clients of Expo received them: the release, and when they take it as created.
    pub issues: HashMap<Uuid, (usize, EpochMs)>,
    now: EpochMs,
}

/// A choice of `count`, in two of three cases the first.
fn often_first(count: usize) -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(0), 1 => 0..count]
}

fn draft(format: Format) -> impl Strategy<Value = Draft> {
    let formats = prop_oneof![
        6 => Just(format),
        1 => prop::sample::select(vec![Format::Archive, Format::Expo, Format::Codepush, Format::HotUpdater]),
    ];
    let rollouts = vec![0, 1, 50, 99, 100, 100, 100, 100];
    let needs = (0usize..8, often_first(4), 0usize..6);
    let look = (0usize..4, 0u8..4, prop::sample::select(rollouts), any::<bool>());
    (0u8..9, formats, 0u8..8, often_first(4), needs, look).prop_map(
        |(
            kind,
            format,
            elsewhere,
            configuration,
            (range, runtime, fingerprint),
            (version, content, rollout, is_mandatory),
        )| Draft {
            is_embedded: kind == 0,
            format,
            is_elsewhere: elsewhere == 0,
            configuration,
            range,
            runtime,
            fingerprint,
            rollout,
            is_mandatory,
            version,
            content,
        },
    )
}

/// What happens to an app whose clients install this format, and whether the device asks after it.
pub fn history(format: Format) -> impl Strategy<Value = Vec<(Act, bool)>> {
    let which = 0usize..6;
    let act = prop_oneof![
        6 => draft(format).prop_map(Act::Publish),
        1 => which.clone().prop_map(Act::Pause),
        1 => which.clone().prop_map(Act::Resume),
        2 => which.clone().prop_map(Act::Withdraw),
        2 => (which, prop::sample::select(vec![0, 10, 60, 100, 100])).prop_map(|(at, share)| Act::RollOut(at, share)),
        1 => often_first(3).prop_map(Act::Enter),
        1 => (0usize..8).prop_map(Act::Install),
    ];
    prop::collection::vec((act, prop::bool::weighted(0.6)), 1..14)
}

pub fn device() -> impl Strategy<Value = Device> {
    (
        0usize..6,
        often_first(3),
        0usize..8,
        0usize..3,
        "[a-f0-9]{4}",
        1u16..=1000,
        2usize..9,
    )
        .prop_map(
            |(platform, configuration, binary, fingerprint, id, cohort, fails_every)| {
                let mut device = Device {
                    platform: PLATFORMS[usize::from(platform == 0)],
                    configuration: None,
                    runtime_version: "",
                    binary: Version::parse("1.0.0").unwrap(),
                    fingerprint: FINGERPRINTS.get(fingerprint).copied(),
                    id,
                    cohort,
                    min_bundle_id: BundleId::NIL,
                    fails_every,
                };
                device.enter(configuration);
                device.install(binary);
                device
            },
        )
}

impl Device {
    pub fn enter(&mut self, configuration: usize) {
        self.configuration = CONFIGURATIONS.get(configuration).copied();
    }

    pub fn install(&mut self, binary: usize) {
        self.binary = Version::parse(VERSIONS[binary % 4]).unwrap();
        self.runtime_version = RUNTIMES[usize::from(binary % 3 == 2)];
        self.min_bundle_id = bundle_id(binary * 4 + 1);
    }
}

fn bundle_id(number: usize) -> BundleId {
    BundleId::parse(&format!("0190a8c6-0000-7000-8000-{number:012x}")).unwrap()
}

impl World {
    /// Does what a publisher does; what concerns the device is left to it.
    pub fn apply(&mut self, act: &Act) {
        self.now += 1;
        match *act {
            Act::Publish(ref draft) => self.publish(draft),
            Act::Pause(at) => self.change(at, |release| release.is_paused = true),
            Act::Resume(at) => self.change(at, |release| release.is_paused = false),
            Act::RollOut(at, share) => self.change(at, |release| release.rollout = Rollout::new(share).unwrap()),
            Act::Withdraw(at) => {
                let mut is_changed = false;
                self.change(at, |release| {
                    release.is_withdrawn = true;
                    is_changed = true;
                });
                if is_changed {
                    self.issue_again(at);
                }
            }
            Act::Enter(_) | Act::Install(_) => return,
        }
        let offered = self
            .releases
            .iter()
            .filter(|release| !release.is_withdrawn && !release.is_paused);
        let mut offered: Vec<_> = offered.cloned().collect();
        offered.sort_by(release_order);
        self.offered = prune_releases(offered);
    }

    /// The newest id of a release for clients of Expo.
    pub fn issue(&self, number: usize) -> Option<(Uuid, EpochMs)> {
        let issues = self.issues.iter().filter(|(_, (of, _))| *of == number);
        issues.map(|(id, (_, at))| (*id, *at)).max_by_key(|(_, at)| *at)
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut TestRelease)) {
        let release = self.releases.get_mut(at);
        if let Some(release) = release.filter(|release| !release.is_withdrawn) {
            change(release);
        }
    }

    fn publish(&mut self, draft: &Draft) {
        let number = self.releases.len();
        let configuration = CONFIGURATIONS.get(draft.configuration).copied();
        let platform = PLATFORMS[usize::from(draft.is_elsewhere)];
        let (kind, is_expo) = match draft.is_embedded {
            true => (UpdateKind::Embedded, false),
            false => (UpdateKind::Update, draft.format == Format::Expo),
        };
        let range = RANGES.get(draft.range).filter(|_| !is_expo);
        let runtime = RUNTIMES.get(draft.runtime % if is_expo { 2 } else { 4 });
        let version = VERSIONS[draft.version];
        let below = self.releases.iter().filter(|below| below.platform == platform);
        let below = below.filter(|below| {
            configuration.is_none() || below.configuration.is_none() || below.configuration == configuration
        });
        let sequence = below.map(|below| below.sequence).max().unwrap_or(0) + 1;
        self.releases.push(TestRelease {
            id: format!("update_{number:03}"),
            kind,
            platform,
            configuration,
            runtime_version: runtime.copied().filter(|_| is_expo || draft.is_embedded),
            fingerprint: FINGERPRINTS.get(draft.fingerprint).copied(),
            version: Version::parse(version).unwrap(),
            name: format!("{version}+{number}"),
            hash: format!("content{}", draft.content),
            bundle_id: bundle_id(number * 4 + 4),
            is_mandatory: draft.is_mandatory,
            rollout: Rollout::new(draft.rollout).unwrap(),
            range: range.and_then(|range| BinaryRange::parse(range).ok()),
            ..TestRelease::new(draft.format, sequence)
        });
        if is_expo || draft.is_embedded {
            let time = created_at(self.now, self.newest_issue(number));
            self.add_issue(number, time);
        }
    }

    fn add_issue(&mut self, number: usize, time: EpochMs) {
        let id = Uuid::from_u128(self.issues.len() as u128 + 1);
        self.issues.insert(id, (number, time));
    }

    /// The newest time of the releases whose times a client of this one compares.
    fn newest_issue(&self, number: usize) -> Option<EpochMs> {
        let of = &self.releases[number];
        let issues = self.issues.values().filter(|(other, _)| {
            let other = &self.releases[*other];
            let is_of_runtime = of.runtime_version.is_none()
                || other.runtime_version.is_none()
                || other.runtime_version == of.runtime_version;
            other.platform == of.platform && is_of_runtime
        });
        issues.map(|(_, at)| *at).max()
    }

    /// Issues again what clients of Expo go back to.
    fn issue_again(&mut self, at: usize) {
        let Some(withdrawn) = self.releases.get(at).cloned() else {
            return;
        };
        if withdrawn.format != Format::Expo && withdrawn.kind == UpdateKind::Update {
            return;
        }
        let is_of_group = |number: &usize| {
            let release = &self.releases[*number];
            let is_of_runtime =
                withdrawn.runtime_version.is_none() || release.runtime_version == withdrawn.runtime_version;
            let is_live = !release.is_withdrawn && release.kind == UpdateKind::Update;
            is_live && release.format == Format::Expo && release.platform == withdrawn.platform && is_of_runtime
        };
        let group: Vec<_> = (0..self.releases.len()).filter(is_of_group).collect();
        let sequence = |number: &usize| Sequence::new(self.releases[*number].sequence);
        let lower = reissued(Some(withdrawn.sequence()), group, sequence);
        let mut time = created_at(self.now, self.newest_issue(at));
        for number in lower {
            self.add_issue(number, time);
            time += UNDO_SPAN + 1;
        }
    }
}
