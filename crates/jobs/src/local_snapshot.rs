//! Keeps the local snapshot of the index up to date (`docs/reference/operation.md#local-snapshot`). Every node has its own.

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::app::App;
use launchway_ops::local_snapshot::KeepError;

/// How often the snapshot notes that nothing else has changed: about its age while the database answers.
const EVERY: Duration = Duration::from_secs(15);
/// The pause after a snapshot that could not be written.
const AFTER_FAILURE: Duration = Duration::from_secs(5 * 60);

/// Keeps the snapshot until the process ends; returns at once if this node has none.
pub async fn run(app: Arc<App>) {
    let Some(local) = &app.local_snapshot else { return };
    loop {
        let kept = local.keep(&app.index, &app.db, &app.vault, app.clock.now()).await;
        let pause = match kept {
            Ok(()) => EVERY,
            Err(KeepError::Away(error)) => {
                tracing::debug!(%error, "cannot keep the local snapshot of the index");
                EVERY
            }
            Err(error) => {
                tracing::warn!(%error, "cannot write the local snapshot of the index; retrying later");
                AFTER_FAILURE
            }
        };
        tokio::time::sleep(pause).await;
    }
}
