//! Sends `credential.expiring` for credentials that end soon (`docs/reference/submissions.md#notices-of-expiry`), and
//! `trust.expiring` for roles of signed updates (`docs/reference/trust.md#notices-of-expiry-of-roles`).

use std::sync::Arc;
use std::time::Duration;

use launchway_ops::app::App;
use launchway_ops::credentials;
use launchway_ops::trust::notices;

const EVERY: Duration = Duration::from_secs(10 * 60);

/// Checks every ten minutes.
pub async fn run(app: Arc<App>) {
    let mut tick = tokio::time::interval(EVERY);
    loop {
        tick.tick().await;
        if let Err(failure) = credentials::notify_expiring(&app).await {
            tracing::warn!(error = %failure, "cannot announce expiring credentials; retrying later");
        }
        if let Err(failure) = notices::send(&app).await {
            tracing::warn!(error = %failure, "cannot announce expiring roles; retrying later");
        }
    }
}
