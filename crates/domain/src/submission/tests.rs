//! The moves of a submission: a table, and random histories against what must never happen.

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
        (Queued, Transition::Reach(Validating), Ok(Validating)),
        (Validating, Transition::Reach(Uploading), Ok(Uploading)),
        (Uploading, Transition::Reach(Uploading), Ok(Uploading)),
        (Uploading, Transition::Reach(Validating), Ok(Uploading)),
        (Validating, Transition::Reach(Processing), Ok(Processing)),
        (Processing, Transition::Reach(RollingOut), Ok(RollingOut)),
        (RollingOut, Transition::Reach(Halted), Ok(Halted)),
        (Halted, Transition::Reach(RollingOut), Ok(RollingOut)),
        (Halted, Transition::Reach(InReview), Ok(Halted)),
        (Processing, Transition::Reach(Success), Ok(Success)),
        (
            Processing,
            Transition::Reach(Failed),
            Err(TransitionError::Unfit(Processing)),
        ),
        (InReview, Transition::Reject, Ok(Rejected)),
        (Uploading, Transition::Reject, Err(TransitionError::Unfit(Uploading))),
        (Queued, Transition::Fail, Ok(Failed)),
        (Queued, Transition::Cancel, Ok(Canceled)),
        (RollingOut, Transition::Cancel, Err(TransitionError::Released)),
        (Halted, Transition::Cancel, Err(TransitionError::Released)),
        (Uploading, Transition::Undone, Err(TransitionError::Unfit(Uploading))),
        (Success, Transition::Reach(Success), Err(TransitionError::Over(Success))),
        (Success, Transition::Cancel, Err(TransitionError::Over(Success))),
        (Canceled, Transition::Fail, Err(TransitionError::Over(Canceled))),
        (Failed, Transition::Retry, Ok(Queued)),
        (Rejected, Transition::Retry, Ok(Queued)),
        (Success, Transition::Retry, Err(TransitionError::NotFailed(Success))),
        (Canceled, Transition::Retry, Err(TransitionError::NotFailed(Canceled))),
        (InReview, Transition::Retry, Err(TransitionError::NotFailed(InReview))),
    ] {
        assert_eq!(
            at(from).after(step).map(|state| state.status),
            wanted,
            "{from} {step:?}"
        );
    }
}

#[test]
fn a_cancel_waits_for_the_store() {
    let asked = at(SubmissionStatus::InReview).after(Transition::Cancel).unwrap();
    assert!(asked.cancel_requested && asked.status == SubmissionStatus::InReview);
    assert_eq!(asked.after(Transition::Undone), Ok(at(SubmissionStatus::Canceled)));
    assert_eq!(asked.after(Transition::NotUndone), Ok(at(SubmissionStatus::InReview)));
    // What the store does meanwhile wins.
    assert_eq!(asked.after(Transition::Reject), Ok(at(SubmissionStatus::Rejected)));
}

fn a_move() -> impl Strategy<Value = Transition> {
    prop_oneof![
        prop::sample::select(&SubmissionStatus::ALL).prop_map(Transition::Reach),
        prop::sample::select(
            &[
                Transition::Reject,
                Transition::Fail,
                Transition::Cancel,
                Transition::Undone,
                Transition::NotUndone,
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
            let Ok(next) = state.after(step) else { continue };
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
