//! `/o/{org}/runners`: the runners, and the one-time token that enrolls another one.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::runners::RunnerView;
use launchway_domain::time::iso;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::runners;
use launchway_ops::write::Write;
use launchway_store::Paging;

use super::frame::{Frame, page};
use super::page_error::PageError;
use super::show::{Pager, ROWS};
use super::visitor::Visitor;
use crate::query::Query;

#[derive(Template)]
#[template(path = "dashboard/runners.html")]
struct Runners {
    frame: Frame,
    runners: Vec<RunnerView>,
    pager: Pager,
    /// Whether this server has an embedded runner.
    embedded: bool,
    made: Option<NewToken>,
}

/// A token that is shown once.
struct NewToken {
    command: String,
    expires_at: String,
}

async fn read_page(app: &App, visitor: &Visitor, offset: i64, made: Option<NewToken>) -> Result<Runners, ApiError> {
    let now = app.clock.now();
    let paging = Paging { limit: ROWS, offset };
    let rows = app.db.read().await?.org(visitor.org.id).runners(paging).await?;
    let view = |runner| RunnerView::of(runner, runners::is_online(runner, now));
    Ok(Runners {
        frame: Frame::new(app, visitor, "runners", "Runners"),
        pager: Pager::new(offset, rows.items.len(), rows.total, ""),
        runners: rows.items.iter().map(view).collect(),
        embedded: app.embedded.get().is_some(),
        made,
    })
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    Ok(page(
        StatusCode::OK,
        &read_page(&app, &visitor, query.paging()?.offset, None).await?,
    ))
}

pub async fn create_token(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    let mut write = Write::begin(&app, &visitor.caller).await?;
    let made = runners::create_token(&mut write).await?;
    write.commit().await?;
    let made = NewToken {
        command: format!(
            "LAUNCHWAY_RUNNER_TOKEN={} launchway runner --url {}",
            made.token, app.public_url
        ),
        expires_at: iso(made.expires_at),
    };
    Ok(page(
        StatusCode::CREATED,
        &read_page(&app, &visitor, 0, Some(made)).await?,
    ))
}
