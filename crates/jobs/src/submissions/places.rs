//! The places of a process for work on submissions: changes and cancellations have separate places from everything
//! else, and no organization gets all of either. Urgent work can interrupt what runs in a place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use launchway_domain::id::{OrgId, SubmissionId};
use launchway_domain::submission::Submission;
use launchway_domain::submission::record::Change;
use launchway_store::{Lane, PendingChange};
use tokio::task::Id;
use tokio_util::sync::CancellationToken;

/// The number of concurrent submissions of a lane.
const fn in_all(lane: Lane) -> usize {
    match lane {
        Lane::Usual => 16,
        Lane::Urgent => 8,
    }
}

/// The number of concurrent submissions of one organization in a lane.
pub const fn of_org(lane: Lane) -> usize {
    match lane {
        Lane::Usual => 4,
        Lane::Urgent => 2,
    }
}

/// The work on one submission.
#[derive(Clone)]
pub struct Place {
    /// Its lane.
    pub lane: Lane,
    org: OrgId,
    id: SubmissionId,
    /// The wanted change and cancellation when its step began.
    known: Arc<Mutex<(Option<Change>, bool)>>,
    interrupt: CancellationToken,
}

impl Place {
    /// A place for newly claimed work.
    pub fn of(lane: Lane, claimed: &Submission) -> Place {
        let place = Place {
            lane,
            org: claimed.org_id,
            id: claimed.id,
            known: Arc::default(),
            interrupt: CancellationToken::new(),
        };
        place.works_on(claimed);
        place
    }

    /// Records the state of the submission with which a step begins.
    pub fn works_on(&self, held: &Submission) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = (held.change, held.state.cancel_requested);
    }

    /// Returns when the work is to be interrupted.
    pub async fn interrupted(&self) {
        self.interrupt.cancelled().await;
    }
}

/// The places in use.
#[derive(Default)]
pub struct Places(HashMap<Id, Place>);

impl Places {
    /// Whether nothing runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a lane has a free place.
    pub fn has_room(&self, lane: Lane) -> bool {
        self.0.values().filter(|place| place.lane == lane).count() < in_all(lane)
    }

    /// Whether a lane has a free place for this organization.
    pub fn has_room_for(&self, lane: Lane, org: OrgId) -> bool {
        let own = self.0.values().filter(|place| place.lane == lane && place.org == org);
        self.has_room(lane) && own.count() < of_org(lane)
    }

    /// Takes a place.
    pub fn insert(&mut self, task: Id, place: Place) {
        self.0.insert(task, place);
    }

    /// Frees a place.
    pub fn remove(&mut self, task: &Id) {
        self.0.remove(task);
    }

    /// Interrupts the work on a submission whose step began before the pending change was requested.
    pub fn interrupt_for(&self, pending: &PendingChange) {
        for place in self.0.values().filter(|place| place.id == pending.id) {
            let known = *place.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known != (pending.change, pending.cancel) {
                place.interrupt.cancel();
            }
        }
    }

    /// Interrupts the work on a submission, unless it is urgent itself.
    pub fn interrupt_usual(&self, id: SubmissionId) {
        let usual = self
            .0
            .values()
            .filter(|place| place.id == id && place.lane == Lane::Usual);
        usual.for_each(|place| place.interrupt.cancel());
    }
}
