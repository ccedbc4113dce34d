//! From the bundle id to a processed build: announces, sends parts, commits, waits.

mod parts;

use launchway_domain::percent;
use launchway_domain::submission::SubmissionStatus::{Processing, Uploading, Validating};
use launchway_domain::submission::destination::Destination;
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use serde_json::Value;

use super::own_builds::{FoundBuild, is_other_file, number_used, own_upload, upload_of};
use super::{AppStoreConnect, Progress, Stage, Stepped, platform_name, requests};
use crate::answer::Fields;
use crate::failure::{AppStoreError, one_line};
use crate::release::Release;
use crate::step::Step;
use crate::transport::Method;

/// How many times an upload is restarted.
const MAX_RESTARTS: u32 = 3;

impl AppStoreConnect {
    pub(super) async fn find_app(&self, release: &Release, mut progress: Progress) -> Stepped {
        progress.app_id = self.app_id(&release.bundle_id).await?;
        if release.destination == Destination::TestFlight && !release.options.groups.is_empty() {
            // An unknown group fails before a long upload.
            self.find_groups(&progress.app_id, &release.options.groups).await?;
        }
        Ok(Step::proceed_quietly(progress.at(Stage::CreateUpload), Validating))
    }

    /// Apple's id of the app with this bundle id.
    pub(super) async fn app_id(&self, bundle_id: &str) -> Result<String, AppStoreError> {
        let wanted = percent::encode(bundle_id);
        let found = self
            .get(&format!("/v1/apps?filter[bundleId]={wanted}&limit=200"))
            .await?;
        // The filter also finds apps whose bundle id only starts with this one.
        let mut apps = found.list("/data").iter();
        let app = apps.find(|app| app.text("/attributes/bundleId") == Some(bundle_id));
        let app = app.ok_or_else(|| {
            AppStoreError::new(
                Code::AppNotFound,
                format!("App Store Connect has no app {bundle_id}, or the key has no access to it"),
            )
        })?;
        app.need("/id")
    }

    pub(super) async fn create_upload(&self, release: &Release, mut progress: Progress) -> Stepped {
        // The same binary may exist already: from TestFlight, or from a request whose response was lost.
        if let Some(own) = self.find_own_upload(release, &progress).await? {
            (progress.build_upload_id, progress.build_upload_file_id) = (own.upload_id, own.file_id);
            let message = "The binary is already in App Store Connect";
            return Ok(Step::proceed(progress.at(Stage::AwaitUpload), Processing, message));
        }
        let builds = self.find_builds(release, &progress).await?;
        if !builds.is_empty() {
            let own = builds
                .iter()
                .find_map(|build| Some((build, upload_of(build, release, &progress)?)));
            let Some((build, own)) = own else {
                return Err(number_used(release));
            };
            progress.build_id.clone_from(&build.id);
            (progress.build_upload_id, progress.build_upload_file_id) = (own.upload_id, own.file_id);
            let message = "The build is already in App Store Connect";
            return Ok(Step::proceed(progress.at(Stage::AwaitBuild), Processing, message));
        }
        let (version, number) = (
            percent::encode(&release.version),
            percent::encode(&release.build_number),
        );
        let platform = platform_name(release.platform);
        let found = self
            .get(&format!(
                "/v1/apps/{}/buildUploads?filter[cfBundleShortVersionString]={version}&filter[cfBundleVersion]={number}\
                 &filter[platform]={platform}&limit=50",
                progress.app_id
            ))
            .await?;
        for upload in found.list("/data") {
            let own = own_upload(&upload.need("/id")?, release, &progress);
            match (upload.text("/attributes/state/state"), own) {
                (Some("PROCESSING" | "COMPLETE"), None) => return Err(number_used(release)),
                (Some("PROCESSING" | "COMPLETE"), Some(own)) => {
                    (progress.build_upload_id, progress.build_upload_file_id) = (own.upload_id, own.file_id);
                    return Ok(Step::proceed_quietly(progress.at(Stage::AwaitUpload), Processing));
                }
                (Some("AWAITING_UPLOAD"), Some(own)) => {
                    progress.build_upload_id = own.upload_id;
                    return Ok(Step::proceed_quietly(progress.at(Stage::CreateFile), Uploading));
                }
                // An upload that somebody else announced is not ours, even if it is empty.
                _ => {}
            }
        }
        let body = requests::build_upload(&progress.app_id, &release.version, &release.build_number, platform);
        let made = self.call(Method::Post, "/v1/buildUploads", Some(&body)).await?;
        progress.build_upload_id = made.need("/data/id")?;
        Ok(Step::proceed(
            progress.at(Stage::CreateFile),
            Uploading,
            "The upload is created",
        ))
    }

    pub(super) async fn create_file(&self, release: &Release, mut progress: Progress) -> Stepped {
        let path = format!(
            "/v1/buildUploads/{}/buildUploadFiles?limit=50",
            progress.build_upload_id
        );
        let found = self.get(&path).await?;
        let size = release.source.size();
        let same = |file: &&Value| {
            file.text("/attributes/fileName") == Some(&release.file_name)
                && file.pointer("/attributes/fileSize").and_then(Value::as_u64) == Some(size)
        };
        progress.build_upload_file_id = match found.list("/data").iter().find(same) {
            Some(file) => file.need("/id")?,
            None => {
                let body = requests::build_upload_file(&progress.build_upload_id, &release.file_name, size);
                let made = self.call(Method::Post, "/v1/buildUploadFiles", Some(&body)).await?;
                made.need("/data/id")?
            }
        };
        progress.parts_sent.clear();
        Ok(Step::proceed_quietly(progress.at(Stage::SendParts), Uploading))
    }

