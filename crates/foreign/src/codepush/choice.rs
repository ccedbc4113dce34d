//! The choice of a release for a CodePush client: the common decision, and the rules of this protocol above it.

use launchway_domain::ota::{Current, Held, Release, ReleaseCaller, ReleaseDecision, decide_release, is_forced};
use launchway_domain::release::BinaryRange;

use super::answer::{Answer, Offer};
use super::check::{CurrentPackage, UpdateCheck};
use super::rollout::reaches;

/// A release in the form of CodePush.
pub trait CodepushRelease: Release {
    /// Its label, such as `v3`.
    fn label(&self) -> &str;
    /// The hash of its content.
    fn package_hash(&self) -> &str;
    /// The size of its archive in bytes.
    fn package_size(&self) -> u64;
    /// What its publisher wrote about it.
    fn description(&self) -> &str;
}

/// What a caller runs: the release that its label, or else its hash, names, together with the hash of that release.
///
/// A label counts anew for each deployment key. A client that changes its key names the release of the other deployment, which its
/// hash tells apart; it runs something unknown here.
pub fn current<'h>(check: &UpdateCheck<'_>, named: Option<(Held<'h>, &str)>) -> Current<'h> {
    match (check.current(), named) {
        (CurrentPackage::BuiltIn, _) => Current::Embedded,
        (_, Some((held, hash))) if check.package_hash.as_deref().is_none_or(|running| running == hash) => {
            Current::Known(held)
        }
        _ => Current::Unknown,
    }
}

/// Chooses the answer to a check. `highest_first` is as [`decide_release`] takes it, `caller` describes the app that sent `check`, and
/// `download_url` makes the address of the archive of the release that is offered.
pub fn choose<'a, C: CodepushRelease>(
    check: &UpdateCheck<'_>,
    caller: &ReleaseCaller<'_>,
    highest_first: &'a [C],
    download_url: impl FnOnce(&C) -> String,
) -> Answer<'a> {
    let is_reached = |release: &C| reaches(check.client_unique_id.as_deref(), release.label(), release.rollout());
    let release = match decide_release(caller, highest_first, is_reached) {
        ReleaseDecision::Update(release) | ReleaseDecision::RollBackTo(release) => release,
        ReleaseDecision::OtherBinary(release) => return other_binary(caller, release),
        // A stock client cannot return to the built-in content.
        ReleaseDecision::BuiltIn(_) | ReleaseDecision::UpToDate => return Answer::Nothing,
    };
    // The same content again: a client that has it already would report an install that it never did.
    if check.package_hash.as_deref() == Some(release.package_hash()) {
        return Answer::Nothing;
    }
    Answer::Update(Offer {
        download_url: download_url(release),
        package_size: release.package_size(),
        description: release.description(),
        label: release.label(),
        package_hash: release.package_hash(),
        is_mandatory: release.is_mandatory() || is_forced_up_to(check, caller, highest_first, release),
    })
}

fn other_binary<'a, C: Release>(caller: &ReleaseCaller<'_>, release: &'a C) -> Answer<'a> {
    let Some(range) = release.binary_range() else {
        return Answer::Nothing;
    };
    let is_below = caller.binary_version.is_some_and(|version| range.is_below(version));
    Answer::OtherBinary {
        range: BinaryRange::as_str(range),
        is_below,
    }
}

/// Whether a release that the client passes over on the way to `offered` is mandatory. A client without a label passes over all.
fn is_forced_up_to<C: CodepushRelease>(
    check: &UpdateCheck<'_>,
    caller: &ReleaseCaller<'_>,
    highest_first: &[C],
    offered: &C,
) -> bool {
    let above = highest_first.partition_point(|release| release.sequence() > offered.sequence());
    let mut caller = caller.clone();
    if check.label.is_none() {
        caller.current = Current::Unknown;
    }
    is_forced(&caller, &highest_first[above..])
}
