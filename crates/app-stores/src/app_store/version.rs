//! The App Store version of an app: finds or creates it, with its build, its notes and its phased release.

use launchway_domain::submission::SubmissionStatus::Processing;
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::refusal::{CallError, DUPLICATE};
use super::{AppStoreConnect, Progress, Stage, Stepped, VersionBefore, platform_name, requests};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::release::Release;
use crate::step::{NextStep, Step};
use crate::transport::Method;

/// What can be done with a version in its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionState {
    /// It can be changed.
    Open,
    /// It is in review, or on its way to customers.
    UnderWay,
    /// The review rejected it; it can be changed.
    Rejected,
    /// It is approved, and waits for a manual release.
    Approved,
    /// Customers have it, or had it.
    Live,
}

/// The state of a version, from the newer field or the older one.
pub(super) fn state_of(version: &Value) -> VersionState {
    let state = version.text("/attributes/appVersionState");
    let state = state
        .or_else(|| version.text("/attributes/appStoreState"))
        .unwrap_or_default();
    match state {
        "PREPARE_FOR_SUBMISSION" | "READY_FOR_REVIEW" | "DEVELOPER_REJECTED" => VersionState::Open,
        "REJECTED" | "METADATA_REJECTED" | "INVALID_BINARY" => VersionState::Rejected,
        "PENDING_DEVELOPER_RELEASE" => VersionState::Approved,
        "READY_FOR_DISTRIBUTION"
        | "READY_FOR_SALE"
        | "PREORDER_READY_FOR_SALE"
        | "REPLACED_WITH_NEW_VERSION"
        | "REMOVED_FROM_SALE"
        | "DEVELOPER_REMOVED_FROM_SALE" => VersionState::Live,
        _ => VersionState::UnderWay,
    }
}

impl AppStoreConnect {
    pub(super) async fn version(&self, release: &Release, mut progress: Progress) -> Stepped {
        let platform = platform_name(release.platform);
        let path = format!(
            "/v1/apps/{}/appStoreVersions?filter[platform]={platform}&limit=200",
            progress.app_id
        );
        let known = self.get(&path).await?;
        let versions = known.list("/data");
        let is_open = |version: &&Value| matches!(state_of(version), VersionState::Open | VersionState::Rejected);
        let same = versions
            .iter()
            .find(|version| version.text("/attributes/versionString") == Some(&release.version));
        let adopted = match same {
            Some(version) if is_open(&version) => Some(version),
            Some(version) if state_of(version) == VersionState::Live && !self.is_ours(&progress, version).await? => {
                return Err(AppStoreError::new(
                    Code::VersionLive,
                    format!("The version {} is already in the App Store", release.version),
                ));
            }
            // Only the outcome of its review is missing.
            Some(version) if self.is_ours(&progress, version).await? => {
                progress.version_id = version.need("/id")?;
                return Ok(Step::proceed_quietly(progress.at(Stage::AwaitReview), Processing));
            }
            Some(_) => return Ok(other_review(progress)),
            None if versions
                .iter()
                .any(|version| matches!(state_of(version), VersionState::UnderWay | VersionState::Approved)) =>
            {
                return Ok(other_review(progress));
            }
            // There can be only one that is open; it is reused.
            None => versions.iter().find(is_open),
        };
        match adopted {
            Some(version) => self.adopt_version(release, progress, version).await,
            None => self.create_version(release, progress).await,
        }
    }

    /// Gives an open version the name and the kind of release of this submission, after it has saved what they were.
    async fn adopt_version(&self, release: &Release, mut progress: Progress, version: &Value) -> Stepped {
        let id = version.need("/id")?;
        // Otherwise only the response to the request that created it was lost.
        let was_created = progress.creates_version && progress.version_id.is_empty();
        if progress.version_id != id && !was_created {
            progress.creates_version = false;
            progress.version_before = Some(Box::new(self.as_it_is(version).await?));
            progress.version_id = id;
            return Ok(Step::proceed_quietly(progress, Processing));
        }
        let differs = version.text("/attributes/versionString") != Some(&release.version)
            || version.text("/attributes/releaseType") != Some(release_type(release));
        if differs {
            let body = requests::changed_version(&id, &release.version, release_type(release));
            let path = format!("/v1/appStoreVersions/{id}");
            self.call(Method::Patch, &path, Some(&body)).await?;
        }
        Ok(prepared(release, progress, id))
    }

