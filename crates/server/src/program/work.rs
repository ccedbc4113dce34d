//! What the process does beside answering requests: its jobs and the embedded runner. A node that started without its database
//! begins them when the database answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use launchway_jobs::Jobs;
use launchway_ops::app::{App, StartError};
use launchway_ops::start;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::embedded_runner::EmbeddedRunner;

/// The pause before the database is tried again.
const RETRY: Duration = Duration::from_millis(500);
/// How long the first try may take, migrations and reading all updates included, before a new connection is made. Each further one may
/// take twice as long: a long migration ends one day.
const FIRST_TRY: Duration = Duration::from_secs(10 * 60);

/// The work of this process, or the wait for its start.
pub struct Work {
    task: JoinHandle<Option<Started>>,
    failed: oneshot::Receiver<StartError>,
}

struct Started {
    jobs: Jobs,
    runner: Option<EmbeddedRunner>,
}

impl Work {
    /// Begins at once if the node is whole, else when the database answers. `address` is that of the server.
    pub fn start(app: Arc<App>, address: SocketAddr, is_whole: bool) -> Work {
        let (fail, failed) = oneshot::channel();
        let task = tokio::spawn(async move {
            if !is_whole {
                let arrived = tokio::select! {
                    arrived = until_whole(&app) => arrived,
                    () = app.stopping.cancelled() => return None,
                };
                if let Err(error) = arrived {
                    // Without a receiver the process ends already.
                    let _ = fail.send(error);
                    return None;
                }
            }
            let jobs = Jobs::start(&app);
            let roles = app.config.roles;
            let runs_builds = !app.config.no_runner && roles.api && roles.worker;
            let runner = runs_builds.then(|| EmbeddedRunner::start(app.clone(), address));
            Some(Started { jobs, runner })
        });
        Work { task, failed }
    }

    /// Returns why the node can never become whole. Does not return while it can.
    pub async fn failure(&mut self) -> StartError {
        match (&mut self.failed).await {
            Ok(error) => error,
            Err(_) => std::future::pending().await,
        }
    }

    /// Ends the embedded runner. Returns the jobs, if they have started.
    pub async fn stop_builds(self) -> Option<Jobs> {
        let Started { jobs, runner } = self.task.await.ok().flatten()?;
        if let Some(runner) = runner {
            runner.stop().await;
        }
        Some(jobs)
    }
}

/// Tries the database until the index follows it.
async fn until_whole(app: &App) -> Result<(), StartError> {
    let (mut told, mut limit) = (String::new(), FIRST_TRY);
    loop {
        let Ok(arrived) = timeout(limit, start::arrive(app)).await else {
            tracing::warn!(
                "the database was not ready after {} minutes; trying again",
                limit.as_secs() / 60
            );
            limit *= 2;
            continue;
        };
        match arrived {
            Ok(()) => {
                tracing::info!("the database is available; checks are answered from it");
                return Ok(());
            }
            Err(error) if error.may_pass() => {
                let problem = error.to_string();
                if problem != told {
                    tracing::warn!(error = problem, "the database is not available; trying again");
                    told = problem;
                }
            }
            Err(error) => return Err(error),
        }
        tokio::time::sleep(RETRY).await;
    }
}
