//! The track: reads it, and sets the release.

use launchway_domain::submission::SubmissionStatus::Processing;
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::refusal::CallError;
use super::{GooglePlay, Place, Progress, Stage, Stepped, Target, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::step::Step;
use crate::transport::Method;

/// The tolerance for comparing percentages of users.
const PERCENT_TOLERANCE: f64 = 0.001;

/// Whether a track contains a release in the target state.
pub(super) fn holds(track: &Value, version_code: i64, target: Target) -> bool {
    let own = version_code.to_string();
    let fraction = target.percent.map(|percent| f64::from(percent) / 100.0);
    track.list("/releases").iter().any(|release| {
        let known = release.pointer("/userFraction").and_then(Value::as_f64);
        release
            .list("/versionCodes")
            .iter()
            .any(|code| code.as_str() == Some(&own))
            && release.text("/status") == Some(target.status.as_str())
            && match (known, fraction) {
                (Some(known), Some(wanted)) => (known - wanted).abs() < PERCENT_TOLERANCE,
                (_, None) => true,
                (None, Some(_)) => false,
            }
    })
}

impl GooglePlay {
    /// The track in the state of the edit.
    pub(super) async fn track(&self, place: Place<'_>, progress: &Progress) -> Result<Value, CallError> {
        let path = place.edit(progress, &format!("/tracks/{}", place.track()));
        match self.call(Method::Get, &path, None).await {
            Err(CallError::Refused(refused))
                if refused.status == 404 && refused.text.to_lowercase().contains("track") =>
            {
                let track = &place.release.destination;
                Err(AppStoreError::doubtful(
                    Code::TrackNotFound,
                    format!("The app has no track {track} in Google Play"),
                )
                .into())
            }
            other => other,
        }
    }

    pub(super) async fn set_track(&self, place: Place<'_>, progress: Progress) -> Stepped {
        let known = match self.track(place, &progress).await {
            Ok(known) => known,
            Err(error) => return self.unless_gone(place, progress, error).await,
        };
        let target = progress.target(place.release);
        if !holds(&known, place.code, target) {
            let body = requests::track(place.release, place.code, target, &known);
            let path = place.edit(&progress, &format!("/tracks/{}", place.track()));
            if let Err(error) = self.call(Method::Put, &path, Some(&body)).await {
                return self.unless_gone(place, progress, error).await;
            }
        }
        let status = progress.status(Processing);
        Ok(Step::proceed_quietly(progress.at(Stage::Validate), status))
    }
}
