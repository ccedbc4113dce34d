//! Measures a steady load of checks, at half of what the server can answer: its latency while updates are published, and its
//! memory after minutes.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustix::process::setpriority_process;
use tokio::runtime::Runtime;

use crate::args::SteadyArgs;
use crate::cores::Cores;
use crate::figures::{Goal, Spread, mebibytes};
use crate::load::{self, Load, Outcome};
use crate::package::package;
use crate::publisher::{CALLS_A_MINUTE, Publisher, create_key};
use crate::questions::{Question, questions};
use crate::server::Server;
use crate::{bundles, programs};

/// The p99 while updates are published is at most so many times that without.
const BUSY: f64 = 1.2;
/// The app of each organization whose updates are published.
const BUNDLE: &str = "com.example.steady";
const CONNECTIONS: usize = 64;
/// The nice value of what publishes.
const LOW: i32 = 19;
/// Requests that determine the highest rate.
const PROBE: usize = 300_000;
const PERIOD: Duration = Duration::from_secs(10);
const MINUTE: Duration = Duration::from_secs(60);

/// A server under a load of checks.
struct Steady {
    server: Server,
    questions: Arc<[Question]>,
    runtime: Runtime,
    cores: Cores,
    /// One of each organization that publishes.
    keys: Vec<String>,
    /// The version of the update that was published last.
    version: Arc<AtomicU32>,
}

/// Measures and prints the comparison, then a line for each minute of load.
///
/// # Errors
/// When the server does not start, refuses a publication, or returns a wrong response.
pub fn run(args: &SteadyArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let cores = Cores::find()?;
    let data = tempfile::tempdir()?;
    bundles::fill(data.path(), args.bundles, None)?;
    // Each publishes less than its limit of calls allows.
    let orgs = args.published * 60 / CALLS_A_MINUTE + 2;
    let keys: Result<Vec<_>, _> = (0..orgs).map(|_| create_key(&program, data.path())).collect();
    let mut command = programs::serve(&program, data.path());
    command.arg("--no-runner");
    let server = cores.on_server_core(|| Server::start(command))??;
    let steady = Steady {
        questions: questions(server.address, args.bundles).into(),
        server,
        // Runs only on this thread, which is pinned to the core of the load.
        runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        cores,
        keys: keys?,
        version: Arc::default(),
    };
    let rate = steady.ask(PROBE, None)?.throughput() / 2.0;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{} bundles of three updates, {rate:.0} checks a second, half of the highest rate:",
        args.bundles
    )?;
    let (quiet, ratios) = steady.compare(args, rate)?;
    writeln!(out, "p99 without publications, ms: {quiet:.3}")?;
    writeln!(
        out,
        "p99 while {} updates a second are published / without: {ratios:.3}   {}",
        args.published,
        Goal::AtMost(BUSY).verdict(ratios.median)
    )?;
    for minute in 1..=args.minutes {
        let outcome = steady.ask_for(MINUTE, rate)?;
        let p99 = outcome.percentile(0.99).as_secs_f64() * 1e3;
        writeln!(
            out,
            "minute {minute:>4}: {} checks, p99 {p99:.2} ms, {:.1} MiB",
            outcome.latencies.len(),
            mebibytes(steady.server.memory()?)
        )?;
    }
    Ok(())
}

impl Steady {
    fn ask(&self, requests: usize, rate: Option<f64>) -> anyhow::Result<Outcome> {
        let load = Load {
            connections: CONNECTIONS,
            requests,
            limit: MINUTE * 5,
            awake: self.cores.are_two(),
            rate,
        };
        let asked = load::ask(self.server.address, self.questions.clone(), load);
        Ok(self.runtime.block_on(asked)?)
    }

    fn ask_for(&self, time: Duration, rate: f64) -> anyhow::Result<Outcome> {
        self.ask((time.as_secs_f64() * rate) as usize, Some(rate))
    }

    /// The p99 of each round without publications in milliseconds, and that while updates are published, divided by it.
    fn compare(&self, args: &SteadyArgs, rate: f64) -> anyhow::Result<(Spread, Spread)> {
        let (mut without, mut ratios) = (Vec::new(), Vec::new());
        for _ in 0..args.rounds {
            let quiet = self.ask_for(PERIOD, rate)?.percentile(0.99).as_secs_f64();
            let publishing = Publishing::start(self, args.published)?;
            let busy = self.ask_for(PERIOD, rate);
            publishing.stop()?;
            without.push(quiet * 1e3);
            ratios.push(busy?.percentile(0.99).as_secs_f64() / quiet);
        }
        Ok((Spread::of(without), Spread::of(ratios)))
    }
}

/// A thread that publishes at a rate. It is not on the core of the load, whose figures it would change, and gives way to the server.
struct Publishing {
    is_over: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<anyhow::Result<()>>,
}

impl Publishing {
    fn start(steady: &Steady, rate: u32) -> anyhow::Result<Publishing> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (address, keys) = (steady.server.address, steady.keys.clone());
        let (until, version) = (is_over.clone(), steady.version.clone());
        let work = move || {
            // Without a process, Linux means the calling thread.
            setpriority_process(None, LOW)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(publish(address, &keys, rate, &version, &until))
        };
        let thread = steady.cores.on_server_core(|| std::thread::spawn(work))?;
        Ok(Publishing { is_over, thread })
    }

    fn stop(self) -> anyhow::Result<()> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .unwrap_or_else(|_| Err(anyhow::anyhow!("the publisher panicked")))
    }
}

/// Publishes an update each time that its turn comes, until it is over.
async fn publish(
    address: SocketAddr,
    keys: &[String],
    rate: u32,
    version: &AtomicU32,
    is_over: &AtomicBool,
) -> anyhow::Result<()> {
    let next = || version.fetch_add(1, Ordering::Relaxed) + 1;
    let package = Bytes::from(package(1)?);
    let mut orgs = Vec::with_capacity(keys.len());
    for (number, key) in keys.iter().enumerate() {
        let (mut publisher, bundle) = (Publisher::connect(address, key).await?, format!("{BUNDLE}{number}"));
        let first = publisher.publish(&package, &bundle, next()).await?;
        orgs.push((publisher, bundle, first));
    }
    let started = Instant::now();
    let mut published = 0_u32;
    while !is_over.load(Ordering::Relaxed) {
        let due = started + Duration::from_secs_f64(f64::from(published) / f64::from(rate));
        tokio::time::sleep_until(due.into()).await;
        let turn = published as usize % orgs.len();
        let (publisher, bundle, first) = &mut orgs[turn];
        publisher.publish_again(first, bundle, next()).await?;
        published += 1;
    }
    Ok(())
}