    /// Creates the version, after it has saved that it does.
    async fn create_version(&self, release: &Release, mut progress: Progress) -> Stepped {
        if !progress.creates_version || !progress.version_id.is_empty() {
            progress.creates_version = true;
            progress.version_before = None;
            progress.version_id.clear();
            return Ok(Step::proceed_quietly(progress, Processing));
        }
        let platform = platform_name(release.platform);
        let body = requests::version(&progress.app_id, platform, &release.version, release_type(release));
        match self.call(Method::Post, "/v1/appStoreVersions", Some(&body)).await {
            Ok(made) => Ok(prepared(release, progress, made.need("/data/id")?)),
            // The list may not show yet what a request whose response was lost has created.
            Err(CallError::Refused(refused)) if refused.is(DUPLICATE) => {
                Err(AppStoreError::doubtful(Code::VersionLive, refused.message()))
            }
            Err(other) => Err(other.into()),
        }
    }

    /// What a cancellation restores of a version.
    async fn as_it_is(&self, version: &Value) -> Result<VersionBefore, AppStoreError> {
        let text = |name: &str| version.text(name).unwrap_or_default().to_owned();
        Ok(VersionBefore {
            name: text("/attributes/versionString"),
            release_type: text("/attributes/releaseType"),
            build_id: self.build_of(&version.need("/id")?).await?.unwrap_or_default(),
        })
    }

    /// The id of the build that a version contains.
    pub(super) async fn build_of(&self, version_id: &str) -> Result<Option<String>, AppStoreError> {
        let path = format!("/v1/appStoreVersions/{version_id}/relationships/build");
        let build = self.find(&path).await?;
        Ok(build
            .as_ref()
            .and_then(|build| build.text("/data/id"))
            .map(str::to_owned))
    }

    /// Whether a version in review contains this submission's build.
    async fn is_ours(&self, progress: &Progress, version: &Value) -> Result<bool, AppStoreError> {
        let build = self.build_of(&version.need("/id")?).await?;
        Ok(build.as_deref() == Some(&progress.build_id))
    }

    /// The version, if it still contains this submission's build and version string. Any user of App Store Connect can
    /// change both before the review begins.
    pub(super) async fn own_version(&self, release: &Release, progress: &Progress) -> Result<Value, AppStoreError> {
        let path = format!("/v1/appStoreVersions/{}", progress.version_id);
        let version = self.get(&path).await?["data"].take();
        let named = version.text("/attributes/versionString").unwrap_or_default();
        if !is_same_version(named, &release.version) {
            let message = format!(
                "The version {} was renamed to {named} in App Store Connect, so this submission does not change it",
                release.version
            );
            return Err(AppStoreError::doubtful(Code::Conflict, message));
        }
        self.holds_own_build(progress, named).await?;
        Ok(version)
    }

    /// Fails unless the version contains this submission's build.
    pub(super) async fn holds_own_build(&self, progress: &Progress, named: &str) -> Result<(), AppStoreError> {
        let held = self.build_of(&progress.version_id).await?;
        let message = match held {
            Some(id) if id == progress.build_id => return Ok(()),
            Some(id) => format!(
                "The version {named} in App Store Connect has the build {id} instead of this submission's build {}",
                progress.build_id
            ),
            None => format!(
                "The version {named} in App Store Connect no longer has this submission's build {}",
                progress.build_id
            ),
        };
        // A build that was just attached may not be visible yet.
        Err(AppStoreError::doubtful(Code::Conflict, message))
    }

    pub(super) async fn attach_build(&self, progress: Progress) -> Stepped {
        let path = format!("/v1/appStoreVersions/{}/relationships/build", progress.version_id);
        let known = self.find(&path).await?;
        if known.as_ref().and_then(|known| known.text("/data/id")) != Some(&progress.build_id) {
            let body = requests::build(&progress.build_id);
            self.call(Method::Patch, &path, Some(&body)).await?;
        }
        Ok(Step::proceed_quietly(progress.at(Stage::WhatsNew), Processing))
    }

