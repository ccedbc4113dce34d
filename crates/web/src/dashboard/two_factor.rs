//! `/o/{org}/profile/two-factor`: the visitor's authenticator app, enrolled with the password and the first code, and
//! the recovery codes.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_domain::totp::Secret;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::proof;
use launchway_ops::two_factor::{self, State as Codes};
use zeroize::Zeroizing;

use super::form_data::{Form, FormData};
use super::frame::{Frame, Notice, page, redirect_with_notice};
use super::page_error::PageError;
use super::visitor::Visitor;
use crate::extract::SameSiteBrowser;
use crate::http::install::qr::{self, Drawing};

#[derive(Template)]
#[template(path = "dashboard/two_factor.html")]
struct TwoFactorPage {
    frame: Frame,
    codes: Codes,
    /// Whether the account has a password.
    has_password: bool,
    /// The secret for the app, until its first code arrives.
    shared: Option<Shared>,
    /// The recovery codes, shown once.
    recovery: Vec<Zeroizing<String>>,
    form: Form,
}

/// A secret as the page shows it.
struct Shared {
    qr: Drawing,
    text: Zeroizing<String>,
}

impl Shared {
    fn of(secret: &Secret, email: &str) -> Result<Shared, ApiError> {
        Ok(Shared {
            qr: qr::draw(&secret.uri(email))?,
            text: secret.text(),
        })
    }
}

async fn read_page(app: &App, visitor: &Visitor, form: Form) -> Result<TwoFactorPage, ApiError> {
    let (_, user) = visitor.user()?;
    let waiting = two_factor::pending_secret(app, user.id).await?;
    let shared = waiting.map(|secret| Shared::of(&secret, &user.email));
    Ok(TwoFactorPage {
        frame: Frame::new(app, visitor, "profile", "Two-factor codes"),
        codes: two_factor::state(app, user.id).await?,
        has_password: proof::has_password(app, user).await?,
        shared: shared.transpose()?,
        recovery: Vec::new(),
        form,
    })
}

pub async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, PageError> {
    Ok(page(StatusCode::OK, &read_page(&app, &visitor, Form::default()).await?))
}

/// The typed current password; empty if the account has none.
fn current_password(form_data: &FormData) -> Result<&str, ApiError> {
    let password = std::str::from_utf8(form_data.bytes("present").unwrap_or_default());
    password.map_err(|_| ApiError::bad("current password is not valid UTF-8"))
}

/// Creates a new secret and shows it.
pub async fn begin(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    SameSiteBrowser(browser): SameSiteBrowser,
    form_data: FormData,
) -> Result<Response, PageError> {
    let (session, user) = visitor.user()?;
    let begun = two_factor::begin(&app, user, session.created_at, current_password(&form_data)?, &browser).await;
    match begun {
        Ok(_) => Ok(page(StatusCode::OK, &read_page(&app, &visitor, Form::default()).await?)),
        Err(failure) => page_with_error(&app, &visitor, &failure).await,
    }
}

/// Turns codes on with the first one, and shows the recovery codes.
pub async fn confirm(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    form_data: FormData,
) -> Result<Response, PageError> {
    let (_, user) = visitor.user()?;
    match two_factor::confirm(&app, user.id, form_data.text("code")?, &visitor.caller.origin).await {
        Ok(recovery) => {
            let shown = read_page(&app, &visitor, Form::default()).await?;
            Ok(page(StatusCode::OK, &TwoFactorPage { recovery, ..shown }))
        }
        Err(failure) => page_with_error(&app, &visitor, &failure).await,
    }
}

/// Turns codes off.
pub async fn remove(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    SameSiteBrowser(browser): SameSiteBrowser,
    form_data: FormData,
) -> Result<Response, PageError> {
    let (_, user) = visitor.user()?;
    let removed = two_factor::remove(
        &app,
        user,
        current_password(&form_data)?,
        form_data.text("code")?,
        &browser,
    )
    .await;
    match removed {
        Ok(()) => Ok(redirect_with_notice(&visitor, "/profile", Notice::TWO_FACTOR_REMOVED)),
        Err(failure) => page_with_error(&app, &visitor, &failure).await,
    }
}

/// The page again, with the error and without the typed values.
async fn page_with_error(app: &App, visitor: &Visitor, failure: &ApiError) -> Result<Response, PageError> {
    let form = Form::refused(FormData::default(), failure);
    Ok(page(failure.status().0, &read_page(app, visitor, form).await?))
}
