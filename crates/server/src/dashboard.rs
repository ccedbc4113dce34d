//! The pages of the browser, made by the server (contract part 11). They work by links and forms alone; scripts add what
//! moves. A change is the same operation as on the API.

pub mod assets;

mod apps;
mod audience;
mod audit;
mod build;
mod build_log;
mod builds;
mod credentials;
mod env;
mod filters;
mod frame;
mod keys;
mod live;
mod members;
mod overview;
mod posted;
mod profile;
mod publish;
mod received;
mod report_days;
mod runners;
mod show;
mod submission;
mod submissions;
mod submit;
mod timeline;
mod trouble;
mod two_factor;
mod update;
mod updates;
mod usage;
mod visit;
mod visitor;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};
use launchway_domain::tenancy::Role;

use crate::app::App;
use crate::http::{build_log as api_log, build_stream};
pub use visitor::{form_token, home_of};

/// One path of the dashboard.
pub struct Page {
    /// Such as `/o/{org}/builds/{id}`.
    pub path: &'static str,
    /// The role that it needs.
    pub least: Role,
    /// Whether its form may be too large for memory: then the page itself reads it and checks its token.
    pub streams: bool,
    handler: MethodRouter<Arc<App>>,
}

fn page(path: &'static str, least: Role, handler: MethodRouter<Arc<App>>) -> Page {
    Page {
        path,
        least,
        streams: false,
        handler,
    }
}

fn member(path: &'static str, handler: MethodRouter<Arc<App>>) -> Page {
    page(path, Role::Member, handler)
}

fn streamed(path: &'static str, handler: MethodRouter<Arc<App>>) -> Page {
    let page = member(path, handler);
    Page { streams: true, ..page }
}

fn admin(path: &'static str, handler: MethodRouter<Arc<App>>) -> Page {
    page(path, Role::Admin, handler)
}

fn owner(path: &'static str, handler: MethodRouter<Arc<App>>) -> Page {
    page(path, Role::Owner, handler)
}

/// Every path of the dashboard, and who may come there.
pub fn pages() -> Vec<Page> {
    vec![
        member("/o/{org}", get(overview::show)),
        member("/o/{org}/builds", get(builds::list)),
        member("/o/{org}/builds/live", get(builds::live)),
        member("/o/{org}/builds/{id}", get(build::show)),
        member("/o/{org}/builds/{id}/live", get(build::live)),
        member("/o/{org}/builds/{id}/artifacts/{artifact}", get(build::download)),
        member("/o/{org}/builds/{id}/cancel", post(build::cancel)),
        member("/o/{org}/builds/{id}/retry", post(build::retry)),
        member("/o/{org}/builds/{id}/delete", post(build::delete)),
        member("/o/{org}/builds/{id}/log/lines", get(build_log::lines)),
        member("/o/{org}/builds/{id}/log/search", get(build_log::search)),
        // The API's own handlers, for scripts of the pages: they name the build in `id`.
        member("/o/{org}/log", get(api_log::read)),
        member("/o/{org}/log/stream", get(build_stream::follow)),
        member("/o/{org}/submissions", get(submissions::list)),
        member("/o/{org}/submissions/live", get(submissions::live)),
        streamed("/o/{org}/submissions/new", get(submit::form).post(submit::submit)),
        member(
            "/o/{org}/submissions/{id}",
            get(submission::show).post(submission::change),
        ),
        member("/o/{org}/submissions/{id}/live", get(submission::live)),
        member("/o/{org}/submissions/{id}/cancel", post(submission::cancel)),
        member("/o/{org}/submissions/{id}/retry", post(submission::retry)),
        member("/o/{org}/submissions/{id}/delete", post(submission::delete)),
        member("/o/{org}/updates", get(updates::list)),
        member("/o/{org}/updates/audience", get(audience::show)),
        streamed("/o/{org}/updates/new", get(publish::form).post(publish::publish)),
        member("/o/{org}/updates/{id}", get(update::show).post(update::change)),
        member("/o/{org}/updates/{id}/promote", post(update::promote)),
        member("/o/{org}/updates/{id}/rollback", post(update::roll_back)),
        member("/o/{org}/updates/{id}/delete", post(update::delete)),
        member("/o/{org}/apps", get(apps::list).post(apps::create)),
        admin("/o/{org}/apps/{id}/delete", post(apps::delete)),
        admin("/o/{org}/env", get(env::list).post(env::set)),
        admin("/o/{org}/env/{id}/delete", post(env::delete)),
        admin("/o/{org}/credentials", get(credentials::list).post(credentials::create)),
        admin("/o/{org}/credentials/{id}/delete", post(credentials::delete)),
        admin("/o/{org}/api-keys", get(keys::list).post(keys::create)),
        admin("/o/{org}/api-keys/{id}/revoke", post(keys::revoke)),
        admin("/o/{org}/webhooks", get(webhooks::list).post(webhooks::create)),
        admin("/o/{org}/webhooks/{id}", get(webhooks::show).post(webhooks::change)),
        admin("/o/{org}/webhooks/{id}/test", post(webhooks::test)),
        admin("/o/{org}/webhooks/{id}/rotate", post(webhooks::rotate)),
        admin("/o/{org}/webhooks/{id}/delete", post(webhooks::delete)),
        admin(
            "/o/{org}/webhooks/{id}/deliveries/{delivery}",
            post(webhooks::redeliver),
        ),
        member("/o/{org}/members", get(members::list)),
        admin("/o/{org}/invitations", post(members::invite)),
        admin("/o/{org}/invitations/{id}/delete", post(members::uninvite)),
        admin("/o/{org}/members/{id}", post(members::change)),
        member("/o/{org}/members/{id}/remove", post(members::remove)),
        owner("/o/{org}/name", post(members::rename)),
        admin("/o/{org}/runners", get(runners::list).post(runners::create_token)),
        admin("/o/{org}/runners/{id}/revoke", post(runners::revoke)),
        member("/o/{org}/usage", get(usage::show)),
        admin("/o/{org}/audit", get(audit::list)),
        member("/o/{org}/profile", get(profile::show)),
        member("/o/{org}/profile/password", post(profile::change_password)),
        member(
            "/o/{org}/profile/two-factor",
            get(two_factor::show).post(two_factor::begin),
        ),
        member("/o/{org}/profile/two-factor/confirm", post(two_factor::confirm)),
        member("/o/{org}/profile/two-factor/remove", post(two_factor::remove)),
        member("/o/{org}/profile/sessions/{id}/revoke", post(profile::revoke)),
    ]
}

/// The dashboard's pages and the files they stand on.
pub fn router(app: &Arc<App>) -> Router<Arc<App>> {
    let assets = Router::new().route("/assets/{hash}/{name}", get(assets::serve));
    pages().into_iter().fold(assets, |router, page| {
        let admission = from_fn_with_state((app.clone(), page.least, page.streams), visitor::admit_visitor);
        router.route(page.path, page.handler.route_layer(admission))
    })
}
