//! Injected faults: at which request, and what goes wrong.

use std::borrow::Cow;

use bytes::Bytes;
use launchway_app_stores::transport::Response;

use crate::answer;
use crate::call::{Call, Cut};

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The affected request.
    pub when: When,
    /// What goes wrong.
    pub kind: Kind,
}

/// The request at which a fault happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// The request with this number, counted from 0 over all requests.
    Call(u64),
    /// The next requests with a method and a part of the path, a number of times.
    Matching {
        /// The method, such as `POST`; empty for any.
        method: Cow<'static, str>,
        /// A part of the path; empty for any.
        path: Cow<'static, str>,
        /// How many times.
        times: u32,
    },
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A response with this status, and no effect.
    Status(u16),
    /// 429 with a pause in seconds, and no effect.
    TooMany(u32),
    /// App Store Connect names metadata that is missing, and there is no effect.
    MissingMetadata,
    /// The connection breaks before the request has an effect; half of an upload arrives.
    Cut,
    /// The request has its effect, and the connection breaks before the response.
    Lost,
    /// The request has its effect, and the response has this status.
    StatusAfter(u16),
    /// The request has its effect, and the response is not JSON.
    Nonsense,
    /// A list is empty, as it does not show yet what was just created.
    EmptyList,
    /// The issued part URLs are no longer valid.
    ExpireParts,
    /// Responses contain no checksums from now on.
    NoChecksums,
    /// All open edits are deleted.
    DeleteEdits,
    /// All resumable uploads are forgotten.
    LoseSessions,
    /// Something else of every app is in review for an hour.
    OtherReview,
    /// Over HTTP the response arrives in small pieces; in the same process nothing happens.
    Slow,
}

impl Kind {
    /// The response, if the fault prevents the effect.
    pub(crate) fn before(self, call: &Call) -> Option<Result<Response, Cut>> {
        match self {
            Kind::Status(status) => Some(Ok(answer::error_of(call, status))),
            Kind::MissingMetadata => Some(Ok(answer::missing_metadata())),
            Kind::TooMany(seconds) => {
                let mut answer = answer::error_of(call, 429);
                answer.headers.push(("retry-after".to_owned(), seconds.to_string()));
                Some(Ok(answer))
            }
            _ => None,
        }
    }

    /// The response after the effect.
    pub(crate) fn after(self, answer: Response) -> Result<Response, Cut> {
        match self {
            Kind::Lost => Err(Cut),
            Kind::StatusAfter(status) => Ok(answer::status(status)),
            Kind::EmptyList => Ok(answer::without_items(answer)),
            Kind::Nonsense => Ok(Response {
                body: Bytes::from_static(b"<html>"),
                ..answer
            }),
            _ => Ok(answer),
        }
    }
}

/// The pending faults, and the received requests.
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

    /// Discards the pending faults.
    pub(crate) fn forget(&mut self) {
        self.ordered.clear();
    }

    pub(crate) fn calls(&self) -> u64 {
        self.log.len() as u64
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.clone()
    }

    /// Counts a request, and returns its fault, if any.
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

    /// Whether the next response must be slow; resets the flag.
    pub(crate) fn take_slow(&mut self) -> bool {
        std::mem::take(&mut self.slow)
    }
}
