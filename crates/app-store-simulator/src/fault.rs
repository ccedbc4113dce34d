//! Faults to order: at which call, and what goes wrong there.

use std::borrow::Cow;

use bytes::Bytes;
use launchway_app_stores::transport::Response;

use crate::answer;
use crate::call::{Call, Cut};

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// At which call.
    pub when: When,
    /// What goes wrong.
    pub kind: Kind,
}

/// At which call a fault happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// At the call of this number, counted from 0 over all calls.
    Call(u64),
    /// At the next calls of a method whose path contains a text, so many times.
    Matching {
        /// Such as `POST`; empty for every method.
        method: Cow<'static, str>,
        /// A part of the path; empty for every path.
        path: Cow<'static, str>,
        /// How many times.
        times: u32,
    },
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer of this status, and no effect.
    Status(u16),
    /// 429 with a pause in seconds, and no effect.
    TooMany(u32),
    /// The connection breaks before the call has an effect; of an upload half arrives.
    Cut,
    /// The call has its effect, and the connection breaks before the answer.
    Lost,
    /// The call has its effect, and the answer is of this status.
    StatusAfter(u16),
    /// The call has its effect, and the answer is no JSON.
    Nonsense,
    /// The addresses of parts that were given out are no good any more.
    ExpireParts,
    /// Answers do not tell checksums from now on.
    NoChecksums,
    /// Every edit that is open is deleted.
    DeleteEdits,
    /// Every resumable upload is forgotten.
    LoseSessions,
    /// Something else of every app is in review for an hour.
    OtherReview,
    /// Over HTTP the answer comes in small pieces; in the same process nothing happens.
    Slow,
}

impl Kind {
    /// The answer where there is to be no effect.
    pub(crate) fn before(self, call: &Call) -> Option<Result<Response, Cut>> {
        match self {
            Kind::Status(status) => Some(Ok(answer::error_of(call, status))),
            Kind::TooMany(seconds) => {
                let mut answer = answer::error_of(call, 429);
                answer.headers.push(("retry-after".to_owned(), seconds.to_string()));
                Some(Ok(answer))
            }
            _ => None,
        }
    }

    /// The answer where there was an effect.
    pub(crate) fn after(self, answer: Response) -> Result<Response, Cut> {
        match self {
            Kind::Lost => Err(Cut),
            Kind::StatusAfter(status) => Ok(answer::status(status)),
            Kind::Nonsense => Ok(Response {
                body: Bytes::from_static(b"<html>"),
                ..answer
            }),
            _ => Ok(answer),
        }
    }
}

/// What was ordered, and which calls came.
#[derive(Default)]
pub(crate) struct Faults {
    ordered: Vec<Fault>,
    log: Vec<String>,
    slow: bool,
}

impl Faults {
    pub(crate) fn order(&mut self, fault: Fault) {
        self.ordered.push(fault);
    }

    /// Forgets what has not happened yet.
    pub(crate) fn forget(&mut self) {
        self.ordered.clear();
    }

    pub(crate) fn calls(&self) -> u64 {
        self.log.len() as u64
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.clone()
    }

    /// Counts a call, and gives the fault that was ordered for it.
    pub(crate) fn next(&mut self, call: &Call) -> Option<Kind> {
        let number = self.calls();
        self.log.push(format!("{} {}", call.method, call.path));
        let place = self.ordered.iter().position(|fault| match &fault.when {
            When::Call(wanted) => *wanted == number,
            When::Matching { method, path, times } => {
                *times > 0 && (method.is_empty() || call.method == *method) && call.path.contains(&**path)
            }
        })?;
        let fault = self.ordered.get_mut(place)?;
        if let When::Matching { times, .. } = &mut fault.when {
            *times -= 1;
        }
        self.slow |= fault.kind == Kind::Slow;
        Some(fault.kind)
    }

    /// Whether the next answer is to be slow; asked once.
    pub(crate) fn take_slow(&mut self) -> bool {
        std::mem::take(&mut self.slow)
    }
}
