//! The moves of a submission: a table, and random histories against what must never happen.

use super::*;
use proptest::prelude::*;

fn at(status: SubmissionStatus) -> Standing {
    Standing {
        status,
        cancel_requested: false,
    }
}

#[test]
fn each_transition_leads_where_the_reference_says() {
    use SubmissionStatus::*;
    for (from, step, wanted) in [
        (Queued, Move::Reach(Validating), Ok(Validating)),
        (Validating, Move::Reach(Uploading), Ok(Uploading)),
        (Uploading, Move::Reach(Uploading), Ok(Uploading)),
        (Uploading, Move::Reach(Validating), Ok(Uploading)),
        (Validating, Move::Reach(Processing), Ok(Processing)),
        (Processing, Move::Reach(RollingOut), Ok(RollingOut)),
        (RollingOut, Move::Reach(Halted), Ok(Halted)),
        (Halted, Move::Reach(RollingOut), Ok(RollingOut)),
        (Halted, Move::Reach(InReview), Ok(Halted)),
        (Processing, Move::Reach(Success), Ok(Success)),
        (Processing, Move::Reach(Failed), Err(Refused::Unfit(Processing))),
        (InReview, Move::Reject, Ok(Rejected)),
        (Uploading, Move::Reject, Err(Refused::Unfit(Uploading))),
        (Queued, Move::Fail, Ok(Failed)),
        (Queued, Move::Cancel, Ok(Canceled)),
        (RollingOut, Move::Cancel, Err(Refused::Released)),
        (Halted, Move::Cancel, Err(Refused::Released)),
        (Uploading, Move::Undone, Err(Refused::Unfit(Uploading))),
        (Success, Move::Reach(Success), Err(Refused::Over(Success))),
        (Success, Move::Cancel, Err(Refused::Over(Success))),
        (Canceled, Move::Fail, Err(Refused::Over(Canceled))),
        (Failed, Move::Retry, Ok(Queued)),
        (Rejected, Move::Retry, Ok(Queued)),
        (Success, Move::Retry, Err(Refused::NotFailed(Success))),
        (Canceled, Move::Retry, Err(Refused::NotFailed(Canceled))),
        (InReview, Move::Retry, Err(Refused::NotFailed(InReview))),
    ] {
        assert_eq!(
            at(from).after(step).map(|standing| standing.status),
            wanted,
            "{from} {step:?}"
        );
    }
}

#[test]
fn a_cancel_waits_for_the_store() {
    let asked = at(SubmissionStatus::InReview).after(Move::Cancel).unwrap();
    assert!(asked.cancel_requested && asked.status == SubmissionStatus::InReview);
    assert_eq!(asked.after(Move::Undone), Ok(at(SubmissionStatus::Canceled)));
    assert_eq!(asked.after(Move::NotUndone), Ok(at(SubmissionStatus::InReview)));
    // What the store does meanwhile wins.
    assert_eq!(asked.after(Move::Reject), Ok(at(SubmissionStatus::Rejected)));
}

fn a_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        prop::sample::select(&SubmissionStatus::ALL).prop_map(Move::Reach),
        prop::sample::select(
            &[
                Move::Reject,
                Move::Fail,
                Move::Cancel,
                Move::Undone,
                Move::NotUndone,
                Move::Retry
            ][..]
        ),
    ]
}

proptest! {
    #[test]
    fn no_history_breaks_the_rules(moves in prop::collection::vec(a_move(), 0..40)) {
        let mut standing = Standing::new();
        for step in moves {
            let Ok(next) = standing.after(step) else { continue };
            if standing.status.is_final() {
                prop_assert!(step == Move::Retry && next == Standing::new());
            } else if let (Some(from), Some(to)) = (standing.status.place(), next.status.place()) {
                prop_assert!(from <= to, "{standing:?} {step:?} {next:?}");
            }
            if next.status.is_final() {
                prop_assert!(!next.cancel_requested);
            }
            if next.status == SubmissionStatus::Canceled && standing.status != SubmissionStatus::Queued {
                prop_assert!(standing.cancel_requested);
            }
            standing = next;
        }
    }
}
