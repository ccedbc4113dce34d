//! Measures the pages of the dashboard: the time until the first byte of each, and the bytes of a browser's first load.

pub mod history;

use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;

use bytes::Bytes;

use crate::args::PagesArgs;
use crate::browser::Browser;
use crate::figures::Spread;
use crate::server::Server;
use crate::{folded, programs};
use history::History;

/// Milliseconds until the first byte, as a median.
const FIRST_BYTE: f64 = 20.0;
/// Bytes of a first load: the page and everything it references.
const FIRST_LOAD: usize = 200_000;

/// Every page that shows a list or a resource; also forms.
const PAGES: [&str; 25] = [
    "",
    "/builds",
    "/builds?status=failed",
    "/builds?status=canceled",
    "/builds?status=success&offset=1000",
    "/builds/{build}",
    "/submissions",
    "/submissions?status=failed",
    "/submissions/{submission}",
    "/submissions/new",
    "/updates",
    "/updates/{update}",
    "/updates/new",
    "/updates/audience",
    "/apps",
    "/env",
    "/credentials",
    "/api-keys",
    "/webhooks",
    "/members",
    "/runners",
    "/usage",
    "/audit",
    "/profile",
    "/profile/two-factor",
];

/// Measures each page and prints a line for it, with the goals.
///
/// # Errors
/// When the server does not start, or a page is missing.
pub fn run(args: &PagesArgs) -> anyhow::Result<()> {
    let program = programs::server(args.server.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut out = std::io::stdout();
    let data = tempfile::tempdir()?;
    let database = format!("sqlite:{}", data.path().join("launchway.db").display());
    let history = runtime.block_on(history::fill(&database, args.builds))?;
    let mut command = programs::serve(&program, data.path());
    command.args(["--no-runner", "--database-url", &database]);
    let server = Server::start(command)?;
    runtime.block_on(folded::wait(&database))?;
    writeln!(
        out,
        "{} builds, {} loads of each page; first byte in milliseconds as min – median – max (goal: median up to {FIRST_BYTE}), \
         first load in kB with all scripts and styles (goal: up to {}):",
        args.builds,
        args.rounds,
        FIRST_LOAD / 1000
    )?;
    let mut missed = 0;
    for page in PAGES {
        let path = history.path(page);
        let (first_byte, bytes) = runtime.block_on(measure(server.address, &history, &path, args.rounds))?;
        let in_time = first_byte.median <= FIRST_BYTE;
        let is_small = bytes <= FIRST_LOAD;
        missed += usize::from(!in_time || !is_small);
        writeln!(
            out,
            "{:<36} {first_byte:.1}{}   {:.1} kB{}",
            if page.is_empty() { "overview" } else { page },
            if in_time { "" } else { " TOO SLOW" },
            bytes as f64 / 1e3,
            if is_small { "" } else { " TOO LARGE" },
        )?;
    }
    writeln!(out, "{} of {} pages keep both goals", PAGES.len() - missed, PAGES.len())?;
    Ok(())
}

/// The milliseconds until the first byte of each load, and the bytes of one load of the page with everything that it
/// references.
async fn measure(address: SocketAddr, history: &History, path: &str, rounds: u32) -> anyhow::Result<(Spread, usize)> {
    let mut browser = Browser::open(address, &history.cookie).await?;
    let mut times = Vec::new();
    let mut page = Bytes::new();
    for _ in 0..rounds {
        let (time, bytes) = browser.load(path).await?;
        times.push(time);
        page = bytes;
    }
    let text = String::from_utf8_lossy(&page);
    let named = text.split("=\"/assets/").skip(1);
    let assets: BTreeSet<&str> = named.filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
    let mut bytes = page.len();
    for asset in assets {
        bytes += browser.load(&format!("/assets/{asset}")).await?.1.len();
    }
    Ok((Spread::of(times), bytes))
}
