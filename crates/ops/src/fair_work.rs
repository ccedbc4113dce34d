//! CPU-bound work, run outside the threads that answer requests: a bounded number at a time, round-robin between
//! organizations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use launchway_domain::id::OrgId;
use tokio::sync::{AcquireError, Semaphore};

use crate::api_error::ApiError;

/// Calls of one organization that run or wait at a time.
const MOST_OF_ORG: usize = 8;
/// Seconds after which a caller may retry when its organization has too many calls.
const COME_AGAIN: u64 = 2;

/// The threads for such work.
pub struct FairWork {
    slots: Arc<Semaphore>,
    orgs: Mutex<HashMap<OrgId, OfOrg>>,
}

struct OfOrg {
    /// Only one piece of work of an organization waits for a slot or has one, so that organizations take equal turns.
    turn: Arc<Semaphore>,
    calls: usize,
}

/// A call that works piece by piece. Dropping it ends the work after the current piece.
pub struct Call {
    work: Arc<FairWork>,
    org: OrgId,
    turn: Arc<Semaphore>,
}

impl FairWork {
    /// Runs at most `slots` pieces at a time.
    pub fn new(slots: usize) -> Arc<FairWork> {
        Arc::new(FairWork {
            slots: Arc::new(Semaphore::new(slots)),
            orgs: Mutex::default(),
        })
    }

    /// Begins a call of an organization.
    ///
    /// # Errors
    /// The organization has too many calls.
    pub fn begin(self: &Arc<FairWork>, org: OrgId) -> Result<Call, ApiError> {
        let mut orgs = self.orgs();
        let own = orgs.entry(org).or_insert_with(|| OfOrg {
            turn: Arc::new(Semaphore::new(1)),
            calls: 0,
        });
        if own.calls >= MOST_OF_ORG {
            return Err(ApiError::RateLimited(COME_AGAIN));
        }
        own.calls += 1;
        Ok(Call {
            work: self.clone(),
            org,
            turn: own.turn.clone(),
        })
    }

    fn orgs(&self) -> MutexGuard<'_, HashMap<OrgId, OfOrg>> {
        self.orgs.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Call {
    /// Runs a piece of the work when it is its turn. Pieces must be short, because others wait for them.
    pub async fn piece<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let closed = |error: AcquireError| ApiError::Internal(error.to_string());
        let turn = self.turn.clone().acquire_owned().await.map_err(closed)?;
        let slot = self.work.slots.clone().acquire_owned().await.map_err(closed)?;
        let done = tokio::task::spawn_blocking(move || {
            // Moved into the work, so that they remain taken if the caller is dropped while the piece runs.
            let _held = (turn, slot);
            work()
        });
        done.await.map_err(|error| ApiError::Internal(error.to_string()))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut orgs = self.work.orgs();
        if let Some(own) = orgs.get_mut(&self.org) {
            own.calls -= 1;
            if own.calls == 0 {
                orgs.remove(&self.org);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures::FutureExt;

    use super::*;

    fn org(number: u8) -> OrgId {
        OrgId::new(1, [number; 10])
    }

    #[tokio::test]
    async fn organizations_take_turns_however_many_calls_one_has() {
        let work = FairWork::new(1);
        let (note, done) = mpsc::channel();
        let (go, gate) = mpsc::channel::<()>();
        let first = work.begin(org(1)).expect("a call");
        let calls = [1, 1, 1, 2].map(|number| (number, work.begin(org(number)).expect("a call")));
        let mut waiting = vec![first.piece(move || _ = gate.recv()).boxed()];
        assert!(waiting[0].as_mut().now_or_never().is_none(), "it holds the slot");
        for (number, call) in &calls {
            let (note, number) = (note.clone(), *number);
            let mut piece = call.piece(move || note.send(number).expect("a listener")).boxed();
            assert!(piece.as_mut().now_or_never().is_none());
            waiting.push(piece);
        }
        go.send(()).expect("the first works");
        for piece in futures::future::join_all(waiting).await {
            piece.expect("its turn comes");
        }
        let order: Vec<u8> = done.try_iter().collect();
        let of_other = order.iter().position(|number| *number == 2);
        assert_eq!(of_other, Some(0), "{order:?}");
    }

    #[tokio::test]
    async fn an_organization_has_a_bounded_number_of_calls() {
        let work = FairWork::new(1);
        let mut calls: Vec<_> = (0..MOST_OF_ORG).map(|_| work.begin(org(1)).expect("a call")).collect();
        assert!(matches!(work.begin(org(1)), Err(ApiError::RateLimited(_))));
        assert!(work.begin(org(2)).is_ok());
        calls.pop();
        assert!(work.begin(org(1)).is_ok());
        drop(calls);
        assert!(work.orgs().is_empty());
    }

    #[tokio::test]
    async fn an_abandoned_piece_keeps_its_slot_and_no_other_follows() {
        let work = FairWork::new(1);
        let (go, gate) = mpsc::channel::<()>();
        let call = work.begin(org(1)).expect("a call");
        let mut piece = call.piece(move || _ = gate.recv()).boxed();
        assert!(piece.as_mut().now_or_never().is_none());
        drop(piece);
        drop(call);
        assert_eq!(work.slots.available_permits(), 0);
        assert!(work.orgs().is_empty());
        let other = work.begin(org(2)).expect("a call");
        let mut next = other.piece(|| 7).boxed();
        assert!(next.as_mut().now_or_never().is_none());
        go.send(()).expect("it still works");
        assert_eq!(next.await.expect("the slot is free"), 7);
    }
}
