//! Work beside the requests: a small struct or function and file each.

pub mod clean_up;
pub mod deliver;
pub mod fan_out;
pub mod last_used;
pub mod report_writer;

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::ota::follow;

/// The jobs of this process. Most end with it at any moment; what must finish is waited for.
pub struct Jobs {
    stop: CancellationToken,
    finishing: Vec<JoinHandle<()>>,
}

impl Jobs {
    /// Cancelled, it tells the jobs to begin nothing new.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Returns when what had begun is finished.
    pub async fn finished(self) {
        self.stop.cancel();
        for job in self.finishing {
            if let Err(error) = job.await {
                tracing::error!(%error, "a job broke down");
            }
        }
    }
}

/// Starts what this process's roles ask for.
pub fn start(app: &Arc<App>) -> Jobs {
    let mut jobs = Jobs {
        stop: CancellationToken::new(),
        finishing: Vec::new(),
    };
    tokio::spawn(follow::run(app.clone()));
    tokio::spawn(last_used::run(app.clone()));
    if app.config.roles.worker {
        tokio::spawn(clean_up::run(app.clone()));
        tokio::spawn(fan_out::run(app.clone()));
        let deliverer = deliver::Deliverer::new(app.clone());
        jobs.finishing.push(tokio::spawn(deliverer.run(jobs.stopping())));
    }
    jobs
}
