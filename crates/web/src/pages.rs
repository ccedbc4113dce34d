//! The plain pages of the browser: first run, sign-in, invitation, new password, login of a command line. They work
//! without scripts and lead to the dashboard.

mod device;
mod go;
mod home;
mod links;
mod provider;
mod sign_in;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Redirect, Response};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::sessions::SignedIn;

use crate::cookies;
use crate::dashboard::page_limit;
use crate::erased_handler::{erase, get};
use crate::page_headers::protect;
use crate::query::Query;
use crate::request_body::whole_body;
use crate::same_site::{self, FOREIGN_FORM};

const FORM_LIMIT: usize = 16 << 10;

/// The pages and their stylesheet.
pub fn router(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/", get(home::show).post(erase(home::submit)))
        .route("/device", get(device::show).post(erase(device::submit)))
        .route("/go/{id}", get(go::show))
        .route("/sign-in/provider", get(provider::begin))
        .route("/sign-in/provider/callback", get(provider::come_back))
        .route("/setup", get(links::setup).post(erase(links::submit_setup)))
        .route("/invite", get(links::invite).post(erase(links::submit_invite)))
        .route("/reset", get(links::reset).post(erase(links::submit_reset)))
        .route_layer(from_fn_with_state(app.clone(), own_forms_only))
        .route_layer(from_fn_with_state(app.clone(), page_limit::by_address))
}

/// A form from another site could sign somebody in as somebody else.
async fn own_forms_only(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if request.method() == Method::POST && same_site::is_from_another_site(&app, request.headers()) {
        return foreign_form();
    }
    next.run(request).await
}

fn foreign_form() -> Response {
    let page = Page {
        title: "Launchway",
        ..Page::default()
    };
    error_page(page, ApiError::Forbidden(FOREIGN_FORM.to_owned()))
}

/// A page with a form, or with text only.
#[derive(Template, Default)]
#[template(path = "page.html")]
struct Page {
    title: &'static str,
    words: Vec<String>,
    problem: Option<String>,
    form: Option<Form>,
    secret: Option<String>,
    /// A code to compare with the one on another screen.
    code: Option<String>,
    commands: Vec<String>,
    sign_out: bool,
    /// The link to the provider, if there is one.
    provider: Option<String>,
    /// The link to the next page, if there is nothing to fill in.
    next: Option<String>,
}

#[derive(Default)]
struct Form {
    action: &'static str,
    token: String,
    /// The address of the account whose password is asked for, if the form does not ask for it: password managers save both.
    account: String,
    inputs: Vec<Input>,
    /// A choice: name, label and options.
    choice: Option<(&'static str, &'static str, Vec<Choice>)>,
    button: &'static str,
    /// A second button: name and text.
    other: Option<(&'static str, &'static str)>,
}

struct Choice {
    value: String,
    label: String,
}

struct Input {
    name: &'static str,
    label: &'static str,
    kind: &'static str,
    complete: &'static str,
    value: String,
}

fn input(name: &'static str, label: &'static str, kind: &'static str, complete: &'static str, value: &str) -> Input {
    Input {
        name,
        label,
        kind,
        complete,
        value: value.to_owned(),
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let mut response = match self.render() {
            Ok(html) => Html(html).into_response(),
            Err(error) => ApiError::Internal(error.to_string()).into_response(),
        };
        protect(&mut response);
        response
    }
}

/// Shows the error on the page, with the status that it has on the API.
fn error_page(page: Page, failure: ApiError) -> Response {
    let status = failure.status().0;
    let mut response = Page {
        problem: Some(failure.body().message),
        ..page
    }
    .into_response();
    *response.status_mut() = status;
    response
}

/// A page, with the error of the previous form if there was one.
fn page_or_error(page: Page, wrong: Option<ApiError>) -> Response {
    match wrong {
        Some(failure) => error_page(page, failure),
        None => page.into_response(),
    }
}

/// The fields of a submitted form.
async fn fields(request: Request) -> Result<Query, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = whole_body(&parts.headers, body, FORM_LIMIT, "The form is too large").await?;
    let text = std::str::from_utf8(&bytes).map_err(|_| ApiError::bad("The form is not valid UTF-8"))?;
    Ok(Query::parse(text))
}

fn field<'q>(fields: &'q Query, name: &str) -> Result<&'q str, ApiError> {
    Ok(fields.get(name)?.unwrap_or_default())
}

fn redirect_signed_in(app: &App, signed_in: &SignedIn, next: &str) -> Response {
    let mut response = Redirect::to(next).into_response();
    cookies::sign_in(app, signed_in, response.headers_mut());
    response
}
