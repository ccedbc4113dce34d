//! Admits callers: authentication (401), rate limit (429), `orgId` and scope or role (403), in this order
//! (`docs/reference/conventions.md#order-of-checks`).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use launchway_api::secret::SecretText;
use launchway_domain::api_key::ApiKey;
use launchway_domain::build::Runner;
use launchway_domain::key::KeyStatus;
use launchway_domain::org::Org;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Caller, NO_ORGANIZATION, Origin, RunnerCaller, Who};
use launchway_ops::limits::calls::Quota;
use launchway_ops::runners;
use launchway_os::random::token_hash;

use crate::cookies;
use crate::query::Query;
use crate::same_site::is_from_own_pages;

const OTHER_ORGANIZATION: &str = "orgId must be an organization that this caller can act in";
const OTHER_SITE: &str = "A change made with a session must come from the dashboard's own pages";

/// Who may call an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody (`docs/reference/conventions.md#routes-without-authentication`).
    Public,
    /// A caller with a report token, which the endpoint itself verifies.
    ReportToken,
    /// A key with this scope, or any member.
    Scope(Scope),
    /// Any key, or any member.
    Anyone,
    /// A member with at least this role, also by a key with the admin scope; or such a key that is in nobody's name.
    Admin(Role),
    /// A signed-in user, who need not be a member of an organization.
    Session,
    /// Any key or signed-in user, who need not be a member of an organization.
    Caller,
    /// A runner, with the token that it got at enrollment.
    Runner,
    /// A caller with a one-time enrollment token for a runner.
    OneTimeToken,
}

/// Admits a request to an endpoint, or responds with the refusal.
pub async fn admit(State((app, access)): State<(Arc<App>, Access)>, mut request: Request, next: Next) -> Response {
    let who = match authenticate(&app, request.headers()).await {
        Ok(who) => who,
        Err(failure) => return failure.into_response(),
    };
    let origin = request.extensions().get::<Origin>().cloned();
    let Some(origin) = origin else {
        return ApiError::Internal("a request without origin".to_owned()).into_response();
    };
    let now = app.clock.now();
    app.last_used.note(&who, now);
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let choice = choose_org(&who, &query);
    let home = home(&who, choice.as_ref().ok().cloned().flatten());
    let (subject, tier) = match (&home, &who) {
        (Some(org), _) | (None, Who::Key { org, .. }) => (org.id.to_string(), org.tier),
        (None, Who::Session { user, .. }) => (user.id.to_string(), Tier::Free),
    };
    let quota = match app.calls.count(&subject, tier.requests_per_minute(), now).await {
        Ok(quota) => quota,
        Err(failure) => return failure.into_response(),
    };
    let response = if quota.exceeded {
        ApiError::RateLimited(quota.wait(now)).into_response()
    } else {
        match allow(&app, access, who, home, choice, &request, origin) {
            Ok(caller) => {
                request.extensions_mut().insert(caller);
                next.run(request).await
            }
            Err(failure) => failure.into_response(),
        }
    };
    with_quota(response, &quota)
}

fn with_quota(mut response: Response, quota: &Quota) -> Response {
    let headers = response.headers_mut();
    headers.insert("x-ratelimit-limit", HeaderValue::from(quota.limit));
    headers.insert("x-ratelimit-remaining", HeaderValue::from(quota.remaining));
    headers.insert("x-ratelimit-reset", HeaderValue::from(quota.reset));
    response
}

/// Bearer takes precedence over a cookie. A Bearer value that fails in any way is an invalid key; anything else is no
/// authentication.
async fn authenticate(app: &App, headers: &HeaderMap) -> Result<Who, ApiError> {
    match bearer(headers)? {
        Some(token) => key_caller(app, token).await,
        None => session_caller(app, headers).await,
    }
}

