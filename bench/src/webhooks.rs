//! Measures webhooks: how many deliveries a second a backlog of events becomes, and how late an event arrives, with one receiver and
//! with many.

mod receiver;

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bytes::Bytes;
use launchway_domain::id::OrgId;
use launchway_store::EventRow;
use serde_json::json;

use crate::args::WebhooksArgs;
use crate::figures::{Goal, Spread};
use crate::publisher::{Account, Publisher, create_account};
use crate::server::Server;
use crate::{builds, bundles, programs};
use receiver::{Arrival, Receiver};

/// An event arrives within so many milliseconds, at the 99th percentile.
const LAG: f64 = 1_000.0;
/// The app.
const BUNDLE: &str = "com.example.webhooks";
/// The timeout for everything to arrive.
const LIMIT: Duration = Duration::from_secs(300);

/// Measures each number of receivers and prints a line for it.
///
/// # Errors
/// When the server does not start, or a delivery is missing.
pub fn run(args: &WebhooksArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    writeln!(
        std::io::stdout(),
        "A backlog of {} deliveries, then {} events a second for {} s:",
        args.deliveries,
        args.rate,
        args.seconds
    )?;
    for receivers in &args.receivers {
        runtime.block_on(async {
            tokio::time::timeout(LIMIT, measure(&program, *receivers, args))
                .await
                .context("not everything arrived")?
        })?;
    }
    Ok(())
}

async fn measure(program: &Path, receivers: u32, args: &WebhooksArgs) -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let account = create_account(program, data.path())?;
    let receiver = Receiver::start().await?;
    let start = || {
        let mut command = programs::serve(program, data.path());
        command.args(["--no-runner", "--allow-private-webhooks"]);
        Server::start(command)
    };
    let server = start()?;
    let mut publisher = Publisher::connect(server.address, &account.key).await?;
    for number in 0..receivers {
        let url = format!("http://{}/{number}", receiver.address);
        let webhook = json!({"name": format!("Bench {number}"), "url": url, "events": ["update.published"]});
        publisher.post("/api/webhooks", &webhook).await?;
    }
    // What waits for the server is there before it starts.
    drop((publisher, server));
    let events = args.deliveries.div_ceil(receivers);
    add_events(data.path(), &account, events).await?;
    let server = start()?;
    let before = server.cpu()?;
    let arrivals = receiver.take(events * receivers).await?;
    let cpu = (server.cpu()? - before).as_secs_f64();
    let seconds = time_of(&arrivals).as_secs_f64();
    let count = f64::from(events * receivers);
    let lags = lags(&server, &account, &receiver, receivers, args).await?;
    let at = |part: f64| lags[((lags.len() - 1) as f64 * part) as usize];
    let goal = Goal::AtMost(LAG).verdict(at(0.99));
    writeln!(
        std::io::stdout(),
        "{receivers:>4} receivers   {:.0} deliveries a second, {:.2} ms CPU each   lag in ms: p50 {:.0}, p99 {:.0}, max {:.0}   {goal}",
        count / seconds,
        cpu * 1e3 / count,
        at(0.5),
        at(0.99),
        Spread::of(lags.iter().copied()).max
    )?;
    Ok(())
}

/// Writes events as transactions of the server do, while it does not run.
async fn add_events(data: &Path, account: &Account, events: u32) -> anyhow::Result<()> {
    let db = bundles::open(data).await?;
    let (org, now): (OrgId, _) = (account.org.parse()?, builds::now()?);
    let mut tx = db.write().await?;
    for number in 0..events {
        let event = EventRow {
            id: builds::id(7, number, now),
            kind: "update.published".to_owned(),
            at: now,
            data: json!({"bundleId": BUNDLE, "version": format!("0.0.{number}")}).to_string(),
        };
        tx.org(org).add_event(&event).await?;
    }
    tx.commit().await?;
    db.close().await;
    Ok(())
}

/// From the first arrival to the last.
fn time_of(arrivals: &[Arrival]) -> Duration {
    let times = || arrivals.iter().map(|arrival| arrival.at);
    match (times().min(), times().max()) {
        (Some(first), Some(last)) => last - first,
        _ => Duration::ZERO,
    }
}

/// Publishes updates at a steady rate; returns the milliseconds from each answer to each arrival, in order.
async fn lags(
    server: &Server,
    account: &Account,
    receiver: &Receiver,
    receivers: u32,
    args: &WebhooksArgs,
) -> anyhow::Result<Vec<f64>> {
    let mut publisher = Publisher::connect(server.address, &account.key).await?;
    let package = Bytes::from(crate::package::package(1)?);
    let first = publisher.publish(&package, BUNDLE, 0).await?;
    // The first message opens the connections.
    receiver.take(receivers).await?;
    let count = args.rate * args.seconds;
    let began = tokio::time::Instant::now();
    let mut published = Vec::new();
    for number in 1..=count {
        tokio::time::sleep_until(began + Duration::from_secs(1) * (number - 1) / args.rate).await;
        publisher.publish_again(&first, BUNDLE, number).await?;
        published.push(Instant::now());
    }
    let arrivals = receiver.take(count * receivers).await?;
    let mut lags = Vec::new();
    for arrival in &arrivals {
        let number = arrival
            .version
            .rsplit('.')
            .next()
            .and_then(|number| number.parse::<usize>().ok());
        let published = number.and_then(|number| published.get(number.checked_sub(1)?));
        let published = published.with_context(|| format!("{} was not published", arrival.version))?;
        lags.push(arrival.at.saturating_duration_since(*published).as_secs_f64() * 1e3);
    }
    ensure!(!lags.is_empty(), "nothing arrived");
    lags.sort_by(f64::total_cmp);
    Ok(lags)
}
