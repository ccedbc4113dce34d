//! A server in a comparison, and its turns.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Runtime;

use crate::args::CheckArgs;
use crate::figures::Spread;
use crate::load::{self, Load, Outcome};
use crate::questions::Question;
use crate::server::Server;

/// A turn that takes longer is discarded.
const TURN_LIMIT: Duration = Duration::from_secs(120);

/// A server in the comparison with the questions it is asked, and the results of its turns.
pub struct Contestant {
    name: &'static str,
    server: Rc<Server>,
    /// Whether the server has a core to itself, without the load generator.
    has_own_core: bool,
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
    /// A server that had no turn yet.
    pub fn new(name: &'static str, server: &Rc<Server>, questions: Vec<Question>, has_own_core: bool) -> Contestant {
        Contestant {
            name,
            server: server.clone(),
            has_own_core,
            questions: questions.into(),
            turns: Vec::new(),
        }
    }

    /// Sends so many requests, at this rate a second or as many as are answered.
    pub fn ask(
        &self,
        runtime: &Runtime,
        args: &CheckArgs,
        requests: usize,
        rate: Option<f64>,
    ) -> anyhow::Result<Outcome> {
        let load = Load {
            connections: args.connections as usize,
            requests,
            limit: TURN_LIMIT,
            awake: self.has_own_core,
            rate,
        };
        let asked = load::ask(self.server.address, self.questions.clone(), load);
        runtime.block_on(asked).context(self.name)
    }

    /// Measures one turn.
    pub fn take_turn(&self, runtime: &Runtime, args: &CheckArgs, rate: Option<f64>) -> anyhow::Result<Turn> {
        let before = self.server.cpu()?;
        let outcome = self.ask(runtime, args, args.requests as usize, rate)?;
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

    /// Its line in the table.
    pub fn line(&self) -> String {
        let median = |figure| self.spread(figure).median;
        format!(
            "{:<18}{:>11.2} µs{:>14.0}{:>7.2} ms{:>7.2} ms",
            self.name,
            median(|turn| turn.cpu),
            median(|turn| turn.throughput),
            median(|turn| turn.p50),
            median(|turn| turn.p99),
        )
    }
}
