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
/// The beginning of the apps whose updates are published.
const BUNDLE: &str = "com.example.steady";
/// How many of them there are. By default, each gets an update a second.
const APPS: usize = 100;
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
    apps: Arc<[Published]>,
    /// The version of the update that was published last.
    version: Arc<AtomicU32>,
}

/// An app with an update whose package is published again.
struct Published {
    /// The number of its organization's key.
    key: usize,
    bundle: String,
    first: String,
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
    let keys = (0..orgs).map(|_| create_key(&program, data.path()));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    let mut command = programs::serve(&program, data.path());
    command.arg("--no-runner");
    let server = cores.on_server_core(|| Server::start(command))??;
    // Runs only on this thread, which is pinned to the core of the load.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let steady = Steady {
        questions: questions(server.address, args.bundles).into(),
        apps: runtime.block_on(publish_first(server.address, &keys))?.into(),
        server,
        runtime,
        cores,
        keys,
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
        let (apps, until, version) = (steady.apps.clone(), is_over.clone(), steady.version.clone());
        let work = move || {
            // Without a process, Linux means the calling thread.
            setpriority_process(None, LOW)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(publish(address, &keys, &apps, rate, &version, &until))
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

/// A connection with each key.
async fn connect(address: SocketAddr, keys: &[String]) -> anyhow::Result<Vec<Publisher>> {
    let mut publishers = Vec::with_capacity(keys.len());
    for key in keys {
        publishers.push(Publisher::connect(address, key).await?);
    }
    Ok(publishers)
}

/// Publishes the first update of each app.
async fn publish_first(address: SocketAddr, keys: &[String]) -> anyhow::Result<Vec<Published>> {
    let package = Bytes::from(package(1)?);
    let mut publishers = connect(address, keys).await?;
    let mut apps = Vec::with_capacity(APPS);
    for number in 0..APPS {
        let (key, bundle) = (number % keys.len(), format!("{BUNDLE}{number}"));
        let first = publishers[key].publish(&package, &bundle, 0).await?;
        apps.push(Published { key, bundle, first });
    }
    Ok(apps)
}

/// Publishes an update each time that its turn comes, until it is over.
async fn publish(
    address: SocketAddr,
    keys: &[String],
    apps: &[Published],
    rate: u32,
    version: &AtomicU32,
    is_over: &AtomicBool,
) -> anyhow::Result<()> {
    let mut publishers = connect(address, keys).await?;
    let started = Instant::now();
    for (published, app) in (0_u32..).zip(apps.iter().cycle()) {
        let due = started + Duration::from_secs_f64(f64::from(published) / f64::from(rate));
        tokio::time::sleep_until(due.into()).await;
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let version = version.fetch_add(1, Ordering::Relaxed) + 1;
        publishers[app.key]
            .publish_again(&app.first, &app.bundle, version)
            .await?;
    }
    Ok(())
}
