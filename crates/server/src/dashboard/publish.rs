//! `/o/{org}/updates/new`: publishes an update from the browser. The package streams through this route into object storage;
//! it is never held in memory.

use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use launchway_api::updates::{CreateUpdate, FingerprintInput, TextOrNumber};
use launchway_api::uploads::CreateUpload;
use launchway_domain::id::UploadId;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;

use super::frame::{Frame, Notice, done, page};
use super::posted::{Form, Posted};
use super::trouble::Trouble;
use super::updates::bundles;
use super::visitor::Visitor;
use crate::app::App;
use crate::config::make_private_dir;
use crate::failure::Failure;
use crate::ops::publish_request::{self, Published};
use crate::ops::uploads;
use crate::ops::write::Write;

/// Bytes of a field that is no file.
const LARGEST_FIELD: usize = 16 << 10;
/// Fields of the form.
const MOST_FIELDS: usize = 30;

#[derive(Template)]
#[template(path = "dashboard/publish.html")]
struct Page {
    frame: Frame,
    form: Form,
    bundles: Vec<String>,
    largest: i64,
}

/// A file that was sent, on this machine's disk.
struct Received {
    file: NamedTempFile,
    name: String,
    size: u64,
    sha256: String,
}

async fn shown(app: &App, visitor: &Visitor, status: StatusCode, form: Form) -> Result<Response, Failure> {
    let shown = Page {
        frame: Frame::new(app, visitor, "updates", "Publish an update"),
        form,
        bundles: bundles(&mut app.db.read().await?.org(visitor.org.id)).await?,
        largest: i64::try_from(app.config.max_package_size).unwrap_or(i64::MAX),
    };
    Ok(page(status, &shown))
}

