//! Takes a version of the App Store back: out of its review, and to what it was before. What persons have changed
//! meanwhile stays as it is.

use serde_json::Value;

use super::super::refusal::CallError;
use super::super::version::{VersionState, is_same_version, state_of};
use super::super::{AppStoreConnect, Progress, platform_name, requests};
use super::{Interruption, Undone};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::release::Release;
use crate::transport::Method;

impl AppStoreConnect {
    pub(super) async fn take_back_version(
        &self,
        release: &Release,
        progress: &Progress,
        stays: &mut Vec<String>,
    ) -> Result<(), Interruption> {
        let Some(id) = self.version_to_take_back(release, progress).await? else {
            return Ok(());
        };
        let path = format!("/v1/appStoreVersions/{id}");
        let Some(mut version) = self.find(&path).await? else {
            return Ok(());
        };
        let version = version["data"].take();
        let build = self.build_of(&id).await?;
        let named = version.text("/attributes/versionString").unwrap_or_default();
        if !is_as_left(release, progress, named, build.as_deref()) {
            stays.push(format!(
                "The version {named} was changed in App Store Connect, and stays as it is"
            ));
            return Ok(());
        }
        let is_open = matches!(state_of(&version), VersionState::Open | VersionState::Rejected);
        if progress.creates_version || build.as_deref() == Some(&progress.build_id) {
            self.take_out_of_review(release, progress, &version).await?;
        } else if !is_open {
            // Somebody else has sent it there, before this submission had its build in it.
            return Ok(());
        }
        self.restore_version(progress, &version, build.as_deref(), stays).await
    }

    /// Takes the version out of its review, whatever has become of it.
    async fn take_out_of_review(
        &self,
        release: &Release,
        progress: &Progress,
        version: &Value,
    ) -> Result<(), Interruption> {
        let (id, state) = (
            version.need("/id")?,
            version.text("/attributes/appVersionState").unwrap_or_default(),
        );
        match state_of(version) {
            VersionState::Live => return Err(Interruption::TooLate("Users have the version already".to_owned())),
            VersionState::Approved => {
                let named = version.text("/attributes/versionString").unwrap_or_default();
                return self.take_back_approval(&id, named).await;
            }
            VersionState::UnderWay if matches!(state, "PENDING_APPLE_RELEASE" | "PROCESSING_FOR_DISTRIBUTION") => {
                return Err(Interruption::TooLate(
                    "The version is approved, and on its way to users".to_owned(),
                ));
            }
            _ => {}
        }
        self.withdraw_from_review(release, progress, &id).await?;
        match state_of(version) {
            // The review is over, and the version does not show it yet.
            VersionState::UnderWay => Err(Interruption::Later),
            _ => Ok(()),
        }
    }

    /// The version of this submission; also one that was created by a request whose response was lost.
    async fn version_to_take_back(
        &self,
        release: &Release,
        progress: &Progress,
    ) -> Result<Option<String>, AppStoreError> {
        if !progress.version_id.is_empty() {
            return Ok(Some(progress.version_id.clone()));
        }
        if !progress.creates_version {
            return Ok(None);
        }
        let platform = platform_name(release.platform);
        let path = format!(
            "/v1/apps/{}/appStoreVersions?filter[platform]={platform}&limit=200",
            progress.app_id
        );
        let known = self.get(&path).await?;
        let own = |version: &&Value| {
            state_of(version) == VersionState::Open
                && version.text("/attributes/versionString") == Some(&release.version)
        };
        known
            .list("/data")
            .iter()
            .find(own)
            .map(|version| version.need("/id"))
            .transpose()
    }

