//! Cancels a submission: takes back what it did in App Store Connect as far as that is possible, and says what stays.
//! Nothing here submits anything for review.

mod version;

use launchway_domain::submission::destination::Destination;
use serde_json::Value;

use super::refusal::CallError;
use super::{AppStoreConnect, Progress, Stage, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::release::Release;
use crate::step::Cancellation;
use crate::transport::Method;

/// How many times a cancellation waits for App Store Connect before it gives up. Closing a review takes seconds.
const MAX_WAITS: u32 = 60;
/// How many times a refused change is repeated: a state that was just left may still be reported.
const MAX_REPEATS: u32 = 3;

/// Why a cancellation does not go on now.
enum Interruption {
    /// App Store Connect is at work.
    Later,
    /// It is too late, for this reason.
    TooLate(String),
    /// A request failed.
    Failed(AppStoreError),
}

impl<E: Into<AppStoreError>> From<E> for Interruption {
    fn from(error: E) -> Self {
        Interruption::Failed(error.into())
    }
}

/// The outcome of a change that takes something back.
enum Undone {
    /// It was accepted, or there is nothing to take back.
    Accepted,
    /// App Store Connect refuses, with this message.
    Refused(String),
}

impl AppStoreConnect {
    /// Cancels a submission. After [`Cancellation::Later`] it is called again with the progress in it.
    ///
    /// # Errors
    /// Why the result is unknown; the same cancellation may be repeated.
    pub async fn cancel(
        &self,
        release: &Release,
        progress: &Progress,
    ) -> Result<Cancellation<Progress>, AppStoreError> {
        let mut stays = Vec::new();
        match self.take_back(release, progress, &mut stays).await {
            Ok(()) => Ok(Cancellation::Undone(stays)),
            Err(Interruption::Failed(failure)) => Err(failure),
            Err(Interruption::Later) if progress.cancel_waits < MAX_WAITS => Ok(Cancellation::Later(Progress {
                cancel_waits: progress.cancel_waits + 1,
                ..progress.clone()
            })),
            Err(Interruption::Later) => Ok(too_late(
                progress,
                "App Store Connect has not taken the version out of its review for ten minutes",
            )),
            Err(Interruption::TooLate(why)) => Ok(too_late(progress, &why)),
        }
    }

    async fn take_back(
        &self,
        release: &Release,
        progress: &Progress,
        stays: &mut Vec<String>,
    ) -> Result<(), Interruption> {
        if matches!(progress.stage, Stage::Rollout | Stage::Done) {
            return Err(Interruption::TooLate("Users have the release already".to_owned()));
        }
        if release.destination == Destination::AppStore {
            self.take_back_version(release, progress, stays).await?;
        } else {
            self.take_back_groups(progress, stays).await?;
        }
        self.take_back_upload(release, progress, stays).await
    }

    async fn take_back_groups(&self, progress: &Progress, stays: &mut Vec<String>) -> Result<(), Interruption> {
        let Some(new) = progress.new_groups.as_ref().filter(|new| !new.is_empty()) else {
            return Ok(());
        };
        let held = self.groups_of_build(progress).await?;
        let left: Vec<String> = held.into_iter().filter(|id| new.contains(id)).collect();
        if !left.is_empty() {
            let path = format!("/v1/builds/{}/relationships/betaGroups", progress.build_id);
            let body = requests::groups(&left);
            match self.undo(progress, Method::Delete, &path, Some(&body)).await? {
                Undone::Accepted if progress.cancel_waits < MAX_WAITS => return Err(Interruption::Later),
                Undone::Accepted => stays.push("App Store Connect still shows the build in its groups".to_owned()),
                Undone::Refused(message) => stays.push(format!(
                    "App Store Connect refuses to take the build away from its groups: {}",
                    message.trim_end_matches('.')
                )),
            }
        } else if progress.cancel_waits == 0 {
            // The request that assigns the build may have been interrupted, and still arrive.
            return Err(Interruption::Later);
        } else {
            stays.push("The groups no longer have the build, and testers who installed it keep it".to_owned());
        }
        let path = format!("/v1/builds/{}/buildBetaDetail", progress.build_id);
        let detail = self.find(&path).await?.unwrap_or_default();
        let state = detail.text("/data/attributes/externalBuildState");
        if let Some("WAITING_FOR_BETA_REVIEW" | "IN_BETA_REVIEW") = state {
            stays.push("TestFlight's review of the build continues, as it cannot be withdrawn".to_owned());
        }
        Ok(())
    }

    async fn take_back_upload(
        &self,
        release: &Release,
        progress: &Progress,
        stays: &mut Vec<String>,
    ) -> Result<(), Interruption> {
        if progress.build_id.is_empty() {
            if progress.build_upload_id.is_empty() {
                return Ok(());
            }
            let path = format!("/v1/buildUploads/{}", progress.build_upload_id);
            let upload = self.find(&path).await?.unwrap_or_default();
            match upload.text("/data/attributes/state/state") {
                Some("AWAITING_UPLOAD") => {
                    if let Undone::Refused(message) = self.undo(progress, Method::Delete, &path, None).await? {
                        stays.push(format!("The empty upload stays: {}", message.trim_end_matches('.')));
                    }
                    return Ok(());
                }
                Some("PROCESSING" | "COMPLETE") => {}
                _ => return Ok(()),
            }
        }
        let path = format!("/v1/betaGroups?filter[app]={}&limit=200", progress.app_id);
        let groups = self.get(&path).await?;
        let gets_all = |group: &&Value| group.pointer("/attributes/hasAccessToAllBuilds") == Some(&Value::Bool(true));
        let names = groups.list("/data").iter().filter(gets_all);
        let names: Vec<&str> = names.filter_map(|group| group.text("/attributes/name")).collect();
        let number = &release.build_number;
        stays.push(match names.is_empty() {
            true => format!("The build {number} stays in App Store Connect"),
            false => format!(
                "The build {number} stays in App Store Connect, also for the groups that get every build ({}), until \
                 somebody expires it there",
                names.join(", ")
            ),
        });
        Ok(())
    }

    /// Sends a change that takes something back. A refusal is repeated a few times before it counts.
    async fn undo(
        &self,
        progress: &Progress,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Undone, Interruption> {
        match self.call(method, path, body).await {
            Ok(_) => Ok(Undone::Accepted),
            Err(CallError::Refused(refused)) => match refused.status {
                404 => Ok(Undone::Accepted),
                401 => Err(AppStoreError::from(refused).into()),
                409 | 422 if progress.cancel_waits < MAX_REPEATS => Err(Interruption::Later),
                _ => Ok(Undone::Refused(refused.message())),
            },
            Err(other) => Err(other.into()),
        }
    }
}

/// A submission that continues. Its next step reads how the review ends, and submits nothing.
fn too_late(progress: &Progress, why: &str) -> Cancellation<Progress> {
    let is_prepared = (Stage::Version..Stage::AwaitReview).contains(&progress.stage);
    Cancellation::TooLate {
        why: why.to_owned(),
        progress: Progress {
            stage: if is_prepared {
                Stage::AwaitReview
            } else {
                progress.stage
            },
            cancel_waits: 0,
            ..progress.clone()
        },
    }
}
