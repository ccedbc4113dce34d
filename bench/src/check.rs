//! Measures the public check: our server, its static twin, a second instance of the twin, and a loop of system calls, in
//! interleaved rounds.

use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use tokio::runtime::Runtime;

use crate::args::CheckArgs;
use crate::contestant::{self, Contestant};
use crate::cores::Cores;
use crate::figures::{Goal, Spread, mebibytes};
use crate::questions::{questions, to_peer, without_update};
use crate::server::Server;
use crate::{bundles, peer, programs};

/// The twin's processor time must be at least this share of ours.
const TWIN: f64 = 0.95;
/// The same where no update is newer.
const TWIN_WITHOUT_UPDATE: f64 = 0.97;
/// Our processor time must be at most so many times that of a loop of system calls.
const BARE: f64 = 1.3;
/// That of checks of all bundles at most so many times that of checks of [`HOT`] of them.
const UNIFORM: f64 = 1.05;
/// Our p99 at half of the highest rate at most so many times the twin's.
const STEADY: f64 = 1.3;
/// The memory of a million bundles, in MiB.
const MEMORY: f64 = 300.0;
/// Bundles that fit into the caches of a processor.
const HOT: u32 = 1_000;

/// The contestants, by their place in a round.
#[derive(Clone, Copy)]
enum Place {
    Ours,
    Twin,
    TwinAgain,
    Bare,
    Hot,
    OursWithout,
    TwinWithout,
    /// Only on machines that have it.
    Nginx,
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
    let start = |command| cores.on_server_core(|| Server::start(command))?.map(Rc::new);
    let contestant = |name, server: &Rc<Server>, questions| {
        Contestant::new(name, server, questions, cores.are_two(), args.connections)
    };
    let ours = start(programs::serve(program, data.path()))?;
    let memory = mebibytes(ours.memory()?);
    let all = questions(ours.address, bundles);
    let none = without_update(&all);
    let hot = contestant("ours, few bundles", &ours, questions(ours.address, bundles.min(HOT)));
    let ours_without = contestant("ours, no update", &ours, none.clone());
    let ours = contestant("launchway-server", &ours, all.clone());
    // Each distinct response has equal weight, so the load consists of whole rounds of the questions.
    let (body_bytes, bytes_without) = (ours.body_bytes(&runtime)?, ours_without.body_bytes(&runtime)?);
    let (twin, again) = (start(programs::twin(body_bytes)?)?, start(programs::twin(body_bytes)?)?);
    let (bare, twin_without) = (
        start(programs::bare(body_bytes)?)?,
        start(programs::twin(bytes_without)?)?,
    );
    let mut contestants = vec![
        ours,
        contestant("twin", &twin, to_peer(&all)),
        contestant("twin again", &again, to_peer(&all)),
        contestant("bare epoll", &bare, to_peer(&all)),
        hot,
        ours_without,
        contestant("twin, no update", &twin_without, to_peer(&none)),
    ];
    if let Some(program) = args.nginx.clone().or_else(peer::find_nginx) {
        let folder = data.path();
        let nginx = cores.on_server_core(|| peer::start_nginx(&program, folder, body_bytes))??;
        contestants.push(contestant("nginx, fixed text", &Rc::new(nginx), to_peer(&all)));
    }
    let mut measured = Measured {
        bundles,
        body_bytes,
        memory,
        contestants,
    };
    contestant::take_turns(&mut measured.contestants, &runtime, args.rounds, args.requests)?;
    measured.table(args, &runtime)
}

/// The contestants on one database.
struct Measured {
    bundles: u32,
    body_bytes: u64,
    /// Our resident memory at the start, in MiB.
    memory: f64,
    contestants: Vec<Contestant>,
}

impl Measured {
    /// Our p99 divided by the twin's at half of our highest rate, round by round.
    fn steady(&self, args: &CheckArgs, runtime: &Runtime) -> anyhow::Result<Spread> {
        let (ours, twin) = (self.at(Place::Ours), self.at(Place::Twin));
        let rate = Some(ours.spread(|turn| turn.throughput).median / 2.0);
        let mut ratios = Vec::new();
        for _ in 0..args.rounds {
            let ours = ours.take_turn(runtime, args.requests, rate)?;
            ratios.push(ours.p99 / twin.take_turn(runtime, args.requests, rate)?.p99);
        }
        Ok(Spread::of(ratios))
    }

    fn at(&self, place: Place) -> &Contestant {
        &self.contestants[place as usize]
    }

    /// One server's processor time divided by another's of the same round.
    fn cpu_ratio(&self, one: Place, other: Place) -> Spread {
        self.at(one).cpu_ratio(self.at(other))
    }

    fn table(&self, args: &CheckArgs, runtime: &Runtime) -> anyhow::Result<String> {
        let mut lines = vec![
            format!(
                "{} bundles of three updates, {} bytes in the body, {} connections, {} rounds of {} requests; medians:",
                self.bundles, self.body_bytes, args.connections, args.rounds, args.requests
            ),
            contestant::head(),
        ];
        lines.extend(self.contestants.iter().map(Contestant::line));
        lines.push("Round by round, min – median – max:".to_owned());
        let noise = self.cpu_ratio(Place::Twin, Place::TwinAgain);
        lines.push(format!("  {:<37}{noise:.3}   (the noise)", "twin's CPU / twin again"));
        for (name, ratio, goal) in [
            (
                "twin's CPU / ours",
                self.cpu_ratio(Place::Twin, Place::Ours),
                Goal::AtLeast(TWIN),
            ),
            (
                "the same without an update",
                self.cpu_ratio(Place::TwinWithout, Place::OursWithout),
                Goal::AtLeast(TWIN_WITHOUT_UPDATE),
            ),
            (
                "our CPU / bare epoll",
                self.cpu_ratio(Place::Ours, Place::Bare),
                Goal::AtMost(BARE),
            ),
            (
                "all bundles / few bundles",
                self.cpu_ratio(Place::Ours, Place::Hot),
                Goal::AtMost(UNIFORM),
            ),
            (
                "our p99 / twin's at half of the rate",
                self.steady(args, runtime)?,
                Goal::AtMost(STEADY),
            ),
        ] {
            lines.push(format!("  {name:<37}{ratio:.3}   {}", goal.verdict(ratio.median)));
        }
        if let Some(nginx) = self.contestants.get(Place::Nginx as usize) {
            let ratio = nginx.cpu_ratio(self.at(Place::Ours));
            lines.push(format!("  {:<37}{ratio:.3}", "nginx's CPU / ours"));
        }
        let goal = Goal::AtMost(MEMORY).verdict(self.memory);
        lines.push(format!(
            "  {:<37}{:.1} MiB   {goal}",
            "our memory after the start", self.memory
        ));
        Ok(lines.join("\n"))
    }
}
