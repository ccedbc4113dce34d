//! Resumable uploads of the binary and of symbols: started, and sent in chunks from the offset that Google Play
//! reports.

use std::sync::Arc;

use launchway_domain::submission::SubmissionStatus::{Processing, Uploading};
use launchway_domain::submission::error::SubmissionErrorCode as Code;
use launchway_domain::time::EpochMs;
use serde_json::Value;

use super::client::checked;
use super::edit::sha256_of;
use super::refusal::CallError;
use super::{GooglePlay, Place, Progress, Session, Stage, Stepped};
use crate::answer::{json as read_json, unavailable};
use crate::failure::AppStoreError;
use crate::step::Step;
use crate::transport::{Body, Method, Request, Response, Source};

/// The size of a chunk in bytes. Google Play requires a multiple of 256 KiB.
const CHUNK: u64 = 16 << 20;

/// The state of an upload.
enum UploadState {
    /// Google Play wants more bytes.
    Part,
    /// Google Play has all bytes, and returned this.
    All(Value),
    /// Google Play no longer knows the upload.
    Gone,
}

impl GooglePlay {
    pub(super) async fn start_upload(&self, place: Place<'_>, progress: Progress) -> Stepped {
        let rest = if place.is_apk() { "/apks" } else { "/bundles" };
        let path = place.edit(&progress, rest);
        let progress = Progress {
            sent_into: progress.edit_id.clone(),
            ..progress
        };
        self.start(place, progress, &path, place.release.source.size(), Stage::SendBinary)
            .await
    }

    pub(super) async fn send_binary(&self, place: Place<'_>, progress: Progress) -> Stepped {
        let status = progress.status(Uploading);
        match self.send_chunk(&progress.session, &place.release.source).await {
            Ok(UploadState::Part) => Ok(Step::proceed_quietly(progress, status)),
            // The binary may still have arrived.
            Ok(UploadState::Gone) => {
                self.redo(progress, Stage::Look, "The upload no longer exists, so it starts again")
            }
            Ok(UploadState::All(binary)) => {
                let code = binary.pointer("/versionCode").and_then(Value::as_i64);
                if let Some(code) = code.filter(|code| *code != place.code) {
                    return Err(AppStoreError::new(
                        Code::BuildNumberMismatch,
                        format!("Google Play read the version code {code} instead of {}", place.code),
                    ));
                }
                let hash = sha256_of(&binary);
                if hash.is_some_and(|hash| !hash.eq_ignore_ascii_case(&place.release.sha256)) {
                    return self.redo(
                        progress,
                        Stage::OpenEdit,
                        "Google Play received different bytes, so the upload starts again",
                    );
                }
                let status = progress.status(Processing);
                Ok(Step::proceed(
                    progress.at(Stage::StartSymbols),
                    status,
                    "The binary is uploaded",
                ))
            }
            Err(error) => self.unless_gone(place, progress, error).await,
        }
    }

    pub(super) async fn start_symbols(&self, place: Place<'_>, progress: Progress) -> Stepped {
        let Some(symbols) = place.release.options.symbols.get(progress.symbols_done) else {
            let status = progress.status(Processing);
            return Ok(Step::proceed_quietly(progress.at(Stage::SetTrack), status));
        };
        let kind = if symbols.native { "nativeCode" } else { "proguard" };
        let path = place.edit(&progress, &format!("/apks/{}/deobfuscationFiles/{kind}", place.code));
        self.start(place, progress, &path, symbols.source.size(), Stage::SendSymbols)
            .await
    }

    pub(super) async fn send_symbols(&self, place: Place<'_>, mut progress: Progress) -> Stepped {
        let status = progress.status(Processing);
        let Some(symbols) = place.release.options.symbols.get(progress.symbols_done) else {
            return Ok(Step::proceed_quietly(progress.at(Stage::SetTrack), status));
        };
        match self.send_chunk(&progress.session, &symbols.source).await {
            Ok(UploadState::Part) => Ok(Step::proceed_quietly(progress, status)),
            Ok(UploadState::Gone) => self.redo(
                progress,
                Stage::StartSymbols,
                "The upload of symbols no longer exists, so it starts again",
            ),
            Ok(UploadState::All(_)) => {
                progress.symbols_done += 1;
                Ok(Step::proceed_quietly(progress.at(Stage::StartSymbols), status))
            }
            Err(error) => self.unless_gone(place, progress, error).await,
        }
    }

    /// Requests the URL of a new upload, which is saved before any byte is sent.
    async fn start(&self, place: Place<'_>, mut progress: Progress, path: &str, size: u64, next: Stage) -> Stepped {
        let url = format!("{}/resumable/upload{path}?uploadType=resumable", self.base);
        let request = Request::new(Method::Post, url)
            .header("x-upload-content-type", "application/octet-stream")
            .header("x-upload-content-length", size.to_string());
        let answer = match self.send(request).await {
            Ok(answer) => answer,
            Err(error) => return self.unless_gone(place, progress, error).await,
        };
        let session = answer.header("location").filter(|location| location.contains("://"));
        let session = session.ok_or_else(|| AppStoreError::invalid_response("the address of the upload"))?;
        progress.session = Session(session.to_owned());
        let status = progress.status(Uploading);
        Ok(Step::proceed_quietly(progress.at(next), status))
    }

    /// Queries how much has arrived, and sends the next chunk.
    async fn send_chunk(&self, session: &Session, source: &Arc<dyn Source>) -> Result<UploadState, CallError> {
        let size = source.size();
        let known = self.put(session, format!("bytes */{size}"), Body::Empty).await?;
        let offset = match read(known, self.clock.now())? {
            Answer::Wants(offset) => offset,
            Answer::Is(sent) => return Ok(sent),
        };
        let length = size.saturating_sub(offset).min(CHUNK);
        if length == 0 {
            return Err(AppStoreError::invalid_response("the end of the upload").into());
        }
        let range = format!("bytes {offset}-{}/{size}", offset + length - 1);
        let body = Body::Range {
            source: source.clone(),
            offset,
            length,
        };
        let answer = self.put(session, range, body).await?;
        match read(answer, self.clock.now())? {
            Answer::Wants(_) => Ok(UploadState::Part),
            Answer::Is(sent) => Ok(sent),
        }
    }

    /// The URL itself is the authorization: it gets no token.
    async fn put(&self, session: &Session, range: String, body: Body) -> Result<Response, CallError> {
        let request = Request::new(Method::Put, session.0.clone())
            .header("content-range", range)
            .body(body);
        Ok(self.transport.send(request).await?)
    }
}

/// A response about an upload.
enum Answer {
    /// Everything before this offset has arrived.
    Wants(u64),
    /// The upload is over.
    Is(UploadState),
}

fn read(response: Response, now: EpochMs) -> Result<Answer, CallError> {
    match response.status {
        308 => {
            // `bytes=0-1234`, or no header if nothing has arrived.
            let range = response.header("range");
            let last = range
                .and_then(|range| range.rsplit_once('-'))
                .and_then(|(_, last)| last.parse::<u64>().ok());
            match (range, last) {
                (None, _) => Ok(Answer::Wants(0)),
                (Some(_), Some(last)) => Ok(Answer::Wants(last.saturating_add(1))),
                (Some(_), None) => Err(AppStoreError::invalid_response("how much has arrived").into()),
            }
        }
        404 | 410 => Ok(Answer::Is(UploadState::Gone)),
        _ => {
            if let Some(trouble) = unavailable(&response, now) {
                return Err(trouble.into());
            }
            Ok(Answer::Is(UploadState::All(read_json(&checked(response, now)?)?)))
        }
    }
}
