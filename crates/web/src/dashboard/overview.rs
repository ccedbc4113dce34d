//! `/o/{org}`: recent builds, updates and submissions, what needs attention, and for a new organization the first
//! steps.

mod attention;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::builds::{BuildContext, BuildView};
use launchway_api::submissions::SubmissionView;
use launchway_api::updates::UpdateView;
use launchway_ops::app::App;
use launchway_store::{BuildFilter, Paging, SubmissionFilter, UpdateFilter};

use self::attention::Attention;
use super::frame::{Frame, page};
use super::page_error::PageError;
use super::visitor::Visitor;

/// Rows of each list.
const LATEST: Paging = Paging { limit: 6, offset: 0 };
/// Recent builds, submissions and updates that are searched for what needs attention.
const LOOKED_AT: Paging = Paging { limit: 25, offset: 0 };

#[derive(Template)]
#[template(path = "dashboard/overview.html")]
struct Overview {
    frame: Frame,
    url: String,
    builds: Vec<BuildView>,
    updates: Vec<UpdateView>,
    submissions: Vec<SubmissionView>,
    attention: Vec<Attention>,
    has_app: bool,
    has_key: bool,
}

impl Overview {
    /// Whether the first steps are shown: nothing was built, published or submitted yet.
    fn is_new(&self) -> bool {
        self.builds.is_empty() && self.updates.is_empty() && self.submissions.is_empty()
    }
}

pub async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    // Only among the latest: a search for failed ones among all builds would cost as much as there are builds.
    let builds = org.builds(&BuildFilter::default(), LOOKED_AT).await?.items;
    let updates = org.updates(&UpdateFilter::default(), LOOKED_AT).await?.items;
    let submissions = org.submissions(&SubmissionFilter::default(), LOOKED_AT).await?.items;
    let attention = attention::find(&app, &visitor, &mut org, &builds, &updates, &submissions).await?;
    let overview = Overview {
        frame: Frame::new(&app, &visitor, "overview", "Overview"),
        url: app.public_url.clone(),
        builds: builds
            .iter()
            .take(LATEST.limit as usize)
            .map(|build| BuildView::of(build, BuildContext::default()))
            .collect(),
        updates: updates.iter().take(LATEST.limit as usize).map(UpdateView::of).collect(),
        submissions: submissions
            .iter()
            .take(LATEST.limit as usize)
            .map(SubmissionView::of)
            .collect(),
        attention,
        has_app: org.apps(LATEST).await?.total > 0,
        has_key: org.keys(LATEST).await?.total > 0,
    };
    Ok(page(StatusCode::OK, &overview))
}
