//! The client of CodePush.

use std::collections::HashSet;

use launchway_domain::ota::ReleaseCaller;
use launchway_domain::release::Format;
use launchway_foreign::codepush::{self, UpdateCheck};

use super::{Phone, Runs, Step, find, runs};
use crate::codepush::caller;
use crate::histories::{Device, World};
use crate::releases::TestRelease;

/// `react-native-code-push` remembers label and hash of what it installed, and the hashes that failed.
#[derive(Debug, Default)]
pub struct Codepush {
    installed: Option<(String, String)>,
    failed: HashSet<String>,
}

impl Phone for Codepush {
    const FORMAT: Format = Format::Codepush;
    const RETURNS: bool = false;

    fn unknown() -> Self {
        let installed = Some(("v99".to_owned(), "unknown".to_owned()));
        Self {
            installed,
            failed: HashSet::new(),
        }
    }

    fn replaced(&mut self, _: &Device) {
        self.installed = None;
    }

    fn runs(&self, world: &World, device: &Device) -> Runs {
        let Some((label, hash)) = &self.installed else {
            return Runs::BuiltIn;
        };
        let named = |configuration: Option<&str>| {
            find(world, |release| {
                let is_here = release.format == Format::Codepush && release.platform == device.platform;
                is_here && release.configuration == configuration && release.label == *label && release.hash == *hash
            })
        };
        runs(
            device
                .configuration
                .and_then(|own| named(Some(own)))
                .or_else(|| named(None)),
        )
    }

    fn ask(&mut self, world: &World, device: &Device, fails: bool) -> Step {
        let mut query = format!(
            "deployment_key=abcdefghij&app_version={}&client_unique_id={}",
            device.binary, device.id
        );
        if let Some((label, hash)) = &self.installed {
            query.push_str(&format!("&label={label}&package_hash={hash}"));
        }
        let check = UpdateCheck::read(codepush::Form::Snake, &query).unwrap();
        let named = match self.runs(world, device) {
            Runs::Release(at) => Some((world.releases[at].held(), world.releases[at].hash.as_str())),
            _ => None,
        };
        let caller = ReleaseCaller {
            platform: device.platform,
            configuration: device.configuration,
            ..caller(&check, codepush::current(&check, named))
        };
        let codepush::Answer::Update(offer) = codepush::choose(&check, &caller, &world.offered, |_| String::new())
        else {
            return Step::Nothing;
        };
        if self.failed.contains(offer.package_hash) {
            return Step::Refused;
        }
        assert!(
            self.installed
                .as_ref()
                .is_none_or(|(_, hash)| hash != offer.package_hash),
            "{offer:?}"
        );
        if fails {
            self.failed.insert(offer.package_hash.to_owned());
            return Step::Failed;
        }
        self.installed = Some((offer.label.to_owned(), offer.package_hash.to_owned()));
        Step::Moved
    }

    fn is_for(&self, _: &World, device: &Device, release: &TestRelease) -> bool {
        codepush::reaches(Some(&device.id), &release.label, release.rollout)
    }

    fn refuses(&self, _: &World, _: &Device, release: &TestRelease) -> bool {
        let has_it = self.installed.as_ref().is_some_and(|(_, hash)| *hash == release.hash);
        has_it || self.failed.contains(&release.hash)
    }
}
