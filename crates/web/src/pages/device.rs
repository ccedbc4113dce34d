//! `/device`: a signed-in user confirms or refuses the login of a command line.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use launchway_domain::device_login::{DeviceLogin, UserCode};
use launchway_domain::org::Org;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;
use launchway_domain::time::{DAY, HOUR};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Caller, Origin, Who};
use launchway_ops::device_logins;

use super::home::page_caller;
use super::sign_in::{self, Step, way_to_provider};
use super::{Choice, Form, Page, error_page, field, fields, foreign_form, input, page_or_error, redirect_signed_in};
use crate::extract::SameSiteBrowser;
use crate::query::Query;
use crate::same_site;

const TITLE: &str = "Sign in a command line";
const WORDS: &str = "Enter the code that your command line shows";

/// A page of text only.
fn text_page(words: &str) -> Page {
    Page {
        title: TITLE,
        words: vec![words.to_owned()],
        ..Page::default()
    }
}

/// The URL of the page with a typed code, reduced to its letters.
fn device_url(code: &str) -> String {
    let letters: String = code.chars().filter(|letter| letter.is_ascii_alphabetic()).collect();
    format!("/device?code={letters}")
}

fn sign_in_page(app: &App, code: &str, email: &str) -> Page {
    Page {
        provider: way_to_provider(app, &device_url(code)),
        form: Some(Form {
            action: "/device",
            token: "sign-in".to_owned(),
            inputs: vec![
                input("code", "Code", "hidden", "off", code),
                input("email", "E-mail address", "email", "username", email),
                input("password", "Password", "password", "current-password", ""),
            ],
            button: "Sign in",
            ..Form::default()
        }),
        ..text_page("Sign in first. Then you can review the request of the command line.")
    }
}

fn code_page(code: &str) -> Page {
    Page {
        form: Some(Form {
            action: "/device",
            token: "look".to_owned(),
            inputs: vec![input("code", "Code", "text", "off", code)],
            button: "Continue",
            ..Form::default()
        }),
        ..text_page(WORDS)
    }
}

fn decision_page(caller: &Caller, login: &DeviceLogin, code: &str) -> Page {
    let orgs = administered_orgs(caller);
    let Who::Session { user, .. } = &caller.who else {
        return text_page(WORDS);
    };
    if orgs.is_empty() {
        let page = text_page(
            "A command line that signs in this way gets an API key, and only admins of an organization can create keys",
        );
        return Page { sign_out: true, ..page };
    }
    let choices = orgs.iter().map(|(org, role)| Choice {
        value: org.id.to_string(),
        label: match login.is_for_admin() {
            true => format!("{} (your role: {role})", org.name),
            false => org.name.clone(),
        },
    });
    Page {
        title: TITLE,
        words: request_text(login, &user.email),
        code: Some(code.to_owned()),
        form: Some(Form {
            action: "/device",
            token: "confirm".to_owned(),
            inputs: vec![input("code", "Code", "hidden", "off", code)],
            choice: Some(("org", "Organization", choices.collect())),
            button: "Confirm",
            other: Some(("refuse", "Refuse")),
            ..Form::default()
        }),
        sign_out: true,
        ..Page::default()
    }
}

/// What the user is asked to confirm.
fn request_text(login: &DeviceLogin, email: &str) -> Vec<String> {
    let scopes = Scope::names(&login.scopes);
    let mut words = vec![
        format!(
            "“{}”, at {}, requests an API key in the name of {email}",
            login.name, login.address
        ),
        match login.is_for_admin() {
            true => format!(
                "Scopes of the key: {scopes}. It is valid for {} hours unless it is revoked.",
                login.key_life() / HOUR
            ),
            false => format!(
                "Scopes of the key: {scopes}. It is valid for {} days unless it is revoked.",
                login.key_life() / DAY
            ),
        },
    ];
    if login.is_for_admin() {
        words.push(
            "The scope admin gives the command line the rights of your role: it can change members, API keys, credentials, \
             environment variables, webhooks and runners, and delete apps"
                .to_owned(),
        );
    }
    words.push(
        "Confirm only a request that you started yourself, and only if your command line shows exactly this code:"
            .to_owned(),
    );
    words
}

