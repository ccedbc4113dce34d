//! Whose a build is that the store has already. Only one whose bytes this service committed is taken for a submission: a
//! build of the same version and number may hold anything.

use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::{AppStoreConnect, Progress, platform_name};
use crate::answer::{Fields, escaped};
use crate::failure::AppStoreError;
use crate::release::{OwnUpload, Release};

/// A build that the store has.
pub(super) struct FoundBuild {
    /// The build.
    pub id: String,
    /// The upload that it came of, where the store tells.
    pub upload_id: Option<String>,
}

impl AppStoreConnect {
    /// The builds of this version and number that the store has; it takes one, but tells what it likes.
    pub(super) async fn find_builds(
        &self,
        release: &Release,
        progress: &Progress,
    ) -> Result<Vec<FoundBuild>, AppStoreError> {
        let (version, number) = (escaped(&release.version), escaped(&release.build_number));
        let platform = platform_name(release.platform);
        let found = self
            .get(&format!(
                "/v1/builds?filter[app]={}&filter[version]={number}&filter[preReleaseVersion.version]={version}\
                 &filter[preReleaseVersion.platform]={platform}&include=buildUpload&limit=10",
                progress.app_id
            ))
            .await?;
        let read = |build: &Value| {
            Ok(FoundBuild {
                id: build.need("/id")?,
                upload_id: build.text("/relationships/buildUpload/data/id").map(str::to_owned),
            })
        };
        found.list("/data").iter().map(read).collect()
    }
}

/// The upload of this service that a build came of, if its bytes are those of the release.
pub(super) fn upload_of(build: &FoundBuild, release: &Release, progress: &Progress) -> Option<OwnUpload> {
    own_uploads(release, progress).find(|own| match &build.upload_id {
        Some(upload) => *upload == own.upload_id,
        None => build.id == own.build_id,
    })
}

/// What this service knows of an upload, if it sent the bytes of the release there.
pub(super) fn own_upload(upload_id: &str, release: &Release, progress: &Progress) -> Option<OwnUpload> {
    own_uploads(release, progress).find(|own| own.upload_id == upload_id)
}

fn own_uploads<'a>(release: &'a Release, progress: &'a Progress) -> impl Iterator<Item = OwnUpload> + 'a {
    let own = OwnUpload {
        upload_id: progress.build_upload_id.clone(),
        file_id: progress.build_upload_file_id.clone(),
        build_id: progress.build_id.clone(),
    };
    let all = std::iter::once(own).chain(release.earlier.uploads.iter().cloned());
    all.filter(|own| !own.upload_id.is_empty() && !progress.spoiled_uploads.contains(&own.upload_id))
}

/// The build number holds other bytes.
pub(super) fn number_used(release: &Release) -> AppStoreError {
    AppStoreError::new(
        Code::BuildNumberUsed,
        format!(
            "App Store Connect has a build {} of the version {} already, and this service did not upload it from this \
             file: it may be another binary, so nothing was done with it.",
            release.build_number, release.version
        ),
    )
}

/// Whether a file in the store holds the bytes of the release, as far as the store tells.
pub(super) fn is_other_file(file: &Value, release: &Release) -> bool {
    let told = file.pointer("/data/attributes/sourceFileChecksums/file");
    let told = told.filter(|file| file.text("/algorithm") == Some("SHA_256"));
    let told = told.and_then(|file| file.text("/hash")).filter(|hash| !hash.is_empty());
    told.is_some_and(|hash| !hash.eq_ignore_ascii_case(&release.sha256))
}
