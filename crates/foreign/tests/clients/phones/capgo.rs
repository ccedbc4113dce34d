//! The client of Capgo on phones.

use std::collections::HashSet;

use launchway_domain::ota::Release;
use launchway_domain::release::{Format, UpdateKind};
use launchway_foreign::capgo::{self, UpdateRequest};

use super::{Phone, Runs, Step, find, runs};
use crate::histories::{Device, World};
use crate::releases::TestRelease;

/// `@capgo/capacitor-updater` installs what has another name than what it runs, unless that name failed.
#[derive(Debug, Default)]
pub struct Capgo {
    running: Option<String>,
    failed: HashSet<String>,
}

impl Capgo {
    /// The body of its request.
    fn body(&self, device: &Device) -> String {
        format!(
            r#"{{"app_id": "a", "platform": "{}", "device_id": "{}", "version_build": "{}", "version_name": "{}", "defaultChannel": "{}"}}"#,
            device.platform.as_str(),
            device.id,
            device.binary,
            self.running.as_deref().unwrap_or("builtin"),
            device.configuration.unwrap_or_default()
        )
    }
}

impl Phone for Capgo {
    const FORMAT: Format = Format::Archive;

    fn unknown() -> Self {
        Self {
            running: Some("7.7.7".to_owned()),
            failed: HashSet::new(),
        }
    }

    fn replaced(&mut self, _: &Device) {
        self.running = None;
    }

    fn runs(&self, world: &World, device: &Device) -> Runs {
        let Some(name) = &self.running else {
            return Runs::BuiltIn;
        };
        runs(find(world, |release| {
            release.format == Format::Archive && release.platform == device.platform && release.name == *name
        }))
    }

    fn ask(&mut self, world: &World, device: &Device, fails: bool) -> Step {
        let body = self.body(device);
        let request = UpdateRequest::read(body.as_bytes()).unwrap();
        let named = match self.runs(world, device) {
            Runs::Release(at) => Some(world.releases[at].held()),
            _ => None,
        };
        let current = capgo::current(&request.device, named);
        match capgo::choose(&request, device.platform, current, &world.offered) {
            capgo::Choice::Keep(_) | capgo::Choice::NeedsNewApp(_) => Step::Nothing,
            capgo::Choice::BuiltIn => {
                assert_ne!(
                    self.running.take(),
                    None,
                    "the client already runs the built-in content"
                );
                Step::Moved
            }
            capgo::Choice::Update(release) if self.failed.contains(&release.name) => Step::Refused,
            capgo::Choice::Update(release) => {
                assert_ne!(self.running.as_ref(), Some(&release.name));
                if fails {
                    self.failed.insert(release.name.clone());
                    return Step::Failed;
                }
                self.running = Some(release.name.clone());
                Step::Moved
            }
        }
    }

    fn is_for(&self, _: &World, device: &Device, release: &TestRelease) -> bool {
        let is_under_native = release.kind == UpdateKind::Update && release.version < device.binary;
        !is_under_native && release.rollout.includes(release.id(), Some(&device.id))
    }

    fn refuses(&self, _: &World, _: &Device, release: &TestRelease) -> bool {
        self.failed.contains(&release.name)
    }
}
