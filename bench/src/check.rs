//! Measures the public check: our server, its static twin, and a second instance of the twin, in interleaved rounds.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Runtime;

use crate::args::CheckArgs;
use crate::cores::Cores;
use crate::figures::{Spread, mebibytes};
use crate::load::{self, Load, Outcome};
use crate::questions::{Question, questions, questions_to_twin};
use crate::server::Server;
use crate::{bundles, programs};

/// The twin's processor time must be at least this share of ours (design part 2).
const GOAL: f64 = 0.8;
/// A turn that takes longer is discarded.
const TURN_LIMIT: Duration = Duration::from_secs(120);

/// A server in the comparison, and the results of its turns.
struct Contestant {
    name: &'static str,
    server: Server,
    /// Whether the server has a core to itself, without the load generator.
    has_own_core: bool,
    questions: Arc<[Question]>,
    turns: Vec<Turn>,
}

/// The result of one turn of one server.
struct Turn {
    /// Processor time per request, in microseconds.
    cpu: f64,
    /// Requests per second.
    throughput: f64,
    /// In milliseconds.
    p50: f64,
    /// In milliseconds.
    p99: f64,
}

/// Measures and prints one table for each number of bundles.
///
/// # Errors
/// When a server does not start or returns a wrong response.
pub fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let cores = Cores::find()?;
    let mut out = std::io::stdout();
    if cores.are_two() {
        writeln!(out, "Servers on core {}, load on core {}.", cores.server, cores.load)?;
    } else {
        writeln!(out, "Only one core: load and servers share it. Read the CPU only.")?;
    }
    for bundles in &args.bundles {
        writeln!(out, "\n{}", measure(args, cores, &program, *bundles)?)?;
    }
    Ok(())
}

/// The table for one number of bundles.
fn measure(args: &CheckArgs, cores: Cores, program: &Path, bundles: u32) -> anyhow::Result<String> {
    let data = tempfile::tempdir()?;
    bundles::fill(data.path(), bundles, None)?;
    // Runs only on this thread, which is pinned to the core of the load.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let start = |name, command, ask: fn(_, _) -> Vec<Question>| -> anyhow::Result<Contestant> {
        let server = cores.on_server_core(|| Server::start(command))??;
        Ok(Contestant {
            name,
            questions: ask(server.address, bundles).into(),
            server,
            has_own_core: cores.are_two(),
            turns: Vec::new(),
        })
    };
    let ours = start("launchway-server", programs::serve(program, data.path()), questions)?;
    // Each distinct response has equal weight, so the load consists of whole rounds of the questions.
    let once = ours.ask(&runtime, args.connections, ours.questions.len())?;
    let body_bytes = once.body_bytes / ours.questions.len() as u64;
    let twin = start("twin", programs::twin(body_bytes)?, questions_to_twin)?;
    let again = start("twin again", programs::twin(body_bytes)?, questions_to_twin)?;
    let mut contestants = [ours, twin, again];
    for contestant in &contestants {
        contestant.ask(&runtime, args.connections, args.requests as usize / 2)?;
    }
    for round in 0..args.rounds as usize {
        // No server always comes first, or always after the same one.
        for place in 0..contestants.len() {
            let turn = (round + place) % contestants.len();
            contestants[turn].take_turn(&runtime, args)?;
        }
    }
    table(args, bundles, body_bytes, &contestants)
}

impl Contestant {
    fn ask(&self, runtime: &Runtime, connections: u32, requests: usize) -> anyhow::Result<Outcome> {
        let load = Load {
            connections: connections as usize,
            requests,
            limit: TURN_LIMIT,
            awake: self.has_own_core,
        };
        let asked = load::ask(self.server.address, self.questions.clone(), load);
        runtime.block_on(asked).context(self.name)
    }

    fn take_turn(&mut self, runtime: &Runtime, args: &CheckArgs) -> anyhow::Result<()> {
        let before = self.server.cpu()?;
        let outcome = self.ask(runtime, args.connections, args.requests as usize)?;
        let used = self.server.cpu()?.saturating_sub(before);
        let millis = |share| outcome.percentile(share).as_secs_f64() * 1e3;
        self.turns.push(Turn {
            cpu: used.as_secs_f64() * 1e6 / outcome.latencies.len() as f64,
            throughput: outcome.throughput(),
            p50: millis(0.5),
            p99: millis(0.99),
        });
        Ok(())
    }

    fn spread(&self, figure: fn(&Turn) -> f64) -> Spread {
        Spread::of(self.turns.iter().map(figure))
    }
}

fn table(args: &CheckArgs, bundles: u32, body_bytes: u64, contestants: &[Contestant; 3]) -> anyhow::Result<String> {
    let mut lines = vec![
        format!(
            "{bundles} bundles, {body_bytes} bytes in the body, {} connections, {} rounds of {} requests; medians:",
            args.connections, args.rounds, args.requests
        ),
        format!(
            "{:<18}{:>14}{:>14}{:>10}{:>10}{:>12}",
            "", "CPU/request", "requests/s", "p50", "p99", "memory"
        ),
    ];
    for contestant in contestants {
        let median = |figure| contestant.spread(figure).median;
        lines.push(format!(
            "{:<18}{:>11.2} µs{:>14.0}{:>7.2} ms{:>7.2} ms{:>8.1} MiB",
            contestant.name,
            median(|turn| turn.cpu),
            median(|turn| turn.throughput),
            median(|turn| turn.p50),
            median(|turn| turn.p99),
            mebibytes(contestant.server.memory()?),
        ));
    }
    let [ours, twin, again] = contestants;
    lines.push("Round by round, min – median – max:".to_owned());
    let goal = ratio(twin, ours, |turn| turn.cpu);
    lines.push(format!(
        "  twin's CPU / ours          {goal:.3}   (goal: at least {GOAL:.2}: {})",
        if goal.median >= GOAL { "reached" } else { "missed" }
    ));
    lines.push(format!(
        "  twin's CPU / twin again    {:.3}   (the noise)",
        ratio(twin, again, |turn| turn.cpu)
    ));
    lines.push(format!(
        "  our throughput / twin's    {:.3}",
        ratio(ours, twin, |turn| turn.throughput)
    ));
    lines.push(format!(
        "  our p99 / twin's           {:.3}",
        ratio(ours, twin, |turn| turn.p99)
    ));
    Ok(lines.join("\n"))
}

/// One server's value divided by another's of the same round.
fn ratio(one: &Contestant, other: &Contestant, figure: fn(&Turn) -> f64) -> Spread {
    let pairs = one.turns.iter().zip(&other.turns);
    Spread::of(pairs.map(|(one, other)| figure(one) / figure(other)))
}
