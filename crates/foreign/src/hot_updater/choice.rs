//! The choice of a bundle for a hot-updater client: the common decision, and the rules of this protocol above it.

use launchway_domain::ota::{
    Abilities, Current, Held, NativeCode, Release, ReleaseCaller, ReleaseDecision, decide_release,
};
use launchway_domain::release::{Format, UpdateKind};

use super::answer::{Answer, Offer, Status};
use super::bundle_id::BundleId;
use super::check::{UpdateCheck, UpdateStrategy};

/// A release in the form of hot-updater.
pub trait HotUpdaterRelease: Release {
    /// Its id; of no meaning for the return to the built-in content.
    fn bundle_id(&self) -> &BundleId;
    /// The SHA-256 of its archive, or the signature of it.
    fn file_hash(&self) -> &str;
    /// What its publisher wrote about it.
    fn message(&self) -> Option<&str>;
}

/// What a caller runs: `named` is the release with the id that it sent.
pub fn current<'h>(check: &UpdateCheck<'_>, named: Option<Held<'h>>) -> Current<'h> {
    match named {
        _ if check.is_built_in() => Current::Embedded,
        Some(held) => Current::Known(held),
        None => Current::Unknown,
    }
}

/// The caller of a check, which runs `current`.
pub fn caller<'a>(check: &'a UpdateCheck<'_>, current: Current<'a>) -> ReleaseCaller<'a> {
    let (binary_version, native_code) = match &check.strategy {
        UpdateStrategy::Fingerprint(hash) => (None, NativeCode::Fingerprint(hash)),
        UpdateStrategy::AppVersion(version) => (version.as_ref(), NativeCode::Unfingerprinted),
    };
    ReleaseCaller {
        platform: check.platform,
        configuration: Some(&check.channel),
        format: Format::HotUpdater,
        runtime_version: None,
        binary_version,
        native_code,
        current,
        abilities: Abilities::ALL,
    }
}

/// Chooses the answer to a check. `highest_first` is as [`decide_release`] takes it, `caller` is the [`caller`] of this check, and
/// `file_url` makes the address of the archive of the release that is offered.
pub fn choose<'a, C: HotUpdaterRelease>(
    check: &UpdateCheck<'_>,
    caller: &ReleaseCaller<'_>,
    highest_first: &'a [C],
    file_url: impl FnOnce(&C) -> String,
) -> Answer<'a> {
    let release = match decide_release(caller, highest_first, |release| is_reached(check, caller, release)) {
        ReleaseDecision::Update(release) | ReleaseDecision::RollBackTo(release) => release,
        ReleaseDecision::BuiltIn(_) => return Answer::BuiltIn,
        ReleaseDecision::OtherBinary(_) | ReleaseDecision::UpToDate => return Answer::UpToDate,
    };
    // Only the ids count for the client, which order bundles by the time at which they were made.
    let status = match release.bundle_id() > &check.current_bundle_id {
        true => Status::Update,
        false => Status::Rollback,
    };
    Answer::Bundle(Offer {
        id: release.bundle_id().as_str(),
        status,
        should_force_update: status == Status::Rollback || release.is_mandatory(),
        message: release.message(),
        file_url: Some(file_url(release)),
        file_hash: Some(release.file_hash()),
    })
}

/// Whether a release is offered to the caller's cohort, and its client could install it: bundles older than the app are not for it, and
/// from a bundle that nobody here knows it only goes up.
fn is_reached<C: HotUpdaterRelease>(check: &UpdateCheck<'_>, caller: &ReleaseCaller<'_>, release: &C) -> bool {
    if release.kind() == UpdateKind::Embedded {
        return check.cohort.is_reached(release.id(), release.rollout());
    }
    let id = release.bundle_id();
    let is_above = id > &check.current_bundle_id;
    let is_installable = match caller.current {
        Current::Embedded | Current::Unknown => is_above,
        Current::Known(_) => id != &check.current_bundle_id,
    };
    is_installable && id >= &check.min_bundle_id && check.cohort.is_reached(id.as_str(), release.rollout())
}