    /// App Store Connect has no request that takes back an approval in a review submission, but still has the one of the
    /// submissions before them.
    async fn take_back_approval(&self, version_id: &str, named: &str) -> Result<(), Interruption> {
        let path = format!("/v1/appStoreVersions/{version_id}/appStoreVersionSubmission");
        let submission = match self.find(&path).await {
            Ok(submission) => submission,
            Err(CallError::Refused(refused)) if refused.status != 401 => None,
            Err(other) => return Err(other.into()),
        };
        if let Some(id) = submission.as_ref().and_then(|submission| submission.text("/data/id")) {
            let path = format!("/v1/appStoreVersionSubmissions/{id}");
            match self.call(Method::Delete, &path, None).await {
                Ok(_) => return Err(Interruption::Later),
                Err(CallError::Refused(refused)) if refused.status != 401 => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(Interruption::TooLate(format!(
            "The version {named} is approved, and only a person can take that back: choose Cancel This Release in App \
             Store Connect"
        )))
    }

    /// Takes the version out of its review. A review that does not contain it is left alone.
    async fn withdraw_from_review(
        &self,
        release: &Release,
        progress: &Progress,
        version_id: &str,
    ) -> Result<(), Interruption> {
        for (review, state) in self.open_reviews(release, progress).await? {
            let items = self.items_of(&review, version_id).await?;
            if items.is_empty() {
                continue;
            }
            match state.as_str() {
                "READY_FOR_REVIEW" => {
                    for item in items {
                        let path = format!("/v1/reviewSubmissionItems/{item}");
                        match self.call(Method::Delete, &path, None).await {
                            Ok(_) => {}
                            Err(CallError::Refused(refused)) if refused.status == 404 => {}
                            Err(other) => return Err(other.into()),
                        }
                    }
                }
                "CANCELING" | "COMPLETING" => return Err(Interruption::Later),
                _ => {
                    let path = format!("/v1/reviewSubmissions/{review}");
                    let body = requests::canceled(&review);
                    self.call(Method::Patch, &path, Some(&body)).await?;
                    return Err(Interruption::Later);
                }
            }
        }
        Ok(())
    }

    /// Undoes what prepared a version that can be changed.
    async fn restore_version(
        &self,
        progress: &Progress,
        version: &Value,
        build: Option<&str>,
        stays: &mut Vec<String>,
    ) -> Result<(), Interruption> {
        let (id, named) = (
            version.need("/id")?,
            version.text("/attributes/versionString").unwrap_or_default(),
        );
        let path = format!("/v1/appStoreVersions/{id}");
        if progress.creates_version
            && let Undone::Accepted = self.undo(progress, Method::Delete, &path, None).await?
        {
            return Ok(());
        }
        let mut refused = Vec::new();
        let mut note = |undone| {
            if let Undone::Refused(message) = undone {
                refused.push(message);
            }
        };
        if progress.creates_phased_release {
            let phased = self.find(&format!("{path}/appStoreVersionPhasedRelease")).await?;
            if let Some(phased) = phased.as_ref().and_then(|phased| phased.text("/data/id")) {
                let path = format!("/v1/appStoreVersionPhasedReleases/{phased}");
                note(self.undo(progress, Method::Delete, &path, None).await?);
            }
        }
        let before = progress.version_before.clone().unwrap_or_default();
        let build_path = format!("{path}/relationships/build");
        if build == Some(&progress.build_id) && before.build_id != progress.build_id {
            let body = requests::no_build();
            note(self.undo(progress, Method::Patch, &build_path, Some(&body)).await?);
        }
        let is_renamed =
            before.name != named || version.text("/attributes/releaseType").unwrap_or_default() != before.release_type;
        if !before.name.is_empty() && is_renamed {
            let body = requests::changed_version(&id, &before.name, &before.release_type);
            note(self.undo(progress, Method::Patch, &path, Some(&body)).await?);
        }
        if !before.build_id.is_empty() && build != Some(&before.build_id) {
            let body = requests::build(&before.build_id);
            note(self.undo(progress, Method::Patch, &build_path, Some(&body)).await?);
        }
        if let Some(why) = refused.first() {
            stays.push(format!(
                "The version {named} stays prepared in App Store Connect, which refuses to take it back: {}",
                why.trim_end_matches('.')
            ));
        }
        Ok(())
    }
}

/// Whether a version is as this submission left it, found it, or was restoring it.
fn is_as_left(release: &Release, progress: &Progress, named: &str, build: Option<&str>) -> bool {
    let before = progress.version_before.as_ref();
    let is_known_name = is_same_version(named, &release.version) || before.is_some_and(|before| before.name == named);
    let is_known_build =
        build.is_none_or(|build| build == progress.build_id || before.is_some_and(|before| before.build_id == build));
    is_known_name && is_known_build
}
