//! The load generator: keep-alive connections with one request in flight each, every response verified. Bounded in
//! requests and time, and only for servers on this machine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::questions::Question;

/// The status of a response without a body.
const NO_CONTENT: &[u8] = b"204";
/// The maximum size of a response, head and body, in bytes.
const MAX_ANSWER: usize = 1 << 20;

/// The amount of load.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub connections: usize,
    /// The total number of requests of all connections.
    pub requests: usize,
    /// The timeout for all responses.
    pub limit: Duration,
    /// Whether the load busy-waits on its core. The server has to wake a sleeping client at its own expense, and more
    /// often the slower it is; on a separate core the load need not sleep.
    pub awake: bool,
    /// Requests per second. Each one has its time, from which its latency counts, however late the one before was
    /// answered. `None` sends as many as are answered.
    pub rate: Option<f64>,
}

/// The result of a load.
#[derive(Debug)]
pub struct Outcome {
    /// From the first request to the last response, without the time to connect.
    pub elapsed: Duration,
    /// The latency of each response, ascending.
    pub latencies: Vec<Duration>,
    /// The total size of all bodies in bytes.
    pub body_bytes: u64,
}

/// Why a load is invalid.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The address is not on this machine.
    #[error("{0} is not on this machine")]
    NotHere(SocketAddr),
    /// Not every response arrived in time.
    #[error("not all requests were answered within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("the connection failed: {0}")]
    Connection(#[from] std::io::Error),
    /// The response was not the expected one.
    #[error("unexpected answer to {request:?}: {answer:?}")]
    Unexpected {
        /// The request's first line.
        request: String,
        answer: String,
    },
    #[error("there are no questions")]
    NoQuestions,
}

impl Outcome {
    /// The latency that this share of the responses, from 0 to 1, does not exceed.
    pub fn percentile(&self, share: f64) -> Duration {
        let place = (self.latencies.len() as f64 * share).ceil() as usize;
        self.latencies.get(place.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// Responses per second.
    pub fn throughput(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }
}

/// Sends the questions in turn, starting over after the last, until the configured number is reached.
///
/// # Errors
/// The first [`LoadError`] of any connection.
pub async fn ask(address: SocketAddr, questions: Arc<[Question]>, load: Load) -> Result<Outcome, LoadError> {
    if !address.ip().is_loopback() {
        return Err(LoadError::NotHere(address));
    }
    if questions.is_empty() {
        return Err(LoadError::NoQuestions);
    }
    let all = ask_all(address, questions, load);
    tokio::time::timeout(load.limit, all)
        .await
        .map_err(|_| LoadError::Timeout(load.limit))?
}

async fn ask_all(address: SocketAddr, questions: Arc<[Question]>, load: Load) -> Result<Outcome, LoadError> {
    let mut connections = Vec::with_capacity(load.connections);
    for _ in 0..load.connections {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        connections.push(Connection {
            stream,
            answer: Vec::with_capacity(16 * 1024),
        });
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let mut others = JoinSet::new();
    if load.awake {
        // Ends when the set is dropped.
        others.spawn(stay_awake());
    }
    let started = Instant::now();
    let mut running = JoinSet::new();
    for mut connection in connections {
        let (questions, asked) = (questions.clone(), asked.clone());
        running.spawn(async move {
            let (mut latencies, mut body_bytes) = (Vec::new(), 0);
            loop {
                let number = asked.fetch_add(1, Ordering::Relaxed);
                if number >= load.requests {
                    return Ok::<_, LoadError>((latencies, body_bytes));
                }
                let due = load
                    .rate
                    .map(|rate| started + Duration::from_secs_f64(number as f64 / rate));
                while due.is_some_and(|due| Instant::now() < due) {
                    tokio::task::yield_now().await;
                }
                let sent = due.unwrap_or_else(Instant::now);
                body_bytes += connection.ask(&questions[number % questions.len()]).await? as u64;
                latencies.push(sent.elapsed());
            }
        });
    }
    let (mut latencies, mut body_bytes) = (Vec::with_capacity(load.requests), 0);
    while let Some(done) = running.join_next().await {
        let (some, bytes) = done.map_err(std::io::Error::other)??;
        latencies.extend(some);
        body_bytes += bytes;
    }
    let elapsed = started.elapsed();
    latencies.sort_unstable();
    Ok(Outcome {
        elapsed,
        latencies,
        body_bytes,
    })
}

async fn stay_awake() {
    loop {
        tokio::task::yield_now().await;
    }
}

struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Connection {
    /// Sends one question; returns the size of the response's body.
    async fn ask(&mut self, question: &Question) -> Result<usize, LoadError> {
        self.stream.write_all(&question.request).await?;
        self.answer.clear();
        loop {
            let got = self.stream.read_buf(&mut self.answer).await?;
            if let Some((status, body)) = complete(&self.answer) {
                let is_expected = match status {
                    b"200" => !question.expected.is_empty() && body.starts_with(question.expected),
                    NO_CONTENT => question.expected.is_empty(),
                    _ => false,
                };
                if !is_expected {
                    return Err(self.unexpected(question));
                }
                return Ok(body.len());
            }
            if got == 0 || self.answer.len() > MAX_ANSWER {
                return Err(self.unexpected(question));
            }
        }
    }

    fn unexpected(&self, question: &Question) -> LoadError {
        let line = question.request.split(|byte| *byte == b'\r').next().unwrap_or_default();
        LoadError::Unexpected {
            request: String::from_utf8_lossy(line).into_owned(),
            answer: String::from_utf8_lossy(&self.answer).into_owned(),
        }
    }
}

/// Status and body of a response, once it is complete. `content-length` must give the length of the body, if there is one.
fn complete(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    const LENGTH: &[u8] = b"content-length:";
    let head_end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let (head, body) = (&answer[..head_end], &answer[head_end + 4..]);
    let status = head.get(9..12)?;
    if status == NO_CONTENT {
        return body.is_empty().then_some((status, body));
    }
    let line = head.split(|byte| *byte == b'\n').find(|line| {
        line.get(..LENGTH.len())
            .is_some_and(|name| name.eq_ignore_ascii_case(LENGTH))
    })?;
    let length = std::str::from_utf8(&line[LENGTH.len()..])
        .ok()?
        .trim()
        .parse::<usize>()
        .ok()?;
    // A body longer than announced would be the response to a request that was not sent, so this response is invalid.
    (body.len() == length).then_some((status, body))
}

#[cfg(test)]
mod tests;
