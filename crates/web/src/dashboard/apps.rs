//! `/o/{org}/apps`: the bundle identifiers that belong to the organization.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use launchway_api::apps::{AppView, CreateApp};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::apps;
use launchway_ops::write::Write;
use launchway_store::Paging;

use super::form_data::{Form, FormData};
use super::frame::{Frame, Notice, page, redirect_with_notice};
use super::page_error::PageError;
use super::show::{Pager, ROWS};
use super::visitor::Visitor;
use crate::query::Query;

#[derive(Template)]
#[template(path = "dashboard/apps.html")]
struct Apps {
    frame: Frame,
    apps: Vec<AppView>,
    pager: Pager,
    form: Form,
}

async fn render_page(app: &App, visitor: &Visitor, offset: i64, form: Form) -> Result<Response, PageError> {
    let paging = Paging { limit: ROWS, offset };
    let rows = app.db.read().await?.org(visitor.org.id).apps(paging).await?;
    let shown = Apps {
        frame: Frame::new(app, visitor, "apps", "Apps"),
        pager: Pager::new(offset, rows.items.len(), rows.total, ""),
        apps: rows.items.iter().map(AppView::of).collect(),
        form,
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    render_page(&app, &visitor, query.paging()?.offset, visitor.form_or(Form::default())).await
}

pub async fn create(State(app): State<Arc<App>>, visitor: Visitor, form_data: FormData) -> Result<Response, PageError> {
    match claim(&app, &visitor, &form_data).await {
        Ok(()) => Ok(redirect_with_notice(&visitor, "/apps", Notice::APP_CREATED)),
        Err(failure) => render_page(&app, &visitor, 0, Form::refused(form_data, &failure)).await,
    }
}

async fn claim(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<(), ApiError> {
    let plan = apps::plan(&CreateApp {
        bundle_id: form_data.text("bundleId")?.to_owned(),
        name: form_data.optional("name")?,
    })?;
    Write::run(app, &visitor.caller, plan, apps::create).await.map(drop)
}
