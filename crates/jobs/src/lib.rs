//! Background work: a small struct or function and file for each job.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

pub mod check_counts;
pub mod clean_up;
pub mod deliver;
pub mod expire_leases;
pub mod expiry;
pub mod fan_out;
pub mod last_used;
pub mod lease;
pub mod list_totals;
pub mod local_snapshot;
pub mod old_builds;
pub mod old_submissions;
pub mod online_roles;
pub mod sequences;
pub mod submissions;
pub mod sweep;
pub mod unsigned_updates;

use std::sync::Arc;

use launchway_ops::app::App;
use launchway_ota::follow;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

/// The jobs of this process. Most can be stopped at any moment.
pub struct Jobs {
    stop: CancellationToken,
    /// Jobs that restart safely wherever they are stopped.
    stoppable: JoinSet<()>,
    /// Jobs that finish what they have begun.
    finishing: Vec<JoinHandle<()>>,
}

impl Jobs {
    /// Starts the jobs of this process's roles.
    pub fn start(app: &Arc<App>) -> Jobs {
        let mut jobs = Jobs {
            stop: app.stopping.clone(),
            stoppable: JoinSet::new(),
            finishing: Vec::new(),
        };
        tokio::spawn(follow::run(app.db.clone(), app.index.clone()));
        tokio::spawn(local_snapshot::run(app.clone()));
        tokio::spawn(last_used::run(app.clone()));
        tokio::spawn(check_counts::run(app.clone()));
        if app.config.roles.worker {
            let cleaning = lease::run(app.clone(), "clean_up", lease::RENEWAL, clean_up::run);
            jobs.stoppable.spawn(cleaning);
            let telling = lease::run(app.clone(), "expiry", lease::RENEWAL, expiry::run);
            jobs.stoppable.spawn(telling);
            let renewing = lease::run(app.clone(), "online_roles", lease::RENEWAL, online_roles::run);
            jobs.stoppable.spawn(renewing);
            let numbering = lease::run(app.clone(), "sequences", lease::RENEWAL, sequences::run);
            jobs.stoppable.spawn(numbering);
            let folding = lease::run(app.clone(), "list_totals", lease::RENEWAL, list_totals::run);
            jobs.stoppable.spawn(folding);
            jobs.stoppable.spawn(expire_leases::run(app.clone()));
            jobs.stoppable.spawn(fan_out::run(app.clone()));
            let deliverer = deliver::Deliverer::new(app.clone());
            jobs.finishing.push(tokio::spawn(deliverer.run(jobs.stopping())));
            let submitter = submissions::Submitter::new(app.clone(), jobs.stopping());
            jobs.finishing.push(tokio::spawn(submitter.run()));
        }
        jobs
    }

    /// A token that, once canceled, tells the jobs to begin nothing new.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Stops the jobs: some finish their current work, leases are released to other nodes, and buffered data is
    /// written.
    pub async fn stop(mut self, app: &App) {
        self.stop.cancel();
        self.stoppable.shutdown().await;
        for job in self.finishing {
            if let Err(error) = job.await {
                tracing::error!(%error, "a job failed");
            }
        }
        // Concurrently: if the database is unreachable, each of them waits for it.
        let (leases, used, checks) = tokio::join!(
            app.job_leases.give_back(&app.db),
            app.last_used.flush(&app.db),
            app.check_counts.flush(&app.db, &app.index, app.clock.now())
        );
        for (what, result) in [
            ("cannot release the leases of jobs", leases),
            ("cannot save when keys were last used", used),
            ("cannot save the counts of checks", checks),
        ] {
            if let Err(error) = result {
                tracing::warn!(%error, "{what}");
            }
        }
    }
}
