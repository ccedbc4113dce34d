//! Who looks at a page: a signed-in user in the organization that the path names, with the role that the page needs.
//! Whoever is not a member gets the same answer as where there is no such organization.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_domain::id::SessionId;
use launchway_domain::org::{Org, Session, User};
use launchway_domain::tenancy::Role;

use super::frame::Notice;
use super::posted::Posted;
use super::trouble::Trouble;
use crate::app::App;
use crate::blob::percent::encoded;
use crate::caller::{Caller, Origin, Who};
use crate::failure::Failure;
use crate::http::extract::Query;
use crate::http::pages::FOREIGN_FORM;
use crate::http::{admit, cookies};
use crate::mac::MacKey;
use crate::master_key::Purpose;

/// A signed-in member of the organization whose page this is.
#[derive(Clone)]
pub struct Visitor {
    /// The same, as operations know it.
    pub caller: Caller,
    /// The organization.
    pub org: Org,
    /// The visitor's role there.
    pub role: Role,
    /// The visitor's address.
    pub email: String,
    /// What the visitor's forms carry.
    pub token: String,
    /// What was just done.
    pub notice: Option<&'static str>,
}

impl Visitor {
    /// Who looks, and the session it is done with.
    pub fn user(&self) -> Result<(&Session, &User), Failure> {
        match &self.caller.who {
            Who::Session { session, user, .. } => Ok((session, user)),
            Who::Key { .. } => Err(Failure::NoAuthentication),
        }
    }

    /// Where the pages of the organization begin.
    pub fn home(&self) -> String {
        home_of(&self.org)
    }

    /// The visitor's other organizations: where their pages begin, and their names.
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

/// Where the pages of an organization begin.
pub fn home_of(org: &Org) -> String {
    format!("/o/{}", org.id)
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Trouble;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Trouble> {
        let visitor = parts.extensions.get::<Visitor>().cloned();
        visitor.ok_or(Trouble(Failure::NoAuthentication))
    }
}

/// Lets a visitor in, or answers why not. A form that is sent is read here and its token checked, so that no page can
/// forget to.
pub async fn admit_visitor(
    State((app, least, streams)): State<(Arc<App>, Role, bool)>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let visitor = match visitor(&app, &parts, least).await {
        Ok(visitor) => visitor,
        Err(Trouble(Failure::NoAuthentication)) => return to_sign_in(&parts),
        Err(trouble) => return trouble.into_response(),
    };
    let mut request = Request::from_parts(parts, body);
    let org = visitor.org.id;
    let is_other = cookies::last_org(request.headers()) != Some(&org.to_string());
    let is_change = request.method() != Method::GET && request.method() != Method::HEAD;
    if is_change && !admit::from_own_pages(&app, request.headers()) {
        return Trouble(Failure::Forbidden(FOREIGN_FORM.to_owned())).into_response();
    }
    if is_change && !streams {
        request = match Posted::read_checked(&app, request, &visitor.token).await {
            Ok(request) => request,
            Err(trouble) => return trouble.into_response(),
        };
    }
    request.extensions_mut().insert(visitor.caller.clone());
    request.extensions_mut().insert(visitor);
    let mut response = next.run(request).await;
    if is_other && response.status().is_success() {
        let headers = response.headers_mut();
        headers.append(header::SET_COOKIE, cookies::remember_org(&app, org));
    }
    response
}

async fn visitor(app: &App, parts: &Parts, least: Role) -> Result<Visitor, Trouble> {
    let who = admit::session_caller(app, &parts.headers).await?;
    app.last_used.note(&who, app.clock.now());
    let origin = parts.extensions.get::<Origin>().cloned();
    let origin = origin.ok_or_else(|| Failure::Internal("a request without origin".to_owned()))?;
    let Who::Session {
        session,
        user,
        memberships,
    } = &who
    else {
        return Err(Failure::NoAuthentication.into());
    };
    let named = parts.uri.path().split('/').nth(2).unwrap_or_default();
    let member_of = memberships.iter().find(|(org, _)| org.id.to_string() == named);
    let (org, role) = member_of.cloned().ok_or(Failure::NoSuch("organization"))?;
    if role < least {
        return Err(Failure::Forbidden(format!(
            "This page needs the role {least} in {}; yours is {role}. Ask an admin of the organization.",
            org.name
        ))
        .into());
    }
    let done = Query::parse(parts.uri.query().unwrap_or_default());
    Ok(Visitor {
        email: user.email.clone(),
        token: form_token(app, session.id),
        notice: done.get("done").ok().flatten().and_then(Notice::words),
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

/// The token of a session's forms: no other site knows it.
pub fn form_token(app: &App, session: SessionId) -> String {
    let key = MacKey::new(&app.vault.derive(Purpose::Forms));
    BASE64_URL_SAFE_NO_PAD.encode(key.of(&[session.to_string().as_bytes()]))
}

/// To the sign-in, and back from there to the page that was asked for.
fn to_sign_in(parts: &Parts) -> Response {
    let wanted = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let target = if parts.method == Method::GET {
        format!("/?next={}", encoded(wanted))
    } else {
        "/".to_owned()
    };
    let mut response = Redirect::to(&target).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
