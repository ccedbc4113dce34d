//! No client is sent into a loop, gets what does not fit, or misses what does: clients live through random histories of their app
//! (`docs/reference/foreign-clients.md#choice`).

use launchway_domain::release::{Format, UpdateKind};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::histories::{Act, Device, World, device, history};
use super::phones::{Capgo, Codepush, Expo, HotUpdater, Phone, Runs, Step};
use super::releases::TestRelease;

/// The seed of the histories that every run plays.
const SEED: [u8; 32] = *b"histories of apps with an update";

/// One device with one client.
struct Life<P> {
    world: World,
    device: Device,
    phone: P,
    installs: usize,
}

impl<P: Phone + std::fmt::Debug> Life<P> {
    /// Whether the client may be offered a release, by the rules of the reference.
    fn fits(&self, release: &TestRelease) -> bool {
        let Life {
            world, device, phone, ..
        } = self;
        let is_published = !release.is_withdrawn && !release.is_paused;
        let is_readable = release.kind == UpdateKind::Embedded || release.format == P::FORMAT;
        let is_of_configuration = release.configuration.is_none() || release.configuration == device.configuration;
        let is_expo = P::FORMAT == Format::Expo;
        let is_hot_updater = P::FORMAT == Format::HotUpdater;
        let has_runtime = release
            .runtime_version
            .is_none_or(|needed| is_expo && needed == device.runtime_version);
        let says_version = !is_expo && (!is_hot_updater || device.fingerprint.is_none());
        let is_in_range = release
            .range
            .as_ref()
            .is_none_or(|range| says_version && range.contains(&device.binary));
        let agrees = !is_hot_updater || release.fingerprint.is_none() || release.fingerprint == device.fingerprint;
        is_published
            && is_readable
            && release.platform == device.platform
            && is_of_configuration
            && has_runtime
            && is_in_range
            && agrees
            && phone.is_for(world, device, release)
    }

    /// The highest release that fits, and its place in the history.
    fn best(&self) -> Option<(usize, &TestRelease)> {
        let all = self.world.releases.iter().enumerate();
        all.filter(|(_, release)| self.fits(release))
            .max_by_key(|(_, release)| release.sequence)
    }

    /// The release that it runs, if its place can be compared with what it is offered.
    fn held(&self) -> Option<&TestRelease> {
        let Runs::Release(at) = self.phone.runs(&self.world, &self.device) else {
            return None;
        };
        let release = &self.world.releases[at];
        let is_comparable = release.configuration.is_none() || release.configuration == self.device.configuration;
        is_comparable.then_some(release)
    }

    /// Asks until there is nothing new. Each answer leads to something else.
    fn settle(&mut self) {
        let mut seen = vec![self.phone.runs(&self.world, &self.device)];
        for _ in 0..=self.world.releases.len() * 2 + 2 {
            let best = self.best().map(|(at, release)| (at, release.kind));
            let held = self.held().map(|release| (release.sequence, release.is_withdrawn));
            self.installs += 1;
            let fails = self.installs.is_multiple_of(self.device.fails_every);
            match self.phone.ask(&self.world, &self.device, fails) {
                Step::Nothing | Step::Refused => return self.check_rest(),
                Step::Failed => continue,
                Step::Moved => {}
            }
            let now = self.phone.runs(&self.world, &self.device);
            assert!(!seen.contains(&now), "the client runs {now:?} again");
            seen.push(now);
            let (at, kind) = match (now, best) {
                (Runs::Release(at), Some(best)) if self.is_same(at, best.0) => best,
                (Runs::BuiltIn, Some((at, UpdateKind::Embedded))) => (at, UpdateKind::Embedded),
                (Runs::BuiltIn, None) => {
                    assert!(
                        held.is_some_and(|(_, is_withdrawn)| is_withdrawn),
                        "nothing told it to leave"
                    );
                    continue;
                }
                _ => panic!("the client runs {now:?} instead of {best:?}"),
            };
            if let Some((sequence, false)) = held {
                let next = self.world.releases[at].sequence;
                assert!(
                    next > sequence,
                    "the client was taken from {sequence} to {next}, {kind:?}"
                );
            }
        }
        panic!("the client never comes to rest: {seen:?}");
    }

