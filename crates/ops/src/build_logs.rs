//! The logs of builds: appended by offset (`docs/reference/builds.md#log-transfer`), masked a second time, and moved to
//! object storage part by part, each followed by the search index of its lines.
//!
//! Offsets count what the runner sent. To preserve them, the server masks each byte of a secret with a `*`; the runner
//! has already replaced all secrets that it knew with `***`. Bytes that may begin a secret are stored but held back:
//! they count for the runner, and readers see them once they are masked or known not to be a secret.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use launchway_api::runner::AttemptReply;
use launchway_blob::Key;
use launchway_domain::build::Build;
use launchway_domain::id::{BuildId, OrgId};
use launchway_domain::log_index::LogIndexBuilder;
use launchway_domain::masking::Masker;
use launchway_os::folders::make_private_dir;
use launchway_store::{LogChunk, LogSegment};
use tempfile::NamedTempFile;

use crate::api_error::ApiError;
use crate::app::App;
use crate::caller::RunnerCaller;
use crate::held_builds::{attempt_reply, begin_change, find_build, is_held, no_lease_error};
use crate::write::{Signal, Write};
use crate::{build_secrets, free_space};

/// The minimum size in bytes of a part in object storage.
const SEGMENT: i64 = 1 << 20;
/// The number of chunks read at a time to form a part.
const CHUNKS: i64 = 16;
/// The maximum length in bytes of a log's tail in the database. Beyond it, appends wait for the object storage.
const MAX_TAIL: i64 = 8 * SEGMENT;
/// The maximum size of a log in bytes. Runners end theirs far earlier.
const MAX_LOG: u64 = 8 << 30;
/// The maximum number of bytes held back. What is beyond it is mostly line breaks.
const MAX_HELD: usize = 4 << 10;

/// Appends what a runner sent of its log from `offset` on. Ignores bytes that are known already, and all bytes if they
/// would leave a gap. Everything before the returned offset is durable.
pub async fn append(
    app: &App,
    caller: &RunnerCaller,
    id: BuildId,
    attempt: u32,
    offset: u64,
    bytes: Bytes,
) -> Result<AttemptReply, ApiError> {
    if offset.saturating_add(bytes.len() as u64) > MAX_LOG {
        return Err(ApiError::bad(format!("A log must have at most {MAX_LOG} bytes")));
    }
    free_space::room_for(app, bytes.len() as u64)?;
    let masker = masker(app, caller, id, attempt).await?;
    let (mut write, build) = begin_change(app, caller, id, attempt).await?;
    let withheld = held_back(&mut write, id).await?;
    let end = u64::try_from(build.log_size).unwrap_or_default() + withheld.len() as u64;
    let known = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
    let mut reply = attempt_reply(&build);
    reply.log_offset = end;
    if offset > end || known >= bytes.len() {
        return Ok(reply);
    }
    let new = &bytes[known..];
    let (mut masking, mut out) = (masker.resume(&withheld), Vec::with_capacity(new.len()));
    masking.push(new, &mut out);
    let mut still_withheld = masking.held();
    if still_withheld.len() > MAX_HELD {
        masking.finish(&mut out);
        still_withheld.clear();
    }
    keep(&mut write, &build, &withheld, &out, &still_withheld).await?;
    let tail = build.log_size + out.len() as i64 - write.org().log_tail_start(id).await?;
    let org = write.org_id();
    if !out.is_empty() {
        write.signal(Signal::Build(id));
    }
    write.commit().await?;
    if tail >= SEGMENT
        && let Err(failure) = seal(app, org, id, SEGMENT).await
    {
        tracing::warn!(error = %failure, build = %id, "cannot move the log of a build; it stays in the database for \
                                                       now");
        if tail > MAX_TAIL {
            return Err(failure);
        }
    }
    reply.log_offset = end + new.len() as u64;
    Ok(reply)
}

/// Appends a line of the server to a locked build's log. Returns the new size of the log.
pub async fn append_line(write: &mut Write<'_>, build: &Build, line: &str) -> Result<i64, ApiError> {
    let size = release(write, build).await?;
    let last = write.org().log_tail(build.id, size - 1, 1).await?;
    let broken = last.last().is_none_or(|chunk| chunk.bytes.last() != Some(&b'\n')) && size > 0;
    let text = format!("{}==> {line}\n", if broken { "\n" } else { "" });
    write.org().append_log(build.id, size, text.as_bytes()).await?;
    Ok(size + text.len() as i64)
}

/// Releases what is held back of a locked build's log, because no more bytes will follow. Returns the size of the log.
pub async fn release(write: &mut Write<'_>, build: &Build) -> Result<i64, ApiError> {
    let withheld = held_back(write, build.id).await?;
    let mut out = Vec::with_capacity(withheld.len());
    Masker::new([]).resume(&withheld).finish(&mut out);
    keep(write, build, &withheld, &out, &[]).await?;
    Ok(build.log_size + out.len() as i64)
}

