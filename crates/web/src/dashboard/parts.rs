//! The fields and files of a multipart form, in order. Reading one takes a bounded amount of memory, whatever the
//! client sends.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use axum::BoxError;
use axum::body::{Body, BodyDataStream};
use axum::extract::multipart::Field;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use bytes::Bytes;
use futures::Stream;
use launchway_ops::api_error::ApiError;

/// The maximum number of parts of a form, including files.
const MAX_PARTS: usize = 60;
/// Bytes that the parser may hold: unread data, and the headers of every part.
const MAX_HELD_BYTES: u64 = 1 << 20;
/// The lower maximum before the sender is authenticated.
const MAX_HELD_BYTES_OF_STRANGER: u64 = 64 << 10;

/// The remaining parts of a form.
pub struct FormParts {
    parser: Multipart,
    held: Arc<Held>,
    left: usize,
}

impl FormParts {
    /// Starts to read the body of a request.
    pub async fn of(request: Request) -> Result<FormParts, ApiError> {
        FormParts::holding(MAX_HELD_BYTES, request).await
    }

    /// Like [`Self::of`], for a sender who is not signed in: it takes less memory, and more time.
    pub async fn of_stranger(request: Request) -> Result<FormParts, ApiError> {
        FormParts::holding(MAX_HELD_BYTES_OF_STRANGER, request).await
    }

    async fn holding(most: u64, request: Request) -> Result<FormParts, ApiError> {
        let held = Arc::new(Held {
            most,
            bytes: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
        });
        let mut request = request.map(|body| {
            Body::from_stream(Metered {
                body: body.into_data_stream(),
                held: held.clone(),
            })
        });
        // axum would limit every form to 2 MiB. Here the bound is on memory; the reader bounds each part.
        DefaultBodyLimit::disable().apply(&mut request);
        let parser = Multipart::from_request(request, &()).await;
        Ok(FormParts {
            parser: parser.map_err(|_| ApiError::bad("Use the form of the page"))?,
            held,
            left: MAX_PARTS,
        })
    }

    /// The next part; the one before must have been read to its end.
    pub async fn next(&mut self) -> Result<Option<Part<'_>>, ApiError> {
        let Some(field) = self.parser.next_field().await.map_err(|_| broken())? else {
            return Ok(None);
        };
        self.held.release(0);
        self.left = self.left.checked_sub(1).ok_or_else(too_large)?;
        Ok(Some(Part {
            field,
            held: &self.held,
        }))
    }
}

/// A field or a file.
pub struct Part<'p> {
    field: Field<'p>,
    held: &'p Held,
}

impl Part<'_> {
    /// The name of the field; empty without one.
    pub fn name(&self) -> String {
        self.field.name().unwrap_or_default().to_owned()
    }

    /// The name of the file; `None` if it is a field.
    pub fn file_name(&self) -> Option<String> {
        self.field.file_name().map(str::to_owned)
    }

    /// The next bytes; `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        let chunk = self.field.chunk().await.map_err(|_| broken())?;
        self.held.release(chunk.as_ref().map_or(0, Bytes::len));
        Ok(chunk)
    }

    /// All bytes; refused beyond `largest`.
    pub async fn whole(mut self, largest: usize) -> Result<Vec<u8>, ApiError> {
        let mut value = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if value.len() + chunk.len() > largest {
                return Err(too_large());
            }
            value.extend_from_slice(&chunk);
        }
        Ok(value)
    }

    /// Reads to the end and discards the bytes.
    pub async fn skip(mut self) -> Result<(), ApiError> {
        while self.chunk().await?.is_some() {}
        Ok(())
    }
}

fn broken() -> ApiError {
    ApiError::bad("The form is damaged or incomplete. Send it again.")
}

/// The refusal of a form with too many fields, or too large ones.
pub fn too_large() -> ApiError {
    ApiError::TooLarge("The form is too large".to_owned())
}

/// The number of bytes that the parser holds.
struct Held {
    most: u64,
    bytes: AtomicU64,
    /// Whether the parser was refused more bytes and has not returned any since.
    is_full: AtomicBool,
}

impl Held {
    /// Records that the parser has returned a part or bytes of one.
    fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes as u64, Relaxed);
        self.is_full.store(false, Relaxed);
    }
}

/// The body of a form, which the parser gets no faster than its parts are read.
struct Metered {
    body: BodyDataStream,
    held: Arc<Held>,
}

impl Stream for Metered {
    type Item = Result<Bytes, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.held.bytes.load(Relaxed) > self.held.most {
            // The parser reads as much as it can before it parses. It fails only if it then has nothing to return.
            if self.held.is_full.swap(true, Relaxed) {
                return Poll::Ready(Some(Err("the headers of the form are too large".into())));
            }
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let item = ready!(Pin::new(&mut self.body).poll_next(cx));
        if let Some(Ok(bytes)) = &item {
            self.held.bytes.fetch_add(bytes.len() as u64, Relaxed);
        }
        Poll::Ready(item.map(|bytes| bytes.map_err(Into::into)))
    }
}

#[cfg(test)]
mod tests;
