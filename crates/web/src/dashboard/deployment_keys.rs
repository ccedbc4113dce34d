//! `/o/{org}/deployment-keys`: what the CodePush clients of apps send, of one app or of all.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use launchway_api::deployment_keys::{CreateDeploymentKey, DeploymentKeyView};
use launchway_api::open;
use launchway_domain::bundle_id::BundleId;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::deployment_keys;
use launchway_ops::write::Write;
use launchway_store::Paging;

use super::form_data::{Form, FormData};
use super::frame::{Frame, Notice, page, redirect_with_notice};
use super::page_error::PageError;
use super::show::{Pager, ROWS};
use super::visitor::Visitor;
use crate::query::Query;

#[derive(Template)]
#[template(path = "dashboard/deployment_keys.html")]
struct DeploymentKeys {
    frame: Frame,
    /// The app whose keys are listed; `None` for all apps.
    bundle: Option<BundleId>,
    keys: Vec<DeploymentKeyView>,
    pager: Pager,
    form: Form,
    configurations: Vec<String>,
}

/// The path of the list of an app's keys.
pub fn path_of(bundle: &str) -> String {
    format!("/deployment-keys?bundleId={bundle}")
}

async fn render_page(
    app: &App,
    visitor: &Visitor,
    bundle: Option<BundleId>,
    offset: i64,
    form: Form,
) -> Result<Response, PageError> {
    let paging = Paging { limit: ROWS, offset };
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let rows = org.deployment_keys(bundle.as_ref(), paging).await?;
    let configurations = org.configurations().await?;
    let title = bundle.as_ref().map_or_else(
        || "Deployment keys".to_owned(),
        |bundle| format!("Deployment keys of {bundle}"),
    );
    let query = bundle
        .as_ref()
        .map_or_else(String::new, |bundle| format!("bundleId={bundle}&"));
    let shown = DeploymentKeys {
        frame: Frame::new(app, visitor, "apps", title),
        pager: Pager::new(offset, rows.items.len(), rows.total, &query),
        keys: rows.items.iter().map(DeploymentKeyView::of).collect(),
        bundle,
        form,
        configurations,
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let bundle: Option<BundleId> = query.parsed("bundleId", "a bundle identifier")?;
    let form = match &bundle {
        Some(bundle) => Form::filled(&[("bundleId", bundle.as_str())]),
        None => Form::default(),
    };
    render_page(&app, &visitor, bundle, query.paging()?.offset, visitor.form_or(form)).await
}

pub async fn create(State(app): State<Arc<App>>, visitor: Visitor, form_data: FormData) -> Result<Response, PageError> {
    match make(&app, &visitor, &form_data).await {
        Ok(bundle) => Ok(redirect_with_notice(
            &visitor,
            &path_of(&bundle),
            Notice::DEPLOYMENT_KEY_CREATED,
        )),
        Err(failure) => {
            let bundle = form_data.text("bundleId")?.parse().ok();
            render_page(&app, &visitor, bundle, 0, Form::refused(form_data, &failure)).await
        }
    }
}

/// Creates the key of a form; returns the bundle identifier of its app.
async fn make(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<String, ApiError> {
    let plan = deployment_keys::plan(&CreateDeploymentKey {
        bundle_id: form_data.text("bundleId")?.to_owned(),
        platform: open::Platform::of(form_data.text("platform")?),
        configuration: form_data.choice("configuration")?,
        key: form_data.optional("key")?,
    })?;
    let once = form_data.once(visitor, "/deployment-keys")?;
    let key = Write::run_once(app, &visitor.caller, once, plan, deployment_keys::create).await?;
    Ok(key.bundle_id)
}