pub async fn form(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, Trouble> {
    let form = Form::filled(&[
        ("rollout", "100"),
        ("platform", "android"),
        ("configuration", "production"),
    ]);
    Ok(shown(&app, &visitor, StatusCode::OK, form).await?)
}

pub async fn publish(State(app): State<Arc<App>>, visitor: Visitor, request: Request) -> Result<Response, Trouble> {
    let (posted, received) = receive(&app, &visitor, request).await?;
    let result = match received {
        Ok(received) => store_and_publish(&app, &visitor, &posted, received).await,
        Err(failure) => Err(failure),
    };
    match result {
        Ok(path) => Ok(done(&visitor, &path, Notice::UPDATE_PUBLISHED)),
        Err(failure) if failure.status().0.is_server_error() => Ok(Trouble(failure).into_response()),
        Err(failure) => {
            let status = failure.status().0;
            Ok(shown(&app, &visitor, status, Form::refused(posted, &failure)).await?)
        }
    }
}

/// Reads the form: its fields, and the file onto disk. The token comes before the file, or nothing is kept of it.
async fn receive(
    app: &App,
    visitor: &Visitor,
    request: Request,
) -> Result<(Posted, Result<Received, Failure>), Failure> {
    let broken = || Failure::bad("The form ended early; send it again");
    let mut parts = Multipart::from_request(request, app)
        .await
        .map_err(|_| Failure::bad("Send the form of the page"))?;
    let mut posted = Posted::default();
    let mut received = Err(Failure::bad("file is missing: choose the package, a ZIP"));
    for _ in 0..MOST_FIELDS {
        let Some(mut part) = parts.next_field().await.map_err(|_| broken())? else {
            posted.check(&visitor.token)?;
            return Ok((posted, received));
        };
        let name = part.name().unwrap_or_default().to_owned();
        if name == "file" {
            posted.check(&visitor.token)?;
            let file_name = part.file_name().unwrap_or_default().to_owned();
            let mut file = Receiving::begin(app)?;
            let mut refusal = None;
            while let Some(piece) = part.chunk().await.map_err(|_| broken())? {
                // What is too large is read to its end all the same: a browser shows no answer before it has sent all.
                if refusal.is_none() {
                    refusal = file.take(app, &piece).await.err();
                }
            }
            received = match refusal {
                None => file.end(file_name).await,
                Some(failure) => Err(failure),
            };
            continue;
        }
        let mut value = Vec::new();
        while let Some(piece) = part.chunk().await.map_err(|_| broken())? {
            value.extend_from_slice(&piece);
            if value.len() > LARGEST_FIELD {
                return Err(Failure::TooLarge("The form is too large".to_owned()));
            }
        }
        posted.add(name, value);
    }
    Err(Failure::TooLarge("The form is too large".to_owned()))
}

/// A file that is coming in.
struct Receiving {
    file: NamedTempFile,
    writer: tokio::fs::File,
    size: u64,
    hash: Sha256,
}

impl Receiving {
    fn begin(app: &App) -> Result<Receiving, Failure> {
        let dir = app.config.scratch_dir();
        let file = make_private_dir(&dir)
            .and_then(|()| NamedTempFile::new_in(&dir))
            .map_err(no_room)?;
        Ok(Receiving {
            writer: tokio::fs::File::from_std(file.reopen().map_err(no_room)?),
            file,
            size: 0,
            hash: Sha256::new(),
        })
    }

    async fn take(&mut self, app: &App, piece: &[u8]) -> Result<(), Failure> {
        self.size += piece.len() as u64;
        let largest = app.config.max_package_size;
        if self.size > largest {
            return Err(Failure::bad(format!(
                "file is too large: this server takes up to {largest} bytes"
            )));
        }
        self.hash.update(piece);
        self.writer.write_all(piece).await.map_err(no_room)
    }

    async fn end(mut self, name: String) -> Result<Received, Failure> {
        self.writer.flush().await.map_err(no_room)?;
        if self.size == 0 {
            return Err(Failure::bad("file is missing: choose the package, a ZIP"));
        }
        Ok(Received {
            file: self.file,
            // Browsers send a name without its path; what else sends one must not get further with it.
            name: name
                .rsplit(['/', '\\'])
                .next()
                .filter(|name| !name.is_empty())
                .unwrap_or("update.zip")
                .to_owned(),
            size: self.size,
            sha256: hex::encode(self.hash.finalize()),
        })
    }
}

fn no_room(error: std::io::Error) -> Failure {
    Failure::Unavailable(format!("no room for a temporary file: {error}"))
}

/// The same as a client of the API does: announces an upload, sends its bytes, publishes it. Gives the page to go to.
async fn store_and_publish(
    app: &App,
    visitor: &Visitor,
    posted: &Posted,
    received: Received,
) -> Result<String, Failure> {
    let mut request = asked(posted)?;
    let plan = uploads::plan(
        app,
        &CreateUpload {
            file_name: received.name,
            size: i64::try_from(received.size).unwrap_or(i64::MAX),
            sha256: received.sha256,
        },
    )?;
    let mut write = Write::begin(app, &visitor.caller).await?;
    let upload = uploads::create(&mut write, plan).await?;
    write.commit().await?;
    let id: UploadId = upload.id.parse().map_err(|_| Failure::NoSuch("upload"))?;
    app.blob
        .put_file(&uploads::staging_key(id)?, received.file.path())
        .await?;
    request.upload_id = Some(upload.id);
    Ok(
        match publish_request::run(app, &visitor.caller, &request, None).await? {
            Published::Fresh(view) => format!("/updates/{}", view.id),
            Published::Kept(_) => "/updates".to_owned(),
        },
    )
}

fn asked(posted: &Posted) -> Result<CreateUpdate, Failure> {
    let rollout = posted.optional("rollout")?.map(|percent| percent.parse());
    Ok(CreateUpdate {
        upload_id: None,
        source_update_id: None,
        bundle_id: posted.text("bundleId")?.to_owned(),
        platform: posted.text("platform")?.to_owned(),
        version: posted.text("version")?.to_owned(),
        build_number: posted.optional("buildNumber")?.map(TextOrNumber::Text),
        configuration: posted.optional("configuration")?,
        fingerprint: posted.optional("fingerprint")?.map(FingerprintInput::Hash),
        build_id: posted.optional("buildId")?,
        release_notes: posted
            .optional("releaseNotes")?
            .map(|notes| notes.replace("\r\n", "\n")),
        rollout: rollout
            .transpose()
            .map_err(|_| Failure::bad("rollout must be a whole number from 0 to 100"))?,
        mandatory: Some(posted.text("mandatory")? == "yes"),
    })
}
