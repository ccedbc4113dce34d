//! The client of Expo Updates.

use launchway_domain::ota::Release;
use launchway_domain::release::{Format, UpdateKind};
use launchway_domain::time::EpochMs;
use launchway_foreign::expo::{self, Protocol, Request, Running, UNDO_SPAN};
use uuid::Uuid;

use super::{Phone, Runs, Step, runs};
use crate::histories::{Device, World};
use crate::releases::TestRelease;

/// `expo-updates` takes only what was created later than what it runs, unless that is of another channel. It names what failed.
#[derive(Debug)]
pub struct Expo {
    /// The update that it runs; `None`: the built-in content.
    running: Option<Uuid>,
    /// The time of what it runs.
    created_at: EpochMs,
    failed: Vec<Uuid>,
}

const EMBEDDED: Uuid = Uuid::from_u128(u128::MAX);
/// An update of another server.
const STRANGE: Uuid = Uuid::from_u128(u128::MAX - 1);

impl Expo {
    fn request<'d>(&self, device: &'d Device) -> Request<'d> {
        Request {
            protocol: Protocol::V1,
            form: expo::Form::Multipart,
            platform: device.platform,
            runtime_version: device.runtime_version,
            current: Some(self.running.unwrap_or(EMBEDDED)),
            embedded: Some(EMBEDDED),
            device_id: Some(&device.id),
            channel: device.configuration,
            failed: self.failed.clone(),
            fatal_error: None,
            signature: None,
        }
    }

    fn has_failed(&self, world: &World, number: usize) -> bool {
        self.failed
            .iter()
            .any(|id| world.issues.get(id).is_some_and(|(of, _)| *of == number))
    }

    /// Whether the client takes what was created then.
    fn takes(&self, world: &World, device: &Device, created_at: EpochMs) -> bool {
        let configuration = self.running.and_then(|id| world.issues.get(&id)).and_then(|(of, _)| {
            let release = &world.releases[*of];
            release.configuration
        });
        let is_of_channel = configuration.is_none() || configuration == device.configuration;
        !is_of_channel || created_at > self.created_at
    }

    fn number(world: &World, release: &TestRelease) -> usize {
        let found = world.releases.iter().position(|known| known.id == release.id);
        found.expect("a release of the history")
    }
}

impl Phone for Expo {
    const FORMAT: Format = Format::Expo;

    fn unknown() -> Self {
        Self {
            running: Some(STRANGE),
            created_at: 0,
            failed: Vec::new(),
        }
    }

    fn replaced(&mut self, _: &Device) {
        self.running = None;
        self.created_at = 0;
    }

    fn runs(&self, world: &World, _: &Device) -> Runs {
        let Some(id) = &self.running else { return Runs::BuiltIn };
        runs(world.issues.get(id).map(|(number, _)| *number))
    }

    fn ask(&mut self, world: &World, device: &Device, fails: bool) -> Step {
        let request = self.request(device);
        let issue = self.running.and_then(|id| world.issues.get(&id));
        let named = issue.map(|(number, _)| world.releases[*number].held());
        let running = Running::of(&request, named, issue.map(|(_, at)| *at));
        let offered_at = |release: &TestRelease| {
            let number = Self::number(world, release);
            world
                .issue(number)
                .map(|(_, at)| at)
                .filter(|_| !self.has_failed(world, number))
        };
        let (id, created_at) = match expo::choose(&request, &running, &world.offered, offered_at, |_| false) {
            expo::Choice::Keep => return Step::Nothing,
            expo::Choice::Previous(release) => panic!("nothing is signed: {release:?}"),
            expo::Choice::BuiltIn => (None, issue.expect("a release of the history").1 + UNDO_SPAN),
            expo::Choice::Offer(release) => {
                let (id, at) = world.issue(Self::number(world, release)).unwrap();
                (Some(id).filter(|_| release.kind == UpdateKind::Update), at)
            }
        };
        assert_ne!(self.running, id, "the client is told to run what it runs");
        if !self.takes(world, device, created_at) {
            return Step::Refused;
        }
        if let Some(id) = id.filter(|_| fails) {
            self.failed.push(id);
            return Step::Failed;
        }
        (self.running, self.created_at) = (id, created_at);
        Step::Moved
    }

    fn is_for(&self, world: &World, device: &Device, release: &TestRelease) -> bool {
        let number = Self::number(world, release);
        // What one that failed replaces for every device is not offered in its place.
        let is_kept = self.failed.is_empty() || world.offered.iter().any(|offered| offered.id == release.id);
        is_kept && !self.has_failed(world, number) && release.rollout.includes(release.id(), Some(&device.id))
    }

    fn refuses(&self, world: &World, device: &Device, release: &TestRelease) -> bool {
        let issue = world.issue(Self::number(world, release));
        issue.is_none_or(|(_, at)| !self.takes(world, device, at))
    }
}
