//! The bytes of a file, in the coding that a client accepts. Packages compress files with Deflate, which is what gzip contains, so
//! nothing is compressed again for it; what is compressed with Brotli is kept.

use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use launchway_blob::BlobError;
use launchway_foreign::Place;
use launchway_ops::app::App;
use launchway_ops::brotli_files::Original;
use launchway_ota::StoredFile;

use crate::http::accept_encoding::{Accepted, Coding};

/// The start of a gzip stream (RFC 1952): no name, no time, an unknown system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Bytes that are unpacked at once.
const CHUNK: usize = 1 << 16;

type Pieces = BoxStream<'static, Result<Bytes, BlobError>>;

/// How a file is sent.
pub enum Coded {
    Identity,
    Gzip,
    /// These bytes.
    Brotli(Bytes),
}

impl Coded {
    pub fn coding(&self) -> Coding {
        match self {
            Coded::Identity => Coding::Identity,
            Coded::Gzip => Coding::Gzip,
            Coded::Brotli(_) => Coding::Brotli,
        }
    }

    /// The number of bytes that are sent.
    pub fn length(&self, place: Place) -> u64 {
        match self {
            Coded::Identity => place.size,
            Coded::Gzip => place.length + GZIP_HEAD.len() as u64 + 8,
            Coded::Brotli(bytes) => bytes.len() as u64,
        }
    }
}

/// Chooses how a file is sent to a client. Only what Deflate made smaller is compressed.
pub async fn code(app: &App, sha256: [u8; 32], file: &StoredFile, accepted: Accepted) -> Result<Coded, BlobError> {
    let place = file.place;
    if !place.is_deflated {
        return Ok(Coded::Identity);
    }
    if accepted.best() == Coding::Brotli {
        let original = Original {
            sha256,
            size: place.size,
            deflated: place.length,
        };
        let whole = async {
            let data = app.blob.read(&file.blob_key, place.start, place.length).await?;
            let pieces = unpacked(data);
            pieces
                .try_fold(Vec::new(), async |mut whole, piece| {
                    whole.extend_from_slice(&piece);
                    match whole.len() as u64 <= place.size {
                        true => Ok(whole),
                        false => Err(damaged()),
                    }
                })
                .await
        };
        if let Some(bytes) = app.brotli_files.get(original, whole).await? {
            return Ok(Coded::Brotli(bytes));
        }
    }
    Ok(match accepted.without_brotli().best() {
        Coding::Gzip => Coded::Gzip,
        Coding::Identity | Coding::Brotli => Coded::Identity,
    })
}

/// The bytes that are sent.
pub async fn content(app: &App, file: &StoredFile, coded: Coded) -> Result<Pieces, BlobError> {
    let place = file.place;
    let piece = |bytes: Bytes| stream::iter([Ok(bytes)]);
    if let Coded::Brotli(bytes) = coded {
        return Ok(piece(bytes).boxed());
    }
    let data = app.blob.read(&file.blob_key, place.start, place.length).await?;
    Ok(match (place.is_deflated, coded) {
        (true, Coded::Gzip) => {
            let mut tail = Vec::with_capacity(8);
            tail.extend(place.checksum.to_le_bytes());
            // The size modulo 2^32.
            tail.extend((place.size as u32).to_le_bytes());
            let head = piece(Bytes::from_static(&GZIP_HEAD));
            head.chain(data).chain(piece(tail.into())).boxed()
        }
        (true, _) => unpacked(data),
        (false, _) => data,
    })
}

/// Unpacks a Deflate stream in constant memory.
fn unpacked(data: Pieces) -> Pieces {
    let state = (data, Bytes::new(), Decompress::new(false), false);
    let unpack = |(mut data, mut input, mut inflate, mut is_over): (Pieces, Bytes, Decompress, bool)| async move {
        loop {
            if is_over {
                return Ok(None);
            }
            if input.is_empty()
                && let Some(next) = data.try_next().await?
            {
                input = next;
            }
            let mut output = vec![0; CHUNK];
            let (taken, given) = (inflate.total_in(), inflate.total_out());
            let status = inflate
                .decompress(&input, &mut output, FlushDecompress::None)
                .map_err(|_| damaged())?;
            let progress = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(0);
            let (taken, given) = (
                progress(inflate.total_in(), taken),
                progress(inflate.total_out(), given),
            );
            is_over = status == Status::StreamEnd;
            if !is_over && taken == 0 && given == 0 {
                return Err(damaged());
            }
            input = input.slice(taken..);
            if given > 0 {
                output.truncate(given);
                return Ok(Some((Bytes::from(output), (data, input, inflate, is_over))));
            }
        }
    };
    stream::try_unfold(state, unpack).boxed()
}

fn damaged() -> BlobError {
    BlobError::Unavailable {
        doing: "unpacking a file of a package",
        cause: "the package changed in the storage".to_owned(),
    }
}
