//! The pages behind one-time links: first run, invitation, new password.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use launchway_domain::org::Invitation;
use launchway_ops::accounts;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Origin;

use super::sign_in::way_to_provider;
use super::{Form, Page, error_page, field, fields, input, redirect_signed_in};
use crate::extract::SameSiteBrowser;
use crate::query::Query;

fn setup_page(token: &str, organization: &str, email: &str) -> Page {
    Page {
        title: "Set up Launchway",
        words: vec!["This server is new. Create the first organization and your account as its owner.".to_owned()],
        form: Some(Form {
            action: "/setup",
            token: token.to_owned(),
            inputs: vec![
                input("organization", "Organization", "text", "organization", organization),
                input("email", "Your e-mail address", "email", "username", email),
                input(
                    "password",
                    "Password, at least 12 characters",
                    "password",
                    "new-password",
                    "",
                ),
            ],
            button: "Set up",
            ..Form::default()
        }),
        ..Page::default()
    }
}

pub async fn setup(State(app): State<Arc<App>>, query: Query) -> Result<Response, ApiError> {
    let token = field(&query, "token")?;
    if accounts::setup_is_open(&app, token).await? {
        return Ok(setup_page(token, "", "").into_response());
    }
    let words = "This link was already used, or the server restarted and printed a new one".to_owned();
    Ok(Page {
        title: "Set up Launchway",
        words: vec![words],
        ..Page::default()
    }
    .into_response())
}

pub async fn submit_setup(
    State(app): State<Arc<App>>,
    SameSiteBrowser(browser): SameSiteBrowser,
    request: Request,
) -> Result<Response, ApiError> {
    let form = fields(request).await?;
    let request = launchway_api::auth::Setup {
        token: field(&form, "token")?.to_owned(),
        organization: field(&form, "organization")?.to_owned(),
        email: field(&form, "email")?.to_owned(),
        password: field(&form, "password")?.to_owned(),
    };
    match accounts::set_up(&app, &request, &browser).await {
        Ok((done, _)) => Ok(redirect_signed_in(&app, &done, "/")),
        Err(failure) => Ok(error_page(
            setup_page(&request.token, &request.organization, &request.email),
            failure,
        )),
    }
}

/// `asks_code` adds the code field, for an account that requires one.
fn invite_page(app: &App, token: &str, invitation: &Invitation, organization: &str, asks_code: bool) -> Page {
    let Invitation { email, role, .. } = invitation;
    let password = "Password, at least 12 characters";
    // Only an account that exists asks for a code. Otherwise the page does not tell whether there is one.
    let complete = if asks_code { "current-password" } else { "new-password" };
    let mut inputs = vec![input("password", password, "password", complete, "")];
    if asks_code {
        inputs.push(input(
            "code",
            "Code of your authenticator app",
            "text",
            "one-time-code",
            "",
        ));
    }
    let mut words = vec![
        format!("{organization} invites {email} as {role}"),
        "Choose a password. If you already have an account here, enter its password.".to_owned(),
    ];
    if app.provider.is_some() {
        let through =
            "You can also sign in through the provider without a password, which accepts the invitation as well";
        words.push(through.to_owned());
    }
    Page {
        title: "Join an organization",
        words,
        provider: way_to_provider(app, ""),
        form: Some(Form {
            action: "/invite",
            token: token.to_owned(),
            account: email.clone(),
            inputs,
            button: "Join",
            ..Form::default()
        }),
        ..Page::default()
    }
}

pub async fn invite(State(app): State<Arc<App>>, query: Query) -> Result<Response, ApiError> {
    let token = field(&query, "token")?;
    match accounts::look_at_invitation(&app, token).await {
        Ok((invitation, organization)) => {
            Ok(invite_page(&app, token, &invitation, &organization, false).into_response())
        }
        Err(failure) => Ok(error_page(
            Page {
                title: "Join an organization",
                ..Page::default()
            },
            failure,
        )),
    }
}

pub async fn submit_invite(
    State(app): State<Arc<App>>,
    SameSiteBrowser(browser): SameSiteBrowser,
    request: Request,
) -> Result<Response, ApiError> {
    let form = fields(request).await?;
    let token = field(&form, "token")?;
    let (invitation, organization) = match accounts::look_at_invitation(&app, token).await {
        Ok(look) => look,
        Err(failure) => {
            return Ok(error_page(
                Page {
                    title: "Join an organization",
                    ..Page::default()
                },
                failure,
            ));
        }
    };
    let (password, code) = (field(&form, "password")?, field(&form, "code")?);
    let code = Some(code).filter(|code| !code.is_empty());
    match accounts::accept_invitation(&app, token, password, code, &browser).await {
        Ok(done) => Ok(redirect_signed_in(&app, &done, "/")),
        Err(failure) => {
            let asks_code = code.is_some() || matches!(failure, ApiError::CodeNeeded);
            Ok(error_page(
                invite_page(&app, token, &invitation, &organization, asks_code),
                failure,
            ))
        }
    }
}

fn reset_page(token: &str) -> Page {
    Page {
        title: "Set a new password",
        words: vec!["All browsers that are signed in with your account will be signed out".to_owned()],
        form: Some(Form {
            action: "/reset",
            token: token.to_owned(),
            inputs: vec![input(
                "password",
                "New password, at least 12 characters",
                "password",
                "new-password",
                "",
            )],
            button: "Set password",
            ..Form::default()
        }),
        ..Page::default()
    }
}

pub async fn reset(query: Query) -> Result<Response, ApiError> {
    Ok(reset_page(field(&query, "token")?).into_response())
}

pub async fn submit_reset(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    request: Request,
) -> Result<Response, ApiError> {
    let form = fields(request).await?;
    let token = field(&form, "token")?;
    match accounts::reset_password(&app, token, field(&form, "password")?, &origin).await {
        Ok(()) => Ok(Redirect::to("/").into_response()),
        Err(failure) => Ok(error_page(reset_page(token), failure)),
    }
}
