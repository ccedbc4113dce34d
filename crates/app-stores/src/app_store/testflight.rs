//! TestFlight: test notes, groups of testers, and the review for external testing.

use launchway_domain::submission::SubmissionStatus::{InReview, Processing, Rejected, Success};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::refusal::CallError;
use super::{AppStoreConnect, Progress, Stage, Stepped, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::release::Release;
use crate::step::Step;
use crate::transport::Method;

/// Groups of testers.
pub(super) struct Groups {
    /// The ids of those that builds must be added to.
    ids: Vec<String>,
    /// Whether one of them has testers outside the team.
    is_external: bool,
}

impl AppStoreConnect {
    pub(super) async fn test_notes(&self, release: &Release, mut progress: Progress) -> Stepped {
        let Some(note) = release.notes.get(progress.notes_done) else {
            return Ok(Step::proceed_quietly(progress.at(Stage::Groups), Processing));
        };
        let path = format!("/v1/builds/{}/betaBuildLocalizations?limit=200", progress.build_id);
        let known = self.get(&path).await?;
        let same = |known: &&Value| known.text("/attributes/locale") == Some(&note.locale);
        match known.list("/data").iter().find(same) {
            Some(known) if known.text("/attributes/whatsNew") == Some(&note.text) => {}
            Some(known) => {
                let id = known.need("/id")?;
                let body = requests::changed_test_note(&id, &note.text);
                let path = format!("/v1/betaBuildLocalizations/{id}");
                self.call(Method::Patch, &path, Some(&body)).await?;
            }
            None => {
                let body = requests::test_note(&progress.build_id, &note.locale, &note.text);
                self.call(Method::Post, "/v1/betaBuildLocalizations", Some(&body))
                    .await?;
            }
        }
        progress.notes_done += 1;
        Ok(Step::proceed_quietly(progress, Processing))
    }

    pub(super) async fn groups(&self, release: &Release, mut progress: Progress) -> Stepped {
        let wanted = &release.options.groups;
        if wanted.is_empty() {
            let message = "The build is in TestFlight for the groups that get every build";
            return Ok(Step::end(progress.at(Stage::Done), Success, message));
        }
        let Groups { ids, is_external } = self.find_groups(&progress.app_id, wanted).await?;
        if !ids.is_empty() {
            // A cancellation takes the build away only from those that did not have it before.
            if progress.new_groups.is_none() {
                let held = self.groups_of_build(&progress).await?;
                progress.new_groups = Some(ids.into_iter().filter(|id| !held.contains(id)).collect());
                return Ok(Step::proceed_quietly(progress, Processing));
            }
            // Adding it twice has no further effect.
            let path = format!("/v1/builds/{}/relationships/betaGroups", progress.build_id);
            self.call(Method::Post, &path, Some(&requests::groups(&ids))).await?;
        }
        if is_external {
            Ok(Step::proceed(
                progress.at(Stage::BetaReview),
                Processing,
                "The build is assigned to the groups",
            ))
        } else {
            let message = "The build is available to its groups in TestFlight";
            Ok(Step::end(progress.at(Stage::Done), Success, message))
        }
    }

    /// The ids of the groups that have the build.
    pub(super) async fn groups_of_build(&self, progress: &Progress) -> Result<Vec<String>, AppStoreError> {
        let path = format!("/v1/betaGroups?filter[builds]={}&limit=200", progress.build_id);
        let known = self.get(&path).await?;
        known.list("/data").iter().map(|group| group.need("/id")).collect()
    }

    /// The groups of an app with these names.
    pub(super) async fn find_groups(&self, app_id: &str, names: &[String]) -> Result<Groups, AppStoreError> {
        let path = format!("/v1/betaGroups?filter[app]={app_id}&limit=200");
        let known = self.get(&path).await?;
        let mut groups = Groups {
            ids: Vec::new(),
            is_external: false,
        };
        for name in names {
            let same = |group: &&Value| group.text("/attributes/name") == Some(name);
            let Some(group) = known.list("/data").iter().find(same) else {
                return Err(AppStoreError::new(
                    Code::GroupNotFound,
                    format!("The app has no TestFlight group {name:?}"),
                ));
            };
            let is = |pointer: &str| group.pointer(pointer) == Some(&Value::Bool(true));
            groups.is_external |= !is("/attributes/isInternalGroup");
            // Such a group gets every build automatically, and App Store Connect refuses the request.
            if !is("/attributes/hasAccessToAllBuilds") {
                groups.ids.push(group.need("/id")?);
            }
        }
        Ok(groups)
    }

    pub(super) async fn beta_review(&self, _release: &Release, progress: Progress) -> Stepped {
        let path = format!("/v1/builds/{}/buildBetaDetail", progress.build_id);
        let detail = self.get(&path).await?;
        match detail.text("/data/attributes/externalBuildState") {
            Some("READY_FOR_BETA_SUBMISSION") => {
                let body = requests::beta_review(&progress.build_id);
                match self
                    .call(Method::Post, "/v1/betaAppReviewSubmissions", Some(&body))
                    .await
                {
                    Ok(_) => {}
                    Err(CallError::Refused(refused)) if refused.status == 409 || refused.status == 422 => {
                        return Err(refused.into_failure(Code::MetadataMissing));
                    }
                    Err(other) => return Err(other.into()),
                }
                let mut step = Step::proceed(progress, InReview, "The build is submitted for TestFlight review");
                step.next = crate::step::NextStep::Later;
                Ok(step)
            }
            Some("WAITING_FOR_BETA_REVIEW" | "IN_BETA_REVIEW") => Ok(Step::wait(progress, InReview)),
            Some("BETA_APPROVED" | "READY_FOR_BETA_TESTING" | "IN_BETA_TESTING") => {
                let message = "TestFlight review approved the build, and the groups can test it";
                Ok(Step::end(progress.at(Stage::Done), Success, message))
            }
            Some("BETA_REJECTED") => Ok(Step::end(progress, Rejected, "TestFlight review rejected the build")),
            Some("EXPIRED") => Err(AppStoreError::new(
                Code::StoreRefused,
                "The build has expired in TestFlight",
            )),
            Some("MISSING_EXPORT_COMPLIANCE") => Err(AppStoreError::new(
                Code::ExportComplianceMissing,
                "App Store Connect asks whether the app uses encryption",
            )),
            Some("PROCESSING_EXCEPTION") => Err(AppStoreError::new(
                Code::ProcessingFailed,
                "TestFlight could not process the build",
            )),
            _ => Ok(Step::wait(progress, Processing)),
        }
    }
}
