//! A GET over HTTP/1.0, as much as the suite's local server needs.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::Failure;

/// The most bytes of an answer's status line and headers.
const HEAD_LIMIT: usize = 16 << 10;

/// The body at `base` + `path`, of at most `limit` bytes; `None`: the server does not have it.
pub fn get(base: &str, path: &str, limit: usize) -> Result<Option<Vec<u8>>, Failure> {
    let rest = base.strip_prefix("http://").ok_or("only http:// URLs are fetched")?;
    let (authority, folder) = rest.split_once('/').unwrap_or((rest, ""));
    let folder = folder.trim_end_matches('/');
    let mut connection = TcpStream::connect(authority)?;
    connection.set_read_timeout(Some(Duration::from_secs(10)))?;
    write!(connection, "GET /{folder}/{path} HTTP/1.0\r\nHost: {authority}\r\n\r\n")?;
    let mut answer = Vec::new();
    let most = (limit + HEAD_LIMIT) as u64;
    connection.take(most + 1).read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let body = answer.split_off(end.ok_or("the answer has no end of its headers")? + 4);
    if body.len() > limit {
        return Err(format!("{path} is longer than {limit} bytes").into());
    }
    let head = String::from_utf8_lossy(&answer);
    match head.split(' ').nth(1) {
        Some("200") => Ok(Some(body)),
        Some("403" | "404") => Ok(None),
        _ => Err(format!("{path}: {}", head.lines().next().unwrap_or_default()).into()),
    }
}
