//! Clean-up in batches: each is its own transaction, and none is skipped.

use launchway_domain::time::{HOUR, MINUTE};
use launchway_jobs::clean_up::clean_up;
use launchway_store::FORGOTTEN_AT_ONCE;

use crate::support::TestApp;

/// Rate limit subjects of one minute, as a flood leaves them.
async fn count(app: &TestApp, subjects: u64, minute: i64) {
    let mut tx = app.app.db.write().await.unwrap();
    let mut system = tx.system("a test");
    for subject in 0..subjects {
        system.count_call(&format!("address-{subject}"), minute).await.unwrap();
    }
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn a_clean_up_forgets_more_rows_than_a_batch_has() {
    let app = TestApp::start().await;
    let minute = app.app.clock.now() / MINUTE;
    count(&app, 2 * FORGOTTEN_AT_ONCE + 1, minute).await;
    app.advance(HOUR);
    clean_up(&app.app).await.unwrap();
    let mut tx = app.app.db.write().await.unwrap();
    let left = tx.system("a test").forget_counts_before(i64::MAX).await.unwrap();
    assert_eq!(left, 0);
}