    pub(super) async fn commit_file(&self, release: &Release, progress: Progress) -> Stepped {
        let path = format!("/v1/buildUploadFiles/{}", progress.build_upload_file_id);
        let file = self.get(&path).await?;
        if file.text("/data/attributes/assetDeliveryState/state") != Some("AWAITING_UPLOAD") {
            // It was committed by a request whose response was lost, or by somebody else.
            if is_other_file(&file, release) {
                return Err(number_used(release));
            }
            return Ok(Step::proceed_quietly(progress.at(Stage::AwaitUpload), Processing));
        }
        let body = requests::uploaded(&progress.build_upload_file_id, &release.sha256);
        let committed = self.call(Method::Patch, &path, Some(&body)).await?;
        // App Store Connect does not always return checksums; if it does, they must match.
        if is_other_file(&committed, release) {
            return self
                .restart_upload(progress, "The store received different bytes")
                .await;
        }
        Ok(Step::proceed(
            progress.at(Stage::AwaitUpload),
            Processing,
            "The binary is uploaded",
        ))
    }

    pub(super) async fn await_upload(&self, release: &Release, mut progress: Progress) -> Stepped {
        let path = format!("/v1/buildUploads/{}?include=build", progress.build_upload_id);
        let upload = self.get(&path).await?;
        match upload.text("/data/attributes/state/state") {
            Some("COMPLETE") => {
                let linked = upload.text("/data/relationships/build/data/id").map(str::to_owned);
                let build = match linked {
                    Some(build) => Some(build),
                    None => {
                        let builds = self.find_builds(release, &progress).await?;
                        let own = |build: &FoundBuild| match &build.upload_id {
                            Some(upload) => *upload == progress.build_upload_id,
                            // App Store Connect accepts one build per number, and has accepted this submission's.
                            None => true,
                        };
                        builds.into_iter().find(own).map(|build| build.id)
                    }
                };
                let Some(build) = build else {
                    return Ok(Step::wait(progress, Processing));
                };
                progress.build_id = build;
                Ok(Step::proceed_quietly(progress.at(Stage::AwaitBuild), Processing))
            }
            Some("FAILED") => Err(AppStoreError::new(
                Code::ProcessingFailed,
                error_messages(upload.list("/data/attributes/state/errors")),
            )),
            _ => Ok(Step::wait(progress, Processing)),
        }
    }

    pub(super) async fn await_build(&self, release: &Release, mut progress: Progress) -> Stepped {
        let path = format!("/v1/builds/{}", progress.build_id);
        let build = self.get(&path).await?;
        match build.text("/data/attributes/processingState") {
            Some("VALID") => {}
            Some("FAILED" | "INVALID") => {
                return Err(AppStoreError::new(
                    Code::ProcessingFailed,
                    "App Store Connect rejected the build as invalid. Its email to the account holder says why.",
                ));
            }
            _ => return Ok(Step::wait(progress, Processing)),
        }
        let answered = build.pointer("/data/attributes/usesNonExemptEncryption");
        if answered.is_none_or(Value::is_null) {
            let Some(uses) = release.options.uses_non_exempt_encryption else {
                return Err(AppStoreError::new(
                    Code::ExportComplianceMissing,
                    "App Store Connect asks whether the app uses encryption",
                ));
            };
            let body = requests::encryption(&progress.build_id, uses);
            self.call(Method::Patch, &path, Some(&body)).await?;
            return Ok(Step::proceed(
                progress,
                Processing,
                "The question about encryption is answered",
            ));
        }
        progress.notes_done = 0;
        let next = match release.destination {
            Destination::AppStore => Stage::Version,
            _ => Stage::TestNotes,
        };
        Ok(Step::proceed(progress.at(next), Processing, "The build is processed"))
    }

    /// Discards an upload that cannot be completed, and starts another.
    pub(super) async fn restart_upload(&self, mut progress: Progress, why: &str) -> Stepped {
        if progress.uploads_restarted >= MAX_RESTARTS {
            return Err(AppStoreError::new(
                Code::StoreRefused,
                format!("{why}. The upload failed {MAX_RESTARTS} times."),
            ));
        }
        let path = format!("/v1/buildUploads/{}", progress.build_upload_id);
        match self.call(Method::Delete, &path, None).await {
            Ok(_) | Err(super::refusal::CallError::Refused(_)) => {}
            Err(other) => return Err(other.into()),
        }
        progress
            .spoiled_uploads
            .push(std::mem::take(&mut progress.build_upload_id));
        progress.build_upload_file_id.clear();
        progress.parts_sent.clear();
        progress.parts_refused = 0;
        progress.uploads_restarted += 1;
        let message = format!("{why}. The upload starts again.");
        Ok(Step::proceed(progress.at(Stage::CreateUpload), Uploading, message))
    }
}

/// The messages of App Store Connect about a binary.
fn error_messages(errors: &[Value]) -> String {
    let sentences = errors.iter().map(|error| {
        let (code, text) = (error.text("/code"), error.text("/description"));
        format!("{} {}", code.unwrap_or_default(), text.unwrap_or_default())
    });
    let all = one_line(&sentences.collect::<Vec<_>>().join(" "));
    if all.is_empty() {
        "App Store Connect could not process the binary, and gives no reason".to_owned()
    } else {
        format!(
            "App Store Connect could not process the binary: {}",
            all.trim_end_matches('.')
        )
    }
}
