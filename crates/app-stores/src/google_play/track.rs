//! The track: reads it, and sets the release.

use launchway_domain::submission::SubmissionStatus::Processing;
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::refusal::CallError;
use super::{GooglePlay, Place, Progress, Stage, Stepped, Target, TargetStatus, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::step::Step;
use crate::transport::Method;

/// The tolerance for comparing percentages of users.
const PERCENT_TOLERANCE: f64 = 0.001;

/// The release with this version code in a track.
fn own_release(track: &Value, version_code: i64) -> Option<&Value> {
    let own = version_code.to_string();
    let has_it = |release: &&Value| {
        let codes = release.list("/versionCodes");
        codes.iter().any(|code| code.as_str() == Some(&own))
    };
    track.list("/releases").iter().find(has_it)
}

impl Progress {
    /// Takes over the percentage of users that the track has now, if this change is about something else.
    pub(super) fn take_percent(&mut self, track: &Value, version_code: i64) {
        let fraction = own_release(track, version_code).and_then(|own| own.pointer("/userFraction")?.as_f64());
        if let (true, Some(fraction), Some(target)) = (self.keeps_percent, fraction, &mut self.target) {
            let percent = (fraction * 100.0).round().clamp(1.0, 99.0);
            target.percent = (target.status != TargetStatus::Completed).then_some(percent as u8);
        }
    }

    /// Whether a track contains the release in the target state.
    pub(super) fn is_held_by(&self, track: &Value, place: Place<'_>) -> bool {
        let target = self.target(place.release);
        // A fraction that a person set need not be a whole percentage.
        let percent = target.percent.filter(|_| !self.keeps_percent);
        holds(track, place.code, Target { percent, ..target })
    }
}

/// Whether a track contains a release in the target state.
fn holds(track: &Value, version_code: i64, target: Target) -> bool {
    let fraction = target.percent.map(|percent| f64::from(percent) / 100.0);
    own_release(track, version_code).is_some_and(|release| {
        let known = release.pointer("/userFraction").and_then(Value::as_f64);
        release.text("/status") == Some(target.status.as_str())
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
                Err(AppStoreError::new(
                    Code::TrackNotFound,
                    format!("The app has no track {track} in Google Play"),
                )
                .into())
            }
            other => other,
        }
    }

    pub(super) async fn set_track(&self, place: Place<'_>, mut progress: Progress) -> Stepped {
        let known = match self.track(place, &progress).await {
            Ok(known) => known,
            Err(error) => return self.unless_gone(place, progress, error).await,
        };
        progress.take_percent(&known, place.code);
        if !progress.is_held_by(&known, place) {
            let target = progress.target(place.release);
            let body = requests::track(place.release, place.code, target, progress.keeps_percent, &known);
            let path = place.edit(&progress, &format!("/tracks/{}", place.track()));
            if let Err(error) = self.call(Method::Put, &path, Some(&body)).await {
                return self.unless_gone(place, progress, error).await;
            }
        }
        let status = progress.status(Processing);
        Ok(Step::proceed_quietly(progress.at(Stage::Validate), status))
    }
}
