//! Measures the queue of builds: what a claim and a renewal cost as the queue grows, with many runners at once.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::task::JoinSet;

use crate::args::QueueArgs;
use crate::figures::{Goal, Spread};
use crate::runner::Runner;
use crate::server::Server;
use crate::{builds, folded, programs};

/// A claim in a long queue takes at most so many times the CPU of one in the first.
const RATIO: f64 = 1.5;
/// The timeout for the measurement of one queue.
const LIMIT: Duration = Duration::from_secs(600);

/// The measurements of one queue: seconds of each call, and processor seconds of the server for all of them.
struct Turn {
    claims: Vec<f64>,
    renewals: Vec<f64>,
    claim_cpu: f64,
    renewal_cpu: f64,
}

/// Measures each length of the queue and prints a line for it; the ratios are to the first one.
///
/// # Errors
/// When the server does not start, or returns an unexpected response.
pub fn run(args: &QueueArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{} runners, {} claims and as many renewals; milliseconds as min – median – max, CPU of the server per call:",
        args.runners, args.claims
    )?;
    let mut first: Option<(f64, f64)> = None;
    for queued in &args.queued {
        let data = tempfile::tempdir()?;
        let database = match &args.database_url {
            Some(url) => url.clone(),
            None => format!("sqlite:{}", data.path().join("launchway.db").display()),
        };
        let filled = builds::Queue {
            waiting: *queued,
            claimed: args.claims,
            runners: args.runners,
        };
        runtime.block_on(builds::fill(&database, &filled))?;
        let turn = measure(&runtime, &program, data.path(), &database, args)?;
        let calls = f64::from(args.claims);
        let (claim, renewal) = (turn.claim_cpu / calls, turn.renewal_cpu / calls);
        let (first_claim, first_renewal) = *first.get_or_insert((claim, renewal));
        writeln!(
            out,
            "{queued:>8} more in the queue   claim {:.1}, {:.2} ms CPU, ratio {:.2}   renewal {:.1}, {:.2} ms CPU, ratio {:.2}   {}",
            Spread::of(turn.claims.iter().map(|seconds| seconds * 1e3)),
            claim * 1e3,
            claim / first_claim,
            Spread::of(turn.renewals.iter().map(|seconds| seconds * 1e3)),
            renewal * 1e3,
            renewal / first_renewal,
            Goal::AtMost(RATIO).verdict(claim / first_claim),
        )?;
    }
    Ok(())
}

fn measure(
    runtime: &tokio::runtime::Runtime,
    program: &Path,
    data: &Path,
    database: &str,
    args: &QueueArgs,
) -> anyhow::Result<Turn> {
    let mut command = programs::serve(program, data);
    command.args(["--no-runner", "--database-url", database]);
    let server = Server::start(command)?;
    let work = async {
        folded::wait(database).await?;
        let mut runners = Vec::new();
        for number in 0..args.runners {
            runners.push(Runner::connect(server.address, builds::token(number)).await?);
        }
        let share = args.claims / args.runners;
        let before = server.cpu()?;
        let (runners, claims) = all(runners, share, Call::Claim).await?;
        let between = server.cpu()?;
        let (_, renewals) = all(runners, share, Call::Renew).await?;
        Ok::<_, anyhow::Error>(Turn {
            claims,
            renewals,
            claim_cpu: (between - before).as_secs_f64(),
            renewal_cpu: (server.cpu()? - between).as_secs_f64(),
        })
    };
    runtime.block_on(async {
        tokio::time::timeout(LIMIT, work)
            .await
            .context("the server is too slow")?
    })
}

#[derive(Clone, Copy)]
enum Call {
    Claim,
    Renew,
}

/// Every runner makes its share of calls, all runners concurrently; returns the runners and the seconds of each call.
async fn all(runners: Vec<Runner>, share: u32, call: Call) -> anyhow::Result<(Vec<Runner>, Vec<f64>)> {
    let mut working = JoinSet::new();
    for mut runner in runners {
        working.spawn(async move {
            let mut seconds = Vec::new();
            for number in 0..share {
                let asked = Instant::now();
                match call {
                    Call::Claim => drop(runner.claim().await?),
                    Call::Renew => runner.renew(number as usize).await?,
                }
                seconds.push(asked.elapsed().as_secs_f64());
            }
            Ok::<_, anyhow::Error>((runner, seconds))
        });
    }
    let (mut runners, mut seconds) = (Vec::new(), Vec::new());
    while let Some(done) = working.join_next().await {
        let (runner, some) = done??;
        runners.push(runner);
        seconds.extend(some);
    }
    Ok((runners, seconds))
}
