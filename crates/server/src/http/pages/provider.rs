//! `/sign-in/provider`: to the OpenID Connect provider, and back with its code.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Redirect, Response};
use subtle::ConstantTimeEq;

use super::sign_in::code_page;
use super::{Page, field, protect, refused, signed_in};
use crate::app::App;
use crate::caller::Browser;
use crate::failure::Failure;
use crate::http::cookies;
use crate::http::extract::{Query, SentHere};
use crate::ops::provider_sign_in;
use crate::ops::sessions::Entered;
use crate::outside::provider::{Login, Provider};

const BEGIN_ANEW: &str = "This sign-in was not begun in this browser, or took too long; begin anew";

fn provider(app: &App) -> Result<&Provider, Failure> {
    app.provider.as_ref().ok_or(Failure::NoSuchPath)
}

/// Where the provider sends browsers back to; it has to know it.
fn redirect_uri(app: &App) -> String {
    format!("{}/sign-in/provider/callback", app.public_url)
}

fn problem(failure: Failure) -> Response {
    let page = Page {
        title: "Sign in",
        provider: true,
        ..Page::default()
    };
    refused(page, failure)
}

pub async fn begin(State(app): State<Arc<App>>) -> Result<Response, Failure> {
    let token = app.random.token();
    let (login, now) = (Login::of(&token), app.clock.now());
    match provider(&app)?
        .authorization_url(&login, &redirect_uri(&app), now)
        .await
    {
        Ok(url) => {
            let mut response = Redirect::to(&url).into_response();
            protect(&mut response);
            let cookie = cookies::to_provider(&app, &token);
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(failure) => Ok(problem(failure)),
    }
}

pub async fn come_back(
    State(app): State<Arc<App>>,
    SentHere(browser): SentHere,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, Failure> {
    let entered = enter(&app, &browser, &headers, &query).await;
    if matches!(entered, Err(Failure::NoSuchPath)) {
        return Err(Failure::NoSuchPath);
    }
    let mut response = match entered {
        Ok(Entered::In(done)) => signed_in(&app, &done, "/"),
        Ok(Entered::NeedsCode(first)) => code_page("/", "", &first, Vec::new()).into_response(),
        Err(failure) => problem(failure),
    };
    // It works once.
    let cleared = cookies::to_provider(&app, "");
    response.headers_mut().append(header::SET_COOKIE, cleared);
    Ok(response)
}

async fn enter(app: &Arc<App>, browser: &Browser, headers: &HeaderMap, query: &Query) -> Result<Entered, Failure> {
    let provider = provider(app)?;
    let anew = || Failure::NotProven(BEGIN_ANEW.to_owned());
    let login = Login::of(cookies::provider_token(app, headers).ok_or_else(anew)?);
    let state = field(query, "state")?;
    if !bool::from(login.state.as_bytes().ct_eq(state.as_bytes())) {
        return Err(anew());
    }
    let code = field(query, "code")?;
    if code.is_empty() {
        return Err(Failure::NotProven(
            "The sign-in provider did not sign you in".to_owned(),
        ));
    }
    let email = provider
        .email(&login, code, &redirect_uri(app), app.clock.now())
        .await?;
    provider_sign_in::enter(app, &email, browser).await
}
