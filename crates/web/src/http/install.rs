//! `/install/{buildId}`: the page from which people install a build on their devices, by a signed link and without
//! signing in; the manifest that Apple's systems request, and the download of the app
//! (`docs/reference/builds.md#install-page`).

mod manifest;
pub(crate) mod qr;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use launchway_blob::Key;
use launchway_domain::app::SIGNED_URL_SECONDS;
use launchway_domain::build::{Artifact, Build};
use launchway_domain::id::BuildId;
use launchway_domain::platform::Platform;
use launchway_domain::time::{SECOND, minute};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::builds::view::{artifacts_of, installable_artifact};
use launchway_ops::install_links::InstallLinkError;

use crate::erased_handler::get;
use crate::page_headers::protect;
use crate::query::Query;

/// The routes of the page, its manifest and its download.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/install/{build}", get(show))
        .route("/install/{build}/app", get(download))
        .route("/install/{build}/manifest.plist", get(manifest))
}

/// The build behind a valid link.
struct Install {
    build: Build,
    artifact: Artifact,
    /// The app's display name.
    name: String,
    /// The link's own query.
    proof: String,
    /// The expiry of the link, in epoch seconds.
    expires: i64,
}

/// Why a link is refused. The response does not reveal whether the build ever existed.
enum Problem {
    Gone,
    Expired,
    Failed(ApiError),
}

impl<E: Into<ApiError>> From<E> for Problem {
    fn from(error: E) -> Self {
        Problem::Failed(error.into())
    }
}

async fn show(State(app): State<Arc<App>>, Path(build): Path<String>, query: Query) -> Result<Response, Problem> {
    let install = read(&app, &build, &query).await?;
    let page = page(&app, &install)?;
    Ok(answer(StatusCode::OK, &page))
}

async fn download(State(app): State<Arc<App>>, Path(build): Path<String>, query: Query) -> Result<Response, Problem> {
    let install = read(&app, &build, &query).await?;
    let url = HeaderValue::try_from(fresh_url(&app, &install.artifact)?)
        .map_err(|error| ApiError::Internal(error.to_string()))?;
    let mut response = StatusCode::FOUND.into_response();
    protect(&mut response);
    response.headers_mut().insert(header::LOCATION, url);
    Ok(response)
}

async fn manifest(State(app): State<Arc<App>>, Path(build): Path<String>, query: Query) -> Result<Response, Problem> {
    let install = read(&app, &build, &query).await?;
    if install.build.platform == Platform::Android {
        return Err(Problem::Gone);
    }
    let url = fresh_url(&app, &install.artifact)?;
    let bundle_id = metadata(&install.artifact, "bundleId").unwrap_or_else(|| install.build.bundle_id.clone());
    let bytes = manifest::write(&url, &bundle_id, &version(&install), &install.name)?;
    let mut response = bytes.into_response();
    protect(&mut response);
    let kind = HeaderValue::from_static("application/xml; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// Reads the build behind a link.
async fn read(app: &App, build: &str, query: &Query) -> Result<Install, Problem> {
    let id: BuildId = build.parse().map_err(|_| Problem::Gone)?;
    let part = |name: &str| query.get(name).ok().flatten().unwrap_or_default().to_owned();
    let checked = app
        .install_links
        .verify(id, &part("expires"), &part("signature"), app.clock.now());
    let expires = checked.map_err(|refusal| match refusal {
        InstallLinkError::Forged => Problem::Gone,
        InstallLinkError::Expired => Problem::Expired,
    })?;
    let mut tx = app.db.read().await?;
    let build = tx.system("the signed link names the build").any_build(id).await?;
    let build = build.ok_or(Problem::Gone)?;
    let mut org = tx.org(build.org_id);
    let artifacts = artifacts_of(&mut org, &build).await?;
    let artifact = installable_artifact(&build, &artifacts).cloned().ok_or(Problem::Gone)?;
    let bundle = build.bundle_id.parse().map_err(|_| Problem::Gone)?;
    let record = org.app_by_bundle(&bundle).await?;
    Ok(Install {
        name: record.map_or_else(|| build.bundle_id.clone(), |record| record.name),
        proof: app.install_links.proof(id, expires),
        build,
        artifact,
        expires,
    })
}

/// A URL of the bytes that is valid for an hour from now.
pub fn fresh_url(app: &App, artifact: &Artifact) -> Result<String, ApiError> {
    let key = Key::new(&artifact.blob_key)?;
    Ok(app
        .blob
        .presign_get(&key, &artifact.name, app.clock.now(), SIGNED_URL_SECONDS)
        .url)
}

/// A field of the app's metadata.
fn metadata(artifact: &Artifact, field: &str) -> Option<String> {
    let value = artifact.facts.as_ref()?.get(field)?.as_str()?;
    Some(value.to_owned()).filter(|text| !text.is_empty())
}

fn version(install: &Install) -> String {
    let said = metadata(&install.artifact, "version");
    said.or_else(|| install.build.spec.version.clone())
        .unwrap_or_else(|| "1.0".to_owned())
}

#[derive(Template)]
#[template(path = "install.html")]
struct Page<'a> {
    title: &'a str,
    problem: Option<&'static str>,
    app: Option<InstallDetails<'a>>,
}

struct InstallDetails<'a> {
    install: &'a Install,
    platform: &'static str,
    version: String,
    size: String,
    expires: String,
    /// The target of the button.
    target: String,
    advice: &'static str,
    /// Why it cannot work here.
    obstacle: Option<&'static str>,
    qr: qr::Drawing,
}

