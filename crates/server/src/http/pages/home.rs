//! The first page: sign-in, or for who is signed in a first API key and what to paste next.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use launchway_api::keys::CreateKey;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;

use super::{Form, Page, field, fields, foreign_form, input, refused, signed_in};
use crate::app::App;
use crate::caller::{Browser, Caller, NO_ORGANIZATION, Origin, Who};
use crate::failure::Failure;
use crate::http::{admit, cookies};
use crate::ops::keys;
use crate::ops::sessions::{self, EndSession};
use crate::ops::write::Write;

fn sign_in_page(email: &str) -> Page {
    Page {
        title: "Sign in",
        form: Some(Form {
            action: "/",
            token: String::new(),
            inputs: vec![
                input("email", "E-mail address", "email", "username", email),
                input("password", "Password", "password", "current-password", ""),
            ],
            button: "Sign in",
            ..Form::default()
        }),
        ..Page::default()
    }
}

fn welcome_page(app: &App, caller: &Caller, key_name: &str) -> Page {
    let Some(org) = &caller.org else {
        let words = NO_ORGANIZATION.to_owned();
        return Page {
            title: "Launchway",
            words: vec![words],
            sign_out: true,
            ..Page::default()
        };
    };
    let email = if let Who::Session { user, .. } = &caller.who {
        user.email.as_str()
    } else {
        ""
    };
    let role = caller.role.map_or("member", Role::as_str);
    let may_make_keys = caller.role >= Some(Role::Admin);
    let environment = app.config.environment.as_str();
    let mut words = vec![format!(
        "{email} is signed in to {} ({environment}) as {role}.",
        org.name
    )];
    if !may_make_keys {
        words.push("An admin of the organization can make an API key for you.".to_owned());
    }
    Page {
        title: "Launchway",
        words,
        form: may_make_keys.then(|| Form {
            action: "/",
            token: "key".to_owned(),
            inputs: vec![input(
                "name",
                "Name of a new API key, for builds, submissions and updates",
                "text",
                "off",
                key_name,
            )],
            button: "Create API key",
            ..Form::default()
        }),
        sign_out: true,
        ..Page::default()
    }
}

/// The signed-in user behind the cookie of a page's request.
pub(super) async fn page_caller(app: &App, headers: &HeaderMap, origin: &Origin) -> Result<Option<Caller>, Failure> {
    match admit::session_caller(app, headers).await {
        Ok(who) => {
            app.last_used.note(&who, app.clock.now());
            Ok(Some(admit::at_home(who, origin.clone())))
        }
        Err(Failure::NoAuthentication) => Ok(None),
        Err(failure) => Err(failure),
    }
}

pub async fn show(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    if let Some(caller) = page_caller(&app, &headers, &origin).await? {
        return Ok(welcome_page(&app, &caller, "my laptop").into_response());
    }
    if app
        .db
        .read()
        .await?
        .system("whether this is the first run")
        .has_orgs()
        .await?
    {
        return Ok(sign_in_page("").into_response());
    }
    let words = "This server is new. Open the set-up link that it printed when it started.".to_owned();
    Ok(Page {
        title: "Launchway",
        words: vec![words],
        ..Page::default()
    }
    .into_response())
}

pub async fn submit(State(app): State<Arc<App>>, browser: Browser, request: Request) -> Result<Response, Failure> {
    let own = admit::from_own_pages(&app, request.headers());
    let caller = page_caller(&app, request.headers(), &browser.origin).await?;
    let form = fields(request).await?;
    match (field(&form, "token")?, caller) {
        // What is done with a cookie must be known to come from here.
        ("sign-out" | "key", Some(_)) if !own => Ok(foreign_form()),
        ("sign-out", Some(caller)) => sign_out(&app, &caller).await,
        ("key", Some(caller)) => {
            let name = field(&form, "name")?;
            match create_key(&app, &caller, name).await {
                Ok(page) => Ok((StatusCode::CREATED, page).into_response()),
                Err(failure) => Ok(refused(welcome_page(&app, &caller, name), failure)),
            }
        }
        _ => {
            let email = field(&form, "email")?;
            match sessions::sign_in(&app, email, field(&form, "password")?, &browser).await {
                Ok(done) => Ok(signed_in(&app, &done)),
                Err(failure) => Ok(refused(sign_in_page(email), failure)),
            }
        }
    }
}

async fn sign_out(app: &App, caller: &Caller) -> Result<Response, Failure> {
    if let Who::Session { session, user, .. } = &caller.who {
        sessions::end_session(app, user.id, session.id, EndSession::SignOut, &caller.origin).await?;
    }
    let mut response = Redirect::to("/").into_response();
    response
        .headers_mut()
        .insert(header::SET_COOKIE, cookies::sign_out(app));
    Ok(response)
}

/// Makes a key as `POST /api-keys` does, and shows it with what to paste next.
async fn create_key(app: &App, caller: &Caller, name: &str) -> Result<Page, Failure> {
    if caller.role < Some(Role::Admin) {
        return Err(Failure::Forbidden(
            "This needs the role admin in the organization".to_owned(),
        ));
    }
    let scopes = Scope::GRANTABLE.iter().map(Scope::to_string).collect();
    let plan = keys::plan(&CreateKey {
        name: name.to_owned(),
        scopes,
        expires_in_days: None,
    })?;
    let mut write = Write::begin(app, caller).await?;
    let (key, _) = keys::create(&mut write, plan).await?;
    write.commit().await?;
    Ok(Page {
        title: "Your API key",
        words: vec!["Copy the key now: it is not shown again. Then sign in on the command line and publish an update.".to_owned()],
        secret: Some(key.reveal().to_owned()),
        commands: vec![
            format!("launchway login --url {}", app.public_url),
            "launchway update android --dir dist --bundle-id com.example.app --version 1.0.1 --configuration production".to_owned(),
        ],
        sign_out: true,
        ..Page::default()
    })
}
