//! A call as it arrives, and its body: read whole when it is small, counted and hashed when it is a binary.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use sha2::{Digest, Sha256};

/// So much of a body is kept; of the rest only its length and hash.
const KEPT: usize = 32 << 20;

/// A call.
pub struct Call {
    /// The method, in capitals.
    pub method: String,
    /// The path, with its percent signs.
    pub path: String,
    /// The query, taken apart and without percent signs.
    pub query: Vec<(String, String)>,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: BoxStream<'static, std::io::Result<Bytes>>,
}

/// The connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut;

/// A body that has arrived.
pub(crate) struct Received {
    /// Its beginning, at most 32 MiB.
    pub bytes: Vec<u8>,
    /// All its bytes.
    pub length: u64,
    /// The hash of all of them, which can go on.
    pub hash: Sha256,
}

impl Call {
    /// A call of a URL's path and query.
    pub fn new(method: &str, target: &str, headers: Vec<(String, String)>) -> Call {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        Call {
            method: method.to_owned(),
            path: path.to_owned(),
            query: pairs.map(|(name, value)| (plain(name), plain(value))).collect(),
            headers,
            body: futures::stream::empty().boxed(),
        }
    }

    /// A header; `name` in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A value of the query.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The path in parts, still with percent signs.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.path.split('/').filter(|part| !part.is_empty()).collect()
    }

    /// Whether what has arrived of it stays, although the rest is missing.
    pub(crate) fn is_resumable(&self) -> bool {
        self.path.starts_with("/simulator/sessions/")
    }

    /// Reads the body; when it is to be cut, half of it.
    pub(crate) async fn read(&mut self, cut: bool) -> Result<Received, Cut> {
        let length: Option<u64> = self.header("content-length").and_then(|text| text.parse().ok());
        let limit = if cut { length.unwrap_or(0) / 2 } else { u64::MAX };
        let mut received = Received {
            bytes: Vec::new(),
            length: 0,
            hash: Sha256::new(),
        };
        while received.length < limit {
            let Some(piece) = self.body.next().await else { break };
            let piece = piece.map_err(|_| Cut)?;
            let room = usize::try_from(limit - received.length).unwrap_or(usize::MAX);
            received.add(&piece[..piece.len().min(room)]);
        }
        Ok(received)
    }
}

impl Received {
    fn add(&mut self, piece: &[u8]) {
        let room = KEPT.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        self.length += piece.len() as u64;
        self.hash.update(piece);
    }
}

/// A text without percent signs; a `%` that stands for nothing is kept.
pub(crate) fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes
            .get(at + 1..at + 3)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        let byte = pair
            .filter(|_| bytes[at] == b'%')
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        plain.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}
