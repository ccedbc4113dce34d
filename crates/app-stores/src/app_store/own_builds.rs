//! Ownership of existing builds. A submission uses an existing build only if this service committed its bytes: a build
//! with the same version and number may contain anything.

use launchway_domain::percent;
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::{AppStoreConnect, Progress, platform_name};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::release::{OwnUpload, Release};

/// How many uploads of the same bytes are looked up.
const MAX_OWN: usize = 5;

/// A build in App Store Connect.
pub(super) struct FoundBuild {
    /// The id of the build.
    pub id: String,
    /// The id of its upload, if App Store Connect reports it.
    pub upload_id: Option<String>,
}

impl AppStoreConnect {
    /// The existing builds with this version and number. There should be one, but the response may contain any number.
    pub(super) async fn find_builds(
        &self,
        release: &Release,
        progress: &Progress,
    ) -> Result<Vec<FoundBuild>, AppStoreError> {
        let (version, number) = (
            percent::encode(&release.version),
            percent::encode(&release.build_number),
        );
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

impl AppStoreConnect {
    /// This service's upload of the bytes of the release that App Store Connect has received. The upload itself is read, as
    /// lists may not show yet what another submission has just sent.
    pub(super) async fn find_own_upload(
        &self,
        release: &Release,
        progress: &Progress,
    ) -> Result<Option<OwnUpload>, AppStoreError> {
        let sent = own_uploads(release, progress).filter(|own| !own.file_id.is_empty());
        for own in sent.take(MAX_OWN) {
            let upload = self.find(&format!("/v1/buildUploads/{}", own.upload_id)).await?;
            let state = upload
                .as_ref()
                .and_then(|upload| upload.text("/data/attributes/state/state"));
            if matches!(state, Some("PROCESSING" | "COMPLETE")) {
                return Ok(Some(own));
            }
        }
        Ok(None)
    }
}

/// This service's upload that produced a build, if its bytes are those of the release.
pub(super) fn upload_of(build: &FoundBuild, release: &Release, progress: &Progress) -> Option<OwnUpload> {
    own_uploads(release, progress).find(|own| match &build.upload_id {
        Some(upload) => *upload == own.upload_id,
        None => build.id == own.build_id,
    })
}

/// The record of an upload, if this service sent the bytes of the release to it.
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

/// The error for a build number that is used by other bytes.
pub(super) fn number_used(release: &Release) -> AppStoreError {
    AppStoreError::new(
        Code::BuildNumberUsed,
        format!(
            "App Store Connect already has a build {} of the version {}, which this service did not upload from this \
             file. It may be another binary, so nothing was changed.",
            release.build_number, release.version
        ),
    )
}

/// Whether a file in App Store Connect contains other bytes than the release, as far as its checksum shows.
pub(super) fn is_other_file(file: &Value, release: &Release) -> bool {
    let checksum = file.pointer("/data/attributes/sourceFileChecksums/file");
    let checksum = checksum.filter(|file| file.text("/algorithm") == Some("SHA_256"));
    let checksum = checksum
        .and_then(|file| file.text("/hash"))
        .filter(|hash| !hash.is_empty());
    checksum.is_some_and(|hash| !hash.eq_ignore_ascii_case(&release.sha256))
}
