//! `/o/{org}/api-keys`: creates API keys, shows them once, and revokes them.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use launchway_api::keys::{CreateKey, KeyView};
use launchway_api::open;
use launchway_ops::api_error::ApiError;
use launchway_ops::api_keys;
use launchway_ops::app::App;
use launchway_ops::write::Write;
use launchway_store::Paging;

use super::form_data::{Form, FormData};
use super::frame::{Frame, page};
use super::page_error::PageError;
use super::show::{Pager, ROWS};
use super::visitor::Visitor;
use crate::query::Query;

#[derive(Template)]
#[template(path = "dashboard/keys.html")]
struct Keys {
    frame: Frame,
    keys: Vec<KeyView>,
    pager: Pager,
    form: Form,
    /// A key that was just created, shown once.
    made: Option<NewKey>,
}

struct NewKey {
    name: String,
    key: String,
    commands: String,
}

async fn render_page(
    app: &App,
    visitor: &Visitor,
    offset: i64,
    form: Form,
    made: Option<NewKey>,
) -> Result<Response, PageError> {
    app.last_used.flush(&app.db).await?;
    let now = app.clock.now();
    let paging = Paging { limit: ROWS, offset };
    let rows = app.db.read().await?.org(visitor.org.id).keys(paging).await?;
    let shown = Keys {
        frame: Frame::new(app, visitor, "api-keys", "API keys"),
        pager: Pager::new(offset, rows.items.len(), rows.total, ""),
        keys: rows.items.iter().map(|key| KeyView::of(key, now)).collect(),
        form,
        made,
    };
    Ok(page(shown.form.status(), &shown))
}

/// A form for a key with all scopes for builds and updates.
fn new_form() -> Form {
    Form::filled(&[("scopes", "build"), ("scopes", "submit"), ("scopes", "update")])
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    render_page(
        &app,
        &visitor,
        query.paging()?.offset,
        visitor.form_or(new_form()),
        None,
    )
    .await
}

pub async fn create(State(app): State<Arc<App>>, visitor: Visitor, form_data: FormData) -> Result<Response, PageError> {
    match make(&app, &visitor, &form_data).await {
        Ok(made) => render_page(&app, &visitor, 0, new_form().created(), Some(made)).await,
        Err(failure) => render_page(&app, &visitor, 0, Form::refused(form_data, &failure), None).await,
    }
}

async fn make(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<NewKey, ApiError> {
    let days = form_data.optional("expiresInDays")?.map(|days| days.parse());
    let days = days
        .transpose()
        .map_err(|_| ApiError::bad("expiresInDays must be a whole number"))?;
    let plan = api_keys::plan(&CreateKey {
        name: form_data.text("name")?.to_owned(),
        scopes: form_data.all("scopes").into_iter().map(open::Scope::of).collect(),
        expires_in_days: days,
    })?;
    let (key, record) = Write::run_once(
        app,
        &visitor.caller,
        form_data.once(visitor, "/api-keys")?,
        plan,
        api_keys::create,
    )
    .await?;
    Ok(NewKey {
        name: record.name,
        key: key.reveal().to_owned(),
        commands: format!(
            "launchway login --url {}\nlaunchway update android --dir dist --bundle-id com.example.app --version 1.0.1 \
             --configuration production",
            app.public_url
        ),
    })
}
