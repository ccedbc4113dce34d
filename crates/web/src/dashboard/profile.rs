//! `/o/{org}/profile`: the visitor's own password and sessions.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::auth::SessionView;
use launchway_domain::id::SessionId;
use launchway_domain::org::Session;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::sessions::{self, EndSession};
use launchway_ops::two_factor::{self, State as Codes};
use launchway_ops::{accounts, proof};
use launchway_store::Paging;

use super::form_data::{Form, FormData};
use super::frame::{Frame, Notice, page, redirect_with_notice};
use super::page_error::PageError;
use super::visitor::Visitor;
use crate::cookies;
use crate::extract::SameSiteBrowser;

/// Sessions that are shown.
const LATEST: Paging = Paging { limit: 100, offset: 0 };

#[derive(Template)]
#[template(path = "dashboard/profile.html")]
struct Profile {
    frame: Frame,
    sessions: Vec<SessionView>,
    codes: Codes,
    has_password: bool,
    form: Form,
}

async fn read_page(app: &App, visitor: &Visitor, form: Form) -> Result<Profile, ApiError> {
    let (session, user) = visitor.user()?;
    app.last_used.flush(&app.db).await?;
    let mut tx = app.db.read().await?;
    let mut system = tx.system("a session belongs to a user, not to a tenant");
    let rows = system.sessions(user.id, app.clock.now(), LATEST).await?;
    let view = |listed: &Session| SessionView::of(listed, listed.id == session.id);
    drop(tx);
    Ok(Profile {
        frame: Frame::new(app, visitor, "profile", "Profile"),
        sessions: rows.items.iter().map(view).collect(),
        codes: two_factor::state(app, user.id).await?,
        has_password: proof::has_password(app, user).await?,
        form,
    })
}

pub async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    Ok(page(StatusCode::OK, &read_page(&app, &visitor, Form::default()).await?))
}

/// Sets a new password, or the first one. All other sessions of the user end; this browser gets a new one.
pub async fn change_password(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    SameSiteBrowser(browser): SameSiteBrowser,
    form_data: FormData,
) -> Result<Response, PageError> {
    let (session, user) = visitor.user()?;
    let text = |name: &str| {
        let bytes = form_data.bytes(name).unwrap_or_default();
        std::str::from_utf8(bytes).map_err(|_| ApiError::bad(format!("{name} is not valid UTF-8")))
    };
    let changed = match (text("current"), text("password")) {
        (Ok(current), Ok(new)) => {
            accounts::change_password(&app, user, session.created_at, current, new, &browser).await
        }
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
    };
    match changed {
        Ok(signed_in) => {
            let mut response = redirect_with_notice(&visitor, "/profile", Notice::PASSWORD_CHANGED);
            cookies::sign_in(&app, &signed_in, response.headers_mut());
            Ok(response)
        }
        Err(failure) => {
            let form = Form::refused(FormData::default(), &failure);
            Ok(page(failure.status().0, &read_page(&app, &visitor, form).await?))
        }
    }
}

/// Ends one of the visitor's sessions; ending the current one signs out.
pub async fn revoke(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let (_, user) = visitor.user()?;
    let id: SessionId = id.parse().map_err(|_| ApiError::NoSuch("session"))?;
    sessions::end_session(&app, user.id, id, EndSession::Revoke, &visitor.caller.origin).await?;
    Ok(redirect_with_notice(&visitor, "/profile", Notice::SESSION_REVOKED))
}
