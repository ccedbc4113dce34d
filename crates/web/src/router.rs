//! The whole API as one list.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, options, post};
use launchway_blob::Blob;
use launchway_config::Roles;
use launchway_domain::scope::Scope::{Build, Submit, Update};
use launchway_domain::tenancy::Role::{Admin, Owner};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::admit::Access::{self, Anyone, Caller, OneTimeToken, Public, ReportToken, Runner, Scope, Session};
use crate::http::endpoint::{Endpoint, Line, endpoint};
use crate::http::{
    api_keys, app_store_events, apps, audit, auth, build_logs, build_stream, builds, capgo, codepush, credentials,
    deployment_keys, device_logins, docs, env_vars, expo, fingerprints, health, hot_updater, install, invitations,
    members, names, openapi, orgs, package_files, reports, runner_protocol, runners, sessions, submissions, trust, tuf,
    update_check, updates, uploads, usage, webhooks,
};
use crate::{dashboard, pages};

/// Every endpoint under `/api`, with its allowed callers.
#[expect(clippy::too_many_lines, reason = "the list of all endpoints")]
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        endpoint(Scope(Build), routes!(builds::read)),
        endpoint(Scope(Build), routes!(builds::create)),
        endpoint(Scope(Build), routes!(builds::delete)),
        endpoint(Scope(Build), routes!(builds::cancel)),
        endpoint(Scope(Build), routes!(builds::retry)),
        endpoint(Scope(Build), routes!(builds::plan)),
        endpoint(Scope(Build), routes!(build_logs::read)),
        endpoint(Scope(Build), routes!(build_stream::follow)),
        endpoint(Scope(Submit), routes!(submissions::read)),
        endpoint(Scope(Submit), routes!(submissions::create)),
        endpoint(Scope(Submit), routes!(submissions::change)),
        endpoint(Scope(Submit), routes!(submissions::delete)),
        endpoint(Scope(Submit), routes!(submissions::cancel)),
        endpoint(Scope(Submit), routes!(submissions::retry)),
        endpoint(Scope(Update), routes!(updates::create)),
        endpoint(Scope(Update), routes!(updates::read)),
        endpoint(Scope(Update), routes!(updates::change)),
        endpoint(Scope(Update), routes!(updates::delete)),
        endpoint(Scope(Update), routes!(updates::package)),
        endpoint(Scope(Update), routes!(deployment_keys::read)),
        endpoint(Scope(Update), routes!(deployment_keys::create)),
        endpoint(Scope(Update), routes!(deployment_keys::delete)),
        endpoint(Scope(Update), routes!(trust::read)),
        endpoint(Scope(Update), routes!(trust::change)),
        endpoint(Scope(Update), routes!(trust::read_drafts)),
        endpoint(Scope(Update), routes!(trust::create_draft)),
        endpoint(Scope(Update), routes!(trust::delete_draft)),
        endpoint(Scope(Update), routes!(trust::add_signatures)),
        endpoint(Access::Admin(Admin), routes!(trust::create_online_key)),
        endpoint(Access::Admin(Owner), routes!(trust::reset)),
        endpoint(Access::Admin(Owner), routes!(trust::allow_other_formats)),
        endpoint(Public, routes!(update_check::check)),
        endpoint(ReportToken, routes!(reports::report)),
        endpoint(Access::Admin(Admin), routes!(env_vars::read)),
        endpoint(Access::Admin(Admin), routes!(env_vars::set)),
        endpoint(Access::Admin(Admin), routes!(env_vars::delete)),
        endpoint(Access::Admin(Admin), routes!(api_keys::read)),
        endpoint(Access::Admin(Admin), routes!(api_keys::create)),
        endpoint(Access::Admin(Admin), routes!(api_keys::revoke)),
        endpoint(Access::Admin(Admin), routes!(webhooks::read)),
        endpoint(Access::Admin(Admin), routes!(webhooks::create)),
        endpoint(Access::Admin(Admin), routes!(webhooks::replace)),
        endpoint(Access::Admin(Admin), routes!(webhooks::delete)),
        endpoint(Access::Admin(Admin), routes!(webhooks::rotate_secret)),
        endpoint(Access::Admin(Admin), routes!(webhooks::deliveries)),
        endpoint(Access::Admin(Admin), routes!(webhooks::redeliver)),
        endpoint(Access::Admin(Admin), routes!(webhooks::test)),
        endpoint(Access::Admin(Admin), routes!(credentials::read)),
        endpoint(Access::Admin(Admin), routes!(credentials::create)),
        endpoint(Access::Admin(Admin), routes!(credentials::delete)),
        endpoint(Access::Admin(Admin), routes!(credentials::rotate_events_secret)),
        endpoint(Access::Admin(Admin), routes!(runners::read)),
        endpoint(Access::Admin(Admin), routes!(runners::create_token)),
        endpoint(Access::Admin(Admin), routes!(runners::revoke)),
        endpoint(OneTimeToken, routes!(runner_protocol::enroll)),
        endpoint(Runner, routes!(runner_protocol::lease)),
        endpoint(Runner, routes!(runner_protocol::renew)),
        endpoint(Runner, routes!(runner_protocol::plan)),
        endpoint(Runner, routes!(runner_protocol::log)),
        endpoint(Runner, routes!(runner_protocol::announce)),
        endpoint(Runner, routes!(runner_protocol::finish)),
        endpoint(Access::Admin(Admin), routes!(audit::list)),
        endpoint(Anyone, routes!(uploads::create)),
        endpoint(Anyone, routes!(fingerprints::read)),
        endpoint(Anyone, routes!(fingerprints::diff)),
        endpoint(Anyone, routes!(fingerprints::latest)),
        endpoint(Anyone, routes!(apps::read)),
        endpoint(Anyone, routes!(apps::create)),
        endpoint(Access::Admin(Admin), routes!(apps::delete)),
        endpoint(Anyone, routes!(usage::read)),
        endpoint(Caller, routes!(orgs::read)),
        endpoint(Session, routes!(orgs::create)),
        endpoint(Access::Admin(Owner), routes!(orgs::change)),
        endpoint(Anyone, routes!(members::read)),
        endpoint(Access::Admin(Admin), routes!(members::change)),
        endpoint(Anyone, routes!(members::remove)),
        endpoint(Anyone, routes!(names::read)),
        endpoint(Access::Admin(Admin), routes!(invitations::read)),
        endpoint(Access::Admin(Admin), routes!(invitations::create)),
        endpoint(Access::Admin(Admin), routes!(invitations::delete)),
        endpoint(Public, routes!(auth::sign_in)),
        endpoint(Public, routes!(auth::setup)),
        endpoint(Public, routes!(auth::accept_invitation)),
        endpoint(Public, routes!(auth::reset_password)),
        endpoint(Public, routes!(device_logins::begin)),
        endpoint(Public, routes!(device_logins::claim)),
        endpoint(Session, routes!(auth::sign_out)),
        endpoint(Caller, routes!(auth::session)),
        endpoint(Session, routes!(sessions::list)),
        endpoint(Session, routes!(sessions::revoke)),
        endpoint(Public, routes!(health::alive)),
        endpoint(Public, routes!(health::ready)),
        endpoint(Public, routes!(docs::document)),
        endpoint(Public, routes!(docs::viewer)),
    ]
}

