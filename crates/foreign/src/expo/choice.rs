//! The choice of an update for a client of Expo Updates: the common decision, and what its times mean above it
//! (`docs/reference/expo.md#times`).

use launchway_domain::ota::{
    Abilities, Current, Held, NativeCode, Release, ReleaseCaller, ReleaseDecision, decide_release,
};
use launchway_domain::release::{Format, Sequence};
use launchway_domain::time::EpochMs;

use super::request::Request;

/// What a client runs.
#[derive(Clone, Copy, Debug)]
pub struct Running<'h> {
    current: Current<'h>,
    /// When the client takes it as created; `None` if that is of no meaning for what it is offered.
    created_at: Option<EpochMs>,
}

/// What a client is told, before the answer itself is looked up.
#[derive(Debug, PartialEq, Eq)]
pub enum Choice<'c, C> {
    /// It keeps what it runs.
    Keep,
    /// It takes this release, or, if that is the return to the built-in content, its directive.
    Offer(&'c C),
    /// It goes back to the content that was signed together with what it runs.
    Previous(&'c C),
    /// It returns to the built-in content.
    BuiltIn,
}

impl<'h> Running<'h> {
    /// What a client runs: `named` is the release with the id that it sent, and `created_at` the time of that id.
    pub fn of(request: &Request<'_>, named: Option<Held<'h>>, created_at: Option<EpochMs>) -> Self {
        let current = match named {
            _ if request.runs_embedded() => Current::Embedded,
            Some(held) => Current::Known(held),
            None => Current::Unknown,
        };
        // A client that changed its channel does not compare the times of both.
        let is_of_channel = match current {
            Current::Known(held) => held.configuration.is_none() || held.configuration == request.channel,
            Current::Embedded | Current::Unknown => false,
        };
        Self {
            current,
            created_at: created_at.filter(|_| is_of_channel),
        }
    }
}

/// Chooses the answer to a request. `highest_first` is as [`decide_release`] takes it, `offered_at` says when clients take a release as
/// created, if it is offered to this one, and `leads_back_to` whether what the client runs was signed together with the way back to a
/// release.
pub fn choose<'c, C: Release>(
    request: &Request<'_>,
    running: &Running<'_>,
    highest_first: &'c [C],
    offered_at: impl Fn(&C) -> Option<EpochMs>,
    leads_back_to: impl Fn(&C) -> bool,
) -> Choice<'c, C> {
    let caller = ReleaseCaller {
        platform: request.platform,
        configuration: request.channel,
        format: Format::Expo,
        runtime_version: Some(request.runtime_version),
        binary_version: None,
        native_code: NativeCode::Unsaid,
        current: running.current,
        abilities: Abilities::ALL,
    };
    let reaches =
        |release: &C| offered_at(release).is_some() && release.rollout().includes(release.id(), request.device_id);
    // A client does not take what was created before what it runs.
    let is_later = |release: &C| offered_at(release).is_some_and(|at| running.created_at.is_none_or(|held| held < at));
    match decide_release(&caller, highest_first, reaches) {
        ReleaseDecision::UpToDate | ReleaseDecision::OtherBinary(_) => Choice::Keep,
        ReleaseDecision::Update(release) if is_later(release) => Choice::Offer(release),
        ReleaseDecision::Update(_) => Choice::Keep,
        ReleaseDecision::RollBackTo(release) if is_later(release) => Choice::Offer(release),
        ReleaseDecision::RollBackTo(release) if leads_back_to(release) => Choice::Previous(release),
        ReleaseDecision::BuiltIn(Some(release)) if is_later(release) => Choice::Offer(release),
        ReleaseDecision::RollBackTo(_) | ReleaseDecision::BuiltIn(_) => match running.created_at {
            Some(_) => Choice::BuiltIn,
            None => Choice::Keep,
        },
    }
}

/// The updates that are issued again when the one at `withdrawn` is withdrawn, the lowest first: all of them, so that they keep their
/// order. None, if there is nothing below it. A device may be one that does not get what most go back to, so none is left out.
///
/// `live` are the updates of its platform and runtime that are published or paused and can be issued again.
pub fn reissued<T>(withdrawn: Option<Sequence>, mut live: Vec<T>, sequence: impl Fn(&T) -> Sequence) -> Vec<T> {
    let is_below = |update: &T| withdrawn.is_some_and(|withdrawn| sequence(update) <= withdrawn);
    if !live.iter().any(is_below) {
        return Vec::new();
    }
    live.sort_by_key(sequence);
    live
}
