//! The contents of a submission in the form that the app stores' clients take: streamed from object storage, never
//! whole in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use launchway_app_stores::Release;
use launchway_app_stores::release::{EarlierSubmissions, Note, Options, OwnUpload, Symbols};
use launchway_app_stores::transport::Source;
use launchway_blob::{Key, Reader};
use launchway_domain::submission::{FileKind, Store, Submission, SubmissionFile, SubmissionStatus};

use crate::api_error::ApiError;
use crate::app::App;
use crate::apps;

/// A file in object storage.
struct Stored(Reader);

impl Source for Stored {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, offset: u64, length: usize) -> BoxFuture<'_, io::Result<Bytes>> {
        Box::pin(async move { self.0.read(offset, length).await.map_err(io::Error::other) })
    }
}

/// The release of a submission.
///
/// # Errors
/// The app file is missing.
pub fn of(app: &App, submission: &Submission, files: &[SubmissionFile]) -> Result<Release, ApiError> {
    let source = |file: &SubmissionFile| -> Result<Arc<dyn Source>, ApiError> {
        let key = Key::new(&file.blob_key)?;
        let size = u64::try_from(file.size).unwrap_or_default();
        Ok(Arc::new(Stored(Reader::new(app.blob.clone(), key, size))))
    };
    let binary = files.iter().find(|file| file.kind == FileKind::App);
    let binary = binary.ok_or_else(|| ApiError::Internal("a submission has no app".to_owned()))?;
    let symbols = files.iter().filter(|file| file.kind != FileKind::App);
    let symbols = symbols.map(|file| {
        Ok(Symbols {
            native: file.kind == FileKind::Native,
            source: source(file)?,
        })
    });
    let (spec, options) = (&submission.spec, &submission.spec.options);
    Ok(Release {
        bundle_id: submission.bundle_id.clone(),
        platform: submission.platform,
        version: submission.version.clone().unwrap_or_default(),
        build_number: submission.build_number.clone().unwrap_or_default(),
        destination: submission.destination.clone(),
        file_name: binary.file_name.clone(),
        source: source(binary)?,
        sha256: binary.sha256.clone(),
        earlier: EarlierSubmissions::default(),
        notes: spec
            .notes
            .iter()
            .map(|note| Note {
                locale: note.locale.clone(),
                text: note.text.clone(),
            })
            .collect(),
        rollout: (submission.rollout < 100).then_some(submission.rollout),
        options: Options {
            groups: options.groups.clone().unwrap_or_default(),
            uses_non_exempt_encryption: options.uses_non_exempt_encryption,
            manual_release: options.manual_release.unwrap_or(false),
            draft: options.draft.unwrap_or(false),
            priority: options.priority,
            countries: options.countries.clone().unwrap_or_default(),
            name: options.release_name.clone(),
            changes_not_sent_for_review: options.changes_not_sent_for_review.unwrap_or(false),
            symbols: symbols.collect::<Result<_, ApiError>>()?,
        },
    })
}

/// What earlier submissions of the same bytes recorded about the app store's copy of the binary. The ids of an upload
/// and its file are stored before its bytes are committed.
pub async fn earlier_uploads(app: &App, submission: &Submission) -> Result<EarlierSubmissions, ApiError> {
    let bundle = apps::bundle_id(&submission.bundle_id)?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(submission.org_id);
    let known = org
        .submissions_of_binary(&bundle, submission.platform, &submission.sha256)
        .await?;
    let id = |external: &BTreeMap<String, String>, name: &str| external.get(name).cloned().unwrap_or_default();
    let uploads = known.iter().map(|(_, external)| OwnUpload {
        upload_id: id(external, "buildUploadId"),
        file_id: id(external, "buildUploadFileId"),
        build_id: id(external, "buildId"),
    });
    Ok(EarlierSubmissions {
        // An upload without a file was found in the store by an older release, which did not check whose it was.
        uploads: uploads.filter(|upload| !upload.file_id.is_empty()).collect(),
        is_committed: submission.store() == Store::GooglePlay
            && known.iter().any(|(status, _)| {
                matches!(
                    status,
                    SubmissionStatus::InReview
                        | SubmissionStatus::RollingOut
                        | SubmissionStatus::Halted
                        | SubmissionStatus::Success
                        | SubmissionStatus::Rejected
                )
            }),
    })
}
