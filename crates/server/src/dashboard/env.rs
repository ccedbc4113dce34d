//! `/o/{org}/env`: environment variables of builds. The value of a secret is never shown, whatever was typed.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use launchway_api::env_vars::{EnvVarView, SetEnvVar};
use launchway_api::secret::SecretText;
use launchway_domain::env_var::EnvVar;
use launchway_store::Paging;

use super::frame::{Frame, Notice, done, page};
use super::posted::{Form, Posted};
use super::revision::Revision;
use super::show::{self, Pager, ROWS};
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::app::App;
use crate::failure::Failure;
use crate::http::extract::Query;
use crate::ops::env_vars;
use crate::ops::write::Write;

#[derive(Template)]
#[template(path = "dashboard/env.html")]
struct Variables {
    frame: Frame,
    variables: Vec<EnvVarView>,
    pager: Pager,
    form: Form,
}

/// Where a variable is set, as words.
pub fn scope(variable: &EnvVarView) -> String {
    let mut parts: Vec<String> = variable.bundle_id.iter().cloned().collect();
    parts.extend(variable.configurations.iter().cloned());
    let platforms = variable.platforms.iter();
    parts.extend(platforms.map(|platform| show::platform(platform).to_owned()));
    if parts.is_empty() {
        return "every build".to_owned();
    }
    parts.join(", ")
}

/// The revision of a variable. Its value moves the time of its last change.
pub fn revision(variable: &EnvVar) -> Result<Revision, Failure> {
    Revision::of(&EnvVarView::of(variable, None))
}

async fn shown(app: &App, visitor: &Visitor, offset: i64, form: Form) -> Result<Response, Trouble> {
    let paging = Paging { limit: ROWS, offset };
    let mut tx = app.db.read().await?;
    let rows = tx.org(visitor.org.id).env_vars(paging).await?;
    let mut variables = Vec::with_capacity(rows.items.len());
    for kept in &rows.items {
        variables.push(env_vars::view(app, &mut tx, visitor.org.id, kept).await?);
    }
    let shown = Variables {
        frame: Frame::new(app, visitor, "env", "Environment"),
        pager: Pager::new(offset, variables.len(), rows.total, ""),
        variables,
        form,
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, Trouble> {
    let form = Form::filled(&[("visibility", "secret"), ("kind", "variable")]);
    shown(&app, &visitor, query.paging()?.offset, visitor.form_or(form)).await
}

pub async fn set(State(app): State<Arc<App>>, visitor: Visitor, posted: Posted) -> Result<Response, Trouble> {
    match keep(&app, &visitor, &posted).await {
        Ok(()) => Ok(done(&visitor, "/env", Notice::VARIABLE_SET)),
        Err(failure) => shown(&app, &visitor, 0, Form::refused(posted, &failure)).await,
    }
}

async fn keep(app: &App, visitor: &Visitor, posted: &Posted) -> Result<(), Failure> {
    let value = std::str::from_utf8(posted.bytes("value").unwrap_or_default());
    let value = value.map_err(|_| Failure::bad("value is not valid UTF-8"))?;
    let some = |list: Vec<String>| Some(list).filter(|list| !list.is_empty());
    let plan = env_vars::plan(SetEnvVar {
        name: posted.text("name")?.to_owned(),
        // Browsers send line ends as CRLF, whatever was typed.
        value: SecretText::new(value.replace("\r\n", "\n")),
        kind: posted.optional("kind")?,
        path: posted.optional("path")?,
        visibility: posted.optional("visibility")?,
        bundle_id: posted.optional("bundleId")?,
        configurations: some(posted.list("configurations")?),
        platforms: some(posted.all("platforms")),
    })?;
    Write::run(app, &visitor.caller, plan, env_vars::set).await.map(drop)
}
