//! Handles an app store's event: the submissions that it concerns check the store now instead of minutes later. A step
//! that is running meanwhile overwrites the due time; then they check when they would have done so anyway.

use super::progress::{self, Progress};

use launchway_app_stores::app_store::webhook::Event;
use launchway_domain::submission::Store;

use crate::api_error::ApiError;
use crate::write::{Signal, Write};

/// Makes the next step due now for each submission that an event of App Store Connect concerns.
pub async fn look_now(write: &mut Write<'_>, event: &Event) -> Result<(), ApiError> {
    let now = write.now();
    for (id, sealed) in write.org().submissions_under_way(Store::AppStore).await? {
        if let Progress::AppStore(steps) = progress::open_within(write, id, &sealed).await?
            && event.concerns(&steps)
        {
            write.org().make_submission_due(id, now).await?;
            write.signal(Signal::Submissions);
        }
    }
    Ok(())
}
