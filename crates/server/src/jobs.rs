//! Work beside the requests: a small struct or function and file each.

pub mod clean_up;
pub mod last_used;
pub mod report_writer;

use std::sync::Arc;

use crate::app::App;
use crate::ota::follow;

/// Starts what this process's roles ask for. The tasks end with the process.
pub fn start(app: &Arc<App>) {
    tokio::spawn(follow::run(app.clone()));
    tokio::spawn(last_used::run(app.clone()));
    if app.config.roles.worker {
        tokio::spawn(clean_up::run(app.clone()));
    }
}
