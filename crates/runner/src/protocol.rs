//! The API calls of a runner (`/runner/…`). After a network error, a 5xx or an invalid answer, a call is retried with
//! growing pauses and a line in the runner's log. A refusal is final; for the calls of a build it means that the runner
//! is fenced off, and the build is dropped.

mod backoff;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use launchway_api::open;
use launchway_api::runner::{
    AnnounceArtifact, ArtifactTarget, AskLease, AttemptReply, Enroll, Enrolled, Finish, Finished, Lease, LeaseAnswer,
    Phase, Renew, TellPlan,
};
use launchway_api::secret::SecretText;
use launchway_client::{BareClient, BaseUrl, Error, RawAnswer, Storage, Timeouts};
use launchway_domain::time::{DAY, EpochMs};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::{info, warn};

use crate::machine::Machine;
use crate::plan::Resolved;

pub use backoff::Backoff;

/// The calls of a build are not retried for longer: by then the server has given the build up.
const RETRY_FOR: EpochMs = DAY;
/// The first failure of a call is logged, and then every tenth.
const TELL_EVERY: u32 = 10;
/// How many times the result of a build is sent to a server that answers with 500, for about five minutes.
const MAX_DEFECTS: u32 = 25;
const JSON: &str = "application/json";

/// A server, as the runner calls it. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    client: BareClient,
    storage: Storage,
    token: SecretText,
    machine: Arc<dyn Machine>,
}

/// The API calls about one attempt of a build. Cheap to clone.
#[derive(Clone)]
pub struct BuildCalls {
    server: Server,
    build_id: Arc<str>,
    attempt: u32,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server refused the call.
    #[error("{message}")]
    Refused {
        /// The HTTP status, 400 to 499.
        status: u16,
        /// The message of the server.
        message: String,
    },
    /// The request cannot be built.
    #[error("{0}")]
    Invalid(String),
    /// The server always answers with 500: its message.
    #[error("{0}")]
    Defect(String),
    /// The server did not answer for a day.
    #[error("the server did not respond for a day")]
    Silence,
}

impl CallError {
    /// Whether the runner's token is no longer valid.
    pub fn is_unauthorized(&self) -> bool {
        matches!(self, CallError::Refused { status: 401, .. })
    }
}

/// Enrolls a runner with a one-time token. Not retried, as the token works once.
///
/// # Errors
/// The server refuses or is unreachable.
pub async fn enroll(base: &BaseUrl, token: &SecretText, wanted: &Enroll) -> Result<Enrolled, Error> {
    let client = BareClient::new(base.clone(), &Timeouts::default())?;
    let body = serde_json::to_vec(wanted).map_err(|error| Error::Invalid(error.to_string()))?;
    let answer = client
        .post("/runner/enrol", token.reveal(), JSON, Bytes::from(body))
        .await?;
    let answer = answer.or_error()?;
    serde_json::from_slice(&answer.body).map_err(|_| unreadable(&answer))
}

impl Server {
    /// A server that knows this runner by `token`.
    ///
    /// # Errors
    /// The TLS certificates of the machine cannot be read, and the address needs them.
    pub fn new(
        base: BaseUrl,
        token: SecretText,
        timeouts: &Timeouts,
        machine: Arc<dyn Machine>,
    ) -> Result<Self, Error> {
        Ok(Self {
            storage: Storage::new(&base, timeouts)?,
            client: BareClient::new(base, timeouts)?,
            token,
            machine,
        })
    }

    /// The client of object storage.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The clock that the calls use.
    pub fn machine(&self) -> &Arc<dyn Machine> {
        &self.machine
    }

    /// `POST /runner/lease`: waits for a build; `None` if there was none in time.
    ///
    /// # Errors
    /// The server refuses. A server that does not answer is retried forever, with lines in the log.
    pub async fn lease(&self, ask: &AskLease) -> Result<Option<Lease>, CallError> {
        let body = json(ask)?;
        let answer: LeaseAnswer = self.call("/runner/lease", JSON, body, RetryBudget::ENDLESS).await?;
        Ok(answer.lease)
    }

    /// The API calls about one attempt of a build.
    pub fn build(&self, build_id: &str, attempt: u32) -> BuildCalls {
        BuildCalls {
            server: self.clone(),
            build_id: Arc::from(build_id),
            attempt,
        }
    }

    async fn call<T: DeserializeOwned>(
        &self,
        path: &str,
        content_type: &'static str,
        body: Bytes,
        budget: RetryBudget,
    ) -> Result<T, CallError> {
        let began = self.machine.now();
        let (mut backoff, mut defects) = (Backoff::default(), 0);
        loop {
            let sent = self
                .client
                .post(path, self.token.reveal(), content_type, body.clone())
                .await;
            let (problem, asked) = match sent.map(understand::<T>) {
                Ok(Ok(value)) => {
                    if backoff.failures() > 0 {
                        info!(
                            path = endpoint(path),
                            tries = backoff.failures() + 1,
                            "the server responds again"
                        );
                    }
                    return Ok(value);
                }
                Ok(Err(AnswerError::Refused(error))) => return Err(error),
                Ok(Err(AnswerError::Later(problem, asked))) => (problem, asked),
                Ok(Err(AnswerError::Defect(problem))) => {
                    defects += 1;
                    if budget.defects.is_some_and(|most| defects >= most) {
                        return Err(CallError::Defect(problem));
                    }
                    (problem, None)
                }
                Err(Error::Invalid(problem)) => return Err(CallError::Invalid(problem)),
                Err(error) => (error.to_string(), None),
            };
            if budget.time.is_some_and(|time| self.machine.now() - began > time) {
                return Err(CallError::Silence);
            }
            let delay = backoff.after(asked, self.machine.random());
            if backoff.failures() % TELL_EVERY == 1 {
                let path = endpoint(path);
                warn!(
                    path,
                    problem,
                    failures = backoff.failures(),
                    "request to the server failed; retrying"
                );
            }
            self.machine.pause(delay).await;
        }
    }
}

