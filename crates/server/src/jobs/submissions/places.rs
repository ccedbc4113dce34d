//! The places of a process for work on submissions: those for changes and cancels are apart from those for everything else,
//! and no organization has all of either. What runs in a place can be broken off for something urgent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use launchway_domain::id::{OrgId, SubmissionId};
use launchway_domain::submission::Submission;
use launchway_domain::submission::record::Change;
use launchway_store::{Lane, Wish};
use tokio::task::Id;
use tokio_util::sync::CancellationToken;

/// Submissions at a time.
const fn in_all(lane: Lane) -> usize {
    match lane {
        Lane::Usual => 16,
        Lane::Urgent => 8,
    }
}

/// Of one organization.
pub const fn of_org(lane: Lane) -> usize {
    match lane {
        Lane::Usual => 4,
        Lane::Urgent => 2,
    }
}

/// The work on one submission.
#[derive(Clone)]
pub struct Place {
    /// The lane that it is in.
    pub lane: Lane,
    org: OrgId,
    id: SubmissionId,
    /// What was wanted of the submission when its step began.
    known: Arc<Mutex<(Option<Change>, bool)>>,
    interrupt: CancellationToken,
}

impl Place {
    /// A place for work that was just claimed.
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

    /// A step begins that knows this.
    pub fn works_on(&self, held: &Submission) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = (held.change, held.state.cancel_requested);
    }

    /// Returns when the work is to be broken off.
    pub async fn interrupted(&self) {
        self.interrupt.cancelled().await;
    }
}

/// The places that are taken.
#[derive(Default)]
pub struct Places(HashMap<Id, Place>);

impl Places {
    /// Whether nothing runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a lane has a place.
    pub fn has_room(&self, lane: Lane) -> bool {
        self.0.values().filter(|place| place.lane == lane).count() < in_all(lane)
    }

    /// Whether a lane has a place for this organization.
    pub fn has_room_for(&self, lane: Lane, org: OrgId) -> bool {
        let own = self.0.values().filter(|place| place.lane == lane && place.org == org);
        self.has_room(lane) && own.count() < of_org(lane)
    }

    /// Takes a place.
    pub fn insert(&mut self, task: Id, place: Place) {
        self.0.insert(task, place);
    }

    /// Gives a place back.
    pub fn remove(&mut self, task: &Id) {
        self.0.remove(task);
    }

    /// Breaks off the work on a submission whose step does not know yet what is wanted of it.
    pub fn interrupt_for(&self, wish: &Wish) {
        for place in self.0.values().filter(|place| place.id == wish.id) {
            let known = *place.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known != (wish.change, wish.cancel) {
                place.interrupt.cancel();
            }
        }
    }

    /// Breaks off the work on a submission, unless it is urgent itself.
    pub fn interrupt_usual(&self, id: SubmissionId) {
        let usual = self
            .0
            .values()
            .filter(|place| place.id == id && place.lane == Lane::Usual);
        usual.for_each(|place| place.interrupt.cancel());
    }
}
