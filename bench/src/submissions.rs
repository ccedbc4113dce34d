//! Measures submissions: how many transitions a second the server works through against a simulated Google Play, and what one costs
//! as more submissions wait.

mod apps;

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_domain::id::{CredentialId, OrgId};
use launchway_domain::submission::SubmissionStatus;
use launchway_store::{Db, Paging, SubmissionFilter};
use serde_json::json;

use crate::args::SubmissionsArgs;
use crate::figures::Goal;
use crate::publisher::{Account, Publisher, create_account};
use crate::server::Server;
use crate::{bundles, programs};

/// A transition among many that wait takes at most so many times the CPU of one among the first number.
const RATIO: f64 = 1.5;
/// Organizations that share the submissions: each has a few at a time.
const ORGS: u32 = 4;
/// The timeout for the measurement of one number.
const LIMIT: Duration = Duration::from_secs(600);
/// Between two looks at the database.
const LOOK: Duration = Duration::from_millis(20);
/// For a total: a page that is full does not count it.
const FIRST: Paging = Paging { limit: 1, offset: 0 };
/// What the simulator prints before its address.
const SIMULATED: &str = "The App Store and Google Play are simulated at http://";
/// A service account for a simulator. Its key is public.
const ACCOUNT: &str = include_str!("../../crates/credentials/tests/fixtures/simulator-account.json");
/// The address of the simulator in it.
const ITS_ADDRESS: &str = "http://127.0.0.1:4010";

/// What was measured.
struct Turn {
    /// The submissions that ended.
    ended: u32,
    /// The entries that their histories got.
    transitions: u32,
    seconds: f64,
    cpu: f64,
}

/// An organization with its credential for Google Play.
struct Submitter {
    org: OrgId,
    credential: CredentialId,
}

/// Measures each number of waiting submissions and prints a line for it; the ratios are to the first one.
///
/// # Errors
/// When the server does not start, or a submission fails.
pub fn run(args: &SubmissionsArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "Submissions to internal testing, until {} have ended; CPU of the server and of the processes that read the apps:",
        args.ended
    )?;
    let mut first: Option<f64> = None;
    for waiting in &args.waiting {
        let turn = runtime.block_on(async {
            tokio::time::timeout(LIMIT, measure(&program, *waiting, args.ended.min(*waiting)))
                .await
                .context("the server is too slow")?
        })?;
        let transitions = f64::from(turn.transitions);
        let cpu = turn.cpu / transitions;
        let ratio = cpu / *first.get_or_insert(cpu);
        writeln!(
            out,
            "{waiting:>8} waiting   {:.0} transitions a second, {:.2} ms CPU each   {:.1} submissions a second   ratio {ratio:.2}   {}",
            transitions / turn.seconds,
            cpu * 1e3,
            f64::from(turn.ended) / turn.seconds,
            Goal::AtMost(RATIO).verdict(ratio)
        )?;
    }
    Ok(())
}

async fn measure(program: &Path, waiting: u32, ended: u32) -> anyhow::Result<Turn> {
    let data = tempfile::tempdir()?;
    let mut command = Command::new(program);
    command.env_clear().args(["store-simulator", "--listen", "127.0.0.1:0"]);
    let simulator = Server::start_saying(command, SIMULATED)?;
    let submitters = submitters(program, data.path(), simulator.address).await?;
    // What waits for the server is there before it starts.
    let db = bundles::open(data.path()).await?;
    apps::fill(&db, data.path(), &submitters, waiting).await?;
    let server = start(program, data.path(), simulator.address)?;
    let (before, started) = (server.cpu_of_all()?, Instant::now());
    loop {
        let done = succeeded(&db, &submitters).await?;
        if done >= ended {
            let (seconds, cpu) = (started.elapsed().as_secs_f64(), server.cpu_of_all()? - before);
            drop(server);
            let transitions = transitions(&db, &submitters, done).await?;
            db.close().await;
            return Ok(Turn {
                ended: done,
                transitions,
                seconds,
                cpu: cpu.as_secs_f64(),
            });
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Starts the server so that it submits to the simulator.
fn start(program: &Path, data: &Path, simulator: SocketAddr) -> anyhow::Result<Server> {
    let address = format!("http://{simulator}");
    let mut command = programs::serve(program, data);
    command.args(["--no-runner", "--app-store-connect-url", &address]);
    // The app is for an older Android.
    command.args(["--google-play-url", &address, "--target-sdk-floor", "34"]);
    Server::start(command)
}

/// The organizations, with a credential each.
async fn submitters(program: &Path, data: &Path, simulator: SocketAddr) -> anyhow::Result<Vec<Submitter>> {
    let accounts: anyhow::Result<Vec<Account>> = (0..ORGS).map(|_| create_account(program, data)).collect();
    let accounts = accounts?;
    let server = start(program, data, simulator)?;
    let content = ACCOUNT.replace(ITS_ADDRESS, &format!("http://{simulator}"));
    let body = json!({"kind": "google_service_account", "content": BASE64_STANDARD.encode(content)});
    let mut submitters = Vec::new();
    for account in accounts {
        let mut publisher = Publisher::connect(server.address, &account.key).await?;
        let credential = publisher.post("/api/credentials", &body).await?;
        let id = credential["id"].as_str().context("no id of the credential")?;
        submitters.push(Submitter {
            org: account.org.parse()?,
            credential: id.parse()?,
        });
    }
    Ok(submitters)
}

/// The submissions that succeeded.
async fn succeeded(db: &Db, submitters: &[Submitter]) -> anyhow::Result<u32> {
    let mut tx = db.read().await?;
    let mut ended = 0;
    for submitter in submitters {
        let mut org = tx.org(submitter.org);
        let failed = org.submissions(&with(SubmissionStatus::Failed), FIRST).await?;
        if let Some(error) = failed.items.first().and_then(|one| one.error.as_ref()) {
            bail!("a submission failed: {}", error.message);
        }
        ended += u32::try_from(org.submissions(&with(SubmissionStatus::Success), FIRST).await?.total)?;
    }
    Ok(ended)
}

/// The entries of the histories of those that succeeded, without the first one, which is there from the beginning.
async fn transitions(db: &Db, submitters: &[Submitter], ended: u32) -> anyhow::Result<u32> {
    let all = Paging {
        limit: i64::from(ended) + 1_000,
        offset: 0,
    };
    let mut tx = db.read().await?;
    let mut entries = 0;
    for submitter in submitters {
        let found = tx
            .org(submitter.org)
            .submissions(&with(SubmissionStatus::Success), all)
            .await?;
        entries += found.items.iter().map(|one| one.events.len() - 1).sum::<usize>();
    }
    Ok(u32::try_from(entries)?)
}

fn with(status: SubmissionStatus) -> SubmissionFilter {
    SubmissionFilter {
        status: Some(status),
        ..SubmissionFilter::default()
    }
}
