//! The history of a submission, as the sequence of the store's states.

use launchway_api::open;
use launchway_api::submissions::SubmissionEvent;
use launchway_domain::submission::SubmissionStatus;
use launchway_domain::time::{EpochMs, iso};

/// A state that a submission was in, with its events.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// The state.
    pub status: open::SubmissionStatus,
    /// When it began.
    pub since: String,
    /// The events, oldest first: time and sentence.
    pub events: Vec<(String, String)>,
    /// `past`, `now`, or `bad` where it ended badly.
    pub look: &'static str,
}

/// Groups events by state. The current state is at the end even if no event has it.
pub fn timeline(
    events: &[SubmissionEvent],
    status: &open::SubmissionStatus,
    finished_at: Option<EpochMs>,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for event in events {
        let told = (event.at.clone(), event.message.clone());
        match steps.last_mut() {
            Some(step) if step.status == event.status => step.events.push(told),
            _ => steps.push(Step {
                status: event.status.clone(),
                since: event.at.clone(),
                events: vec![told],
                look: "past",
            }),
        }
    }
    if steps.last().is_none_or(|step| step.status != *status) {
        let last = events.last().map(|event| event.at.clone());
        steps.push(Step {
            status: status.clone(),
            since: finished_at.map(iso).or(last).unwrap_or_default(),
            events: Vec::new(),
            look: "past",
        });
    }
    if let Some(last) = steps.last_mut() {
        last.look = look(status);
    }
    steps
}

fn look(status: &open::SubmissionStatus) -> &'static str {
    match status.known() {
        Some(SubmissionStatus::Failed | SubmissionStatus::Rejected) => "bad",
        Some(SubmissionStatus::Success | SubmissionStatus::Canceled) => "past",
        _ => "now",
    }
}

#[cfg(test)]
mod tests {
    use super::SubmissionStatus::{Queued, Rejected, Success, Uploading};
    use super::*;

    fn event(at: &str, status: SubmissionStatus, message: &str) -> SubmissionEvent {
        SubmissionEvent {
            at: at.to_owned(),
            status: status.into(),
            message: message.to_owned(),
        }
    }

    #[test]
    fn events_of_one_state_are_one_step() {
        let events = [
            event("1", Queued, "It waits."),
            event("2", Uploading, "It begins."),
            event("3", Uploading, "Half of it."),
            event("4", Queued, "It goes on."),
        ];
        let steps = timeline(&events, &Rejected.into(), Some(0));
        let shape: Vec<_> = steps
            .iter()
            .map(|step| (step.status.as_str(), step.since.as_str(), step.events.len(), step.look))
            .collect();
        assert_eq!(
            shape,
            [
                ("queued", "1", 1, "past"),
                ("uploading", "2", 2, "past"),
                ("queued", "4", 1, "past"),
                ("rejected", "1970-01-01T00:00:00.000Z", 0, "bad"),
            ]
        );
        assert_eq!(
            timeline(&events, &Queued.into(), None).last().map(|step| step.look),
            Some("now")
        );
        assert_eq!(timeline(&[], &Success.into(), Some(0)).len(), 1);
    }
}
