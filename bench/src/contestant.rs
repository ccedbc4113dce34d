//! A server in a comparison, and its turns.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Runtime;

use crate::figures::Spread;
use crate::load::{self, Load, Outcome};
use crate::questions::Question;
use crate::server::Server;

/// A turn that takes longer is discarded.
const TURN_LIMIT: Duration = Duration::from_secs(120);

/// A server in the comparison with the questions it is asked, and the results of its turns.
pub struct Contestant {
    name: Cow<'static, str>,
    server: Rc<Server>,
    /// Whether the server has a core to itself, without the load generator.
    has_own_core: bool,
    connections: u32,
    /// What it is asked.
    pub questions: Arc<[Question]>,
    /// Its turns so far.
    pub turns: Vec<Turn>,
}

/// The result of one turn of one server.
pub struct Turn {
    /// Processor time per request, in microseconds.
    pub cpu: f64,
    /// Requests per second.
    pub throughput: f64,
    /// In milliseconds.
    pub p50: f64,
    /// In milliseconds.
    pub p99: f64,
}

impl Contestant {
    /// A server that had no turn yet. `connections` ask it.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        server: &Rc<Server>,
        questions: Vec<Question>,
        has_own_core: bool,
        connections: u32,
    ) -> Contestant {
        Contestant {
            name: name.into(),
            server: server.clone(),
            has_own_core,
            connections,
            questions: questions.into(),
            turns: Vec::new(),
        }
    }

    /// Sends so many requests, at this rate a second or as many as are answered.
    pub fn ask(&self, runtime: &Runtime, requests: usize, rate: Option<f64>) -> anyhow::Result<Outcome> {
        let load = Load {
            connections: self.connections as usize,
            requests,
            limit: TURN_LIMIT,
            awake: self.has_own_core,
            rate,
        };
        let asked = load::ask(self.server.address, self.questions.clone(), load);
        runtime.block_on(asked).with_context(|| self.name.clone())
    }

    /// The average size of the bodies that its distinct questions are answered with.
    pub fn body_bytes(&self, runtime: &Runtime) -> anyhow::Result<u64> {
        let count = self.questions.len();
        Ok(self.ask(runtime, count, None)?.body_bytes / count as u64)
    }

    /// Measures one turn of so many requests.
    pub fn take_turn(&self, runtime: &Runtime, requests: u32, rate: Option<f64>) -> anyhow::Result<Turn> {
        let before = self.server.cpu()?;
        let outcome = self.ask(runtime, requests as usize, rate)?;
        let used = self.server.cpu()?.saturating_sub(before);
        let millis = |share| outcome.percentile(share).as_secs_f64() * 1e3;
        Ok(Turn {
            cpu: used.as_secs_f64() * 1e6 / outcome.latencies.len() as f64,
            throughput: outcome.throughput(),
            p50: millis(0.5),
            p99: millis(0.99),
        })
    }

    /// The spread of a figure over its turns.
    pub fn spread(&self, figure: fn(&Turn) -> f64) -> Spread {
        Spread::of(self.turns.iter().map(figure))
    }

    /// The processor time of its turns divided by another's of the same rounds.
    pub fn cpu_ratio(&self, other: &Contestant) -> Spread {
        let pairs = self.turns.iter().zip(&other.turns);
        Spread::of(pairs.map(|(one, other)| one.cpu / other.cpu))
    }

    /// Its line in the table.
    pub fn line(&self) -> String {
        let median = |figure| self.spread(figure).median;
        format!(
            "{:<22}{:>11.2} µs{:>14.0}{:>7.2} ms{:>7.2} ms",
            self.name,
            median(|turn| turn.cpu),
            median(|turn| turn.throughput),
            median(|turn| turn.p50),
            median(|turn| turn.p99),
        )
    }
}

/// The head of the table.
pub fn head() -> String {
    format!(
        "{:<22}{:>14}{:>14}{:>10}{:>10}",
        "", "CPU/request", "requests/s", "p50", "p99"
    )
}

/// Measures a turn of each in so many rounds, after a turn that does not count.
///
/// # Errors
/// When a server returns a wrong response.
pub fn take_turns(contestants: &mut [Contestant], runtime: &Runtime, rounds: u32, requests: u32) -> anyhow::Result<()> {
    for contestant in &*contestants {
        contestant.ask(runtime, requests as usize / 2, None)?;
    }
    for round in 0..rounds as usize {
        // No server always comes first, or always after the same one.
        for place in 0..contestants.len() {
            let turn = (round + place) % contestants.len();
            let taken = contestants[turn].take_turn(runtime, requests, None)?;
            contestants[turn].turns.push(taken);
        }
    }
    Ok(())
}
