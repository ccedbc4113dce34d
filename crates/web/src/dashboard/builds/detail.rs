//! `/o/{org}/builds/{id}`: a build's phases, log, artifacts and actions.

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use launchway_api::builds::{ArtifactView, BuildView};
use launchway_domain::build::plan::{FROM_REQUEST, Plan};
use launchway_domain::build::{Build, BuildStatus};
use launchway_domain::id::BuildId;
use launchway_ops::api_error::ApiError;
use launchway_ops::binaries::APPS;
use launchway_ops::builds::view::{artifacts_of, view};
use serde_json::Value;

use crate::dashboard::builds::log;
use crate::dashboard::frame::{Frame, page};
use crate::dashboard::live::{self, Part, RenderedPart};
use crate::dashboard::page_error::PageError;
use crate::dashboard::show;
use crate::dashboard::visit::Visit;
use crate::http::install::{fresh_url, qr};
use crate::page_headers::protect;

#[derive(Template)]
#[template(path = "dashboard/build.html")]
struct Page {
    frame: Frame,
    state: BuildSection,
    live: bool,
    /// The end of the log, for browsers without scripts.
    tail: String,
    plan: Option<Plan>,
    origin: &'static str,
}

/// The live part of the page.
#[derive(Template)]
#[template(path = "dashboard/build_state.html")]
struct BuildSection {
    home: String,
    build: BuildView,
    is_over: bool,
    /// Whether it has an app that an app store accepts.
    can_submit: bool,
    /// How long it ran.
    took: Option<String>,
    artifacts: Vec<Artifact>,
    /// The install link as a QR code.
    qr: Option<qr::Drawing>,
}

struct Artifact {
    view: ArtifactView,
    /// The file's metadata: name and value.
    facts: Vec<(&'static str, String)>,
}

async fn read(visit: &Visit<BuildId>) -> Result<Build, ApiError> {
    let build = visit.app.db.read().await?.org(visit.org()).build(visit.id).await?;
    build.ok_or(ApiError::NoSuch("build"))
}

async fn state(visit: &Visit<BuildId>, build: &Build) -> Result<BuildSection, ApiError> {
    let app = &visit.app;
    let mut tx = app.db.read().await?;
    let view = view(app, &mut tx.org(visit.org()), build).await?;
    let ended = build.finished_at.or_else(|| build.started_at.map(|_| app.clock.now()));
    let took = build.started_at.zip(ended).filter(|_| build.finished_at.is_some());
    let artifact = |view: &ArtifactView| Artifact {
        facts: view.facts.as_ref().map(facts).unwrap_or_default(),
        view: view.clone(),
    };
    Ok(BuildSection {
        home: visit.visitor.home(),
        is_over: build.state.status.is_final(),
        can_submit: build.state.status == BuildStatus::Success && view.artifacts.iter().any(is_app),
        took: took.map(|(from, to)| show::duration(&((to - from) as f64 / 1000.0))),
        artifacts: view.artifacts.iter().map(artifact).collect(),
        qr: view.install.as_ref().map(|link| qr::draw(&link.url)).transpose()?,
        build: view,
    })
}

/// Whether an app store accepts a file of this name.
fn is_app(artifact: &ArtifactView) -> bool {
    let name = artifact.name.to_ascii_lowercase();
    APPS.iter().any(|ending| name.ends_with(ending))
}

/// An app's metadata, the most requested first.
fn facts(facts: &Value) -> Vec<(&'static str, String)> {
    const FIELDS: [(&str, &str); 6] = [
        ("bundleId", "Bundle id"),
        ("version", "Version"),
        ("buildNumber", "Build number"),
        ("minOs", "Minimum OS version"),
        ("targetSdk", "Target SDK"),
        ("sdk", "SDK"),
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

pub async fn show(visit: Visit<BuildId>) -> Result<Response, PageError> {
    let build = read(&visit).await?;
    let state = state(&visit, &build).await?;
    let title = format!("{} for {}", build.bundle_id, show::platform(&build.platform));
    let shown = Page {
        frame: visit.frame("builds", title),
        live: !state.is_over,
        tail: log::tail(&visit.app, visit.org(), &build).await?,
        origin: match build.plan_origin.as_deref() {
            Some(FROM_REQUEST) => "Sent with the request",
            Some(_) => "Detected in the source",
            None => "",
        },
        plan: build.plan,
        state,
    };
    Ok(page(StatusCode::OK, &shown))
}

impl Part for Visit<BuildId> {
    async fn make(&self) -> Result<Option<RenderedPart>, ApiError> {
        let build = match read(self).await {
            Err(ApiError::NoSuch(_)) => return Ok(None),
            build => build?,
        };
        let state = state(self, &build).await?;
        Ok(Some(RenderedPart {
            html: show::render(&state)?,
            is_last: state.is_over,
        }))
    }
}

pub async fn live(visit: Visit<BuildId>) -> Result<Response, PageError> {
    read(&visit).await?;
    Ok(live::follow(visit.app.clone(), visit.visitor.caller.clone(), visit)?)
}

/// Redirects to the bytes of an artifact, with a URL that is valid for an hour from now.
pub async fn download(
    visit: Visit<BuildId>,
    Path((_, _, artifact)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let build = read(&visit).await?;
    let given = artifacts_of(&mut visit.app.db.read().await?.org(visit.org()), &build).await?;
    let artifact = given.iter().find(|given| given.id.to_string() == artifact);
    let artifact = artifact.ok_or(ApiError::NoSuch("artifact"))?;
    let mut response = Redirect::to(&fresh_url(&visit.app, artifact)?).into_response();
    protect(&mut response);
    Ok(response)
}