/// The bytes held back of a log, each with whether it is known to belong to a secret.
async fn held_back(write: &mut Write<'_>, id: BuildId) -> Result<Vec<(u8, bool)>, ApiError> {
    let form = write.org().withheld_log(id).await?.unwrap_or_default();
    let (pairs, _) = form.as_chunks::<2>();
    Ok(pairs.iter().map(|[byte, masked]| (*byte, *masked != 0)).collect())
}

async fn keep(
    write: &mut Write<'_>,
    build: &Build,
    withheld: &[(u8, bool)],
    out: &[u8],
    still: &[(u8, bool)],
) -> Result<(), ApiError> {
    if !withheld.is_empty() {
        write.org().set_withheld_log(build.id, 0, &[]).await?;
    }
    if !out.is_empty() {
        write.org().append_log(build.id, build.log_size, out).await?;
    }
    if !still.is_empty() {
        let form: Vec<u8> = still
            .iter()
            .flat_map(|(byte, masked)| [*byte, u8::from(*masked)])
            .collect();
        write
            .org()
            .set_withheld_log(build.id, still.len() as i64, &form)
            .await?;
    }
    Ok(())
}

/// The masker of an attempt. After a restart, or on another node, it opens the secrets again.
pub async fn masker(app: &App, caller: &RunnerCaller, id: BuildId, attempt: u32) -> Result<Arc<Masker>, ApiError> {
    if let Some(masker) = app.maskers.of(id, attempt) {
        return Ok(masker);
    }
    if !is_held(&find_build(app, id).await?, caller, attempt) {
        return Err(no_lease_error());
    }
    let (mut write, build) = begin_change(app, caller, id, attempt).await?;
    let what_for = format!("masking the log of attempt {attempt} of the build {id}");
    let opened = build_secrets::open(&mut write, &build, &what_for).await?;
    write.commit().await?;
    let masker = tokio::task::spawn_blocking(move || opened.masker()).await;
    let masker = Arc::new(masker.map_err(|error| ApiError::Internal(format!("making a masker: {error}")))?);
    app.maskers.keep(id, attempt, masker.clone());
    Ok(masker)
}

/// Moves the tail of a log to object storage while it has at least `least` bytes.
pub async fn seal(app: &App, org: OrgId, id: BuildId, least: i64) -> Result<(), ApiError> {
    loop {
        let mut tx = app.db.read().await?;
        let start = tx.org(org).log_tail_start(id).await?;
        let chunks = tx.org(org).log_tail(id, start, CHUNKS).await?;
        drop(tx);
        let size: i64 = chunks.iter().map(|chunk| chunk.bytes.len() as i64).sum();
        if size < least.max(1) {
            return Ok(());
        }
        let blob_key = format!("logs/{id}/{start:012}-{}", app.random.token());
        let key = Key::new(&blob_key)?;
        let dir = app.config.scratch_dir();
        let written = tokio::task::spawn_blocking(move || write_part(&dir, &chunks));
        let written = written.await.map_err(|error| ApiError::Internal(error.to_string()))?;
        let (file, index_size) =
            written.map_err(|error| ApiError::Unavailable(format!("Cannot create a temporary file: {error}")))?;
        app.blob.put_file(&key, file.path()).await?;
        let segment = LogSegment {
            start,
            size,
            blob_key,
            index_size,
        };
        if !name_segment(app, org, id, &segment).await? {
            app.blob.delete(&key).await?;
        }
    }
}

/// Writes a part of a log to a temporary file, followed by its search index if it has one; returns the length of the index.
fn write_part(dir: &Path, chunks: &[LogChunk]) -> std::io::Result<(NamedTempFile, i64)> {
    make_private_dir(dir)?;
    let mut file = NamedTempFile::new_in(dir)?;
    let mut builder = LogIndexBuilder::default();
    for chunk in chunks {
        file.write_all(&chunk.bytes)?;
        builder.push(&chunk.bytes);
    }
    let index = builder.finish().map(|index| index.encode()).unwrap_or_default();
    file.write_all(&index)?;
    file.flush()?;
    Ok((file, index.len() as i64))
}

/// Replaces bytes of the tail by a part in object storage; false if a concurrent call did.
async fn name_segment(app: &App, org: OrgId, id: BuildId, segment: &LogSegment) -> Result<bool, ApiError> {
    let mut tx = app.db.write().await?;
    let mut rows = tx.org(org);
    let exists = rows.lock_build(id).await?.is_some();
    if !exists || rows.log_tail_start(id).await? != segment.start {
        return Ok(false);
    }
    rows.seal_log_segment(id, segment).await?;
    tx.commit().await?;
    Ok(true)
}