/// The organizations whose keys the caller may create, with the caller's role.
fn administered_orgs(caller: &Caller) -> Vec<&(Org, Role)> {
    match &caller.who {
        Who::Session { memberships, .. } => memberships.iter().filter(|(_, role)| *role >= Role::Admin).collect(),
        Who::Key { .. } => Vec::new(),
    }
}

/// The caller in the organization that the form names.
fn in_org(caller: Caller, named: &str) -> Result<Caller, ApiError> {
    let Who::Session { memberships, .. } = &caller.who else {
        return Err(ApiError::NoAuthentication);
    };
    let found = memberships.iter().find(|(org, _)| org.id.to_string() == named);
    let (org, role) = found
        .cloned()
        .ok_or_else(|| ApiError::Forbidden("You are not a member of this organization".to_owned()))?;
    Ok(Caller {
        org: Some(org),
        role: Some(role),
        ..caller
    })
}

/// Shows the code and the login that it names, or the form to enter it.
async fn look(app: &App, caller: &Caller, code: &str) -> Result<Response, ApiError> {
    let Who::Session { user, .. } = &caller.who else {
        return Err(ApiError::NoAuthentication);
    };
    if code.is_empty() {
        return Ok(code_page("").into_response());
    }
    Ok(match device_logins::look(app, user.id, code).await {
        Ok(login) => {
            // In the command line's spelling, however it was typed.
            let code = code.parse().map(|code: UserCode| code.to_string());
            decision_page(caller, &login, &code.unwrap_or_default()).into_response()
        }
        Err(failure) => error_page(code_page(code), failure),
    })
}

pub async fn show(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let code = field(&query, "code")?;
    match page_caller(&app, &headers, &origin).await? {
        Some(caller) => look(&app, &caller, code).await,
        None => Ok(sign_in_page(&app, code, "").into_response()),
    }
}

pub async fn submit(
    State(app): State<Arc<App>>,
    SameSiteBrowser(browser): SameSiteBrowser,
    request: Request,
) -> Result<Response, ApiError> {
    let own = same_site::is_from_own_pages(&app, request.headers());
    let caller = page_caller(&app, request.headers(), &browser.origin).await?;
    let form = fields(request).await?;
    let code = field(&form, "code")?;
    let Some(caller) = caller else {
        if field(&form, "token")? != "sign-in" {
            // The session ended while the code was being entered.
            return Ok(sign_in_page(&app, code, "").into_response());
        }
        return match sign_in::step(&app, &form, &browser).await? {
            // The next page shows the typed code.
            Step::In(done) => Ok(redirect_signed_in(&app, &done, &device_url(code))),
            Step::Code(first, wrong) => {
                let asked = input("code", "", "hidden", "off", code);
                Ok(page_or_error(
                    sign_in::code_page("/device", "sign-in", &first, vec![asked]),
                    wrong,
                ))
            }
            Step::Again(failure) => Ok(error_page(sign_in_page(&app, code, field(&form, "email")?), failure)),
        };
    };
    // A change with a cookie must provably come from this site.
    if !own {
        return Ok(foreign_form());
    }
    if field(&form, "token")? != "confirm" {
        return look(&app, &caller, code).await;
    }
    let approve = field(&form, "refuse")?.is_empty();
    let decided = match in_org(caller, field(&form, "org")?) {
        Ok(caller) => device_logins::decide(&app, &caller, code, approve).await,
        Err(failure) => Err(failure),
    };
    Ok(match decided {
        Ok(()) if approve => {
            text_page("Confirmed. Return to your command line, which continues automatically.").into_response()
        }
        Ok(()) => text_page("Denied. The command line gets no key.").into_response(),
        Err(failure) => error_page(code_page(code), failure),
    })
}
