//! The pages of the dashboard, rendered by the server (`docs/reference/dashboard.md`). They work with links and forms
//! alone; scripts add live parts. A change is the same operation as in the API.

pub mod assets;

mod api_keys;
mod apps;
mod audit;
mod builds;
mod confirm;
mod credentials;
mod deployment_keys;
mod env_vars;
mod filters;
mod form_data;
mod frame;
mod kept;
mod live;
mod members;
mod overview;
mod page_error;
pub mod page_limit;
mod parts;
mod profile;
mod received;
mod removals;
mod revision;
mod runners;
mod show;
mod states;
mod submissions;
mod trust;
mod two_factor;
mod updates;
mod usage;
mod user_agent;
mod visit;
mod visitor;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, any};
use launchway_domain::tenancy::Role;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;

use crate::erased_handler::{erase, get, post};
use crate::http::{build_logs as api_log, build_stream};
use confirm::Action;
pub use page_error::PageError;
use visitor::{FormAt, PageRules};
pub use visitor::{form_token, home_of};

/// One path of the dashboard.
pub struct Page {
    /// The path, such as `/o/{org}/builds/{id}`.
    pub path: &'static str,
    /// The lowest role that may see it.
    pub least: Role,
    /// Whether its form may exceed memory: then the page itself reads the form and verifies its token.
    pub streams: bool,
    /// Whether it is a confirmation page.
    pub confirms: bool,
    /// Where the form that posts to this path is.
    form_at: FormAt,
    handler: MethodRouter<Arc<App>>,
}

fn page(path: &'static str, least: Role, handler: MethodRouter<Arc<App>>) -> Page {
    Page {
        path,
        least,
        streams: false,
        confirms: false,
        form_at: FormAt::Here,
        handler,
    }
}

impl Page {
    /// Sets the location of the form, for a path without a page of its own.
    fn form_at(self, form_at: FormAt) -> Page {
        Page { form_at, ..self }
    }
}

fn member(path: &'static str, handler: MethodRouter<Arc<App>>) -> Page {
    page(path, Role::Member, handler)
}

fn streamed(path: &'static str, handler: MethodRouter<Arc<App>>) -> Page {
    let page = member(path, handler);
    Page { streams: true, ..page }
}

/// The confirmation page of a change and the change itself, for callers who may see the page.
fn confirmed<A: Action + 'static>(page: fn(&'static str, MethodRouter<Arc<App>>) -> Page, path: &'static str) -> Page {
    Page {
        confirms: true,
        ..page(path, confirm::handlers::<A>())
    }
}

fn admin(path: &'static str, handler: MethodRouter<Arc<App>>) -> Page {
    page(path, Role::Admin, handler)
}

fn owner(path: &'static str, handler: MethodRouter<Arc<App>>) -> Page {
    page(path, Role::Owner, handler)
}

