//! A build's log for the page that shows it: where its lines begin, which of them hold a text, and its end as plain text.
//! A log is read in constant memory, however long it is.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use launchway_domain::build::Build;
use launchway_domain::id::{BuildId, OrgId};
use memchr::memchr_iter;
use serde::Serialize;

use crate::app::App;
use crate::build_log::LogReader;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::http::extract::Query;

/// A line's place is told for each so many lines.
const STRIDE: u64 = 500;
/// Lines that a search finds at most.
const MOST_FOUND: usize = 1000;
/// Bytes of a line that a search looks at.
const LONGEST_LINE: usize = 64 << 10;
/// Bytes of the end of a log that a page holds.
const TAIL: i64 = 16 << 10;
/// What a runner writes before the name of a phase.
const PHASE: &[u8] = b"==> ";

/// Where the lines of a log are.
#[derive(Serialize)]
struct Lines {
    /// How many lines there are; the last one may go on.
    lines: u64,
    /// Bytes that were read.
    size: i64,
    stride: u64,
    /// The offsets of the lines 0, `stride`, 2 × `stride` …
    offsets: Vec<i64>,
    /// The lines with which phases begin, and their names.
    phases: Vec<(u64, String)>,
}

/// What a search found.
#[derive(Serialize)]
struct Found {
    lines: Vec<u64>,
    /// Whether there are more.
    more: bool,
}

/// Goes over the lines of a log one by one. Of a line that is longer than [`LONGEST_LINE`] only the beginning is kept.
struct LineReader {
    reader: LogReader,
    /// The number of the line that is being read, and where it began.
    number: u64,
    start: i64,
    line: Vec<u8>,
}

impl LineReader {
    fn new(reader: LogReader) -> Self {
        Self {
            start: reader.offset(),
            reader,
            number: 0,
            line: Vec::new(),
        }
    }

    /// Calls `see` with number, offset and bytes of each line until the end, or until it gives false.
    async fn each(&mut self, mut see: impl FnMut(u64, i64, &[u8]) -> bool) -> Result<(), Failure> {
        while let Some(piece) = self.reader.next().await? {
            let at = self.reader.offset() - piece.len() as i64;
            let mut from = 0;
            for end in memchr_iter(b'\n', &piece) {
                let (number, start, part) = (self.number, self.start, &piece[from..=end]);
                // Most lines are whole in one piece: they are not copied.
                let line = if self.line.is_empty() { part } else { self.longer(part) };
                if !see(number, start, line) {
                    return Ok(());
                }
                from = end + 1;
                self.number += 1;
                self.start = at + from as i64;
                self.line.clear();
            }
            self.longer(&piece[from..]);
        }
        if !self.line.is_empty() {
            see(self.number, self.start, &self.line);
            self.number += 1;
        }
        Ok(())
    }

    /// The line that was begun, with what comes next of it.
    fn longer(&mut self, part: &[u8]) -> &[u8] {
        let room = LONGEST_LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
        &self.line
    }
}

async fn build(app: &App, caller: &Caller, id: &str) -> Result<Build, Failure> {
    let none = || Failure::NoSuch("build");
    let id: BuildId = id.parse().map_err(|_| none())?;
    app.db
        .read()
        .await?
        .org(caller.home()?)
        .build(id)
        .await?
        .ok_or_else(none)
}

/// Tells where the lines of a log are.
pub async fn lines(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let build = build(&app, &caller, &id).await?;
    let names: Vec<String> = build.phases.into_iter().map(|phase| phase.name).collect();
    let mut names = names.into_iter().peekable();
    let reader = LogReader::new(app.clone(), build.org_id, build.id, 0);
    let (mut offsets, mut phases) = (Vec::new(), Vec::new());
    let mut reader = LineReader::new(reader);
    reader
        .each(|number, start, line| {
            if number.is_multiple_of(STRIDE) {
                offsets.push(start);
            }
            // A build may print what looks like a phase: only the next name of the record is one.
            let name = line.strip_prefix(PHASE).map(<[u8]>::trim_ascii_end);
            if let Some(next) = names.next_if(|next| name == Some(next.as_bytes())) {
                phases.push((number, next));
            }
            true
        })
        .await?;
    Ok(Json(Lines {
        lines: reader.number,
        size: reader.reader.offset(),
        stride: STRIDE,
        offsets,
        phases,
    })
    .into_response())
}

/// Finds the lines that hold a text, whatever its letter case.
pub async fn search(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((_, id)): Path<(String, String)>,
    query: Query,
) -> Result<Response, Failure> {
    let wanted = query.get("text")?.unwrap_or_default().to_lowercase();
    if wanted.is_empty() || wanted.len() > 200 {
        return Err(Failure::bad("text must have 1 to 200 characters"));
    }
    let build = build(&app, &caller, &id).await?;
    let reader = LogReader::new(app.clone(), build.org_id, build.id, 0);
    let mut found = Found {
        lines: Vec::new(),
        more: false,
    };
    LineReader::new(reader)
        .each(|number, _, line| {
            if holds(line, &wanted) {
                found.more = found.lines.len() == MOST_FOUND;
                if !found.more {
                    found.lines.push(number);
                }
            }
            !found.more
        })
        .await?;
    Ok(Json(found).into_response())
}

/// Whether a line holds a text that is in small letters.
fn holds(line: &[u8], wanted: &str) -> bool {
    let mut text = without_colours(&String::from_utf8_lossy(line));
    match text.is_ascii() {
        true => text.make_ascii_lowercase(),
        false => text = text.to_lowercase(),
    }
    text.contains(wanted)
}

/// The end of a log as text, from the beginning of a line on.
pub async fn tail(app: &Arc<App>, org: OrgId, build: &Build) -> Result<String, Failure> {
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
    Ok(without_colours(whole))
}

/// A text without the escape sequences by which programs colour a terminal, and without other control characters.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' if rest.peek() == Some(&'[') => {
                rest.next();
                while rest.next_if(|next| !('@'..='~').contains(next)).is_some() {}
                rest.next();
            }
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_colours;

    #[test]
    fn colours_and_control_characters_go() {
        assert_eq!(
            without_colours("\u{1b}[1;31mred\u{1b}[0m\r\n\u{7}a\tb\u{1b}"),
            "red\na\tb"
        );
        assert_eq!(without_colours("\u{1b}[31"), "");
        assert_eq!(without_colours("<b>\u{1b}]0;title"), "<b>]0;title");
    }
}
