//! Resumable uploads: sessions, chunks with their offsets, and queries of the received length.

use launchway_app_stores::transport::Response;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::routes::RequestContext;
use super::{Binary, EditState, GooglePlay};
use crate::answer::{RefusalError, google, ok, status};
use crate::call::{Call, Received};
use crate::settings::{AppInfo, Settings};

/// All chunks but the last must be a multiple of this many bytes.
const CHUNK_MULTIPLE: u64 = 256 * 1024;

/// An upload, in progress or complete.
pub(super) struct Session {
    edit: String,
    what: What,
    size: u64,
    arrived: u64,
    hash: Sha256,
    beginning: Vec<u8>,
    answer: Option<serde_json::Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Bundle,
    Apk,
    Symbols { native: bool },
}

fn invalid(message: impl Into<String>) -> RefusalError {
    RefusalError(400, "INVALID_ARGUMENT", message.into())
}

impl GooglePlay {
    /// Starts an upload and returns its URL.
    pub(super) fn begin_session(
        &mut self,
        context: &RequestContext<'_>,
        call: &Call,
        parts: &[&str],
    ) -> Result<String, RefusalError> {
        let [package, "edits", edit, rest @ ..] = parts else {
            return Err(invalid("There is nothing to upload to."));
        };
        self.open(package, edit)?;
        let what = match rest {
            ["bundles"] => What::Bundle,
            ["apks"] => What::Apk,
            ["apks", code, "deobfuscationFiles", kind @ ("proguard" | "nativeCode")] => {
                let code = code.parse().unwrap_or(0);
                let known = self
                    .edits
                    .get(*edit)
                    .is_some_and(|edit| edit.binaries.contains_key(&code));
                if !known {
                    return Err(RefusalError(404, "NOT_FOUND", "There is no such APK.".to_owned()));
                }
                What::Symbols {
                    native: *kind == "nativeCode",
                }
            }
            _ => return Err(invalid("There is nothing to upload to.")),
        };
        let size = call
            .header("x-upload-content-length")
            .and_then(|text| text.parse().ok());
        let (Some(size), Some("resumable"), "POST") = (size, call.query("uploadType"), call.method.as_str()) else {
            return Err(invalid(
                "A resumable upload needs uploadType and X-Upload-Content-Length.",
            ));
        };
        let id = format!("session{}", self.number());
        let session = Session {
            edit: (*edit).to_owned(),
            what,
            size,
            arrived: 0,
            hash: Sha256::new(),
            beginning: Vec::new(),
            answer: None,
        };
        self.sessions.insert(id.clone(), session);
        Ok(format!("{}/simulator/sessions/{id}", context.address))
    }

    /// Receives a chunk, or reports how much has arrived.
    pub(crate) fn receive(&mut self, id: &str, call: &Call, body: &Received, settings: &Settings) -> Response {
        let Some(session) = self.sessions.get_mut(id) else {
            return status(404);
        };
        if let Some(answer) = &session.answer {
            return ok(answer);
        }
        let package = match self.edits.get(&session.edit) {
            Some(edit) if edit.state == EditState::Open => edit.package.clone(),
            _ => return google(invalid("This Edit has been deleted.")),
        };
        let range = call
            .header("content-range")
            .and_then(|range| range.strip_prefix("bytes "));
        let Some((place, total)) = range.and_then(|range| range.split_once('/')) else {
            return google(invalid("A chunk needs Content-Range."));
        };
        if total.parse() != Ok(session.size) {
            return google(invalid("The upload was announced with another size."));
        }
        if let Some((first, _)) = place.split_once('-') {
            if first.parse() != Ok(session.arrived) {
                return google(invalid("The chunk does not begin where the upload is."));
            }
            session.take(body, settings.kept);
        }
        if session.arrived < session.size {
            let arrived = session.arrived;
            return Response {
                headers: match arrived.checked_sub(1) {
                    Some(last) => vec![("range".to_owned(), format!("bytes=0-{last}"))],
                    None => Vec::new(),
                },
                ..status(308)
            };
        }
        match self.finish(id, &package, settings) {
            Ok(answer) => ok(&answer),
            Err(refused) => google(refused),
        }
    }

    fn finish(&mut self, id: &str, package: &str, settings: &Settings) -> Result<serde_json::Value, RefusalError> {
        let Some(session) = self.sessions.get_mut(id) else {
            return Err(invalid("There is no such upload."));
        };
        let Some(edit) = self.edits.get_mut(&session.edit) else {
            return Err(invalid("There is no such edit."));
        };
        let answer = if let What::Symbols { native } = session.what {
            let kind = if native { "nativeCode" } else { "proguard" };
            json!({"deobfuscationFile": {"symbolType": kind}})
        } else {
            let unknown = || AppInfo {
                bundle_id: package.to_owned(),
                version: String::new(),
                build_number: "1".to_owned(),
            };
            let reader = settings.read_binary.as_ref();
            let said = reader.map_or_else(|| Some(unknown()), |reader| reader(&session.beginning));
            let said = said.ok_or_else(|| invalid("The file is no app."))?;
            let code = said.build_number.parse::<i64>();
            let code = code.map_err(|_| invalid("The version code is no number."))?;
            if said.bundle_id != package {
                let message = "APK or Android App Bundle has the wrong package name.";
                return Err(RefusalError(403, "PERMISSION_DENIED", message.to_owned()));
            }
            if edit.binaries.contains_key(&code) {
                let message = format!("Version code {code} has already been used. Try another version code.");
                return Err(RefusalError(403, "PERMISSION_DENIED", message));
            }
            let binary = Binary {
                sha256: hex::encode(session.hash.clone().finalize()),
                is_apk: session.what == What::Apk,
            };
            let answer = match session.what {
                What::Apk => json!({"versionCode": code, "binary": {"sha256": binary.sha256}}),
                _ => json!({"versionCode": code, "sha256": binary.sha256}),
            };
            edit.binaries.insert(code, binary);
            answer
        };
        session.answer = Some(answer.clone());
        Ok(answer)
    }
}

impl Session {
    /// Of an interrupted chunk, only whole multiples of the granularity are kept, as at Google.
    fn take(&mut self, body: &Received, kept: usize) {
        let is_last = self.arrived + body.length == self.size;
        let taken = if is_last {
            body.length
        } else {
            body.length / CHUNK_MULTIPLE * CHUNK_MULTIPLE
        };
        // The hash covers the kept bytes; bytes of a chunk beyond the kept ones are hashed as they arrive.
        let bytes = usize::try_from(taken).unwrap_or(usize::MAX).min(body.bytes.len());
        if taken == body.length && self.arrived == 0 {
            self.hash = body.hash.clone();
        } else {
            self.hash.update(&body.bytes[..bytes]);
        }
        let room = kept.saturating_sub(self.beginning.len()).min(bytes);
        self.beginning.extend_from_slice(&body.bytes[..room]);
        self.arrived += taken;
    }
}
