//! A request and its body: kept if it is small, only counted and hashed if it is a binary.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use launchway_domain::percent;
use sha2::{Digest, Sha256};

/// The number of bytes of a body that are kept; the rest is only counted and hashed.
const KEPT_BYTES: usize = 32 << 20;

/// A request.
pub struct Call {
    /// The method, in capitals.
    pub method: String,
    /// The path, percent-encoded.
    pub path: String,
    /// The query, parsed and decoded.
    pub query: Vec<(String, String)>,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: BoxStream<'static, std::io::Result<Bytes>>,
}

/// The connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut;

/// A received body.
pub(crate) struct Received {
    /// The first bytes, at most 32 MiB.
    pub bytes: Vec<u8>,
    /// The total number of bytes.
    pub length: u64,
    /// The hash of all bytes, which can be continued.
    pub hash: Sha256,
}

impl Call {
    /// A request for the path and query of a URL.
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

    /// The value of a header; `name` in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of a query parameter.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The segments of the path, percent-encoded.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.path.split('/').filter(|part| !part.is_empty()).collect()
    }

    /// Whether received bytes are kept if the rest is missing.
    pub(crate) fn is_resumable(&self) -> bool {
        self.path.starts_with("/simulator/sessions/")
    }

    /// Reads the body, or half of it if it is to be cut.
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
        let room = KEPT_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        self.length += piece.len() as u64;
        self.hash.update(piece);
    }
}

/// Decodes percent-encoding; an invalid `%` is kept.
pub(crate) fn plain(text: &str) -> String {
    String::from_utf8_lossy(&percent::decode_path(text)).into_owned()
}
