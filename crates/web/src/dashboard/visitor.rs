//! The visitor of a page: a signed-in user in the organization of the path, with the role that the page requires. A
//! user who is not a member gets the same response as for an organization that does not exist.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::id::{SessionId, UserId};
use launchway_domain::mac::MacKey;
use launchway_domain::org::{Org, Session, User};
use launchway_domain::percent::encode;
use launchway_domain::tenancy::Role;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Caller, Origin, Who};
use launchway_vault::Purpose;

use super::form_data::{Form, FormData, FormError};
use super::frame::Notice;
use super::kept;
use super::page_error::{PageError, add_navigation};
use crate::query::Query;
use crate::same_site::{self, FOREIGN_FORM};
use crate::{admit, cookies};

/// A signed-in member of the organization whose page this is.
#[derive(Clone)]
pub struct Visitor {
    /// The visitor as the caller of operations.
    pub caller: Caller,
    /// The organization.
    pub org: Org,
    /// The visitor's role there.
    pub role: Role,
    /// The visitor's address.
    pub email: String,
    /// The token for the visitor's forms.
    pub token: String,
    /// The message about the last change.
    pub notice: Option<&'static str>,
    /// The warning about a form that the visitor sent too late.
    pub warning: Option<&'static str>,
    /// A form that the visitor filled in before the session ended.
    kept: Option<FormData>,
}

impl Visitor {
    /// The visitor's session and user.
    pub fn user(&self) -> Result<(&Session, &User), ApiError> {
        match &self.caller.who {
            Who::Session { session, user, .. } => Ok((session, user)),
            Who::Key { .. } => Err(ApiError::NoAuthentication),
        }
    }

    /// The form that the visitor filled in before the session ended, to be shown again; otherwise `fresh`.
    pub fn form_or(&self, fresh: Form) -> Form {
        self.kept.clone().map_or(fresh, Form::from_typed)
    }

    /// What the visitor typed before the session ended.
    pub fn kept(&self) -> Option<&FormData> {
        self.kept.as_ref()
    }

    /// The path prefix of the organization's pages.
    pub fn home(&self) -> String {
        home_of(&self.org)
    }

    /// The visitor's other organizations: path prefix and name.
    pub fn others(&self) -> Vec<(String, String)> {
        let Who::Session { memberships, .. } = &self.caller.who else {
            return Vec::new();
        };
        let others = memberships.iter().filter(|(org, _)| org.id != self.org.id);
        others.map(|(org, _)| (home_of(org), org.name.clone())).collect()
    }

    /// Whether the visitor manages the organization.
    pub fn is_admin(&self) -> bool {
        self.role >= Role::Admin
    }
}

/// The path prefix of an organization's pages.
pub fn home_of(org: &Org) -> String {
    format!("/o/{}", org.id)
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, PageError> {
        let visitor = parts.extensions.get::<Visitor>().cloned();
        visitor.ok_or(PageError(ApiError::NoAuthentication))
    }
}

/// Admits a visitor, or responds with the refusal. A submitted form is read here and its token verified, so that no
/// page can forget it.
pub async fn admit_visitor(State(door): State<PageRules>, request: Request, next: Next) -> Response {
    let app = &door.app;
    let is_change = is_change(&request);
    let is_own = !is_change || same_site::is_from_own_pages(app, request.headers());
    let (parts, body) = request.into_parts();
    let visitor = match visitor(app, &parts).await {
        Ok(visitor) => visitor,
        Err(page_error) => return door.refuse(parts, body, page_error, is_change && is_own).await,
    };
    let response = match door.check_role(&visitor) {
        Err(page_error) => door.refuse(parts, body, page_error, is_change && is_own).await,
        Ok(()) if !is_own => PageError(ApiError::Forbidden(FOREIGN_FORM.to_owned())).into_response(),
        Ok(()) => door.show(&visitor, Request::from_parts(parts, body), next).await,
    };
    add_navigation(app, &visitor, response)
}

