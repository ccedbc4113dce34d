//! Models of the four clients: what each says about itself, and what it does with an answer. They follow the sources of the versions that
//! `docs/reference/foreign-clients.md` names.

mod capgo;
mod codepush;
mod expo;
mod hot_updater;

use launchway_domain::release::{Format, UpdateKind};

pub use capgo::Capgo;
pub use codepush::Codepush;
pub use expo::Expo;
pub use hot_updater::HotUpdater;

use super::histories::{Device, World};
use super::releases::TestRelease;

/// What a device runs, as the server can know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runs {
    BuiltIn,
    /// The release at this place of the history.
    Release(usize),
    Unknown,
}

/// What an answer does to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is nothing new.
    Nothing,
    /// The client does not take what it is offered.
    Refused,
    /// It runs something else now.
    Moved,
    /// What it installed did not start, so it runs what it ran before.
    Failed,
}

/// A client.
pub trait Phone {
    const FORMAT: Format;
    /// Whether it can return to the built-in content.
    const RETURNS: bool = true;

    /// A client that runs something that no release is.
    fn unknown() -> Self;
    /// The app was installed anew.
    fn replaced(&mut self, device: &Device);
    /// The app asks for another configuration.
    fn moved(&mut self, _: &Device) {}
    /// What it runs.
    fn runs(&self, world: &World, device: &Device) -> Runs;
    /// Asks once, and does what it is told. `fails`: an update that it installs does not start.
    fn ask(&mut self, world: &World, device: &Device, fails: bool) -> Step;
    /// Whether the server may offer it a release whose platform, configuration, format and binary fit.
    fn is_for(&self, world: &World, device: &Device, release: &TestRelease) -> bool;
    /// Whether the client would not take this release, which the server cannot know.
    fn refuses(&self, world: &World, device: &Device, release: &TestRelease) -> bool;
}

fn find(world: &World, found: impl Fn(&TestRelease) -> bool) -> Option<usize> {
    world
        .releases
        .iter()
        .rposition(|release| release.kind == UpdateKind::Update && found(release))
}

fn runs(found: Option<usize>) -> Runs {
    found.map_or(Runs::Unknown, Runs::Release)
}
