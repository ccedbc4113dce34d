//! The runner inside the server, so that the first build needs no other process
//! (`docs/reference/builds.md#embedded-runner`). It uses the server's HTTP API as every runner does, with a token that
//! only this process knows.

use std::fs;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use launchway_api::runner::Enroll;
use launchway_api::secret::SecretText;
use launchway_client::{BaseUrl, Timeouts};
use launchway_config::Config;
use launchway_domain::id::OrgId;
use launchway_ops::app::App;
use launchway_ops::embedded::Embedded;
use launchway_ops::runners;
use launchway_runner::executor::ProcessExecutor;
use launchway_runner::machine::{Machine, SystemMachine};
use launchway_runner::plan::ProjectResolver;
use launchway_runner::protocol::Server;
use launchway_runner::sandbox::{BuildUser, MAX_IDS, SandboxReport};
use launchway_runner::settings::Settings;
use launchway_runner::{Runner, Stage, WorkDirectory, labels};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long running builds may take to finish after the process is told to stop. Then they are stopped, and restart on
/// another runner when their lease expires.
const TIMEOUT: Duration = Duration::from_secs(15);
/// How long stopped builds may take to send the rest of their log.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How often a server without organizations checks whether there is one.
const FIRST_ORG: Duration = Duration::from_secs(2);
/// The file in the work directory with the id of its runner, so that a restarted runner resumes as the same one.
const ID_FILE: &str = "runner-id";
const NAME: &str = "embedded";

/// A running embedded runner.
pub struct EmbeddedRunner {
    stage: watch::Sender<Stage>,
    work: JoinHandle<()>,
}

impl EmbeddedRunner {
    /// Starts it; `address` is that of the server. If no build can run on this machine, that is logged and the server
    /// continues without a runner.
    pub fn start(app: Arc<App>, address: SocketAddr) -> EmbeddedRunner {
        let (stage, stages) = watch::channel(Stage::Working);
        let work = tokio::spawn(async move {
            let mut ending = stages.clone();
            let runner = tokio::select! {
                prepared = prepare(&app, address) => match prepared {
                    Ok(runner) => runner,
                    Err(problem) => return tell(&problem),
                },
                _ = ending.wait_for(|stage| *stage > Stage::Working) => return,
            };
            if let Err(error) = runner.run(stages).await {
                tell(&error.to_string());
            }
        });
        EmbeddedRunner { stage, work }
    }

    /// Accepts no more builds, and returns when none is running: each has finished in time or was stopped.
    pub async fn stop(self) {
        let EmbeddedRunner { stage, mut work } = self;
        let _ = stage.send(Stage::Draining);
        if tokio::time::timeout(TIMEOUT, &mut work).await.is_ok() {
            return;
        }
        let _ = stage.send(Stage::Halting);
        if tokio::time::timeout(LAST_WORDS, &mut work).await.is_err() {
            tracing::warn!("a build did not end in time; its remaining processes are ended at the next start");
        }
    }
}

fn tell(problem: &str) {
    tracing::warn!(
        problem,
        "the embedded runner does not work, and builds wait for other runners; fix the problem, or give --no-runner"
    );
}

/// Tries the sandbox in which this server would run builds, in a temporary directory.
///
/// # Errors
/// Why no build can run, as a sentence.
pub async fn look(config: &Config) -> Result<SandboxReport, String> {
    let (_, settings) = settings(config, config.listen).await?;
    let executor = ProcessExecutor::new().map_err(|error| error.to_string())?;
    let looked = WorkDirectory::inspect(settings, Arc::new(executor)).await;
    looked.map_err(|error| error.to_string())
}

