//! Measures the queries of the queue when many builds wait: half of them belong to one organization, half to many
//! others.

use std::io::Write;
use std::time::Instant;

use launchway_domain::build::Build;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::OrgId;
use launchway_domain::org::Org;
use launchway_domain::tenancy::Tier;
use launchway_store::{BuildFilter, Db, Paging};

use crate::args::SharesArgs;
use crate::builds::{self, BATCH, LABEL};
use crate::figures::Spread;

/// The labels that builds need, alternating.
const SETS: [&[&str]; 3] = [&[LABEL], &["arch=arm64", "os=macos"], &[]];
/// Label sets that a runner considers in each organization.
const LOOKED_AT: i64 = 64;
/// Queue positions that the service reports exactly.
const PLACES: i64 = 1000;
/// Builds per list.
const LISTED: Paging = Paging { limit: 100, offset: 0 };

/// A query of the service about the queue.
#[derive(Clone, Copy)]
enum Question {
    SharedRunner,
    OwnRunner,
    NextBuild,
    Places,
    List,
    Expired,
}

/// Measures each query and prints a line for it.
///
/// # Errors
/// When the database fails.
pub fn run(args: &SharesArgs) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let data = tempfile::tempdir()?;
    let database = match &args.database_url {
        Some(url) => url.clone(),
        None => format!("sqlite:{}", data.path().join("launchway.db").display()),
    };
    runtime.block_on(async {
        let greedy = fill(&database, args).await?;
        let db = Db::open(&database).await?;
        let mut out = std::io::stdout();
        writeln!(
            out,
            "{} builds wait, half of one organization and half of {}; {} rounds, milliseconds as min – median – max:",
            args.builds, args.orgs, args.rounds
        )?;
        for question in Question::ALL {
            let mut times = Vec::new();
            for _ in 0..args.rounds {
                let asked = Instant::now();
                question.ask(&db, greedy).await?;
                times.push(asked.elapsed().as_secs_f64() * 1e3);
            }
            writeln!(out, "{:<56} {:.2}", question.words(), Spread::of(times))?;
        }
        db.close().await;
        Ok(())
    })
}

impl Question {
    const ALL: [Question; 6] = [
        Self::SharedRunner,
        Self::OwnRunner,
        Self::NextBuild,
        Self::Places,
        Self::List,
        Self::Expired,
    ];

    fn words(self) -> &'static str {
        match self {
            Self::SharedRunner => "what is there for a shared runner",
            Self::OwnRunner => "what is there for a runner of one organization",
            Self::NextBuild => "the next build of a set of labels, in an organization",
            Self::Places => "the first places of an organization's queue",
            Self::List => "a list of an organization's builds, with its total",
            Self::Expired => "builds whose time in the queue is over",
        }
    }

    async fn ask(self, db: &Db, org: OrgId) -> anyhow::Result<()> {
        // A claim locks the build.
        let mut tx = match self {
            Self::NextBuild => db.write().await?,
            _ => db.read().await?,
        };
        match self {
            Self::SharedRunner => drop(tx.system("a benchmark").queue_shares(LOOKED_AT).await?),
            Self::OwnRunner => drop(tx.org(org).queue_share(LOOKED_AT).await?),
            Self::NextBuild => drop(tx.org(org).next_queued(&labels(0)).await?),
            Self::Places => drop(tx.org(org).queue_front(PLACES).await?),
            Self::List => drop(tx.org(org).builds(&BuildFilter::default(), LISTED).await?),
            Self::Expired => drop(tx.system("a benchmark").stale_builds(0, LISTED.limit).await?),
        }
        Ok(())
    }
}

/// Writes the builds into an empty database; returns the organization that has half of them.
async fn fill(database: &str, args: &SharesArgs) -> anyhow::Result<OrgId> {
    let db = Db::open(database).await?;
    let now = builds::now()?;
    let bundle = BundleId::parse("com.example.queue")?;
    let orgs: Vec<OrgId> = (0..=args.orgs).map(|number| builds::id(0, number, now)).collect();
    let mut tx = db.write().await?;
    for (number, id) in orgs.iter().enumerate() {
        let org = Org {
            id: *id,
            name: format!("Bench {number}"),
            tier: Tier::Free,
            created_at: now,
        };
        tx.system("a new organization").create_org(&org).await?;
    }
    tx.commit().await?;
    for first in (0..args.builds).step_by(BATCH as usize) {
        let mut tx = db.write().await?;
        for number in first..args.builds.min(first + BATCH) {
            let org = match number % 2 {
                0 => orgs[0],
                _ => orgs[1 + (number / 2 % args.orgs) as usize],
            };
            let build = Build {
                labels: labels(number as usize),
                ..builds::build(org, bundle.as_str(), number, now)
            };
            tx.org(org).create_build(&build, &bundle).await?;
        }
        tx.commit().await?;
    }
    db.close().await;
    Ok(orgs[0])
}

fn labels(number: usize) -> Vec<String> {
    SETS[number % SETS.len()].iter().map(ToString::to_string).collect()
}
