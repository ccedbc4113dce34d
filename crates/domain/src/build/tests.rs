//! The transitions of a build: a table, and random histories checked against invariants.

use super::*;
use proptest::prelude::*;

const NOW: EpochMs = 1_800_000_000_000;

fn running(attempt: u32) -> BuildState {
    BuildState {
        status: BuildStatus::Running,
        attempt,
        lease_until: Some(NOW + LEASE),
        ..BuildState::new(NOW)
    }
}

#[test]
fn each_transition_leads_where_the_reference_says() {
    use BuildStatus::{Canceled, Failed, Queued, Running, Success};
    let queued = BuildState::new(NOW);
    let asked = BuildState {
        cancel_requested: true,
        ..running(1)
    };
    let finish = |attempt, outcome| Transition::Finish { attempt, outcome };
    let lost = NOW + LEASE;
    let cases = [
        (queued, Transition::Lease, NOW, Ok((Running, 1, None))),
        (queued, Transition::Cancel, NOW, Ok((Canceled, 1, None))),
        (
            queued,
            Transition::Expire,
            NOW + EXPIRY - 1,
            Err(TransitionError::TooEarly),
        ),
        (
            queued,
            Transition::Expire,
            NOW + EXPIRY,
            Ok((Failed, 1, Some(BuildErrorCode::Expired))),
        ),
        (
            queued,
            Transition::Renew { attempt: 1 },
            NOW,
            Err(TransitionError::NotAllowed(Queued)),
        ),
        (
            queued,
            Transition::Renew { attempt: 2 },
            NOW,
            Err(TransitionError::Stale(2)),
        ),
        (
            queued,
            finish(1, Outcome::Success),
            NOW,
            Err(TransitionError::NotAllowed(Queued)),
        ),
        (queued, Transition::Lapse, NOW, Err(TransitionError::NotAllowed(Queued))),
        (
            running(2),
            Transition::Lease,
            NOW,
            Err(TransitionError::NotAllowed(Running)),
        ),
        (
            running(2),
            Transition::Expire,
            NOW + EXPIRY,
            Err(TransitionError::NotAllowed(Running)),
        ),
        (
            running(2),
            Transition::Renew { attempt: 2 },
            NOW,
            Ok((Running, 2, None)),
        ),
        (
            running(2),
            Transition::Renew { attempt: 1 },
            NOW,
            Err(TransitionError::Stale(1)),
        ),
        (running(2), finish(2, Outcome::Success), NOW, Ok((Success, 2, None))),
        (
            running(2),
            finish(2, Outcome::Canceled),
            NOW,
            Err(TransitionError::NotCanceled),
        ),
        (asked, finish(1, Outcome::Canceled), NOW, Ok((Canceled, 1, None))),
        (
            running(2),
            finish(2, Outcome::Failed(BuildErrorCode::StepFailed)),
            NOW,
            Ok((Failed, 2, Some(BuildErrorCode::StepFailed))),
        ),
        (
            running(2),
            finish(1, Outcome::Success),
            NOW,
            Err(TransitionError::Stale(1)),
        ),
        (
            running(2),
            finish(3, Outcome::Success),
            NOW,
            Err(TransitionError::Stale(3)),
        ),
        (running(1), Transition::Lapse, lost - 1, Err(TransitionError::TooEarly)),
        (running(1), Transition::Lapse, lost, Ok((Queued, 2, None))),
        (running(2), Transition::Lapse, lost, Ok((Queued, 3, None))),
        (
            running(3),
            Transition::Lapse,
            lost,
            Ok((Failed, 3, Some(BuildErrorCode::RunnerLost))),
        ),
        (running(1), Transition::Cancel, NOW, Ok((Running, 1, None))),
        (asked, Transition::Lapse, lost, Ok((Canceled, 1, None))),
        (asked, finish(1, Outcome::Success), NOW, Ok((Success, 1, None))),
    ];
    for (state, step, now, expected) in cases {
        let moved = state.apply(step, now);
        let seen = moved.map(|(to, code)| (to.status, to.attempt, code));
        assert_eq!(seen, expected, "{state:?} {step:?}");
    }
    assert!(
        running(1)
            .apply(Transition::Cancel, NOW)
            .is_ok_and(|(to, _)| to.cancel_requested)
    );
}