/// Every path of the dashboard, with the role that it requires.
#[expect(clippy::too_many_lines, reason = "the list of all pages")]
pub fn pages() -> Vec<Page> {
    vec![
        member("/o/{org}", get(overview::show)),
        member("/o/{org}/builds", get(builds::list)),
        member("/o/{org}/builds/live", get(builds::live)),
        member("/o/{org}/builds/{id}", get(builds::detail::show)),
        member("/o/{org}/builds/{id}/live", get(builds::detail::live)),
        member(
            "/o/{org}/builds/{id}/artifacts/{artifact}",
            get(builds::detail::download),
        ),
        confirmed::<builds::actions::Cancel>(member, "/o/{org}/builds/{id}/cancel"),
        confirmed::<builds::actions::Retry>(member, "/o/{org}/builds/{id}/retry"),
        confirmed::<builds::actions::Delete>(member, "/o/{org}/builds/{id}/delete"),
        member("/o/{org}/builds/{id}/log/lines", get(builds::log::lines)),
        member("/o/{org}/builds/{id}/log/search", get(builds::log::search)),
        // The API's own handlers, for scripts of the pages. They name the build in `id`.
        member("/o/{org}/log", get(api_log::read)),
        member("/o/{org}/log/stream", get(build_stream::follow)),
        member("/o/{org}/submissions", get(submissions::list)),
        member("/o/{org}/submissions/live", get(submissions::live)),
        streamed(
            "/o/{org}/submissions/new",
            get(submissions::new::form).post(erase(submissions::new::submit)),
        ),
        member("/o/{org}/submissions/{id}", get(submissions::detail::show)),
        member("/o/{org}/submissions/{id}/live", get(submissions::detail::live)),
        confirmed::<submissions::actions::Change>(member, "/o/{org}/submissions/{id}/change"),
        confirmed::<submissions::actions::Cancel>(member, "/o/{org}/submissions/{id}/cancel"),
        confirmed::<submissions::actions::Retry>(member, "/o/{org}/submissions/{id}/retry"),
        confirmed::<submissions::actions::Delete>(member, "/o/{org}/submissions/{id}/delete"),
        member("/o/{org}/updates", get(updates::list)),
        member("/o/{org}/updates/audience", get(updates::audience::show)),
        streamed(
            "/o/{org}/updates/new",
            get(updates::new::form).post(erase(updates::new::publish)),
        ),
        member(
            "/o/{org}/updates/{id}",
            get(updates::detail::show).post(erase(updates::detail::change_notes)),
        ),
        member("/o/{org}/updates/{id}/live", get(updates::detail::live)),
        confirmed::<updates::actions::Change>(member, "/o/{org}/updates/{id}/change"),
        confirmed::<updates::republish::Promote>(member, "/o/{org}/updates/{id}/promote"),
        confirmed::<updates::republish::RollBack>(member, "/o/{org}/updates/{id}/rollback"),
        confirmed::<updates::actions::Delete>(member, "/o/{org}/updates/{id}/delete"),
        member("/o/{org}/apps", get(apps::list).post(erase(apps::create))),
        member("/o/{org}/trust", get(trust::show)),
        confirmed::<removals::DeleteApp>(admin, "/o/{org}/apps/{id}/delete"),
        member(
            "/o/{org}/deployment-keys",
            get(deployment_keys::list).post(erase(deployment_keys::create)),
        ),
        confirmed::<removals::DeleteDeploymentKey>(member, "/o/{org}/deployment-keys/{id}/delete"),
        admin("/o/{org}/env", get(env_vars::list).post(erase(env_vars::set))),
        confirmed::<removals::DeleteVariable>(admin, "/o/{org}/env/{id}/delete"),
        admin(
            "/o/{org}/credentials",
            get(credentials::list).post(erase(credentials::create)),
        ),
        confirmed::<removals::DeleteCredential>(admin, "/o/{org}/credentials/{id}/delete"),
        admin("/o/{org}/api-keys", get(api_keys::list).post(erase(api_keys::create))),
        confirmed::<removals::RevokeKey>(admin, "/o/{org}/api-keys/{id}/revoke"),
        admin("/o/{org}/webhooks", get(webhooks::list).post(erase(webhooks::create))),
        admin(
            "/o/{org}/webhooks/{id}",
            get(webhooks::show).post(erase(webhooks::change)),
        ),
        admin("/o/{org}/webhooks/{id}/test", post(webhooks::test)).form_at(FormAt::Up(1)),
        confirmed::<webhooks::actions::SetStatus>(admin, "/o/{org}/webhooks/{id}/status"),
        confirmed::<webhooks::actions::Rotate>(admin, "/o/{org}/webhooks/{id}/rotate"),
        confirmed::<webhooks::actions::Delete>(admin, "/o/{org}/webhooks/{id}/delete"),
        admin(
            "/o/{org}/webhooks/{id}/deliveries/{delivery}",
            post(webhooks::redeliver),
        )
        .form_at(FormAt::Up(2)),
        member("/o/{org}/members", get(members::list)),
        admin("/o/{org}/invitations", post(members::invite)).form_at(FormAt::Page("/members")),
        confirmed::<removals::Uninvite>(admin, "/o/{org}/invitations/{id}/delete"),
        confirmed::<members::actions::ChangeRole>(admin, "/o/{org}/members/{id}/role"),
        confirmed::<members::actions::Remove>(member, "/o/{org}/members/{id}/remove"),
        owner("/o/{org}/name", post(members::rename)).form_at(FormAt::Page("/members")),
        admin(
            "/o/{org}/runners",
            get(runners::list).post(erase(runners::create_token)),
        ),
        confirmed::<removals::RevokeRunner>(admin, "/o/{org}/runners/{id}/revoke"),
        member("/o/{org}/usage", get(usage::show)),
        admin("/o/{org}/audit", get(audit::list)),
        admin("/o/{org}/audit/print", get(audit::print)),
        member("/o/{org}/profile", get(profile::show)),
        member("/o/{org}/profile/password", post(profile::change_password)).form_at(FormAt::Up(1)),
        member(
            "/o/{org}/profile/two-factor",
            get(two_factor::show).post(erase(two_factor::begin)),
        ),
        member("/o/{org}/profile/two-factor/confirm", post(two_factor::confirm)).form_at(FormAt::Up(1)),
        member("/o/{org}/profile/two-factor/remove", post(two_factor::remove)).form_at(FormAt::Up(1)),
        member("/o/{org}/profile/sessions/{id}/revoke", post(profile::revoke)).form_at(FormAt::Up(3)),
    ]
}

/// Any other path of an organization.
async fn no_such_page() -> PageError {
    PageError(ApiError::NoSuchPath)
}

/// The dashboard's pages and their static files.
pub fn router(app: &Arc<App>) -> Router<Arc<App>> {
    let assets = Router::new().route("/assets/{hash}/{name}", get(assets::serve));
    let pages = pages().into_iter().fold(Router::new(), |router, page| {
        let door = PageRules {
            app: app.clone(),
            least: page.least,
            streams: page.streams,
            form_at: page.form_at,
        };
        let admission = from_fn_with_state(door, visitor::admit_visitor);
        router.route(page.path, page.handler.route_layer(admission))
    });
    let door = PageRules {
        app: app.clone(),
        least: Role::Member,
        streams: false,
        form_at: FormAt::Here,
    };
    let admission = from_fn_with_state(door, visitor::admit_visitor);
    let nothing = any(no_such_page).layer(admission);
    let pages = pages.route("/o/{org}/{*nothing}", nothing);
    assets.merge(pages.route_layer(from_fn_with_state(app.clone(), page_limit::by_address)))
}