impl PageRules {
    /// Refuses a visitor whose role is too low for the page.
    fn check_role(&self, visitor: &Visitor) -> Result<(), PageError> {
        let (least, role) = (self.least, visitor.role);
        if role >= least {
            return Ok(());
        }
        Err(PageError(ApiError::Forbidden(format!(
            "This page requires the role {least} in {}, but your role is {role}. Ask an admin of the organization.",
            visitor.org.name
        ))))
    }

    /// Reads the form of an admitted visitor, and shows the page.
    async fn show(&self, visitor: &Visitor, mut request: Request, next: Next) -> Response {
        let (app, is_change) = (&self.app, is_change(&request));
        let org = visitor.org.id;
        let is_other = cookies::last_org(request.headers()) != Some(&org.to_string());
        if is_change && !self.streams {
            let back = self.back(request.uri());
            request = match FormData::read_checked(request, &visitor.token).await {
                Ok(request) => request,
                Err(FormError::Other(form_data)) => {
                    let page = back.strip_prefix(&visitor.home()).unwrap_or_default();
                    return other_session(app, visitor, &form_data, page).await;
                }
                Err(FormError::Bad(page_error)) => return page_error.into_response(),
            };
        }
        request.extensions_mut().insert(visitor.caller.clone());
        request.extensions_mut().insert(visitor.clone());
        let mut response = next.run(request).await;
        if is_other && response.status().is_success() {
            let headers = response.headers_mut();
            headers.append(header::SET_COOKIE, cookies::remember_org(app, org));
        }
        response
    }
}

fn is_change(request: &Request) -> bool {
    request.method() != Method::GET && request.method() != Method::HEAD
}

async fn visitor(app: &App, parts: &Parts) -> Result<Visitor, PageError> {
    let who = admit::session_caller(app, &parts.headers).await?;
    app.last_used.note(&who, app.clock.now());
    let origin = parts.extensions.get::<Origin>().cloned();
    let origin = origin.ok_or_else(|| ApiError::Internal("a request without origin".to_owned()))?;
    let Who::Session {
        session,
        user,
        memberships,
    } = &who
    else {
        return Err(ApiError::NoAuthentication.into());
    };
    let named = parts.uri.path().split('/').nth(2).unwrap_or_default();
    let member_of = memberships.iter().find(|(org, _)| org.id.to_string() == named);
    let (org, role) = member_of.cloned().ok_or(ApiError::NoSuch("organization"))?;
    app.pages.count(session.id, org.id, app.clock.now())?;
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let named = query.get(kept::KEPT).ok().flatten();
    let kept = match named {
        Some(id) => kept::find(app, user.id, id).await?,
        None => None,
    };
    let warning = named.map(|_| if kept.is_some() { AGAIN } else { NOT_KEPT });
    let done = query.get("done").ok().flatten().and_then(Notice::words);
    Ok(Visitor {
        email: user.email.clone(),
        token: form_token(app, session.id, user.id),
        notice: done.filter(|_| warning.is_none()),
        warning,
        kept,
        org: org.clone(),
        role,
        caller: Caller {
            org: Some(org),
            role: Some(role),
            who,
            origin,
        },
    })
}

/// The token of a session's forms, which no other site knows. It identifies the session and its user, so that a form
/// that arrives after the session has ended can still be attributed.
pub fn form_token(app: &App, session: SessionId, user: UserId) -> String {
    let key = MacKey::new(&app.vault.derive(Purpose::Forms));
    let (session, user) = (session.to_string(), user.to_string());
    let mac = key.of(&[session.as_bytes(), &[0], user.as_bytes()]);
    format!("{session}.{user}.{}", BASE64_URL_SAFE_NO_PAD.encode(mac))
}

/// The message of a form that is shown again.
const AGAIN: &str = "You are signed in again, and the form has what you entered. Nothing was sent yet: review the \
                     form, and send it. Files and secrets were not kept.";
/// The message if there is no such form.
const NOT_KEPT: &str = "The form that you filled in is no longer available, or belongs to another user";
/// The message for a form that another user began.
const OTHER_USER: &str = "You are signed in as a different user than the one who filled in this form. Nothing was \
                          done. The form is kept for an hour: sign in as that user, then open this link.";