    /// Whether a client cannot tell two releases apart: CodePush's know content by its hash.
    fn is_same(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|at| &self.world.releases[at]);
        one.id == other.id || (P::FORMAT == Format::Codepush && one.hash == other.hash)
    }

    /// A client at rest misses nothing, and has left what was withdrawn.
    fn check_rest(&self) {
        let runs = self.phone.runs(&self.world, &self.device);
        let best = self.best().map(|(_, release)| release);
        let refused = best.filter(|best| self.phone.refuses(&self.world, &self.device, best));
        match (runs, self.held(), best) {
            // Times follow the order of releases, so a client of Expo takes what is above its own.
            (_, Some(held), _) if P::FORMAT == Format::Expo && refused.is_some() => {
                let is_above = refused.is_some_and(|best| best.sequence > held.sequence);
                assert!(!is_above && !held.is_withdrawn, "it refuses {refused:?}");
            }
            _ if refused.is_some() => {}
            (Runs::BuiltIn, _, best) => {
                assert!(
                    best.is_none_or(|best| best.kind == UpdateKind::Embedded),
                    "it misses {best:?}"
                );
            }
            (_, Some(held), None) => assert!(!held.is_withdrawn || !P::RETURNS, "it keeps {held:?}"),
            (_, Some(held), Some(best)) => {
                let is_wanted = best.kind == UpdateKind::Update || P::RETURNS;
                assert!(!is_wanted || best.sequence <= held.sequence, "it misses {best:?}");
                assert!(!is_wanted || !held.is_withdrawn, "it keeps {held:?}");
            }
            (_, None, best) => {
                let is_wanted = best.is_some_and(|best| best.kind == UpdateKind::Update || P::RETURNS);
                assert!(!is_wanted, "it misses {best:?}");
            }
        }
    }
}

/// Lets a client live through a history: after some acts, and in the end, it asks until there is nothing new.
fn live<P: Phone + std::fmt::Debug>(acts: &[(Act, bool)], device: Device, is_unknown: bool) {
    let mut phone = P::unknown();
    if !is_unknown {
        phone.replaced(&device);
    }
    let mut life = Life {
        world: World::default(),
        device,
        phone,
        installs: 0,
    };
    for (act, asks) in acts {
        life.world.apply(act);
        match *act {
            Act::Enter(configuration) => {
                life.device.enter(configuration);
                life.phone.moved(&life.device);
            }
            Act::Install(binary) => {
                life.device.install(binary);
                life.phone.replaced(&life.device);
            }
            _ => {}
        }
        if *asks {
            life.settle();
        }
    }
    life.settle();
}

fn play<P: Phone + std::fmt::Debug>(histories: u32, rng: TestRng) {
    let config = Config {
        cases: histories,
        failure_persistence: None,
        ..Config::default()
    };
    let lives = (history(P::FORMAT), device(), prop::bool::weighted(0.15));
    TestRunner::new_with_rng(config, rng)
        .run(&lives, |(acts, device, is_unknown)| {
            live::<P>(&acts, device, is_unknown);
            Ok(())
        })
        .unwrap();
}

fn play_all(histories: u32, rng: impl Fn() -> TestRng) {
    play::<Codepush>(histories, rng());
    play::<Capgo>(histories, rng());
    play::<HotUpdater>(histories, rng());
    play::<Expo>(histories, rng());
}

#[test]
fn clients_live_through_histories() {
    play_all(300, || TestRng::from_seed(RngAlgorithm::ChaCha, &SEED));
}

/// Others in every run.
#[test]
#[ignore = "long run"]
fn clients_live_through_a_million_histories() {
    play_all(250_000, || TestRunner::default().new_rng());
}
