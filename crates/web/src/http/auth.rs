//! `/auth`: sign-in and sign-out, the caller's identity, and the links of first run, invitations and password resets.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::Response;
use launchway_api::auth::{AcceptInvitation, CallerView, ResetPassword, Setup, SignIn, SizeLimits, UserView};
use launchway_api::error::ErrorBody;
use launchway_api::keys::KeyView;
use launchway_api::lists::Deleted;
use launchway_api::orgs::OrgView;
use launchway_api::words::{ActiveStatus, CallerKind, DoneStatus};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Caller, Origin, Who};
use launchway_ops::sessions::{self, EndSession, SignedIn};
use launchway_ops::{accounts, sign_in};

use crate::cookies;
use crate::extract::{Body, SMALL_BODY, SameSiteBrowser};
use crate::http::answers::{found, id_and_status};
use crate::http::orgs;

/// Signs a browser in and sets its cookie.
#[utoipa::path(
    post,
    path = "/auth/sign-in",
    tag = "Sessions",
    request_body = SignIn,
    responses(
        (status = 200, description = "The caller; the response sets the session cookie", body = CallerView),
        (status = 401, description = "The address, the password or the code is wrong, or a required `code` is missing", body = ErrorBody),
        (status = 403, description = "The request came from another site", body = ErrorBody),
        (status = 429, description = "Too many wrong passwords or codes for this account or from this address", body = ErrorBody),
    )
)]
pub async fn sign_in(
    State(app): State<Arc<App>>,
    SameSiteBrowser(browser): SameSiteBrowser,
    body: Body<SignIn, SMALL_BODY>,
) -> Result<Response, ApiError> {
    let SignIn { email, password, code } = &body.0;
    let signed_in = sign_in::sign_in(&app, email, password, code.as_deref(), &browser).await?;
    welcome(&app, signed_in, browser.origin).await
}

/// Creates the first organization and its owner, with the one-time link that the server printed.
#[utoipa::path(
    post,
    path = "/auth/setup",
    tag = "Sessions",
    request_body = Setup,
    responses(
        (status = 200, description = "The caller; the response sets the session cookie", body = CallerView),
        (status = 401, description = "The link was already used", body = ErrorBody),
        (status = 403, description = "The request came from another site", body = ErrorBody),
    )
)]
pub async fn setup(
    State(app): State<Arc<App>>,
    SameSiteBrowser(browser): SameSiteBrowser,
    body: Body<Setup, SMALL_BODY>,
) -> Result<Response, ApiError> {
    let (signed_in, _) = accounts::set_up(&app, &body.0, &browser).await?;
    welcome(&app, signed_in, browser.origin).await
}

/// Accepts an invitation: joins the organization and signs in.
#[utoipa::path(
    post,
    path = "/auth/invitation",
    tag = "Sessions",
    request_body = AcceptInvitation,
    responses(
        (status = 200, description = "The caller; the response sets the session cookie", body = CallerView),
        (status = 401, description = "The link was used or has expired, the password or the code is wrong, or a required `code` is missing", body = ErrorBody),
        (status = 403, description = "The request came from another site", body = ErrorBody),
        (status = 429, description = "Too many wrong passwords or codes for this account or from this address", body = ErrorBody),
    )
)]
pub async fn accept_invitation(
    State(app): State<Arc<App>>,
    SameSiteBrowser(browser): SameSiteBrowser,
    body: Body<AcceptInvitation, SMALL_BODY>,
) -> Result<Response, ApiError> {
    let AcceptInvitation { token, password, code } = &body.0;
    let signed_in = accounts::accept_invitation(&app, token, password, code.as_deref(), &browser).await?;
    welcome(&app, signed_in, browser.origin).await
}

/// Sets a new password with a link from the operator. All sessions of the user end.
#[utoipa::path(
    post,
    path = "/auth/reset",
    tag = "Sessions",
    request_body = ResetPassword,
    responses(
        (status = 200, description = "The password is set; sign in with it", body = Deleted),
        (status = 401, description = "The link was used or has expired", body = ErrorBody),
        (status = 403, description = "The request came from another site", body = ErrorBody),
    )
)]
pub async fn reset_password(
    State(app): State<Arc<App>>,
    SameSiteBrowser(browser): SameSiteBrowser,
    body: Body<ResetPassword, SMALL_BODY>,
) -> Result<Response, ApiError> {
    accounts::reset_password(&app, &body.0.token, &body.0.password, &browser.origin).await?;
    Ok(id_and_status("password", DoneStatus::Changed))
}

/// Signs this browser out.
#[utoipa::path(
    post,
    path = "/auth/sign-out",
    tag = "Sessions",
    responses((status = 200, description = "The session has ended; the cookie is cleared", body = Deleted))
)]
pub async fn sign_out(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, ApiError> {
    let Who::Session { session, user, .. } = &caller.who else {
        return Err(ApiError::NoAuthentication);
    };
    sessions::end_session(&app, user.id, session.id, EndSession::SignOut, &caller.origin).await?;
    let mut response = id_and_status(session.id, DoneStatus::Revoked);
    response
        .headers_mut()
        .insert(header::SET_COOKIE, cookies::sign_out(&app));
    Ok(response)
}

/// Returns the caller: the session or the API key.
#[utoipa::path(
    get,
    path = "/auth/session",
    tag = "Sessions",
    responses((status = 200, description = "The caller and the organizations it may name", body = CallerView))
)]
pub async fn session(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, ApiError> {
    Ok(found(&view(&app, &caller)))
}

fn view(app: &App, caller: &Caller) -> CallerView {
    let (id, kind, user, key) = match &caller.who {
        Who::Key { key, .. } => (
            key.id.to_string(),
            CallerKind::ApiKey,
            None,
            Some(KeyView::of(key, app.clock.now())),
        ),
        Who::Session { session, user, .. } => (
            session.id.to_string(),
            CallerKind::Session,
            Some(UserView::of(user)),
            None,
        ),
    };
    CallerView {
        id,
        status: ActiveStatus::Active.into(),
        kind: kind.into(),
        environment: app.config.environment.into(),
        user,
        key,
        organization: caller.org.as_ref().map(|org| OrgView::of(org, caller.role)),
        organizations: orgs::of_caller(caller),
        limits: Some(SizeLimits {
            source: app.config.max_source_size,
            package: app.config.max_package_size,
            unpacked_package: app.config.package_limits.max_unpacked,
        }),
    }
}

/// The response to a sign-in: the identity, and the cookie.
async fn welcome(app: &App, signed_in: SignedIn, origin: Origin) -> Result<Response, ApiError> {
    let memberships = app
        .db
        .read()
        .await?
        .system("a user may be in several tenants")
        .memberships(signed_in.user.id)
        .await?;
    let (org, role) = memberships.first().cloned().unzip();
    let caller = Caller {
        who: Who::Session {
            session: signed_in.session.clone(),
            user: signed_in.user.clone(),
            memberships,
        },
        org,
        role,
        origin,
    };
    let mut response = found(&view(app, &caller));
    cookies::sign_in(app, &signed_in, response.headers_mut());
    Ok(response)
}
