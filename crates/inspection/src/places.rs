//! Slots for inspections: a bounded number at a time, shared fairly between organizations. No organization can hold all
//! of them, so its slow files never block the others. A free slot goes to the waiting organization that holds the
//! fewest.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use launchway_domain::id::OrgId;
use tokio::sync::oneshot;

/// Inspections of one organization that may wait. Further ones are told to retry.
const MAX_WAITING: usize = 100;
/// Seconds after which they may retry.
const RETRY_SECONDS: u64 = 10;

/// Why there is no slot for an inspection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// Too many inspections of the organization are waiting.
    #[error("Too many files of this organization are waiting for inspection. Try again in {retry_seconds} seconds.")]
    TooManyWaiting {
        /// Seconds after which to retry.
        retry_seconds: u64,
    },
    /// A defect: the request was dropped from the queue.
    #[error("a slot for an inspection was not released")]
    Forgotten,
}

/// The slots of this process.
pub struct Places {
    shared: Arc<Shared>,
}

struct Shared {
    /// Slots that one organization may hold at once.
    most: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// The number of slots that each organization holds.
    taken: HashMap<OrgId, usize>,
    /// In order of arrival.
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    org: OrgId,
    place: oneshot::Sender<Place>,
}

/// The slot of one inspection. Dropping it frees the slot.
pub struct Place {
    /// `None` in a slot that was never handed over.
    shared: Option<Arc<Shared>>,
    org: OrgId,
}

impl Places {
    /// `count` slots, but at least two.
    pub fn new(count: usize) -> Places {
        let count = count.max(2);
        let state = State {
            free: count,
            taken: HashMap::new(),
            waiting: VecDeque::new(),
        };
        Places {
            shared: Arc::new(Shared {
                most: count.div_ceil(2).min(count - 1),
                state: Mutex::new(state),
            }),
        }
    }

    /// The number of slots that one organization may hold at once.
    pub fn of_one(&self) -> usize {
        self.shared.most
    }

    /// Waits for a slot for an organization.
    ///
    /// # Errors
    /// [`PlaceError::TooManyWaiting`] if too many inspections of the organization are waiting.
    pub async fn take(&self, org: OrgId) -> Result<Place, PlaceError> {
        let waiting = {
            let mut state = self.shared.lock();
            // Abandoned requests do not count.
            state.waiting.retain(|waiting| !waiting.place.is_closed());
            if state.waiting.iter().filter(|waiting| waiting.org == org).count() >= MAX_WAITING {
                return Err(PlaceError::TooManyWaiting {
                    retry_seconds: RETRY_SECONDS,
                });
            }
            let (place, waiting) = oneshot::channel();
            state.waiting.push_back(Waiting { org, place });
            waiting
        };
        self.shared.hand_out();
        waiting.await.map_err(|_| PlaceError::Forgotten)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands free slots to waiting inspections.
    fn hand_out(self: &Arc<Self>) {
        loop {
            let next = self.lock().next(self.most);
            let Some(next) = next else { return };
            let place = Place {
                shared: Some(self.clone()),
                org: next.org,
            };
            if let Err(mut place) = next.place.send(place) {
                // The request was abandoned. Dropping the slot must not re-enter this function, once for every
                // abandoned request.
                place.shared = None;
                self.lock().give_back(place.org);
            }
        }
    }
}

impl State {
    /// The next waiting inspection to get a slot: of the organizations below their maximum, the one that holds the
    /// fewest slots, and of its inspections the oldest.
    fn next(&mut self, most: usize) -> Option<Waiting> {
        if self.free == 0 {
            return None;
        }
        self.waiting.retain(|waiting| !waiting.place.is_closed());
        let taken = |org: &OrgId| self.taken.get(org).copied().unwrap_or_default();
        let candidates = self.waiting.iter().enumerate();
        let candidates = candidates.map(|(at, waiting)| (taken(&waiting.org), at));
        let (_, at) = candidates.filter(|(taken, _)| *taken < most).min()?;
        let next = self.waiting.remove(at)?;
        self.free -= 1;
        *self.taken.entry(next.org).or_default() += 1;
        Some(next)
    }

    fn give_back(&mut self, org: OrgId) {
        self.free += 1;
        if let Some(taken) = self.taken.get_mut(&org) {
            *taken -= 1;
            if *taken == 0 {
                self.taken.remove(&org);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.lock().give_back(self.org);
            shared.hand_out();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    fn org(number: u8) -> OrgId {
        OrgId::new(1, [number; 10])
    }

    /// A slot that is free at once.
    fn now(places: &Places, number: u8) -> Option<Place> {
        places.take(org(number)).now_or_never().map(Result::unwrap)
    }

    #[test]
    fn one_organization_never_has_all_places() {
        let places = Places::new(4);
        let slow: Vec<_> = (0..10).filter_map(|_| now(&places, 1)).collect();
        assert_eq!((slow.len(), places.of_one()), (2, 2));
        let other = now(&places, 2);
        assert!(other.is_some() && now(&places, 3).is_some());
        let few = Places::new(1);
        let slow = now(&few, 1);
        assert!(slow.is_some() && now(&few, 1).is_none() && now(&few, 2).is_some());
    }

    #[tokio::test]
    async fn who_has_the_fewest_places_comes_next() {
        let places = Places::new(4);
        let mut first: Vec<_> = (0..2).filter_map(|_| now(&places, 1)).collect();
        let second: Vec<_> = (0..2).filter_map(|_| now(&places, 2)).collect();
        let mut again = Box::pin(places.take(org(1)));
        let mut new = Box::pin(places.take(org(3)));
        assert!(again.as_mut().now_or_never().is_none() && new.as_mut().now_or_never().is_none());
        first.pop();
        let new = new.as_mut().now_or_never().map(Result::unwrap);
        assert!(new.is_some(), "the other organization has a place already");
        assert!(again.as_mut().now_or_never().is_none());
        drop(second);
        assert!(again.as_mut().now_or_never().is_some());
    }

    #[test]
    fn who_gives_up_leaves_the_place_to_others() {
        let places = Places::new(2);
        let held = now(&places, 1);
        for _ in 0..100_000 {
            assert!(now(&places, 1).is_none(), "given up at once, so it is never too many");
        }
        let mut waiting = Box::pin(places.take(org(1)));
        assert!(waiting.as_mut().now_or_never().is_none());
        // Handed over, but never received.
        drop(held);
        drop(waiting);
        assert!(now(&places, 1).is_some());
    }

    #[test]
    fn only_so_many_wait() {
        let places = Places::new(2);
        let _held = now(&places, 1);
        let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| Box::pin(places.take(org(1)))).collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        let more = places.take(org(1)).now_or_never();
        assert!(matches!(more, Some(Err(PlaceError::TooManyWaiting { .. }))));
        assert!(now(&places, 2).is_some(), "others do not notice");
    }
}