impl BuildCalls {
    /// The id of the build.
    pub fn build_id(&self) -> &str {
        &self.build_id
    }

    /// The attempt number, which is the fencing token.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// `POST /runner/renew`: extends the lease.
    ///
    /// # Errors
    /// The runner is fenced off.
    pub async fn renew(&self, phases: Vec<Phase>) -> Result<AttemptReply, CallError> {
        let (build_id, attempt) = self.names();
        self.call(
            "/runner/renew",
            &Renew {
                build_id,
                attempt,
                phases,
            },
        )
        .await
    }

    /// `POST /runner/plan`: reports the plan that the source defines.
    ///
    /// # Errors
    /// The runner is fenced off.
    pub async fn tell_plan(&self, resolved: Resolved, commit: Option<String>) -> Result<AttemptReply, CallError> {
        let (build_id, attempt) = self.names();
        let body = TellPlan {
            build_id,
            attempt,
            plan: resolved.plan,
            origin: open::PlanOrigin::of(resolved.origin),
            commit,
            profile: resolved.profile,
        };
        self.call("/runner/plan", &body).await
    }

    /// `POST /runner/log?id=&attempt=&offset=`: sends raw bytes of the log from `offset` on. The answer contains the
    /// offset to continue at: the server drops overlaps and refuses gaps.
    ///
    /// # Errors
    /// The runner is fenced off.
    pub async fn append_log(&self, offset: u64, bytes: Bytes) -> Result<AttemptReply, CallError> {
        let path = format!(
            "/runner/log?id={}&attempt={}&offset={offset}",
            self.build_id, self.attempt
        );
        self.server
            .call(&path, "application/octet-stream", bytes, RetryBudget::A_DAY)
            .await
    }

    /// `POST /runner/artifacts`: announces a file. Returns where to upload it.
    ///
    /// # Errors
    /// The runner is fenced off.
    pub async fn announce(&self, kind: &str, name: &str, size: u64, sha256: &str) -> Result<ArtifactTarget, CallError> {
        let (build_id, attempt) = self.names();
        let announced = AnnounceArtifact {
            build_id,
            attempt,
            kind: kind.to_owned(),
            name: name.to_owned(),
            size,
            sha256: sha256.to_owned(),
        };
        self.call("/runner/artifacts", &announced).await
    }

    /// `POST /runner/finish?lwfp2=`: reports the outcome of the build. The `lwfp-2` hash is in the query, which servers
    /// that do not know it ignore.
    ///
    /// # Errors
    /// The runner is fenced off; [`CallError::Defect`] if the server repeatedly answers with 500.
    pub async fn finish(&self, finish: &Finish, lwfp2: Option<&str>) -> Result<Finished, CallError> {
        // Anything else is not a hash of ours.
        let hash = lwfp2.filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let path = hash.map_or_else(
            || "/runner/finish".to_owned(),
            |hash| format!("/runner/finish?lwfp2={hash}"),
        );
        let budget = RetryBudget {
            defects: Some(MAX_DEFECTS),
            ..RetryBudget::A_DAY
        };
        self.server.call(&path, JSON, json(finish)?, budget).await
    }

    fn names(&self) -> (String, u32) {
        (self.build_id.as_ref().to_owned(), self.attempt)
    }

    async fn call<B: Serialize, T: DeserializeOwned>(&self, path: &str, body: &B) -> Result<T, CallError> {
        self.server.call(path, JSON, json(body)?, RetryBudget::A_DAY).await
    }
}

/// An answer that does not match the request.
enum AnswerError {
    Refused(CallError),
    Defect(String),
    Later(String, Option<Duration>),
}

/// How long a call is retried.
#[derive(Clone, Copy)]
struct RetryBudget {
    /// For this long.
    time: Option<EpochMs>,
    /// Until the server has answered with 500 this many times.
    defects: Option<u32>,
}

impl RetryBudget {
    const ENDLESS: RetryBudget = RetryBudget {
        time: None,
        defects: None,
    };
    const A_DAY: RetryBudget = RetryBudget {
        time: Some(RETRY_FOR),
        defects: None,
    };
}

fn understand<T: DeserializeOwned>(answer: RawAnswer) -> Result<T, AnswerError> {
    let asked = answer.retry_after();
    let later = |error: Error| AnswerError::Later(error.to_string(), asked);
    let answer = answer.or_error().map_err(|error| match error {
        Error::Api { status, message, .. } if status < 500 && status != 429 => {
            AnswerError::Refused(CallError::Refused { status, message })
        }
        Error::Api {
            status: 500, message, ..
        } => AnswerError::Defect(message),
        error => later(error),
    })?;
    serde_json::from_slice(&answer.body).map_err(|_| later(unreadable(&answer)))
}

/// Omits the answer, which may contain secrets.
fn unreadable(answer: &RawAnswer) -> Error {
    Error::Unexpected {
        origin: answer.origin.clone(),
        status: answer.status,
        problem: "the response is not in the runner protocol's format".to_owned(),
        request_id: answer.request_id(),
    }
}

fn json<B: Serialize>(body: &B) -> Result<Bytes, CallError> {
    let json = serde_json::to_vec(body).map_err(|error| CallError::Invalid(error.to_string()))?;
    Ok(Bytes::from(json))
}

fn endpoint(path: &str) -> &str {
    path.split('?').next().unwrap_or(path)
}
