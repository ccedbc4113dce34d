//! A build's log for its page: where its lines begin, which of them contain a text, and its end as plain text. A log is
//! read in constant memory, however long it is.

use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use launchway_domain::build::Build;
use launchway_domain::id::{BuildId, OrgId};
use launchway_domain::log_index::LogIndex;
use launchway_domain::log_text::{Sieve, plain, searchable_into};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::build_log::LogReader;
use launchway_ops::caller::Caller;
use memchr::memmem::Finder;
use serde::Serialize;

use crate::dashboard::builds::log_lines::{Look, walk};
use crate::query::Query;

/// The offset of every 500th line is returned.
const STRIDE: u64 = 500;
/// The maximum number of offsets in a response: the stride of longer logs doubles until they fit.
const MAX_OFFSETS: usize = 8192;
/// The maximum number of lines that a search finds.
const MAX_RESULTS: usize = 1000;
/// Bytes of the end of a log in a page.
const TAIL: i64 = 16 << 10;
/// What a runner writes before the name of a phase.
const PHASE: &[u8] = b"==> ";

/// The positions of the lines of a log.
#[derive(Serialize)]
struct Lines {
    /// The number of lines; the last one may be incomplete.
    lines: u64,
    /// Bytes that were read.
    size: i64,
    stride: u64,
    /// The offsets of the lines 0, `stride`, 2 × `stride` …
    offsets: Vec<i64>,
    /// The first lines of phases, with the phases' names.
    phases: Vec<(u64, String)>,
}

/// The results of a search.
#[derive(Serialize)]
struct Found {
    lines: Vec<u64>,
    /// Whether there are more results.
    more: bool,
}

async fn build(app: &App, caller: &Caller, id: &str) -> Result<Build, ApiError> {
    let none = || ApiError::NoSuch("build");
    let id: BuildId = id.parse().map_err(|_| none())?;
    app.db
        .read()
        .await?
        .org(caller.org_id()?)
        .build(id)
        .await?
        .ok_or_else(none)
}

/// Returns the positions of the lines of a log.
pub async fn lines(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let build = build(&app, &caller, &id).await?;
    let names: Vec<String> = build.phases.into_iter().map(|phase| phase.name).collect();
    let places = Places {
        names: names.into_iter().peekable(),
        stride: STRIDE,
        offsets: Vec::new(),
        phases: Vec::new(),
    };
    let call = app.fair_work.begin(build.org_id)?;
    let reader = LogReader::new(app.clone(), build.org_id, build.id, 0);
    let walk = walk(&call, reader, places).await?;
    Ok(Json(Lines {
        lines: walk.lines,
        size: walk.size,
        stride: walk.look.stride,
        offsets: walk.look.offsets,
        phases: walk.look.phases,
    })
    .into_response())
}

/// Records where lines and phases begin.
struct Places {
    names: Peekable<IntoIter<String>>,
    stride: u64,
    offsets: Vec<i64>,
    phases: Vec<(u64, String)>,
}

impl Look for Places {
    fn see(&mut self, number: u64, start: i64, line: &[u8]) -> bool {
        if number.is_multiple_of(self.stride) {
            if self.offsets.len() == MAX_OFFSETS {
                let mut is_kept = [true, false].into_iter().cycle();
                self.offsets.retain(|_| is_kept.next() == Some(true));
                self.stride *= 2;
            }
            self.offsets.push(start);
        }
        // A build may print what looks like a phase: only the next name of the record counts.
        let name = line.strip_prefix(PHASE).map(<[u8]>::trim_ascii_end);
        if let Some(next) = self.names.next_if(|next| name == Some(next.as_bytes())) {
            self.phases.push((number, next));
        }
        true
    }
}

/// Finds the lines that contain a text, ignoring case.
pub async fn search(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((_, id)): Path<(String, String)>,
    query: Query,
) -> Result<Response, ApiError> {
    let wanted = query.get("text")?.unwrap_or_default().to_lowercase();
    if wanted.is_empty() || wanted.len() > 200 {
        return Err(ApiError::bad("text must have 1 to 200 characters"));
    }
    let build = build(&app, &caller, &id).await?;
    let search = Search {
        finder: Finder::new(&wanted).into_owned(),
        sieve: Sieve::new(&wanted),
        wanted,
        text: Vec::new(),
        found: Found {
            lines: Vec::new(),
            more: false,
        },
    };
    let call = app.fair_work.begin(build.org_id)?;
    let reader = LogReader::new(app.clone(), build.org_id, build.id, 0);
    Ok(Json(walk(&call, reader, search).await?.look.found).into_response())
}

/// Searches for a lower-case text.
struct Search {
    wanted: String,
    finder: Finder<'static>,
    sieve: Sieve,
    /// The last line as text.
    text: Vec<u8>,
    found: Found,
}

impl Look for Search {
    const USES_INDEXES: bool = true;

    fn see(&mut self, number: u64, _: i64, line: &[u8]) -> bool {
        searchable_into(line, &mut self.text);
        if self.finder.find(&self.text).is_some() {
            self.found.more = self.found.lines.len() == MAX_RESULTS;
            if !self.found.more {
                self.found.lines.push(number);
            }
        }
        !self.found.more
    }

    fn passes_over(&mut self, lines: &[u8]) -> bool {
        // Letters beyond ASCII may have another lower case beside those of another line.
        if !lines.is_ascii() {
            return false;
        }
        if !self.sieve.may_contain(lines) {
            return true;
        }
        searchable_into(lines, &mut self.text);
        self.finder.find(&self.text).is_none()
    }

    fn needs(&self, index: &LogIndex) -> bool {
        index.may_contain(&self.wanted)
    }
}

/// The end of a log as text, starting at the beginning of a line.
pub async fn tail(app: &Arc<App>, org: OrgId, build: &Build) -> Result<String, ApiError> {
    let start = (build.log_size - TAIL).max(0);
    let mut reader = LogReader::new(app.clone(), org, build.id, start);
    let mut bytes = Vec::new();
    while let Some(piece) = reader.next().await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() as i64 > 2 * TAIL {
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let whole = match start {
        0 => &text,
        _ => text.split_once('\n').map_or("", |(_, rest)| rest),
    };
    Ok(plain(whole))
}

#[cfg(test)]
mod tests {
    use super::{Look, MAX_OFFSETS, Places, STRIDE};

    /// However many lines there are, every offset is that of its line and their number is bounded.
    #[test]
    fn the_offsets_of_a_long_log_are_bounded() {
        let most = MAX_OFFSETS as u64 * STRIDE;
        for (lines, stride) in [
            (most, STRIDE),
            (most + 1, 2 * STRIDE),
            (2 * most, 2 * STRIDE),
            (2 * most + 1, 4 * STRIDE),
            (5 * most, 8 * STRIDE),
        ] {
            let mut places = Places {
                names: Vec::new().into_iter().peekable(),
                stride: STRIDE,
                offsets: Vec::new(),
                phases: Vec::new(),
            };
            // Lines in between are not recorded.
            for number in (0..lines).step_by(STRIDE as usize) {
                places.see(number, 3 * number as i64, b"ab\n");
            }
            assert_eq!(places.stride, stride, "{lines}");
            let expected: Vec<i64> = (0..lines)
                .step_by(stride as usize)
                .map(|number| 3 * number as i64)
                .collect();
            assert!(places.offsets == expected && expected.len() <= MAX_OFFSETS, "{lines}");
        }
    }
}
