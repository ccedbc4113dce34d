//! Downloads a package (`docs/reference/sdk.md#download`): one partial file for each SHA-256, resumed by range.

use std::io::{self, Read, Write};

use launchway_delta::Digest;
use sha2::{Digest as _, Sha256};

use crate::check::Offer;
use crate::files::{read, replace};
use crate::ports::{Kind, Network, Request, Response, Storage};

/// How much is read at a time.
const CHUNK: usize = 64 << 10;
/// The most bytes of an ETag.
const MAX_ETAG: usize = 256;
/// What stays free for everything else on the phone.
const SPARE_BYTES: u64 = 8 << 20;

/// Why a download stopped.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The URL has expired: the next check returns another one, and the download continues.
    #[error("the address has expired (the server responded with status {0})")]
    Expired(u16),
    /// The server cannot be reached, or the connection broke.
    #[error("the download was interrupted: {0}")]
    Network(io::Error),
    /// The server refuses for now.
    #[error("the server responded with status {0}")]
    Status(u16),
    /// The server sends something else than the package.
    #[error("the server does not send the package: {0}")]
    Wrong(&'static str),
    /// There is too little room.
    #[error("the package needs {needed} bytes, and {free} are free")]
    NoSpace {
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The storage failed.
    #[error("the storage failed: {0}")]
    Storage(io::Error),
}

/// The partial file of a package, which is the whole file in the end.
#[must_use]
pub fn part_path(package: Digest) -> String {
    format!("tmp/{package}.part")
}

fn etag_path(package: Digest) -> String {
    format!("tmp/{package}.etag")
}

/// Downloads what is missing of a package and answers the path of the whole file, whose digest is the offer's.
///
/// # Errors
/// It stopped. What arrived is kept, unless it is wrong, and the next call continues from there.
pub fn download(
    storage: &dyn Storage,
    network: &dyn Network,
    offer: &Offer,
    progress: &mut dyn FnMut(u64),
) -> Result<String, DownloadError> {
    let path = part_path(offer.sha256);
    let mut here = existing_size(storage, &path).map_err(DownloadError::Storage)?;
    if here > offer.size {
        discard(storage, offer.sha256)?;
        here = 0;
    }
    if here < offer.size {
        check_space(storage, offer.size - here)?;
        let etag = read(storage, &etag_path(offer.sha256), MAX_ETAG).map_err(DownloadError::Storage)?;
        let etag = etag
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .filter(|_| here > 0);
        here = fetch(storage, network, offer, here, etag, progress)?;
    }
    if here == offer.size && digest(storage, &path).map_err(DownloadError::Storage)? == offer.sha256 {
        return Ok(path);
    }
    discard(storage, offer.sha256)?;
    Err(DownloadError::Wrong("its bytes have a different digest"))
}

/// Removes a partial file.
///
/// # Errors
/// The storage fails.
pub fn discard(storage: &dyn Storage, package: Digest) -> Result<(), DownloadError> {
    storage
        .remove_file(&etag_path(package))
        .and_then(|()| storage.remove_file(&part_path(package)))
        .map_err(DownloadError::Storage)
}

fn existing_size(storage: &dyn Storage, path: &str) -> io::Result<u64> {
    Ok(match storage.kind(path)? {
        Some(Kind::File(size)) => size,
        _ => 0,
    })
}

fn check_space(storage: &dyn Storage, missing: u64) -> Result<(), DownloadError> {
    let free = storage.free_space().map_err(DownloadError::Storage)?;
    let needed = missing + SPARE_BYTES;
    if free < needed {
        Err(DownloadError::NoSpace { needed, free })
    } else {
        Ok(())
    }
}

/// Asks for the bytes from `here` on and writes them. Answers how many there are now.
fn fetch(
    storage: &dyn Storage,
    network: &dyn Network,
    offer: &Offer,
    here: u64,
    etag: Option<String>,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, DownloadError> {
    let mut headers = vec![("accept-encoding", "identity".to_owned())];
    // Without a strong validator nobody knows that the rest belongs to the beginning.
    let from = if etag.is_some() { here } else { 0 };
    if let Some(etag) = etag {
        headers.push(("range", format!("bytes={from}-")));
        headers.push(("if-range", etag));
    }
    let request = Request {
        url: offer.url.clone(),
        headers,
        body: None,
    };
    let response = network.send(&request).map_err(DownloadError::Network)?;
    match interpret(&response, from, offer.size)? {
        Continuation::From(start) => receive(storage, response, offer, start, progress),
        Continuation::Whole => Ok(here),
        Continuation::Again => {
            discard(storage, offer.sha256)?;
            Err(DownloadError::Wrong("its range is not the requested one"))
        }
    }
}

/// How a download continues after a response.
enum Continuation {
    /// Its body begins at this byte.
    From(u64),
    /// There is nothing more; the digest decides.
    Whole,
    /// The next try begins at the first byte.
    Again,
}

fn interpret(response: &Response, asked: u64, size: u64) -> Result<Continuation, DownloadError> {
    let encoding = response.header("content-encoding").unwrap_or("identity");
    match response.status {
        200 | 206 if !encoding.eq_ignore_ascii_case("identity") => Err(DownloadError::Wrong("it is encoded")),
        200 => Ok(Continuation::From(0)),
        206 => match response.header("content-range").and_then(content_range) {
            Some((start, whole)) if start == asked && whole.is_none_or(|whole| whole == size) => {
                Ok(Continuation::From(start))
            }
            _ => Ok(Continuation::Again),
        },
        416 if asked == size => Ok(Continuation::Whole),
        416 => Ok(Continuation::Again),
        status @ (400 | 401 | 403 | 404 | 410) => Err(DownloadError::Expired(status)),
        status => Err(DownloadError::Status(status)),
    }
}

/// The first byte, and the total size if it is known, of `bytes 5-9/10`.
fn content_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (range, whole) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (start, end) = range.split_once('-')?;
    let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
    let whole = if whole == "*" { None } else { Some(whole.parse().ok()?) };
    (start <= end).then_some((start, whole))
}

/// Writes the body behind what is there. More bytes than the package has are never written.
fn receive(
    storage: &dyn Storage,
    mut response: Response,
    offer: &Offer,
    start: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, DownloadError> {
    let path = part_path(offer.sha256);
    let etag = response
        .header("etag")
        .filter(|etag| is_strong(etag))
        .map(ToOwned::to_owned);
    let mut target = open_part(storage, offer.sha256, start, etag.as_deref()).map_err(DownloadError::Storage)?;
    let (mut here, mut buffer) = (start, vec![0; CHUNK]);
    loop {
        let count = match response.body.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(DownloadError::Network(error)),
        };
        if here + count as u64 > offer.size {
            drop(target);
            storage.remove_file(&path).map_err(DownloadError::Storage)?;
            return Err(DownloadError::Wrong("it has more bytes than announced"));
        }
        target.write_all(&buffer[..count]).map_err(DownloadError::Storage)?;
        here += count as u64;
        progress(here);
    }
    target.sync().map_err(DownloadError::Storage)?;
    if here < offer.size {
        return Err(DownloadError::Network(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(here)
}

/// Opens the partial file at `start`. At the beginning its validator is written first: a validator without bytes is
/// harmless, bytes with another one's validator are not.
fn open_part(
    storage: &dyn Storage,
    package: Digest,
    start: u64,
    etag: Option<&str>,
) -> io::Result<Box<dyn crate::ports::Target>> {
    if start > 0 {
        return storage.append(&part_path(package));
    }
    storage.make_folder("tmp")?;
    storage.remove_file(&part_path(package))?;
    match etag {
        Some(etag) => replace(storage, &etag_path(package), etag.as_bytes())?,
        None => storage.remove_file(&etag_path(package))?,
    }
    storage.create(&part_path(package))
}

fn is_strong(etag: &str) -> bool {
    etag.len() <= MAX_ETAG && etag.len() > 2 && etag.starts_with('"') && etag.ends_with('"')
}

fn digest(storage: &dyn Storage, path: &str) -> io::Result<Digest> {
    let (mut source, mut hash, mut buffer) = (storage.open(path)?, Sha256::new(), vec![0; CHUNK]);
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(Digest(hash.finalize().into())),
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