/// The router's own list.
pub fn lines() -> Vec<Line> {
    endpoints().iter().flat_map(Endpoint::lines).collect()
}

/// The complete router: the API under `/api`, pages, signed URLs of the local object storage.
pub fn router(app: &Arc<App>) -> Router {
    let roles = app.config.roles;
    let api = of_roles(roles).fold(Router::new(), |router, endpoint| endpoint.add_to(router, app));
    let document = docs::Document::new(move || describe(of_roles(roles)));
    let no_bundle = get(update_check::check_without_bundle).options(update_check::preflight);
    let api = if roles.check {
        api.route("/update/check", no_bundle.clone())
            .route("/update/check/", no_bundle)
            .route("/update/check/{bundleId}", options(update_check::preflight))
            .route("/update/report/{bundleId}", options(update_check::preflight))
    } else {
        api
    };
    let repositories = if roles.check {
        Router::new()
            .route("/tuf/{*path}", get(tuf::read).options(update_check::preflight))
            .route("/codepush/{*path}", get(codepush::read).post(codepush::report))
            .route("/expo/{bundleId}", get(expo::read))
            .route("/expo/{bundleId}/assets/{sha256}", get(package_files::read_asset))
            .route("/capgo/{bundleId}/files/{sha256}", get(package_files::read_file))
            .route("/hot-updater/{*path}", get(hot_updater::read))
            .route(capgo::UPDATES, post(capgo::updates))
            .route(capgo::STATS, post(capgo::stats))
            .route(
                capgo::CHANNEL_SELF,
                get(capgo::channel_self)
                    .post(capgo::channel_self)
                    .put(capgo::channel_self)
                    .delete(capgo::channel_self),
            )
    } else {
        Router::new()
    };
    let pages = if roles.api {
        pages::router(app)
            .merge(install::router())
            .merge(dashboard::router(app))
            .merge(app_store_events::router())
    } else {
        Router::new()
    };
    let root = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/openapi.json", get(docs::document))
        .route("/docs", get(docs::viewer))
        .merge(pages)
        .merge(repositories)
        .nest("/api", api)
        .method_not_allowed_fallback(|| async { ApiError::MethodNotAllowed.into_response() })
        .fallback(|| async { ApiError::NoSuchPath.into_response() })
        .layer(axum::Extension(document))
        .with_state(app.clone());
    let root = root.layer(from_fn(note_route));
    match &app.blob {
        Blob::Local(directory) => {
            let files = uploads::signed_urls(app, directory).layer(from_fn(note_route));
            root.nest_service("/files", files)
        }
        Blob::S3(_) => root,
    }
}

/// Hands the template of the path that a request matched to the server, which counts by it.
async fn note_route(route: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(route);
    }
    response
}

/// The endpoints of a process with these roles.
fn of_roles(roles: Roles) -> impl Iterator<Item = Endpoint> {
    endpoints()
        .into_iter()
        .filter(move |endpoint| runs_here(roles, endpoint))
}

fn describe(endpoints: impl IntoIterator<Item = Endpoint>) -> OpenApi {
    let head = OpenApiRouter::with_openapi(openapi::head());
    let described = endpoints
        .into_iter()
        .fold(head, |document, endpoint| endpoint.describe_in(document));
    described.into_openapi()
}

/// Whether a process with these roles answers an endpoint.
fn runs_here(roles: Roles, endpoint: &Endpoint) -> bool {
    const EVERYWHERE: [&str; 4] = ["/healthz", "/readyz", "/openapi.json", "/docs"];
    endpoint.lines().iter().all(|line| match line.path.as_str() {
        path if EVERYWHERE.contains(&path) => true,
        path if path.starts_with("/update/check/") || path.starts_with("/update/report/") => roles.check,
        _ => roles.api,
    })
}

/// The OpenAPI document of the API.
pub fn openapi_document() -> OpenApi {
    describe(endpoints())
}
