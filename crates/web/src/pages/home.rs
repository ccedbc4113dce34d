//! The first page: the sign-in, or for signed-in users a redirect to the dashboard.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Redirect, Response};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Caller, NO_ORGANIZATION, Origin, Who};
use launchway_ops::sessions::{self, EndSession};

use super::sign_in::{self, Step, wanted_page, way_to_provider};
use super::{Form, Page, error_page, field, fields, foreign_form, input, page_or_error, redirect_signed_in};
use crate::dashboard::home_of;
use crate::extract::SameSiteBrowser;
use crate::page_headers::protect;
use crate::query::Query;
use crate::{admit, cookies, same_site};

/// The message for a user who sent a form after the session had ended.
const KEPT_FORM: &str = "Your session has ended, and nothing was sent. Your entries are kept for an hour and shown \
                         again after you sign in. Files and secrets are not kept.";

/// The sign-in form, which leads to `next` afterwards, or to the first page.
pub(super) fn sign_in_page(app: &App, email: &str, next: &str) -> Page {
    let mut inputs = vec![
        input("email", "E-mail address", "email", "username", email),
        input("password", "Password", "password", "current-password", ""),
    ];
    if !next.is_empty() {
        inputs.push(input("next", "", "hidden", "off", next));
    }
    let kept = next.contains("?kept=");
    Page {
        title: "Sign in",
        words: kept.then(|| KEPT_FORM.to_owned()).into_iter().collect(),
        provider: way_to_provider(app, next),
        form: Some(Form {
            action: "/",
            token: String::new(),
            inputs,
            button: "Sign in",
            ..Form::default()
        }),
        ..Page::default()
    }
}

/// Redirects a signed-in user to the organization shown last, or the oldest.
fn to_dashboard(caller: &Caller, headers: &HeaderMap) -> Response {
    let Who::Session { memberships, .. } = &caller.who else {
        return ApiError::NoAuthentication.into_response();
    };
    let last = cookies::last_org(headers).unwrap_or_default();
    let known = memberships.iter().find(|(org, _)| org.id.to_string() == last);
    let Some((org, _)) = known.or(memberships.first()) else {
        let page = Page {
            title: "Launchway",
            words: vec![NO_ORGANIZATION.to_owned()],
            sign_out: true,
            ..Page::default()
        };
        return page.into_response();
    };
    let mut response = Redirect::to(&home_of(org)).into_response();
    protect(&mut response);
    response
}

/// The signed-in user of a page request's cookie.
pub(super) async fn page_caller(app: &App, headers: &HeaderMap, origin: &Origin) -> Result<Option<Caller>, ApiError> {
    match admit::session_caller(app, headers).await {
        Ok(who) => {
            app.last_used.note(&who, app.clock.now());
            Ok(Some(admit::in_oldest_org(who, origin.clone())))
        }
        Err(ApiError::NoAuthentication) => Ok(None),
        Err(failure) => Err(failure),
    }
}

pub async fn show(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    if let Some(caller) = page_caller(&app, &headers, &origin).await? {
        return Ok(to_dashboard(&caller, &headers));
    }
    if app
        .db
        .read()
        .await?
        .system("whether this is the first run")
        .has_orgs()
        .await?
    {
        return Ok(sign_in_page(&app, "", wanted_page(field(&query, "next")?).unwrap_or_default()).into_response());
    }
    let words = "This server is new. Open the setup link that it printed when it started.".to_owned();
    Ok(Page {
        title: "Launchway",
        words: vec![words],
        ..Page::default()
    }
    .into_response())
}

pub async fn submit(
    State(app): State<Arc<App>>,
    SameSiteBrowser(browser): SameSiteBrowser,
    request: Request,
) -> Result<Response, ApiError> {
    let own = same_site::is_from_own_pages(&app, request.headers());
    let caller = page_caller(&app, request.headers(), &browser.origin).await?;
    let form = fields(request).await?;
    match (field(&form, "token")?, caller) {
        // A change with a cookie must provably come from this site.
        ("sign-out", Some(_)) if !own => Ok(foreign_form()),
        ("sign-out", Some(caller)) => sign_out(&app, &caller).await,
        _ => {
            let (email, next) = (field(&form, "email")?, wanted_page(field(&form, "next")?));
            Ok(match sign_in::step(&app, &form, &browser).await? {
                Step::In(done) => redirect_signed_in(&app, &done, next.unwrap_or("/")),
                Step::Code(first, wrong) => {
                    let more = next.map(|next| input("next", "", "hidden", "off", next));
                    let page = sign_in::code_page("/", "", &first, more.into_iter().collect());
                    page_or_error(page, wrong)
                }
                Step::Again(failure) => error_page(sign_in_page(&app, email, next.unwrap_or_default()), failure),
            })
        }
    }
}

async fn sign_out(app: &App, caller: &Caller) -> Result<Response, ApiError> {
    if let Who::Session { session, user, .. } = &caller.who {
        sessions::end_session(app, user.id, session.id, EndSession::SignOut, &caller.origin).await?;
    }
    let mut response = Redirect::to("/").into_response();
    response
        .headers_mut()
        .insert(header::SET_COOKIE, cookies::sign_out(app));
    Ok(response)
}