/// Enrolls the runner in its own server and prepares it.
async fn prepare(app: &Arc<App>, address: SocketAddr) -> Result<Runner, String> {
    let (work_dir, settings) = settings(&app.config, address).await?;
    let (labels, slots, user) = (settings.labels.clone(), settings.slots, settings.sandbox.user);
    if is_taken(&work_dir) {
        return Err(format!(
            "another runner uses {}: choose another directory with --runner-dir",
            work_dir.display()
        ));
    }
    let executor = ProcessExecutor::new().map_err(|error| error.to_string())?;
    let machine: Arc<dyn Machine> = Arc::new(SystemMachine);
    let (executor, resolver) = (Arc::new(executor), Arc::new(ProjectResolver));
    let workplace = WorkDirectory::open(settings, executor, resolver, Arc::clone(&machine)).await;
    let workplace = workplace.map_err(|error| error.to_string())?;
    let sandbox = workplace.sandbox().await.map_err(|error| error.to_string())?.clone();
    tracing::info!(work_dir = %work_dir.display(), sandbox = sandbox.sentence(), "this server runs builds");
    let org = if sandbox.is_enough() {
        None
    } else {
        let org = first_org(app).await;
        tracing::warn!(
            sandbox = sandbox.sentence(),
            %org,
            "builds are not isolated well enough from this server, so it runs only those of its first organization"
        );
        Some(org)
    };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let wanted = Enroll {
        name: NAME.to_owned(),
        labels: runners::labels(&labels).map_err(|failure| failure.to_string())?,
        slots,
        version: version.clone(),
    };
    let id_file = work_dir.join(ID_FILE);
    let text = |error: std::io::Error| format!("{}: {error}", id_file.display());
    let known = fs::read_to_string(&id_file).ok().and_then(|id| id.trim().parse().ok());
    let (record, token) = runners::admit_embedded(app, known, org, wanted)
        .await
        .map_err(|failure| failure.to_string())?;
    let origin = format!("http://{address}");
    let base: BaseUrl = origin.parse().map_err(|error| format!("{origin}: {error}"))?;
    let token = SecretText::new(token);
    let server = Server::new(base, token, &Timeouts::default(), machine);
    let server = server.map_err(|error| error.to_string())?;
    let builders = builders(user, sandbox.available.user);
    let runner = workplace.runner(server, version);
    fs::write(&id_file, record.id.to_string()).map_err(text)?;
    let embedded = Embedded {
        runner: record.id,
        origin,
        builders,
    };
    let _ = app.embedded.set(embedded);
    Ok(runner)
}

/// The users that builds run as: dedicated ones where this process may switch users, otherwise the user of this
/// process.
fn builders(user: BuildUser, may_choose: bool) -> RangeInclusive<u32> {
    let own = rustix::process::geteuid().as_raw();
    match user {
        BuildUser::Range { first } if may_choose => first..=first.saturating_add(MAX_IDS - 1),
        BuildUser::Fixed { uid, .. } if may_choose => uid..=uid,
        _ => own..=own,
    }
}

/// The oldest organization. Waits until there is one.
async fn first_org(app: &App) -> OrgId {
    loop {
        let found = async {
            let mut tx = app.db.read().await?;
            tx.system("without a sandbox only the first tenant is served")
                .first_org()
                .await
        };
        match found.await {
            Ok(Some(org)) => return org,
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "cannot read the first organization yet"),
        }
        tokio::time::sleep(FIRST_ORG).await;
    }
}

async fn settings(config: &Config, address: SocketAddr) -> Result<(PathBuf, Settings), String> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()));
    let work_dir = absolute(&config.runner_dir)?;
    let mut settings = Settings::new(work_dir.clone());
    settings.labels = labels::detect(&settings.path).await;
    // A build keeps several cores busy.
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    settings.slots = u32::try_from(cores / 4).unwrap_or(1).clamp(1, 16);
    let hidden = config.secret_places();
    settings.sandbox.hidden = hidden.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
    settings.sandbox.closed_ports = config.own_ports();
    settings.sandbox.closed_ports.push(address.port());
    settings.sandbox.open_ports.clone_from(&config.runner_open_ports);
    let readable = config.runner_readable.iter().map(|path| absolute(path));
    settings.sandbox.readable = readable.collect::<Result<_, _>>()?;
    if settings.sandbox.available().user
        && let Some(closed) = closed_above(&work_dir)
    {
        return Err(format!(
            "builds run as separate users, which cannot access {}: run chmod o+x on it, or choose another directory with --runner-dir",
            closed.display()
        ));
    }
    Ok((work_dir, settings))
}

/// Whether another process works there, whose token must remain valid.
fn is_taken(work_dir: &Path) -> bool {
    let lock = fs::OpenOptions::new().write(true).open(work_dir.join("runner.lock"));
    lock.is_ok_and(|lock| lock.try_lock().is_err())
}

/// The first directory on the path that other users cannot traverse.
fn closed_above(place: &Path) -> Option<PathBuf> {
    let mut above: Vec<_> = place.ancestors().skip(1).collect();
    above.reverse();
    let closed = |dir: &&Path| fs::metadata(dir).is_ok_and(|about| about.permissions().mode() & 0o001 == 0);
    above.into_iter().find(closed).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_directory_on_the_way_is_named() {
        let root = tempfile::tempdir().unwrap();
        let (closed, inside) = (root.path().join("closed"), root.path().join("closed/inside/work"));
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        let mode = |dir: &Path, mode| fs::set_permissions(dir, fs::Permissions::from_mode(mode)).unwrap();
        mode(root.path(), 0o711);
        mode(&closed, 0o700);
        assert_eq!(closed_above(&inside), Some(closed.clone()));
        mode(&closed, 0o711);
        assert_eq!(closed_above(&inside), None);
    }
}
