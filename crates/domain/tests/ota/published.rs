//! Updates and callers for the tests of the decision.

use launchway_domain::build_number::CurrentBuild;
use launchway_domain::ota::{Caller, Candidate, Decision, decide, order};
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::version::Version;

#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) id: String,
    pub(crate) platform: Platform,
    pub(crate) version: Version,
    pub(crate) build: u64,
    pub(crate) configuration: Option<&'static str>,
    pub(crate) fingerprint: Option<&'static str>,
    pub(crate) rollout: Rollout,
    pub(crate) created_at: i64,
}

impl Candidate for Published {
    fn id(&self) -> &str {
        &self.id
    }
    fn platform(&self) -> Platform {
        self.platform
    }
    fn version(&self) -> &Version {
        &self.version
    }
    fn build(&self) -> u64 {
        self.build
    }
    fn configuration(&self) -> Option<&str> {
        self.configuration
    }
    fn fingerprint(&self) -> Option<&str> {
        self.fingerprint
    }
    fn rollout(&self) -> Rollout {
        self.rollout
    }
    fn created_at(&self) -> i64 {
        self.created_at
    }
}

pub(crate) fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

pub(crate) fn percent(percent: u8) -> Rollout {
    Rollout::new(percent).expect("a percentage")
}

/// An update for Android that serves everybody.
pub(crate) fn update(id: &str, text: &str, build: u64) -> Published {
    Published {
        id: id.to_owned(),
        platform: Platform::Android,
        version: version(text),
        build,
        configuration: None,
        fingerprint: None,
        rollout: Rollout::FULL,
        created_at: 0,
    }
}

/// A caller that sends only its version.
pub(crate) fn caller(text: &str) -> Caller<'static> {
    Caller {
        platform: None,
        version: version(text),
        build: None,
        running: None,
        fingerprint: None,
        configuration: None,
        device_id: None,
    }
}

pub(crate) fn build(text: &str) -> Option<CurrentBuild<'_>> {
    Some(CurrentBuild::parse(text).expect("an installed build"))
}

pub(crate) fn sorted(mut updates: Vec<Published>) -> Vec<Published> {
    updates.sort_by(order);
    updates
}

/// The kind of the answer and its id, such as `update a`.
pub(crate) fn told(decision: &Decision<&Published>) -> String {
    match decision {
        Decision::NoUpdate => "none".to_owned(),
        Decision::Update(update) => format!("update {}", update.id),
        Decision::StoreUpdate(update) => format!("store {}", update.id),
    }
}

pub(crate) fn answer(caller: &Caller<'_>, updates: &[Published]) -> String {
    told(&decide(caller, &sorted(updates.to_vec())))
}

pub(crate) fn ids(updates: &[Published]) -> Vec<&str> {
    updates.iter().map(|update| update.id.as_str()).collect()
}
