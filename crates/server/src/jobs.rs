//! Work beside the requests: a small struct or function and file each.

pub mod check_counts;
pub mod clean_up;
pub mod last_used;
pub mod lease;
pub mod report_writer;
pub mod sweep;

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::app::App;
use crate::ota::follow;

/// The jobs of this process.
pub struct Jobs {
    /// Those that begin anew wherever they are stopped; the others end with the process.
    leased: JoinSet<()>,
}

impl Jobs {
    /// Starts what this process's roles ask for.
    pub fn start(app: &Arc<App>) -> Jobs {
        tokio::spawn(follow::run(app.clone()));
        tokio::spawn(last_used::run(app.clone()));
        tokio::spawn(check_counts::run(app.clone()));
        let mut leased = JoinSet::new();
        if app.config.roles.worker {
            leased.spawn(lease::run(app.clone(), "clean_up", lease::RENEWAL, clean_up::run));
        }
        Jobs { leased }
    }

    /// Stops the jobs: their leases go to other nodes, and what waits in memory is written.
    pub async fn stop(mut self, app: &App) {
        self.leased.shutdown().await;
        // Together: while the database is away each of them waits for it.
        let (leases, used, checks) = tokio::join!(
            app.leases.give_back(app),
            app.last_used.flush(&app.db),
            app.check_counts.flush(app)
        );
        for (what, result) in [
            ("leases of jobs could not be given back", leases),
            ("last use could not be written", used),
            ("counts of checks could not be written", checks),
        ] {
            if let Err(error) = result {
                tracing::warn!(%error, "{what}");
            }
        }
    }
}