/// The requirements of a page.
#[derive(Clone)]
pub struct PageRules {
    pub app: Arc<App>,
    pub least: Role,
    pub streams: bool,
    /// The page of the form, for a path without a page of its own.
    pub form_at: FormAt,
}

/// The page of a form that is sent to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormAt {
    /// On the page of the same path.
    Here,
    /// That many path segments above.
    Up(usize),
    /// At another path of the organization.
    Page(&'static str),
}

impl PageRules {
    /// The page of the form that was sent to a path.
    fn back(&self, uri: &Uri) -> String {
        let parts: Vec<_> = uri.path().split('/').collect();
        match self.form_at {
            FormAt::Here => uri.path().to_owned(),
            FormAt::Up(count) => parts[..parts.len().saturating_sub(count)].join("/"),
            FormAt::Page(path) => format!("{}{path}", parts[..parts.len().min(3)].join("/")),
        }
    }

    /// Responds to a refused visitor. What was typed into a form of this server is not lost: it is kept until its user
    /// signs in, or shown as text if the page is now closed to that user.
    async fn refuse(&self, parts: Parts, body: Body, page_error: PageError, is_own_form: bool) -> Response {
        let back = self.back(&parts.uri);
        let is_away = matches!(page_error, PageError(ApiError::NoAuthentication));
        if is_away && !is_own_form {
            return to_sign_in(&parts);
        }
        let user = admit::session_caller(&self.app, &parts.headers).await.ok();
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let form_data = if is_own_form {
            let form_data = kept::read(&self.app, Request::from_parts(parts, body), self.streams).await;
            form_data.and_then(|form_data| Some((kept::owner(&self.app, &form_data)?.1, form_data)))
        } else {
            let named = query.get(kept::KEPT).ok().flatten().map(str::to_owned);
            match (&user, named) {
                (Some(Who::Session { user, .. }), Some(id)) => {
                    let found = kept::find(&self.app, user.id, &id).await.ok().flatten();
                    found.map(|form_data| (user.id, form_data))
                }
                _ => None,
            }
        };
        match (form_data, user) {
            (Some((owner, form_data)), None) if is_away => match kept::keep(&self.app, owner, &form_data).await {
                Ok(Some(id)) => to_sign_in_and(&format!("{back}?{}={id}", kept::KEPT)),
                Ok(None) => to_sign_in_and(&back),
                Err(failure) => PageError(failure).into_response(),
            },
            (Some((owner, form_data)), Some(Who::Session { user, .. })) if owner == user.id => {
                page_error.with_typed(kept::typed_fields(&form_data))
            }
            (_, None) if is_away => to_sign_in_and(""),
            _ => page_error.into_response(),
        }
    }
}

/// Responds to a form of another session than the request's. Its user may have signed in again in another tab: then it
/// is shown again on its page, a path after `/o/{org}`. It is never executed.
pub async fn other_session(app: &App, visitor: &Visitor, form_data: &FormData, page: &str) -> Response {
    let Some((_, owner)) = kept::owner(app, form_data) else {
        return PageError(ApiError::Forbidden(FOREIGN_FORM.to_owned())).into_response();
    };
    let kept = match kept::keep(app, owner, form_data).await {
        Ok(Some(id)) => format!("{}{page}?{}={id}", visitor.home(), kept::KEPT),
        Ok(None) => format!("{}{page}", visitor.home()),
        Err(failure) => return PageError(failure).into_response(),
    };
    match visitor.user() {
        Ok((_, user)) if user.id == owner => super::frame::redirect(&kept),
        _ => PageError(ApiError::Forbidden(OTHER_USER.to_owned())).with_link(&kept),
    }
}

/// Redirects to the sign-in, and from there back to the requested page.
fn to_sign_in(parts: &Parts) -> Response {
    let wanted = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    to_sign_in_and(if parts.method == Method::GET { wanted } else { "" })
}

/// Redirects to the sign-in, and from there to a page; an empty one is the first page.
fn to_sign_in_and(page: &str) -> Response {
    let target = match page {
        "" => "/".to_owned(),
        page => format!("/?next={}", encode(page)),
    };
    let mut response = Redirect::to(&target).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
