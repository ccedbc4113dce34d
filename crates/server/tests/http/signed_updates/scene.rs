//! A service with an app whose developers sign, and phones that carry their root.

use std::rc::Rc;

use launchway_developers::{Developers, Release, role_of};
use launchway_domain::platform::Platform;
use launchway_domain::time::DAY;
use launchway_trust::{Sha256, UpdateRole};

use super::phone::Phone;
use crate::stage::Stage;
use crate::support::package;

/// A service with an app, its developers, and what they published: 1.1.0, whose page shows "good".
pub struct Scene {
    pub stage: Rc<Stage>,
    pub developers: Developers,
    pub role: UpdateRole,
    pub good: Vec<u8>,
}

impl Scene {
    pub async fn new() -> Scene {
        let stage = Rc::new(Stage::new().await);
        let developers = stage.developers(&["production", "staging"]).await;
        let mut scene = Scene { stage, developers, role: role_of("production"), good: Vec::new() };
        scene.good = scene.release("1.1.0", 2, "good").await;
        scene
    }

    /// Publishes a version that shows this: its package.
    pub async fn release(&mut self, version: &str, build: u64, shown: &str) -> Vec<u8> {
        let package = package("index.html", shown.as_bytes());
        let release = Release { role: &self.role, platform: Platform::Android, version, build, package: &package };
        self.stage.release(&mut self.developers, &release).await;
        package
    }

    /// A phone that was just set up.
    pub fn phone(&self) -> Phone {
        Phone::new(&self.stage, self.developers.trust_file())
    }

    /// A phone that runs the good update.
    pub fn good_phone(&self) -> Phone {
        let phone = self.phone();
        phone.updates_to("good");
        phone
    }

    /// The versions that the developers signed.
    pub fn versions(&self) -> [(&'static str, u64); 3] {
        let version = |name: &str| self.developers.roles[&role_of(name)].version;
        [
            ("targets", self.developers.targets_version),
            ("c-production", version("production")),
            ("c-staging", version("staging")),
        ]
    }

    /// The developers' role, as whoever does not hold its keys would extend it.
    pub fn extend(&mut self, package: &[u8]) {
        let release = Release { role: &self.role, platform: Platform::Android, version: "9.9.9", build: 99, package };
        let (path, update) = (release.path(), release.update());
        let target = update.target(Sha256::of(package), package.len() as u64);
        self.developers.signers(&self.role).content.targets.insert(path, target);
    }

    pub fn expires(&self) -> i64 {
        self.stage.app.clock.now() + 100 * DAY
    }
}

/// A package that shows "evil".
pub fn evil() -> Vec<u8> {
    package("index.html", b"evil")
}
