//! `/o/{org}/updates/new`: publishes an update from the browser. The package streams through this route into object storage;
//! it is never held in memory.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use launchway_api::open;
use launchway_api::updates::{CreateUpdate, FingerprintInput, TextOrNumber};

use super::frame::{Frame, Notice, done, page};
use super::posted::{Form, Posted};
use super::received::{Received, receive};
use super::trouble::Trouble;
use super::updates::bundles;
use super::visitor::{Visitor, other_session};
use crate::app::App;
use crate::failure::Failure;
use crate::ops::publish_request::{self, Published};

const MISSING: &str = "file is missing: choose the package, a ZIP";

#[derive(Template)]
#[template(path = "dashboard/publish.html")]
struct Page {
    frame: Frame,
    form: Form,
    bundles: Vec<String>,
    largest: i64,
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
    Ok(shown(&app, &visitor, StatusCode::OK, visitor.form_or(form)).await?)
}

pub async fn publish(State(app): State<Arc<App>>, visitor: Visitor, request: Request) -> Result<Response, Trouble> {
    let (posted, received) = receive(&app, &visitor, request, app.config.max_package_size).await?;
    if posted.check(&visitor.token).is_err() {
        return Ok(other_session(&app, &visitor, &posted, "/updates/new").await);
    }
    let result = match received.and_then(|file| file.ok_or_else(|| Failure::bad(MISSING))) {
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

/// The same as a client of the API does: announces an upload, sends its bytes, publishes it. Gives the page to go to.
async fn store_and_publish(
    app: &App,
    visitor: &Visitor,
    posted: &Posted,
    received: Received,
) -> Result<String, Failure> {
    let mut request = asked(posted)?;
    request.upload_id = Some(received.upload(app, visitor).await?);
    Ok(
        match publish_request::run(app, &visitor.caller, &request, posted.once(visitor, "/updates/new")?).await? {
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
        platform: open::Platform::of(posted.text("platform")?),
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
