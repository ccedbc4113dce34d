//! `/sign-in/provider`: to the OpenID Connect provider, and back with its code.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Browser;
use launchway_ops::sessions::SignedIn;
use launchway_ops::sign_in::{RevokedAccess, SignInOutcome};
use launchway_ops::{proof, provider_sign_in};
use launchway_outbound::provider::{Login, Provider};
use subtle::ConstantTimeEq;

use super::home::sign_in_page;
use super::sign_in::{code_page, wanted_page};
use super::{Page, error_page, field, input, redirect_signed_in};
use crate::cookies;
use crate::extract::SentHere;
use crate::page_headers::protect;
use crate::query::Query;

const BEGIN_ANEW: &str = "This sign-in was not started in this browser, or took too long. Start again.";

fn provider(app: &App) -> Result<&Provider, ApiError> {
    app.provider.as_ref().ok_or(ApiError::NoSuchPath)
}

/// The URL to which the provider redirects browsers; it must be registered there.
fn redirect_uri(app: &App) -> String {
    format!("{}/sign-in/provider/callback", app.public_url)
}

/// The maximum size in bytes of the destination that a cookie stores.
const MAX_NEXT_BYTES: usize = 2000;

pub async fn begin(State(app): State<Arc<App>>, query: Query) -> Result<Response, ApiError> {
    let token = app.random.token();
    let next = wanted_page(field(&query, "next")?).filter(|next| next.len() <= MAX_NEXT_BYTES);
    let next = next.unwrap_or_default();
    let (login, now) = (Login::of(&token), app.clock.now());
    match provider(&app)?
        .authorization_url(&login, &redirect_uri(&app), now)
        .await
    {
        Ok(url) => {
            let mut response = Redirect::to(&url).into_response();
            protect(&mut response);
            let kept = format!("{token}.{}", BASE64_URL_SAFE_NO_PAD.encode(next));
            let cookie = cookies::to_provider(&app, &kept);
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(failure) => Ok(error_page(sign_in_page(&app, "", next), failure.into())),
    }
}

pub async fn come_back(
    State(app): State<Arc<App>>,
    SentHere(browser): SentHere,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    provider(&app)?;
    let kept = cookies::provider_token(&app, &headers).unwrap_or_default();
    let (token, next) = kept.split_once('.').unwrap_or_default();
    let next = BASE64_URL_SAFE_NO_PAD.decode(next).ok();
    let next = next.and_then(|next| String::from_utf8(next).ok()).unwrap_or_default();
    // Other software on the same host might have set the cookie.
    let next = wanted_page(&next).unwrap_or_default();
    let mut response = match enter(&app, &browser, token, &query).await {
        Ok(SignInOutcome::In(done)) if next.is_empty() => redirect_signed_in(&app, &done, "/"),
        Ok(SignInOutcome::In(done)) => redirect_signed_in(&app, &done, next),
        Ok(SignInOutcome::Claimed(done, dropped)) => claim_page(&app, &done, &dropped, next),
        Ok(SignInOutcome::NeedsCode(first)) => {
            code_page("/", "", &first, vec![input("next", "", "hidden", "off", next)]).into_response()
        }
        Err(failure) => error_page(sign_in_page(&app, "", next), failure),
    };
    // It works once.
    let cleared = cookies::to_provider(&app, "");
    response.headers_mut().append(header::SET_COOKIE, cleared);
    Ok(response)
}

/// Shows what was dropped from an account, and links to the next page.
fn claim_page(app: &App, done: &SignedIn, dropped: &RevokedAccess, next: &str) -> Response {
    let mut words = vec![
        format!("You are signed in as {}", done.user.email),
        "This account had a password before you proved that the address is yours. Somebody else may have set it, so \
         it was removed, together with the two-factor codes, sessions, invitations, runner tokens and command-line \
         sign-ins of this account. You can set a new password on your profile page."
            .to_owned(),
    ];
    if !dropped.keys.is_empty() {
        words.push(format!(
            "API keys that were created with this account are still valid. Review them, and revoke those that you \
             did not create: {}.",
            dropped.keys.join(", ")
        ));
    }
    let page = Page {
        title: "Your account",
        words,
        next: Some(if next.is_empty() { "/" } else { next }.to_owned()),
        ..Page::default()
    };
    let mut response = page.into_response();
    cookies::sign_in(app, done, response.headers_mut());
    response
}

async fn enter(app: &Arc<App>, browser: &Browser, token: &str, query: &Query) -> Result<SignInOutcome, ApiError> {
    let provider = provider(app)?;
    let anew = || ApiError::NotProven(BEGIN_ANEW.to_owned());
    let login = Login::of(token);
    let state = field(query, "state")?;
    if token.is_empty() || !bool::from(login.state.as_bytes().ct_eq(state.as_bytes())) {
        return Err(anew());
    }
    let code = field(query, "code")?;
    if code.is_empty() {
        return Err(ApiError::NotProven(
            "The sign-in provider did not sign you in".to_owned(),
        ));
    }
    let redirect = redirect_uri(app);
    let now = app.clock.now();
    let email = async {
        provider
            .email(&login, code, &redirect, now)
            .await
            .map_err(ApiError::from)
    };
    let email = proof::limit_by_address(app, browser, email).await?;
    provider_sign_in::sign_in(app, &email, browser).await
}
