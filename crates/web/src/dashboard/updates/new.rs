//! `/o/{org}/updates/new`: publishes an update from the browser. The package streams through this route into object
//! storage; it is never held in memory.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use launchway_api::open;
use launchway_api::updates::{CreateUpdate, FingerprintInput, TextOrNumber};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::create::Created;
use launchway_ops::updates::request;

use crate::dashboard::form_data::{Form, FormData};
use crate::dashboard::frame::{Frame, Notice, page, redirect_with_notice};
use crate::dashboard::page_error::PageError;
use crate::dashboard::received::{ReceivedFile, receive};
use crate::dashboard::updates::actions::notice_of;
use crate::dashboard::updates::bundles;
use crate::dashboard::visitor::{Visitor, other_session};

const MISSING: &str = "file is missing: choose the package, a ZIP file";

/// The configuration that an update is usually published for.
const USUAL: &str = "production";

#[derive(Template)]
#[template(path = "dashboard/publish.html")]
struct Page {
    frame: Frame,
    form: Form,
    bundles: Vec<String>,
    configurations: Vec<String>,
    largest: i64,
}

async fn render_page(app: &App, visitor: &Visitor, status: StatusCode, form: Form) -> Result<Response, ApiError> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let shown = Page {
        frame: Frame::new(app, visitor, "updates", "Publish an update"),
        form,
        bundles: bundles(&mut org).await?,
        configurations: with_usual(org.configurations().await?),
        largest: i64::try_from(app.config.max_package_size).unwrap_or(i64::MAX),
    };
    Ok(page(status, &shown))
}

/// The configurations to choose from; the usual one is there before anything uses it.
fn with_usual(mut known: Vec<String>) -> Vec<String> {
    if !known.iter().any(|name| name == USUAL) {
        known.insert(0, USUAL.to_owned());
    }
    known
}

pub async fn form(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    let form = Form::filled(&[("rollout", "100"), ("platform", "android"), ("configuration", USUAL)]);
    Ok(render_page(&app, &visitor, StatusCode::OK, visitor.form_or(form)).await?)
}

pub async fn publish(State(app): State<Arc<App>>, visitor: Visitor, request: Request) -> Result<Response, PageError> {
    let (form_data, received) = receive(&app, &visitor, request, app.config.max_package_size).await?;
    if form_data.check(&visitor.token).is_err() {
        return Ok(other_session(&app, &visitor, &form_data, "/updates/new").await);
    }
    let result = match received.and_then(|file| file.ok_or_else(|| ApiError::bad(MISSING))) {
        Ok(received) => store_and_publish(&app, &visitor, &form_data, received).await,
        Err(failure) => Err(failure),
    };
    match result {
        Ok((path, notice)) => Ok(redirect_with_notice(&visitor, &path, notice)),
        Err(failure) if failure.status().0.is_server_error() => Ok(PageError(failure).into_response()),
        Err(failure) => {
            let status = failure.status().0;
            Ok(render_page(&app, &visitor, status, Form::refused(form_data, &failure)).await?)
        }
    }
}

/// Does what a client of the API does: announces an upload, sends its bytes, publishes it. Returns the page to go to, and
/// what it says.
async fn store_and_publish(
    app: &App,
    visitor: &Visitor,
    form_data: &FormData,
    received: ReceivedFile,
) -> Result<(String, Notice), ApiError> {
    let mut request = read_request(form_data)?;
    request.upload_id = Some(received.upload(app, visitor).await?);
    Ok(
        match request::run(
            app,
            &visitor.caller,
            &request,
            None,
            form_data.once(visitor, "/updates/new")?,
        )
        .await?
        {
            Created::Fresh(view) => (
                format!("/updates/{}", view.id),
                match view.status.known() {
                    Some(status) => notice_of(status, Notice::UPDATE_PUBLISHED),
                    None => Notice::UPDATE_PUBLISHED,
                },
            ),
            Created::Kept(_) => ("/updates".to_owned(), Notice::UPDATE_PUBLISHED),
        },
    )
}

fn read_request(form_data: &FormData) -> Result<CreateUpdate, ApiError> {
    let rollout = form_data.optional("rollout")?.map(|percent| percent.parse());
    Ok(CreateUpdate {
        bundle_id: form_data.text("bundleId")?.to_owned(),
        platform: open::Platform::of(form_data.text("platform")?),
        version: form_data.text("version")?.to_owned(),
        build_number: form_data.optional("buildNumber")?.map(TextOrNumber::Text),
        configuration: form_data.choice("configuration")?,
        fingerprint: form_data.optional("fingerprint")?.map(FingerprintInput::Hash),
        build_id: form_data.optional("buildId")?,
        release_notes: form_data
            .optional("releaseNotes")?
            .map(|notes| notes.replace("\r\n", "\n")),
        rollout: rollout
            .transpose()
            .map_err(|_| ApiError::bad("rollout must be a whole number from 0 to 100"))?,
        mandatory: Some(form_data.text("mandatory")? == "yes"),
        ..CreateUpdate::default()
    })
}