fn page<'a>(app: &App, install: &'a Install) -> Result<Page<'a>, ApiError> {
    let Install { build, proof, .. } = install;
    let here = format!("{}/install/{}", app.public_url, build.id);
    let is_android = build.platform == Platform::Android;
    let target = if is_android {
        format!("/install/{}/app?{proof}", build.id)
    } else {
        manifest::link(&format!("{here}/manifest.plist?{proof}"))
    };
    let number = metadata(&install.artifact, "buildNumber").or_else(|| build.spec.build_number.clone());
    Ok(Page {
        title: &install.name,
        problem: None,
        app: Some(InstallDetails {
            platform: match build.platform {
                Platform::Android => "Android",
                Platform::Ios => "iOS",
                Platform::Visionos => "visionOS",
            },
            version: match number {
                Some(number) => format!("{} ({number})", version(install)),
                None => version(install),
            },
            size: size(install.artifact.size),
            expires: format!("{} UTC", minute(install.expires * SECOND)),
            target,
            advice: if is_android {
                "Open the downloaded file and allow your browser to install apps when Android asks"
            } else {
                "Open this page on the device in Safari. The device must be registered in the app's provisioning \
                 profile."
            },
            obstacle: (!is_android && !app.is_https())
                .then_some("Apple's systems install only from https, and this server is reached over plain http"),
            qr: qr::draw(&format!("{here}?{proof}"))?,
            install,
        }),
    })
}

/// Such as `12.3 MB`.
fn size(bytes: i64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (bytes as f64 / 1000.0, 0);
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

fn answer(status: StatusCode, page: &Page<'_>) -> Response {
    let mut response = match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => ApiError::Internal(error.to_string()).into_response(),
    };
    protect(&mut response);
    // The URL is the proof, so it must not leak in a `Referer`.
    let none = HeaderValue::from_static("no-referrer");
    response.headers_mut().insert(header::REFERRER_POLICY, none);
    response
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, title, problem) = match self {
            Problem::Gone => (
                StatusCode::NOT_FOUND,
                "Nothing to install",
                "No build has this link. Copy the whole link, or ask its sender for a new one.",
            ),
            Problem::Expired => (
                StatusCode::FORBIDDEN,
                "This link has expired",
                "A link is valid for seven days. Ask its sender for a new one.",
            ),
            Problem::Failed(failure) => return failure.into_response(),
        };
        let page = Page {
            title,
            problem: Some(problem),
            app: None,
        };
        answer(status, &page)
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [
            (0, "0.0 kB"),
            (51, "0.1 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (12_345_678, "12.3 MB"),
            (5_000_000_000, "5.0 GB"),
            (i64::MAX, "9223372.0 TB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
