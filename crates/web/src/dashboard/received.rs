//! A file from a form of the browser: it streams to this machine's disk and from there into object storage, and is
//! never held in memory.

use axum::extract::Request;
use launchway_api::uploads::CreateUpload;
use launchway_domain::id::UploadId;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::uploads;
use launchway_ops::write::Write;
use launchway_os::folders::make_private_dir;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;

use super::form_data::FormData;
use super::kept;
use super::parts::FormParts;
use super::visitor::Visitor;

/// The maximum size of a field that is not a file, in bytes.
const MAX_FIELD_BYTES: usize = 32 << 10;

/// A received file, on this machine's disk.
pub struct ReceivedFile {
    file: NamedTempFile,
    name: String,
    size: u64,
    sha256: String,
}

impl ReceivedFile {
    /// Does what a client of the API does: announces an upload and sends its bytes. Returns the upload's id.
    pub async fn upload(self, app: &App, visitor: &Visitor) -> Result<String, ApiError> {
        let plan = uploads::plan(
            app,
            &CreateUpload {
                file_name: self.name,
                size: i64::try_from(self.size).unwrap_or(i64::MAX),
                sha256: self.sha256,
            },
        )?;
        let mut write = Write::begin(app, &visitor.caller).await?;
        let upload = uploads::create(&mut write, plan).await?;
        write.commit().await?;
        let id: UploadId = upload.id.parse().map_err(|_| ApiError::NoSuch("upload"))?;
        let key = uploads::staging_key(id)?;
        app.blob.put_file(&key, self.file.path()).await?;
        Ok(upload.id)
    }
}

/// Reads a form: its fields, and its `file` of at most `largest` bytes to disk; `None` if none was chosen. The token
/// must come before the file, or the file is discarded. For a form of another session only the fields are returned.
pub async fn receive(
    app: &App,
    visitor: &Visitor,
    request: Request,
    largest: u64,
) -> Result<(FormData, Result<Option<ReceivedFile>, ApiError>), ApiError> {
    let mut parts = FormParts::of(request).await?;
    let mut form_data = FormData::default();
    let mut received = Ok(None);
    while let Some(mut part) = parts.next().await? {
        let name = part.name();
        if name != "file" {
            form_data.add(name, part.whole(MAX_FIELD_BYTES).await?);
            continue;
        }
        if !check(app, visitor, &form_data)? {
            part.skip().await?;
            continue;
        }
        let file_name = part.file_name().unwrap_or_default();
        let mut file = IncomingFile::begin(app, largest)?;
        let mut refusal = None;
        while let Some(piece) = part.chunk().await? {
            // A file that is too large is still read to its end: a browser shows no response before it has sent
            // everything.
            if refusal.is_none() {
                refusal = file.take(&piece).await.err();
            }
        }
        received = match refusal {
            None => file.end(file_name).await,
            Some(failure) => Err(failure),
        };
    }
    check(app, visitor, &form_data)?;
    Ok((form_data, received))
}

/// Whether a form is of the visitor's own session; refused unless it is of a page of this server.
fn check(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<bool, ApiError> {
    match form_data.check(&visitor.token) {
        Ok(()) => Ok(true),
        Err(_) if kept::owner(app, form_data).is_some() => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// A file that is being received.
struct IncomingFile {
    file: NamedTempFile,
    writer: tokio::fs::File,
    largest: u64,
    size: u64,
    hash: Sha256,
}

impl IncomingFile {
    fn begin(app: &App, largest: u64) -> Result<IncomingFile, ApiError> {
        let dir = app.config.scratch_dir();
        let file = make_private_dir(&dir)
            .and_then(|()| NamedTempFile::new_in(&dir))
            .map_err(no_room)?;
        Ok(IncomingFile {
            writer: tokio::fs::File::from_std(file.reopen().map_err(no_room)?),
            file,
            largest,
            size: 0,
            hash: Sha256::new(),
        })
    }

    async fn take(&mut self, piece: &[u8]) -> Result<(), ApiError> {
        self.size += piece.len() as u64;
        if self.size > self.largest {
            return Err(ApiError::bad(format!(
                "file is too large: this server accepts up to {} bytes",
                self.largest
            )));
        }
        self.hash.update(piece);
        self.writer.write_all(piece).await.map_err(no_room)
    }

    /// The file; `None` if it is empty, as browsers send a field without a file.
    async fn end(mut self, name: String) -> Result<Option<ReceivedFile>, ApiError> {
        self.writer.flush().await.map_err(no_room)?;
        if self.size == 0 {
            return Ok(None);
        }
        Ok(Some(ReceivedFile {
            file: self.file,
            // Browsers send the name without its path; other clients must not be able to use one.
            name: name
                .rsplit(['/', '\\'])
                .next()
                .filter(|name| !name.is_empty())
                .unwrap_or("upload")
                .to_owned(),
            size: self.size,
            sha256: hex::encode(self.hash.finalize()),
        }))
    }
}

fn no_room(error: std::io::Error) -> ApiError {
    ApiError::Unavailable(format!("Cannot create a temporary file: {error}"))
}
