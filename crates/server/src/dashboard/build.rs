//! `/o/{org}/builds/{id}`: one build: its phases, its log, what it gave, and what may be done with it.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use launchway_api::builds::{ArtifactView, BuildView};
use launchway_domain::build::plan::Plan;
use launchway_domain::build::{Build, BuildStatus};
use launchway_domain::id::{BuildId, OrgId};
use serde_json::Value;

use super::build_log;
use super::frame::{Frame, Notice, done, page};
use super::live::{self, Made, Part};
use super::show;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::app::App;
use crate::failure::Failure;
use crate::http::install::{fresh_url, qr};
use crate::http::pages::protect;
use crate::ops::binaries::APPS;
use crate::ops::builds::{
    self,
    view::{given, view},
};
use crate::ops::write::Write;

#[derive(Template)]
#[template(path = "dashboard/build.html")]
struct Page {
    frame: Frame,
    state: BuildState,
    live: bool,
    /// The end of the log, for who has no scripts.
    tail: String,
    plan: Option<Plan>,
    origin: &'static str,
}

/// The part that moves.
#[derive(Template)]
#[template(path = "dashboard/build_state.html")]
struct BuildState {
    home: String,
    token: String,
    build: BuildView,
    is_over: bool,
    /// Whether it gave an app that a store takes.
    can_submit: bool,
    /// How long it ran.
    took: Option<String>,
    artifacts: Vec<Artifact>,
    /// The install link as a QR code.
    qr: Option<qr::Drawing>,
}

struct Artifact {
    view: ArtifactView,
    /// What the file says about itself: name and value.
    facts: Vec<(&'static str, String)>,
}

/// The id of a path; one that has no id's shape names nothing.
fn id_of(text: &str) -> Result<BuildId, Failure> {
    text.parse().map_err(|_| Failure::NoSuch("build"))
}

async fn state(app: &App, org: OrgId, token: &str, build: &Build) -> Result<BuildState, Failure> {
    let mut tx = app.db.read().await?;
    let view = view(app, &mut tx.org(org), build).await?;
    let ended = build.finished_at.or_else(|| build.started_at.map(|_| app.clock.now()));
    let took = build.started_at.zip(ended).filter(|_| build.finished_at.is_some());
    let artifact = |view: &ArtifactView| Artifact {
        facts: view.facts.as_ref().map(facts).unwrap_or_default(),
        view: view.clone(),
    };
    Ok(BuildState {
        home: format!("/o/{org}"),
        token: token.to_owned(),
        is_over: build.standing.status.is_final(),
        can_submit: build.standing.status == BuildStatus::Success && view.artifacts.iter().any(is_app),
        took: took.map(|(from, to)| show::duration(&((to - from) as f64 / 1000.0))),
        artifacts: view.artifacts.iter().map(artifact).collect(),
        qr: view.install.as_ref().map(|link| qr::draw(&link.url)).transpose()?,
        build: view,
    })
}

/// Whether a store takes a file of this name.
fn is_app(artifact: &ArtifactView) -> bool {
    let name = artifact.name.to_ascii_lowercase();
    APPS.iter().any(|ending| name.ends_with(ending))
}

/// What an app says about itself, in the order in which people ask.
fn facts(facts: &Value) -> Vec<(&'static str, String)> {
    const FIELDS: [(&str, &str); 5] = [
        ("bundleId", "Bundle id"),
        ("version", "Version"),
        ("buildNumber", "Build number"),
        ("minOs", "Oldest system"),
        ("targetSdk", "Target SDK"),
    ];
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut said: Vec<_> = FIELDS
        .iter()
        .filter_map(|(field, label)| Some((*label, text(facts.get(field)?)?)))
        .collect();
    for (field, label) in [("subject", "Signed by"), ("sha256", "Certificate")] {
        let value = facts.get("signer").and_then(|signer| signer.get(field));
        said.extend(value.and_then(text).map(|text| (label, text)));
    }
    said
}

pub async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let build = app.db.read().await?.org(visitor.org.id).build(id).await?;
    let build = build.ok_or(Failure::NoSuch("build"))?;
    let state = state(&app, visitor.org.id, &visitor.token, &build).await?;
    let title = format!("{} for {}", build.bundle_id, show::platform(&build.platform));
    let shown = Page {
        frame: Frame::new(&app, &visitor, "builds", title),
        live: !state.is_over,
        tail: build_log::tail(&app, visitor.org.id, &build).await?,
        origin: match build.plan_origin.as_deref() {
            Some(builds::REQUEST) => "It came with the request.",
            Some(_) => "It was found in the source.",
            None => "",
        },
        plan: build.plan,
        state,
    };
    Ok(page(StatusCode::OK, &shown))
}

struct LiveState {
    app: Arc<App>,
    org: OrgId,
    token: String,
    id: BuildId,
}

impl Part for LiveState {
    async fn make(&self) -> Result<Option<Made>, Failure> {
        let build = self.app.db.read().await?.org(self.org).build(self.id).await?;
        let Some(build) = build else { return Ok(None) };
        let state = state(&self.app, self.org, &self.token, &build).await?;
        Ok(Some(Made {
            html: show::rendered(&state)?,
            is_last: state.is_over,
        }))
    }
}

pub async fn live(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let build = app.db.read().await?.org(visitor.org.id).build(id).await?;
    build.ok_or(Failure::NoSuch("build"))?;
    let part = LiveState {
        app: app.clone(),
        org: visitor.org.id,
        token: visitor.token,
        id,
    };
    Ok(live::follow(app, visitor.org.id, part)?)
}

/// Leads to the bytes of an artifact, by a URL that works for an hour from now.
pub async fn download(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id, artifact)): Path<(String, String, String)>,
) -> Result<Response, Trouble> {
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let build = org.build(id_of(&id)?).await?.ok_or(Failure::NoSuch("build"))?;
    let given = given(&mut org, &build).await?;
    let artifact = given.iter().find(|given| given.id.to_string() == artifact);
    let artifact = artifact.ok_or(Failure::NoSuch("artifact"))?;
    let mut response = Redirect::to(&fresh_url(&app, artifact)?).into_response();
    protect(&mut response);
    Ok(response)
}

pub async fn cancel(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    builds::cancel(&mut write, id).await?;
    write.commit().await?;
    Ok(done(&visitor, &format!("/builds/{id}"), Notice::BUILD_CANCELED))
}

pub async fn retry(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    let build = builds::retry(&mut write, id).await?;
    write.commit().await?;
    Ok(done(&visitor, &format!("/builds/{}", build.id), Notice::BUILD_RETRIED))
}

pub async fn delete(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id = id_of(&id)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    let files = builds::delete(&mut write, id).await?;
    write.commit().await?;
    builds::remove_files(&app, &files).await;
    Ok(done(&visitor, "/builds", Notice::BUILD_DELETED))
}
