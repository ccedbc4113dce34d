//! The transitions of a submission: a table, and random histories checked against invariants.

use super::*;
use proptest::prelude::*;

fn at(status: SubmissionStatus) -> SubmissionState {
    SubmissionState {
        status,
        cancel_requested: false,
    }
}

#[test]
fn each_transition_leads_where_the_reference_says() {
    use SubmissionStatus::*;
    for (from, step, wanted) in [
        (Queued, Transition::Advance(Validating), Ok(Validating)),
        (Validating, Transition::Advance(Uploading), Ok(Uploading)),
        (Uploading, Transition::Advance(Uploading), Ok(Uploading)),
        (Uploading, Transition::Advance(Validating), Ok(Uploading)),
        (Validating, Transition::Advance(Processing), Ok(Processing)),
        (Processing, Transition::Advance(RollingOut), Ok(RollingOut)),
        (RollingOut, Transition::Advance(Halted), Ok(Halted)),
        (Halted, Transition::Advance(RollingOut), Ok(RollingOut)),
        (Halted, Transition::Advance(InReview), Ok(Halted)),
        (Processing, Transition::Advance(Success), Ok(Success)),
        (
            Processing,
            Transition::Advance(Failed),
            Err(TransitionError::NotAllowed(Processing)),
        ),
        (InReview, Transition::Reject, Ok(Rejected)),
        (
            Uploading,
            Transition::Reject,
            Err(TransitionError::NotAllowed(Uploading)),
        ),
        (Queued, Transition::Fail, Ok(Failed)),
        (Queued, Transition::Cancel, Ok(Canceled)),
        (RollingOut, Transition::Cancel, Err(TransitionError::Released)),
        (Halted, Transition::Cancel, Err(TransitionError::Released)),
        (
            Uploading,
            Transition::CancelConfirmed,
            Err(TransitionError::NotAllowed(Uploading)),
        ),
        (
            Success,
            Transition::Advance(Success),
            Err(TransitionError::Final(Success)),
        ),
        (Success, Transition::Cancel, Err(TransitionError::Final(Success))),
        (Canceled, Transition::Fail, Err(TransitionError::Final(Canceled))),
        (Failed, Transition::Retry, Ok(Queued)),
        (Rejected, Transition::Retry, Ok(Queued)),
        (Success, Transition::Retry, Err(TransitionError::NotFailed(Success))),
        (Canceled, Transition::Retry, Err(TransitionError::NotFailed(Canceled))),
        (InReview, Transition::Retry, Err(TransitionError::NotFailed(InReview))),
    ] {
        assert_eq!(
            at(from).apply(step).map(|state| state.status),
            wanted,
            "{from} {step:?}"
        );
    }
}

#[test]
fn a_cancel_waits_for_the_store() {
    let asked = at(SubmissionStatus::InReview).apply(Transition::Cancel).unwrap();
    assert!(asked.cancel_requested && asked.status == SubmissionStatus::InReview);
    assert_eq!(
        asked.apply(Transition::CancelConfirmed),
        Ok(at(SubmissionStatus::Canceled))
    );
    assert_eq!(
        asked.apply(Transition::CancelRefused),
        Ok(at(SubmissionStatus::InReview))
    );
    // What the app store does in the meantime takes precedence.
    assert_eq!(asked.apply(Transition::Reject), Ok(at(SubmissionStatus::Rejected)));
}

fn a_move() -> impl Strategy<Value = Transition> {
    prop_oneof![
        prop::sample::select(&SubmissionStatus::ALL).prop_map(Transition::Advance),
        prop::sample::select(
            &[
                Transition::Reject,
                Transition::Fail,
                Transition::Cancel,
                Transition::CancelConfirmed,
                Transition::CancelRefused,
                Transition::Retry
            ][..]
        ),
    ]
}

proptest! {
    #[test]
    fn no_history_breaks_the_rules(moves in prop::collection::vec(a_move(), 0..40)) {
        let mut state = SubmissionState::new();
        for step in moves {
            let Ok(next) = state.apply(step) else { continue };
            if state.status.is_final() {
                prop_assert!(step == Transition::Retry && next == SubmissionState::new());
            } else if let (Some(from), Some(to)) = (state.status.place(), next.status.place()) {
                prop_assert!(from <= to, "{state:?} {step:?} {next:?}");
            }
            if next.status.is_final() {
                prop_assert!(!next.cancel_requested);
            }
            if next.status == SubmissionStatus::Canceled && state.status != SubmissionStatus::Queued {
                prop_assert!(state.cancel_requested);
            }
            state = next;
        }
    }
}