    pub(super) async fn whats_new(&self, release: &Release, mut progress: Progress) -> Stepped {
        let Some(note) = release.notes.get(progress.notes_done) else {
            return Ok(Step::proceed_quietly(progress.at(Stage::PhasedRelease), Processing));
        };
        let path = format!(
            "/v1/appStoreVersions/{}/appStoreVersionLocalizations?limit=200",
            progress.version_id
        );
        let known = self.get(&path).await?;
        let same = |known: &&Value| known.text("/attributes/locale") == Some(&note.locale);
        let made = match known.list("/data").iter().find(same) {
            Some(known) if known.text("/attributes/whatsNew") == Some(&note.text) => Ok(Value::Null),
            Some(known) => {
                let id = known.need("/id")?;
                let body = requests::changed_whats_new(&id, &note.text);
                let path = format!("/v1/appStoreVersionLocalizations/{id}");
                self.call(Method::Patch, &path, Some(&body)).await
            }
            None => {
                let body = requests::whats_new(&progress.version_id, &note.locale, &note.text);
                self.call(Method::Post, "/v1/appStoreVersionLocalizations", Some(&body))
                    .await
            }
        };
        match made {
            Ok(_) => {
                progress.notes_done += 1;
                Ok(Step::proceed_quietly(progress, Processing))
            }
            // The first version of an app has no release notes.
            Err(CallError::Refused(refused)) if refused.is("ENTITY_ERROR.ATTRIBUTE.INVALID.INVALID_STATE") => {
                progress.notes_done = release.notes.len();
                Ok(Step::proceed(
                    progress,
                    Processing,
                    "The App Store accepts no release notes for this version, so they are omitted",
                ))
            }
            Err(CallError::Refused(refused)) => Err(refused.into_failure(Code::MetadataMissing)),
            Err(other) => Err(other.into()),
        }
    }

    pub(super) async fn phased_release(&self, release: &Release, mut progress: Progress) -> Stepped {
        if release.rollout.is_some_and(|percent| percent < 100) {
            let path = format!(
                "/v1/appStoreVersions/{}/appStoreVersionPhasedRelease",
                progress.version_id
            );
            if self.find(&path).await?.is_none() {
                if !progress.creates_phased_release {
                    progress.creates_phased_release = true;
                    return Ok(Step::proceed_quietly(progress, Processing));
                }
                let body = requests::phased_release(&progress.version_id);
                let path = "/v1/appStoreVersionPhasedReleases";
                match self.call(Method::Post, path, Some(&body)).await {
                    Ok(_) => {}
                    // It may exist although it was not listed.
                    Err(CallError::Refused(refused)) if refused.status == 409 => {
                        let message = format!("App Store Connect refused the phased release: {}", refused.text);
                        return Err(AppStoreError::doubtful(Code::Conflict, message));
                    }
                    Err(other) => return Err(other.into()),
                }
            }
        }
        Ok(Step::proceed_quietly(progress.at(Stage::ReviewSubmission), Processing))
    }
}

/// How a version is released after its review.
fn release_type(release: &Release) -> &'static str {
    if release.options.manual_release {
        "MANUAL"
    } else {
        "AFTER_APPROVAL"
    }
}

/// The step after a version has its name.
fn prepared(release: &Release, progress: Progress, version_id: String) -> Step<Progress> {
    let message = format!("The version {} is prepared", release.version);
    let progress = Progress { version_id, ..progress };
    Step::proceed(progress.at(Stage::AttachBuild), Processing, message)
}

/// Whether two version strings are equal, such as `1.2` and `1.2.0`.
pub(super) fn is_same_version(one: &str, other: &str) -> bool {
    let numbers = |text: &str| {
        let mut numbers: Vec<String> = text
            .split('.')
            .map(|number| number.trim_start_matches('0').to_owned())
            .collect();
        while numbers.last().is_some_and(String::is_empty) {
            numbers.pop();
        }
        numbers
    };
    numbers(one) == numbers(other)
}

/// Another version is in review; it is never canceled.
pub(super) fn other_review(progress: Progress) -> Step<Progress> {
    Step {
        progress,
        status: Processing,
        message: Some("Another review of this app is in progress. This submission waits for it to end.".to_owned()),
        next: NextStep::AfterOtherReview,
    }
}

#[cfg(test)]
mod tests {
    use super::is_same_version;

    #[test]
    fn version_strings_are_compared_by_their_numbers() {
        for (one, other, wanted) in [
            ("1.2.3", "1.2.3", true),
            ("1.2", "1.2.0", true),
            ("1.02", "1.2", true),
            ("1", "1.0.0", true),
            ("1.2", "1.20", false),
            ("1.2.3", "1.2", false),
            ("1.2.3", "", false),
            ("1.2.3-beta", "1.2.3", false),
        ] {
            assert_eq!(is_same_version(one, other), wanted, "{one} {other}");
            assert_eq!(is_same_version(other, one), wanted, "{other} {one}");
        }
    }
}
