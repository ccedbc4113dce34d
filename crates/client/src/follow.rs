//! Follows a running build by server-sent events: its log and its changes of state
//! (`docs/reference/builds.md#following-the-log`). A broken connection resumes with `Last-Event-ID`, and the client waits for a
//! server that restarts.

mod events;

use std::collections::VecDeque;

use launchway_api::builds::{BuildView, LogEvent};
use launchway_api::words::BuildStreamEvent;
use reqwest::Response;
use reqwest::header::{ACCEPT, HeaderName};
use serde::de::DeserializeOwned;

use crate::answer::Answer;
use crate::client::{Client, OpenError};
use crate::error::Error;
use crate::retry::{Reason, Tries};
use events::{Event, Events};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// An event of a followed build, with the server's raw answer for passing on.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildEvent {
    /// New bytes of its log.
    Log(Answer<LogEvent>),
    /// Its status or phase has changed.
    Build(Box<Answer<BuildView>>),
    /// It has ended, and its log is complete.
    End(Box<Answer<BuildView>>),
}

/// A followed build.
#[derive(Debug)]
pub struct BuildFollower {
    client: Client,
    id: String,
    last_event_id: Option<String>,
    response: Option<Response>,
    events: Events,
    waiting: VecDeque<Event>,
    over: bool,
    tries: Tries,
}

impl Client {
    /// `GET /build/log/stream?id=`: follows a build, with its log from the byte `offset` on.
    pub fn follow_build(&self, id: &str, offset: u64) -> BuildFollower {
        BuildFollower {
            client: self.clone(),
            id: id.to_owned(),
            // The id of an event is the offset after it.
            last_event_id: (offset > 0).then(|| offset.to_string()),
            response: None,
            events: Events::default(),
            waiting: VecDeque::new(),
            over: false,
            tries: Tries::persistent(),
        }
    }
}

impl BuildFollower {
    /// The next event; `None` after the end.
    ///
    /// # Errors
    /// The server refuses, or is unavailable for ten minutes.
    pub async fn next(&mut self) -> Result<Option<BuildEvent>, Error> {
        loop {
            while let Some(event) = self.waiting.pop_front() {
                if let Some(known) = self.understand(event)? {
                    return Ok(Some(known));
                }
            }
            if self.over {
                return Ok(None);
            }
            if let Err(failed) = self.receive().await {
                self.response = None;
                self.events = Events::default();
                let reason = failed.reason;
                let delay =
                    reason.and_then(|reason| Some((self.tries.next_delay(reason, failed.asked, true)?, reason)));
                let Some((delay, reason)) = delay else {
                    return Err(failed.error);
                };
                self.client.environment.pause(delay, reason).await;
            }
        }
    }

    /// Receives the next bytes, over a new connection if necessary.
    async fn receive(&mut self) -> Result<(), OpenError> {
        let origin = self.client.base().origin();
        let broken = |error| OpenError {
            reason: Some(Reason::Broken),
            asked: None,
            error,
        };
        let response = match &mut self.response {
            Some(response) => response,
            None => {
                let mut headers = vec![(ACCEPT, "text/event-stream".to_owned())];
                headers.extend(self.last_event_id.clone().map(|id| (LAST_EVENT_ID, id)));
                let query = [("id", self.id.as_str())];
                let opened = self.client.open("/build/log/stream", &query, &headers).await?;
                self.response.insert(opened)
            }
        };
        match response.chunk().await {
            Ok(Some(bytes)) => {
                let taken = self.events.push(&bytes, &mut self.waiting);
                taken.map_err(|problem| OpenError {
                    reason: None,
                    asked: None,
                    error: unexpected(&origin, problem.to_owned()),
                })?;
                if !self.waiting.is_empty() {
                    self.tries = Tries::persistent();
                }
                Ok(())
            }
            // The server ends the stream only after the last event, which has not arrived.
            Ok(None) => Err(broken(Error::Network {
                origin,
                reason: "the connection was closed".to_owned(),
            })),
            Err(error) => Err(broken(Error::network(origin, &error))),
        }
    }

    /// Parses an event; unknown events of a newer server are ignored.
    fn understand(&mut self, event: Event) -> Result<Option<BuildEvent>, Error> {
        let origin = self.client.base().origin();
        let known = match event.name.parse() {
            Ok(BuildStreamEvent::Log) => BuildEvent::Log(read(&origin, event.data)?),
            Ok(BuildStreamEvent::Build) => BuildEvent::Build(Box::new(read(&origin, event.data)?)),
            Ok(BuildStreamEvent::End) => {
                self.over = true;
                BuildEvent::End(Box::new(read(&origin, event.data)?))
            }
            Err(_) => return Ok(None),
        };
        if let Some(id) = event.id {
            self.last_event_id = Some(id);
        }
        Ok(Some(known))
    }
}

fn read<T: DeserializeOwned>(origin: &str, data: String) -> Result<Answer<T>, Error> {
    match serde_json::from_str(&data) {
        Ok(value) => Ok(Answer { value, body: data }),
        Err(problem) => Err(unexpected(origin, problem.to_string())),
    }
}

fn unexpected(origin: &str, problem: String) -> Error {
    Error::Unexpected {
        origin: origin.to_owned(),
        status: 200,
        problem,
        request_id: None,
    }
}