#[test]
fn a_final_state_never_changes() {
    for status in BuildStatus::ALL.iter().filter(|status| status.is_final()) {
        let state = BuildState {
            status: *status,
            ..running(1)
        };
        for step in [
            Transition::Lease,
            Transition::Renew { attempt: 1 },
            Transition::Finish {
                attempt: 1,
                outcome: Outcome::Success,
            },
            Transition::Lapse,
            Transition::Withdraw,
            Transition::Cancel,
            Transition::Expire,
        ] {
            assert_eq!(state.apply(step, NOW + EXPIRY), Err(TransitionError::Final), "{step:?}");
        }
    }
}

/// A runner as the protocol sees it: the attempt that it believes to hold.
#[derive(Clone, Copy, Debug, Default)]
struct RunnerModel(Option<u32>);

#[derive(Clone, Debug)]
enum Action {
    Lease(usize),
    Renew(usize),
    Finish(usize, Outcome),
    Cancel,
    Lapse,
    Withdraw,
    Expire,
    Wait(EpochMs),
    /// The runner loses its state; copies of its messages may still be in flight.
    Crash(usize),
}

fn any_action() -> impl Strategy<Value = Action> {
    let outcome = prop_oneof![
        Just(Outcome::Success),
        Just(Outcome::Failed(BuildErrorCode::StepFailed)),
        Just(Outcome::Canceled)
    ];
    prop_oneof![
        4 => (0usize..4).prop_map(Action::Lease),
        4 => (0usize..4).prop_map(Action::Renew),
        1 => (0usize..4, outcome).prop_map(|(runner, outcome)| Action::Finish(runner, outcome)),
        1 => Just(Action::Cancel),
        4 => Just(Action::Lapse),
        1 => Just(Action::Withdraw),
        1 => Just(Action::Expire),
        4 => (0..2 * LEASE).prop_map(Action::Wait),
        1 => (0usize..4).prop_map(Action::Crash),
    ]
}

proptest! {
    /// Four runners, messages in any order, late ones included: an attempt is given to one runner only and ends once,
    /// attempts count up to three, a final state never changes, and a fenced-off runner is never accepted again.
    #[test]
    fn no_history_breaks_the_rules(history in prop::collection::vec(any_action(), 0..80)) {
        let mut now = NOW;
        let mut build = BuildState::new(now);
        let mut runners = [RunnerModel::default(); 4];
        let mut given = Vec::new();
        let mut ended = 0;
        for event in history {
            let before = build;
            let moved = match event {
                Action::Wait(time) => {
                    now += time;
                    continue;
                }
                Action::Crash(runner) => {
                    runners[runner] = RunnerModel::default();
                    continue;
                }
                Action::Lease(runner) => {
                    let moved = build.apply(Transition::Lease, now);
                    if let Ok((to, _)) = moved {
                        prop_assert!(!given.contains(&to.attempt), "a try is given once");
                        given.push(to.attempt);
                        runners[runner] = RunnerModel(Some(to.attempt));
                    }
                    moved
                }
                Action::Renew(runner) => match runners[runner].0 {
                    Some(attempt) => build.apply(Transition::Renew { attempt }, now),
                    None => continue,
                },
                Action::Finish(runner, outcome) => match runners[runner].0 {
                    Some(attempt) => {
                        let moved = build.apply(Transition::Finish { attempt, outcome }, now);
                        if moved.is_ok() {
                            prop_assert_eq!(attempt, build.attempt);
                        }
                        moved
                    }
                    None => continue,
                },
                Action::Cancel => build.apply(Transition::Cancel, now),
                Action::Lapse => build.apply(Transition::Lapse, now),
                Action::Withdraw => build.apply(Transition::Withdraw, now),
                Action::Expire => build.apply(Transition::Expire, now),
            };
            if let Ok((to, code)) = moved {
                prop_assert!(!before.status.is_final());
                prop_assert!(to.attempt == before.attempt || to.attempt == before.attempt + 1);
                prop_assert!((1..=MAX_ATTEMPTS).contains(&to.attempt));
                prop_assert_eq!(to.lease_until.is_some(), to.status == BuildStatus::Running);
                prop_assert_eq!(code.is_some(), to.status == BuildStatus::Failed);
                ended += u32::from(to.status.is_final());
                build = to;
            }
        }
        prop_assert!(ended <= 1);
    }
}

#[test]
fn words_are_read_as_they_are_written() {
    assert!(BuildStatus::ALL.iter().all(|word| word.as_str().parse() == Ok(*word)));
    assert!(
        BuildErrorCode::ALL
            .iter()
            .all(|word| word.as_str().parse() == Ok(*word))
    );
    let error = "store ".parse::<Distribution>().expect_err("a space");
    assert_eq!(
        error.to_string(),
        "must be one of store, internal, simulator, development"
    );
}
