//! The whole API as one list.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::options;
use launchway_blob::Blob;
use launchway_config::Roles;
use launchway_domain::scope::Scope::{Build, Submit, Update};
use launchway_domain::tenancy::Role::{Admin, Owner};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::admit::Access::{self, Anyone, Caller, OneTimeToken, Public, ReportToken, Runner, Scope, Session};
use crate::erased_handler::{erase, get, post};
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
        endpoint!(Scope(Build), builds::read),
        endpoint!(Scope(Build), builds::create),
        endpoint!(Scope(Build), builds::delete),
        endpoint!(Scope(Build), builds::cancel),
        endpoint!(Scope(Build), builds::retry),
        endpoint!(Scope(Build), builds::plan),
        endpoint!(Scope(Build), build_logs::read),
        endpoint!(Scope(Build), build_stream::follow),
        endpoint!(Scope(Submit), submissions::read),
        endpoint!(Scope(Submit), submissions::create),
        endpoint!(Scope(Submit), submissions::change),
        endpoint!(Scope(Submit), submissions::delete),
        endpoint!(Scope(Submit), submissions::cancel),
        endpoint!(Scope(Submit), submissions::retry),
        endpoint!(Scope(Update), updates::create),
        endpoint!(Scope(Update), updates::read),
        endpoint!(Scope(Update), updates::change),
        endpoint!(Scope(Update), updates::delete),
        endpoint!(Scope(Update), updates::package),
        endpoint!(Scope(Update), deployment_keys::read),
        endpoint!(Scope(Update), deployment_keys::create),
        endpoint!(Scope(Update), deployment_keys::delete),
        endpoint!(Scope(Update), trust::read),
        endpoint!(Scope(Update), trust::change),
        endpoint!(Scope(Update), trust::read_drafts),
        endpoint!(Scope(Update), trust::create_draft),
        endpoint!(Scope(Update), trust::delete_draft),
        endpoint!(Scope(Update), trust::add_signatures),
        endpoint!(Access::Admin(Admin), trust::create_online_key),
        endpoint!(Access::Admin(Owner), trust::reset),
        endpoint!(Access::Admin(Owner), trust::allow_other_formats),
        endpoint!(Public, update_check::check),
        endpoint!(ReportToken, reports::report),
        endpoint!(Access::Admin(Admin), env_vars::read),
        endpoint!(Access::Admin(Admin), env_vars::set),
        endpoint!(Access::Admin(Admin), env_vars::delete),
        endpoint!(Access::Admin(Admin), api_keys::read),
        endpoint!(Access::Admin(Admin), api_keys::create),
        endpoint!(Access::Admin(Admin), api_keys::revoke),
        endpoint!(Access::Admin(Admin), webhooks::read),
        endpoint!(Access::Admin(Admin), webhooks::create),
        endpoint!(Access::Admin(Admin), webhooks::replace),
        endpoint!(Access::Admin(Admin), webhooks::delete),
        endpoint!(Access::Admin(Admin), webhooks::rotate_secret),
        endpoint!(Access::Admin(Admin), webhooks::deliveries),
        endpoint!(Access::Admin(Admin), webhooks::redeliver),
        endpoint!(Access::Admin(Admin), webhooks::test),
        endpoint!(Access::Admin(Admin), credentials::read),
        endpoint!(Access::Admin(Admin), credentials::create),
        endpoint!(Access::Admin(Admin), credentials::delete),
        endpoint!(Access::Admin(Admin), credentials::rotate_events_secret),
        endpoint!(Access::Admin(Admin), runners::read),
        endpoint!(Access::Admin(Admin), runners::create_token),
        endpoint!(Access::Admin(Admin), runners::revoke),
        endpoint!(OneTimeToken, runner_protocol::enroll),
        endpoint!(Runner, runner_protocol::lease),
        endpoint!(Runner, runner_protocol::renew),
        endpoint!(Runner, runner_protocol::plan),
        endpoint!(Runner, runner_protocol::log),
        endpoint!(Runner, runner_protocol::announce),
        endpoint!(Runner, runner_protocol::finish),
        endpoint!(Access::Admin(Admin), audit::list),
        endpoint!(Anyone, uploads::create),
        endpoint!(Anyone, fingerprints::read),
        endpoint!(Anyone, fingerprints::diff),
        endpoint!(Anyone, fingerprints::latest),
        endpoint!(Anyone, apps::read),
        endpoint!(Anyone, apps::create),
        endpoint!(Access::Admin(Admin), apps::delete),
        endpoint!(Anyone, usage::read),
        endpoint!(Caller, orgs::read),
        endpoint!(Session, orgs::create),
        endpoint!(Access::Admin(Owner), orgs::change),
        endpoint!(Anyone, members::read),
        endpoint!(Access::Admin(Admin), members::change),
        endpoint!(Anyone, members::remove),
        endpoint!(Anyone, names::read),
        endpoint!(Access::Admin(Admin), invitations::read),
        endpoint!(Access::Admin(Admin), invitations::create),
        endpoint!(Access::Admin(Admin), invitations::delete),
        endpoint!(Public, auth::sign_in),
        endpoint!(Public, auth::setup),
        endpoint!(Public, auth::accept_invitation),
        endpoint!(Public, auth::reset_password),
        endpoint!(Public, device_logins::begin),
        endpoint!(Public, device_logins::claim),
        endpoint!(Session, auth::sign_out),
        endpoint!(Caller, auth::session),
        endpoint!(Session, sessions::list),
        endpoint!(Session, sessions::revoke),
        endpoint!(Public, health::alive),
        endpoint!(Public, health::ready),
        endpoint!(Public, docs::document),
        endpoint!(Public, docs::viewer),
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
    let no_bundle = get(update_check::check_without_bundle).options(erase(update_check::preflight));
    let api = if roles.check {
        api.route("/update/check", no_bundle.clone())
            .route("/update/check/", no_bundle)
            .route("/update/check/{bundleId}", options(erase(update_check::preflight)))
            .route("/update/report/{bundleId}", options(erase(update_check::preflight)))
    } else {
        api
    };
    let repositories = if roles.check {
        Router::new()
            .route("/tuf/{*path}", get(tuf::read).options(erase(update_check::preflight)))
            .route("/codepush/{*path}", get(codepush::read).post(erase(codepush::report)))
            .route("/expo/{bundleId}", get(expo::read))
            .route("/expo/{bundleId}/assets/{sha256}", get(package_files::read_asset))
            .route("/capgo/{bundleId}/files/{sha256}", get(package_files::read_file))
            .route("/hot-updater/{*path}", get(hot_updater::read))
            .route(capgo::UPDATES, post(capgo::updates))
            .route(capgo::STATS, post(capgo::stats))
            .route(
                capgo::CHANNEL_SELF,
                get(capgo::channel_self)
                    .post(erase(capgo::channel_self))
                    .put(erase(capgo::channel_self))
                    .delete(erase(capgo::channel_self)),
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
    match &*endpoint.path {
        path if EVERYWHERE.contains(&path) => true,
        path if path.starts_with("/update/check/") || path.starts_with("/update/report/") => roles.check,
        _ => roles.api,
    }
}

/// The OpenAPI document of the API.
pub fn openapi_document() -> OpenApi {
    describe(endpoints())
}
