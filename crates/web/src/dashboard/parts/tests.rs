//! Tests of forms in parts: bounds, strangers, and files of every size.

use std::convert::Infallible;
use std::sync::atomic::AtomicUsize;

use axum::http::{StatusCode, header};
use futures::stream;

use super::*;

const PIECE: usize = 16 << 10;
const FILE: &str = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n";

/// A form with this beginning, then `filler` repeated up to `size` bytes, then this end. Also returns how much of it
/// was read.
fn form(begin: &str, filler: &str, size: usize, end: &str) -> (Request, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let filler = Bytes::from(filler.repeat(PIECE / filler.len()));
    let count = size / filler.len();
    let pieces = std::iter::once(Bytes::copy_from_slice(begin.as_bytes()))
        .chain(std::iter::repeat_n(filler, count))
        .chain([Bytes::copy_from_slice(end.as_bytes())]);
    let counter = taken.clone();
    let body = stream::iter(pieces.map(move |piece| {
        counter.fetch_add(piece.len(), Relaxed);
        Ok::<_, Infallible>(piece)
    }));
    let request = Request::post("/")
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=x")
        .body(Body::from_stream(body));
    (request.unwrap(), taken)
}

/// Reads every part of a form, each of at most `largest` bytes; returns their names and sizes.
async fn read(request: Request, largest: usize) -> Result<Vec<(String, usize)>, ApiError> {
    let mut parts = FormParts::of(request).await?;
    let mut all = Vec::new();
    while let Some(part) = parts.next().await? {
        let name = part.name();
        all.push((name, part.whole(largest).await?.len()));
    }
    Ok(all)
}

#[tokio::test]
async fn a_file_far_larger_than_the_window_comes_whole() {
    let field = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n";
    let begin = format!("{}{FILE}", field.repeat(40));
    // Line ends look like the beginning of a boundary.
    for filler in ["z", "\r", "\r\n--", "\n"] {
        let (request, _) = form(
            &begin,
            filler,
            9 << 20,
            "\r\n--x\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n\r\n--x--\r\n",
        );
        let all = read(request, 10 << 20).await.unwrap();
        assert_eq!(all.len(), 42, "{filler:?}");
        let size = (9 << 20) / PIECE * (PIECE / filler.len() * filler.len());
        assert!(
            all[40].1 >= size && all[41] == ("b".to_owned(), 0),
            "{filler:?}: {:?}",
            &all[39..]
        );
    }
}

/// The parser reads ahead only as far as its caller reads the parts.
#[tokio::test]
async fn what_is_not_read_is_not_taken() {
    let (request, taken) = form(FILE, "z", 1 << 30, "");
    let mut parts = FormParts::of(request).await.unwrap();
    let mut part = parts.next().await.unwrap().unwrap();
    for _ in 0..8 {
        part.chunk().await.unwrap().unwrap();
        assert!(taken.load(Relaxed) <= 10 << 20);
    }
}

#[tokio::test]
async fn forms_without_end_are_refused_early() {
    let headers = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n";
    let field = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n";
    for (what, begin, filler) in [
        ("a text of 1 GB", FILE, "z"),
        ("a part header of 1 GB", headers, "z"),
        ("a name of 1 GB", "--x\r\nContent-Disposition: form-data; name=\"", "z"),
        ("headers of 1 GB", headers, "X-A: b\r\n"),
        ("1 GB before the first part", "", "z"),
        ("1 GB of blanks behind a boundary", "--x", " "),
        ("fields without end", "", field),
    ] {
        let (request, taken) = form(begin, filler, 1 << 30, "--x--\r\n");
        let refused = read(request, 32 << 10).await.unwrap_err();
        let status = refused.status().0;
        assert!(
            [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE].contains(&status),
            "{what}: {refused}"
        );
        assert!(taken.load(Relaxed) <= 4 << 20, "{what}: took {}", taken.load(Relaxed));
    }
}

/// From callers without a session the parser buffers less, whatever parts they begin and do not end.
#[tokio::test]
async fn a_stranger_takes_little_memory() {
    let name = "--x\r\nContent-Disposition: form-data; name=\"";
    for (what, begin) in [
        ("a name", name),
        ("blanks behind a boundary", "--x"),
        ("no boundary", ""),
    ] {
        let (request, taken) = form(begin, " ", 1 << 30, "");
        let mut parts = FormParts::of_stranger(request).await.unwrap();
        assert!(parts.next().await.is_err(), "{what}");
        let taken = taken.load(Relaxed);
        assert!(taken <= 2 * MAX_HELD_BYTES_OF_STRANGER as usize, "{what}: took {taken}");
    }
}

#[tokio::test]
async fn a_large_file_of_a_stranger_is_read_to_its_end() {
    let begin = format!("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n{FILE}");
    let (request, taken) = form(&begin, "z", 9 << 20, "\r\n--x--\r\n");
    let mut parts = FormParts::of_stranger(request).await.unwrap();
    assert_eq!(parts.next().await.unwrap().unwrap().whole(9).await.unwrap(), b"one");
    parts.next().await.unwrap().unwrap().skip().await.unwrap();
    assert!(parts.next().await.unwrap().is_none());
    assert!(taken.load(Relaxed) >= 9 << 20);
}

/// Large headers in many parts add up.
#[tokio::test]
async fn headers_of_all_parts_together_are_bounded() {
    let name = "n".repeat(64 << 10);
    let part = format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n\r\n");
    let (request, _) = form(&part.repeat(40), "z", 0, "--x--\r\n");
    read(request, 1).await.unwrap_err();
}
