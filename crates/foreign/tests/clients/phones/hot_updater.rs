//! The client of hot-updater.

use std::collections::HashSet;

use launchway_domain::ota::Release;
use launchway_domain::release::{Format, UpdateKind};
use launchway_foreign::hot_updater::{self, BundleId};

use super::{Phone, Runs, Step, find, runs};
use crate::histories::{Device, World};
use crate::releases::TestRelease;

/// `@hot-updater/react-native` orders bundles by their ids, and does not install one again that crashed.
#[derive(Debug)]
pub struct HotUpdater {
    running: BundleId,
    failed: HashSet<BundleId>,
}

impl Phone for HotUpdater {
    const FORMAT: Format = Format::HotUpdater;

    fn unknown() -> Self {
        let running = BundleId::parse("0190a8c6-0000-7000-8000-00000000001e").unwrap();
        Self {
            running,
            failed: HashSet::new(),
        }
    }

    fn replaced(&mut self, device: &Device) {
        self.running = device.min_bundle_id;
    }

    /// A client that changes its channel says that it runs the built-in content.
    fn moved(&mut self, device: &Device) {
        self.running = device.min_bundle_id;
    }

    fn runs(&self, world: &World, device: &Device) -> Runs {
        if self.running <= device.min_bundle_id {
            return Runs::BuiltIn;
        }
        runs(find(world, |release| {
            let is_here = release.format == Format::HotUpdater && release.platform == device.platform;
            is_here && release.bundle_id == self.running
        }))
    }

    fn ask(&mut self, world: &World, device: &Device, fails: bool) -> Step {
        let (strategy, value) = match device.fingerprint {
            Some(fingerprint) => ("fingerprint", fingerprint.to_owned()),
            None => ("app-version", device.binary.to_string()),
        };
        let path = format!(
            "{strategy}/{}/{value}/{}/{}/{}/{}",
            device.platform.as_str(),
            device.configuration.unwrap_or("none"),
            device.min_bundle_id,
            self.running,
            device.cohort
        );
        let check = hot_updater::UpdateCheck::read(&path).unwrap();
        let named = match self.runs(world, device) {
            Runs::Release(at) => Some(world.releases[at].held()),
            _ => None,
        };
        let caller = hot_updater::caller(&check, hot_updater::current(&check, named));
        let next = match hot_updater::choose(&check, &caller, &world.offered, |_| String::new()) {
            hot_updater::Answer::UpToDate => return Step::Nothing,
            hot_updater::Answer::BuiltIn => {
                assert!(
                    self.running > device.min_bundle_id,
                    "the client already runs the built-in content"
                );
                self.running = device.min_bundle_id;
                return Step::Moved;
            }
            hot_updater::Answer::Bundle(offer) => {
                let id = BundleId::parse(offer.id).unwrap();
                // The client throws on an update that is not newer.
                assert_eq!(
                    offer.status == hot_updater::Status::Update,
                    id > self.running,
                    "{offer:?}"
                );
                id
            }
        };
        if self.failed.contains(&next) {
            return Step::Refused;
        }
        if fails {
            self.failed.insert(next);
            return Step::Failed;
        }
        self.running = next;
        Step::Moved
    }

    fn is_for(&self, world: &World, device: &Device, release: &TestRelease) -> bool {
        let cohort = hot_updater::Cohort::Number(device.cohort);
        if release.kind == UpdateKind::Embedded {
            return cohort.is_reached(release.id(), release.rollout);
        }
        let id = release.bundle_id;
        let goes_down = matches!(self.runs(world, device), Runs::Release(_));
        let is_installable = id >= device.min_bundle_id && (goes_down || id > self.running);
        is_installable && cohort.is_reached(id.as_str(), release.rollout)
    }

    fn refuses(&self, _: &World, _: &Device, release: &TestRelease) -> bool {
        self.failed.contains(&release.bundle_id)
    }
}
