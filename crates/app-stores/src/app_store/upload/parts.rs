//! Sends the parts of an upload: several at once, each with a few retries, to URLs from App Store Connect.

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

/// The number of parts per step; the progress is saved after each step.
const BATCH: usize = 12;
/// The number of parts that are sent concurrently.
const MAX_CONCURRENT_PARTS: usize = 4;
/// How many times a part is tried in one step.
const TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// How many times new URLs are requested before the upload is discarded.
const MAX_REFUSED: u32 = 2;

/// A part, as App Store Connect wants it sent.
struct Part {
    method: Method,
    url: String,
    headers: Vec<(String, String)>,
    offset: u64,
    length: u64,
}

/// The outcome of sending a part.
enum PartOutcome {
    Arrived(u64),
    /// App Store Connect no longer accepts it at this URL.
    Refused,
    Lost(AppStoreError),
}

impl AppStoreConnect {
    pub(in super::super) async fn send_parts(&self, release: &Release, mut progress: Progress) -> Stepped {
        let path = format!("/v1/buildUploadFiles/{}", progress.build_upload_file_id);
        let file = self.get(&path).await?;
        if file.text("/data/attributes/assetDeliveryState/state") != Some("AWAITING_UPLOAD") {
            return Ok(Step::proceed_quietly(progress.at(Stage::CommitFile), Uploading));
        }
        let operations = file.list("/data/attributes/uploadOperations");
        let parts = operations.iter().map(read).collect::<Result<Vec<Part>, _>>()?;
        if !covers(&parts, release.source.size()) {
            return Err(AppStoreError::invalid_response("addresses for the whole binary"));
        }
        let left = parts
            .into_iter()
            .filter(|part| !progress.parts_sent.contains(&part.offset));
        let batch: Vec<Part> = left.take(BATCH).collect();
        if batch.is_empty() {
            return Ok(Step::proceed_quietly(progress.at(Stage::CommitFile), Uploading));
        }
        let outcomes: Vec<PartOutcome> = futures::stream::iter(batch)
            .map(|part| self.send_part(release, part))
            .buffer_unordered(MAX_CONCURRENT_PARTS)
            .collect()
            .await;
        let (mut arrived, mut refused, mut lost) = (false, false, None);
        for outcome in outcomes {
            match outcome {
                PartOutcome::Arrived(offset) => {
                    arrived = true;
                    progress.parts_sent.push(offset);
                }
                PartOutcome::Refused => refused = true,
                PartOutcome::Lost(failure) => lost = Some(failure),
            }
        }
        match lost {
            // Save the arrived parts first; if the problem persists, the next step fails with it.
            _ if arrived => {
                progress.parts_refused = 0;
                Ok(Step::proceed_quietly(progress, Uploading))
            }
            Some(failure) => Err(failure),
            None if refused && progress.parts_refused >= MAX_REFUSED => {
                self.restart_upload(progress, "The store refused the parts at the addresses that it gave")
                    .await
            }
            None => {
                // The next read returns new URLs for expired ones.
                progress.parts_refused += 1;
                Ok(Step::proceed_quietly(progress, Uploading))
            }
        }
    }

    async fn send_part(&self, release: &Release, part: Part) -> PartOutcome {
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            tries += 1;
            // The URL is signed and must not get our token.
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
                Ok(answer) if answer.is_success() => return PartOutcome::Arrived(part.offset),
                Ok(answer) => match crate::answer::unavailable(&answer, self.clock.now()) {
                    Some(failure) => failure,
                    None => return PartOutcome::Refused,
                },
                Err(TransportError::Unreadable) => return PartOutcome::Lost(TransportError::Unreadable.into()),
                Err(none) => none.into(),
            };
            if tries == TRIES {
                return PartOutcome::Lost(failure);
            }
            self.clock.pause(pause).await;
            pause *= 2;
        }
    }
}

fn read(operation: &Value) -> Result<Part, AppStoreError> {
    let number = |pointer: &str| {
        let number = operation.pointer(pointer).and_then(Value::as_u64);
        number.ok_or_else(|| AppStoreError::invalid_response("the place of a part"))
    };
    let headers = operation.list("/requestHeaders").iter().filter_map(|header| {
        let (name, value) = (header.text("/name")?, header.text("/value")?);
        Some((name.to_ascii_lowercase(), value.to_owned()))
    });
    let method = operation.text("/method").unwrap_or("PUT").parse();
    Ok(Part {
        method: method.map_err(|_| AppStoreError::invalid_response("the method of a part"))?,
        url: operation.need("/url")?,
        // The transport sets the length.
        headers: headers.filter(|(name, _)| name != "content-length").collect(),
        offset: number("/offset")?,
        length: number("/length")?,
    })
}

/// Whether the parts cover the whole binary, each byte once.
fn covers(parts: &[Part], size: u64) -> bool {
    let mut ranges: Vec<(u64, u64)> = parts.iter().map(|part| (part.offset, part.length)).collect();
    ranges.sort_unstable();
    let end = ranges.into_iter().try_fold(0u64, |end, (offset, length)| {
        (offset == end && length > 0).then(|| end.checked_add(length))?
    });
    end == Some(size)
}