/// The Bearer value of a request; `None` without one. Two values are invalid.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let mut authorization = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = authorization.next() else {
        return Ok(None);
    };
    let bytes = value.as_bytes();
    let (scheme, token) = bytes.split_at_checked(7).unwrap_or((bytes, &[]));
    let is_bearer = scheme.eq_ignore_ascii_case(b"bearer ") || bytes.eq_ignore_ascii_case(b"bearer");
    match (is_bearer, authorization.next()) {
        (true, None) => Ok(Some(std::str::from_utf8(token).unwrap_or_default().trim())),
        (true, Some(_)) => Err(ApiError::InvalidKey),
        (false, _) => Ok(None),
    }
}

/// Admits a runner by the token that it got at enrollment. Runners are not counted against a rate limit.
pub async fn admit_runner(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let origin = request.extensions().get::<Origin>().cloned();
    let Some(origin) = origin else {
        return ApiError::Internal("a request without origin".to_owned()).into_response();
    };
    match runner_caller(&app, request.headers()).await {
        Ok(runner) => {
            request.extensions_mut().insert(RunnerCaller { runner, origin });
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    }
}

/// Admits a caller with a valid one-time token. The endpoint consumes the token.
pub async fn admit_one_time(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    match one_time_token(&app, request.headers()).await {
        Ok(token) => {
            request.extensions_mut().insert(token);
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    }
}

async fn one_time_token(app: &App, headers: &HeaderMap) -> Result<OneTimeToken, ApiError> {
    let token = bearer(headers)?.ok_or(ApiError::NoAuthentication)?;
    let mut tx = app.db.read().await?;
    let good = tx
        .system("a one-time token is found by its hash before its tenant is known")
        .is_valid_runner_token(&token_hash(token), app.clock.now())
        .await?;
    if !good {
        return Err(ApiError::InvalidKey);
    }
    Ok(OneTimeToken(SecretText::new(token.to_owned())))
}

/// The one-time token of a request.
#[derive(Clone, Debug)]
pub struct OneTimeToken(pub SecretText);

async fn runner_caller(app: &App, headers: &HeaderMap) -> Result<Runner, ApiError> {
    let token = bearer(headers)?.ok_or(ApiError::NoAuthentication)?;
    let mut tx = app.db.read().await?;
    let runner = tx
        .system("a runner is found by its hash before its tenant is known")
        .runner_by_token(&token_hash(token))
        .await?
        .ok_or(ApiError::InvalidKey)?;
    drop(tx);
    runners::note(app, runner).await
}

async fn key_caller(app: &App, token: &str) -> Result<Who, ApiError> {
    let key = ApiKey::parse(token).ok_or(ApiError::InvalidKey)?;
    let mut tx = app.db.read().await?;
    let record = tx
        .system("a key is found by its hash before its tenant is known")
        .key_by_hash(&key.hash())
        .await?;
    let key = record
        .filter(|key| key.status(app.clock.now()) == KeyStatus::Active)
        .ok_or(ApiError::InvalidKey)?;
    let mut door = tx.org(key.org_id);
    let org = door.record().await?.ok_or(ApiError::InvalidKey)?;
    // A key from a browser sign-in works only while its user may approve one, and with the rights of that user.
    let role = match key.device_login {
        Some(_) => {
            let role = door.browser_key_role(key.id, app.clock.now()).await?;
            Some(role.ok_or(ApiError::InvalidKey)?)
        }
        None => None,
    };
    Ok(Who::Key { key, org, role })
}

/// The signed-in user of a request's cookie. A missing cookie and an expired one are no authentication.
pub async fn session_caller(app: &App, headers: &HeaderMap) -> Result<Who, ApiError> {
    let token = cookies::session_token(app, headers).ok_or(ApiError::NoAuthentication)?;
    let mut tx = app.db.read().await?;
    let mut system = tx.system("a session belongs to a user, not to a tenant");
    let session = system
        .session_by_token(&token_hash(token), app.clock.now())
        .await?
        .ok_or(ApiError::NoAuthentication)?;
    let user = system.user(session.user_id).await?.ok_or(ApiError::NoAuthentication)?;
    let memberships = system.memberships(user.id).await?;
    Ok(Who::Session {
        session,
        user,
        memberships,
    })
}

/// The organization that `orgId` names: `Ok(None)` without `orgId`, an error if the caller does not act there. The
/// error does not reveal whether the organization exists.
fn choose_org(who: &Who, query: &Query) -> Result<Option<Org>, ApiError> {
    let Some(wanted) = query.get("orgId")? else {
        return Ok(None);
    };
    let foreign = || ApiError::Forbidden(OTHER_ORGANIZATION.to_owned());
    match who {
        Who::Key { org, .. } if org.id.to_string() == wanted => Ok(None),
        Who::Key { .. } => Err(foreign()),
        Who::Session { memberships, .. } => {
            let named = memberships.iter().find(|(org, _)| org.id.to_string() == wanted);
            named.map(|(org, _)| Some(org.clone())).ok_or_else(foreign)
        }
    }
}

/// The organization that the request acts in and is counted for: a key's own; for a session the one it names, else its
/// oldest.
fn home(who: &Who, chosen: Option<Org>) -> Option<Org> {
    match who {
        Who::Key { org, .. } => Some(org.clone()),
        Who::Session { memberships, .. } => chosen.or_else(|| memberships.first().map(|(org, _)| org.clone())),
    }
}

fn allow(
    app: &App,
    access: Access,
    who: Who,
    org: Option<Org>,
    choice: Result<Option<Org>, ApiError>,
    request: &Request,
    origin: Origin,
) -> Result<Caller, ApiError> {
    choice?;
    let role = match (&who, &org) {
        (Who::Key { role, .. }, _) => *role,
        (Who::Session { memberships, .. }, Some(org)) => memberships
            .iter()
            .find(|(member_of, _)| member_of.id == org.id)
            .map(|(_, role)| *role),
        _ => None,
    };
    if matches!(who, Who::Session { .. }) && !is_safe(request.method()) && !is_from_own_pages(app, request.headers()) {
        return Err(ApiError::Forbidden(OTHER_SITE.to_owned()));
    }
    let needs_org = !matches!(access, Access::Session | Access::Caller);
    if needs_org && org.is_none() {
        return Err(ApiError::Forbidden(NO_ORGANIZATION.to_owned()));
    }
    check_access(access, &who, role)?;
    Ok(Caller { who, org, role, origin })
}

/// A signed-in user acting in the oldest of its organizations, for the pages.
pub fn in_oldest_org(who: Who, origin: Origin) -> Caller {
    let (org, role) = match &who {
        Who::Session { memberships, .. } => memberships.first().cloned().unzip(),
        Who::Key { org, role, .. } => (Some(org.clone()), *role),
    };
    Caller { who, org, role, origin }
}

fn check_access(access: Access, who: &Who, role: Option<Role>) -> Result<(), ApiError> {
    let needed_scope = match access {
        Access::Scope(scope) => Some(scope),
        Access::Admin(_) => Some(Scope::Admin),
        _ => None,
    };
    match (who, needed_scope) {
        (Who::Key { key, .. }, Some(scope)) if !key.scopes.contains(&scope) => Err(ApiError::MissingScope(scope)),
        (Who::Key { .. }, _) if access == Access::Session => Err(ApiError::Forbidden(
            "This requires a signed-in user. An API key has no session.".to_owned(),
        )),
        (Who::Key { role: None, .. }, _) => Ok(()),
        (Who::Key { .. } | Who::Session { .. }, _) => check_role(access, role),
    }
}

fn check_role(access: Access, role: Option<Role>) -> Result<(), ApiError> {
    match access {
        Access::Admin(least) if role.is_none_or(|role| role < least) => {
            let yours = role.map_or("none", Role::as_str);
            Err(ApiError::Forbidden(format!(
                "This requires the role {least} in the organization, but your role is {yours}"
            )))
        }
        _ => Ok(()),
    }
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}
