//! Serving: opens everything, announces the address, and runs until it is told to stop.

use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use launchway_config::{Config, ConfigError};
use launchway_inspection::Inspector;
use launchway_ops::accounts;
use launchway_ops::app::{App, Dependencies, StartError};
use launchway_ops::start;
use launchway_os::clock::SystemClock;
use launchway_os::folders::make_private_dir;
use launchway_os::program_file;
use launchway_os::random::SystemRandom;
use launchway_outbound::resolver::SystemResolver;
use launchway_web::metrics;
use launchway_web::server::{self, HttpServer};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::command_error::CommandError;
use crate::program::work::Work;
use crate::program::{demo, free_memory};

/// The file in the data directory that the server holds locked.
const LOCK: &str = "server.lock";
/// Long enough after listening for the jobs and the embedded runner to start.
const SETTLED: Duration = Duration::from_secs(2);

/// Serves until SIGTERM or SIGINT.
pub async fn serve(config: Config, with_demo: bool) -> Result<(), CommandError> {
    // What is most likely to fail comes before anything is written.
    let (listener, metrics_listener) = bind(&config).await?;
    let address = listener.local_addr().map_err(StartError::io("--listen"))?;
    let data = match config.is_embedded() {
        true => Some(DataDir::lock(&config)?),
        false => None,
    };
    let dependencies = Dependencies {
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        resolver: Arc::new(SystemResolver),
        app_stores: None,
        inspector: Inspector::this_program()?,
    };
    let app = App::open(config, format!("http://{}", reachable(address)), dependencies).await?;
    let is_whole = start::fill_index(&app).await?;
    let _alone = data.map(DataDir::keep);
    if !app.is_https() && !address.ip().is_loopback() {
        tracing::warn!("the service is reached over plain http; put a TLS proxy in front and set --public-url");
    }
    if let Some(listener) = metrics_listener {
        tokio::spawn(metrics::serve(app.clone(), listener));
    }
    let (ended, end) = oneshot::channel();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut work = Work::start(app.clone(), reachable(address), is_whole);
    let stopping = app.stopping.clone();
    let stop = async move {
        let failure = tokio::select! {
            _ = terminate.recv() => None,
            _ = interrupt.recv() => None,
            failure = work.failure() => Some(failure),
        };
        tracing::info!("stopping: accepting no new requests, and finishing running work");
        let asked = Instant::now();
        stopping.cancel();
        // Its builds report their end to this server, so the runner stops first.
        let jobs = work.stop_builds().await;
        // The receiver waits below.
        let _ = ended.send((jobs, failure));
        server::GRACE.saturating_sub(asked.elapsed())
    };
    let serving = tokio::spawn(server::serve(HttpServer::new(app.clone()), listener, stop));
    release_start();
    announce(&app, address, is_whole, with_demo).await?;
    serving.await.map_err(std::io::Error::other)?;
    let (jobs, failure) = end.await.map_err(std::io::Error::other)?;
    if let Some(jobs) = jobs {
        jobs.stop(&app).await;
    }
    app.db.close().await;
    failure.map_or(Ok(()), |failure| Err(failure.into()))
}

/// Gives back the memory that only the start needs: when the service listens, and when its work has started.
fn release_start() {
    free_memory::give_back();
    program_file::unmap_code();
    tokio::spawn(async {
        tokio::time::sleep(SETTLED).await;
        free_memory::give_back();
        program_file::unmap_code();
    });
}

/// The listeners of the service and of its metrics.
async fn bind(config: &Config) -> Result<(TcpListener, Option<TcpListener>), StartError> {
    let bound = TcpListener::bind(config.listen).await;
    let listener = bound.map_err(StartError::io(format!("--listen {}", config.listen)))?;
    let metrics = match config.metrics_listen {
        Some(address) => {
            let bound = TcpListener::bind(address).await;
            Some(bound.map_err(StartError::io(format!("--metrics-listen {address}")))?)
        }
        None => None,
    };
    Ok((listener, metrics))
}

/// Prints one line on standard output when the service is reachable, then what to do next.
async fn announce(app: &App, address: SocketAddr, is_whole: bool, with_demo: bool) -> Result<(), CommandError> {
    let mut out = std::io::stdout();
    writeln!(out, "Listening on http://{}", reachable(address))?;
    if !is_whole {
        // What follows is in the database.
    } else if with_demo {
        writeln!(out, "\n{}", demo::prepare(app).await?)?;
    } else if let Some(token) = accounts::offer_setup(app).await? {
        writeln!(
            out,
            "\nThis server is new. Open this link once to create your organization and account:\n"
        )?;
        writeln!(out, "  {}/setup?token={token}\n", app.public_url)?;
        writeln!(out, "Or run, with the same settings:\n")?;
        writeln!(out, "  launchway-server admin create-org --name \"My team\"")?;
        writeln!(
            out,
            "  launchway-server admin create-user --email you@example.com --org ORG_ID --role owner"
        )?;
        writeln!(out, "  launchway-server admin create-key --org ORG_ID --name laptop\n")?;
    }
    out.flush()?;
    Ok(())
}

/// An address for clients on this machine: a wildcard becomes the loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], v4.port())),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, v6.port())),
        other => other,
    }
}

/// The data directory while the server starts. A start that fails leaves no directory behind that it made.
struct DataDir {
    lock: Option<File>,
    /// The directories that this start made: the data directory, then those above it.
    made: Vec<PathBuf>,
    /// Whether the database is in it, so that nothing outside depends on its files.
    is_whole: bool,
}

impl DataDir {
    /// Creates and locks the data directory: two servers on one embedded database would count and follow independently,
    /// so the second does not start.
    fn lock(config: &Config) -> Result<Self, StartError> {
        let path = &config.data_dir;
        let missing = path
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let mut data = Self {
            lock: None,
            made: missing.map(Path::to_owned).collect(),
            is_whole: config
                .database_url
                .reveal()
                .starts_with(&format!("sqlite:{}/", path.display())),
        };
        make_private_dir(path).map_err(StartError::io("--data-dir"))?;
        let lock = File::create(path.join(LOCK)).map_err(StartError::io("--data-dir"))?;
        if lock.try_lock().is_err() {
            // The other server was faster, and it is the other's directory.
            data.made.clear();
            let problem = format!("{} is in use by another launchway-server", path.display());
            return Err(ConfigError::new("--data-dir", problem).into());
        }
        data.lock = Some(lock);
        Ok(data)
    }

    /// Keeps the directory, and returns its lock.
    fn keep(mut self) -> Option<File> {
        self.made.clear();
        self.lock.take()
    }

    /// Removes the directory with everything in it. Without the database only if nothing is in it: a key that was made
    /// for a database elsewhere must outlive this start.
    fn remove(&self, path: &Path) -> io::Result<()> {
        if self.is_whole {
            return std::fs::remove_dir_all(path);
        }
        for entry in path.read_dir()? {
            if entry?.file_name() != LOCK {
                return Ok(());
            }
        }
        std::fs::remove_file(path.join(LOCK))?;
        std::fs::remove_dir(path)
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        if let Some((path, above)) = self.made.split_first() {
            // The start has failed already, and says why. Directories that are not empty stay.
            let removed = self.remove(path);
            let _ = removed.and_then(|()| above.iter().try_for_each(std::fs::remove_dir));
        }
    }
}
