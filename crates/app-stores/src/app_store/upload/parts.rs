//! The parts of an upload: several at once, each tried a few times, to addresses that the store gave.

use std::time::Duration;

use futures::StreamExt;
use launchway_domain::submission::SubmissionStatus::Uploading;
use serde_json::Value;

use super::super::{AppStoreConnect, Progress, Stage, Stepped};
use crate::answer::Fields;
use crate::failure::AppStoreError;
use crate::release::Release;
use crate::step::Step;
use crate::transport::{Body, Method, Request, TransportError};

/// Parts that are sent in one step, after which it is kept that they have arrived.
const BATCH: usize = 12;
/// Parts that are under way at once.
const AT_ONCE: usize = 4;
/// How often a part is tried in one step.
const TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// New addresses are asked for so often before the upload is thrown away.
const MAX_REFUSED: u32 = 2;

/// A part, as the store wants it sent.
struct Part {
    method: Method,
    url: String,
    headers: Vec<(String, String)>,
    offset: u64,
    length: u64,
}

/// What became of a part.
enum Fate {
    Arrived(u64),
    /// The store does not take it at this address (any more).
    Refused,
    Lost(AppStoreError),
}

impl AppStoreConnect {
    pub(in super::super) async fn send_parts(&self, release: &Release, mut progress: Progress) -> Stepped {
        let path = format!("/v1/buildUploadFiles/{}", progress.build_upload_file_id);
        let file = self.get(&path).await?;
        if file.text("/data/attributes/assetDeliveryState/state") != Some("AWAITING_UPLOAD") {
            return Ok(Step::quietly(progress.at(Stage::CommitFile), Uploading));
        }
        let operations = file.list("/data/attributes/uploadOperations");
        let parts = operations.iter().map(read).collect::<Result<Vec<Part>, _>>()?;
        if !covers(&parts, release.source.size()) {
            return Err(AppStoreError::nonsense("addresses for the whole binary"));
        }
        let left = parts
            .into_iter()
            .filter(|part| !progress.parts_sent.contains(&part.offset));
        let batch: Vec<Part> = left.take(BATCH).collect();
        if batch.is_empty() {
            return Ok(Step::quietly(progress.at(Stage::CommitFile), Uploading));
        }
        let fates: Vec<Fate> = futures::stream::iter(batch)
            .map(|part| self.send_part(release, part))
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let (mut arrived, mut refused, mut lost) = (false, false, None);
        for fate in fates {
            match fate {
                Fate::Arrived(offset) => {
                    arrived = true;
                    progress.parts_sent.push(offset);
                }
                Fate::Refused => refused = true,
                Fate::Lost(failure) => lost = Some(failure),
            }
        }
        match lost {
            // What has arrived is kept first; the next step meets the trouble again, if it is still there.
            _ if arrived => {
                progress.parts_refused = 0;
                Ok(Step::quietly(progress, Uploading))
            }
            Some(failure) => Err(failure),
            None if refused && progress.parts_refused >= MAX_REFUSED => {
                self.restart_upload(progress, "The store refused the parts at its own addresses.")
                    .await
            }
            None => {
                // The next reading brings new addresses for those that have expired.
                progress.parts_refused += 1;
                Ok(Step::quietly(progress, Uploading))
            }
        }
    }

    async fn send_part(&self, release: &Release, part: Part) -> Fate {
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            tries += 1;
            // The address is signed: our token is not for it.
            let request = Request {
                method: part.method,
                url: part.url.clone(),
                headers: part.headers.clone(),
                body: Body::Range {
                    source: release.source.clone(),
                    offset: part.offset,
                    length: part.length,
                },
            };
            let failure = match self.transport.send(request).await {
                Ok(answer) if answer.is_success() => return Fate::Arrived(part.offset),
                Ok(answer) => match crate::answer::unavailable(&answer) {
                    Some(failure) => failure,
                    None => return Fate::Refused,
                },
                Err(TransportError::Unreadable) => return Fate::Lost(TransportError::Unreadable.into()),
                Err(none) => none.into(),
            };
            if tries == TRIES {
                return Fate::Lost(failure);
            }
            self.clock.pause(pause).await;
            pause *= 2;
        }
    }
}

fn read(operation: &Value) -> Result<Part, AppStoreError> {
    let number = |pointer: &str| {
        let number = operation.pointer(pointer).and_then(Value::as_u64);
        number.ok_or_else(|| AppStoreError::nonsense("the place of a part"))
    };
    let headers = operation.list("/requestHeaders").iter().filter_map(|header| {
        let (name, value) = (header.text("/name")?, header.text("/value")?);
        Some((name.to_ascii_lowercase(), value.to_owned()))
    });
    let method = Method::parse(operation.text("/method").unwrap_or("PUT"));
    Ok(Part {
        method: method.ok_or_else(|| AppStoreError::nonsense("the method of a part"))?,
        url: operation.need("/url")?,
        // The transport counts by itself.
        headers: headers.filter(|(name, _)| name != "content-length").collect(),
        offset: number("/offset")?,
        length: number("/length")?,
    })
}

/// Whether the parts are the whole binary, each byte once.
fn covers(parts: &[Part], size: u64) -> bool {
    let mut ranges: Vec<(u64, u64)> = parts.iter().map(|part| (part.offset, part.length)).collect();
    ranges.sort_unstable();
    let end = ranges.into_iter().try_fold(0u64, |end, (offset, length)| {
        (offset == end && length > 0).then(|| end.checked_add(length))?
    });
    end == Some(size)
}
