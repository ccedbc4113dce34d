//! The error of a page's request: the same status as on the API, as a page with the same message, and with the navigation
//! for visitors of the organization.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;

use super::frame::{Frame, page};
use super::visitor::Visitor;

/// The error.
pub struct PageError(pub ApiError);

impl<E: Into<ApiError>> From<E> for PageError {
    fn from(error: E) -> Self {
        PageError(error.into())
    }
}

/// The error as a page of its own.
#[derive(Template)]
#[template(path = "dashboard/page_error.html")]
struct ErrorPage {
    what: What,
}

/// The error among the navigation of a visitor.
#[derive(Template)]
#[template(path = "dashboard/framed_error.html")]
struct FramedError {
    frame: Frame,
    what: What,
}

/// What the page says.
#[derive(Clone)]
struct What {
    title: &'static str,
    message: String,
    /// The typed values of a form that cannot be shown: name and value.
    typed: Vec<(String, String)>,
    /// A link to another page.
    link: Option<String>,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        self.render(Vec::new(), None)
    }
}

/// Adds the navigation to the page of an error, for a visitor who may see the organization.
pub fn add_navigation(app: &App, visitor: &Visitor, mut response: Response) -> Response {
    let Some(what) = response.extensions_mut().remove::<What>() else {
        return response;
    };
    let frame = Frame::new(app, visitor, "", what.title);
    let framed = page(response.status(), &FramedError { frame, what });
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, framed.into_body())
}

impl PageError {
    /// The page, with the typed values of a form that cannot be shown, for copying.
    pub fn with_typed(self, typed: Vec<(String, String)>) -> Response {
        self.render(typed, None)
    }

    /// The page, with a link to another one.
    pub fn with_link(self, link: &str) -> Response {
        self.render(Vec::new(), Some(link.to_owned()))
    }

    fn render(self, typed: Vec<(String, String)>, link: Option<String>) -> Response {
        let PageError(failure) = self;
        if let ApiError::Internal(text) = &failure {
            tracing::error!(error = %text, "a page failed inside");
        }
        let status = failure.status().0;
        // A resource of another organization gets the same message as one that does not exist.
        let (title, message) = match &failure {
            ApiError::NoSuch(_) | ApiError::NoSuchPath => (
                "Page not found",
                "It may have been deleted, or it belongs to an organization that you are not a member of".to_owned(),
            ),
            ApiError::Forbidden(_) | ApiError::MissingScope(_) => {
                ("You are not allowed to do this", failure.body().message)
            }
            failure if failure.status().0 == StatusCode::BAD_REQUEST => ("The request failed", failure.body().message),
            _ => ("Something went wrong", failure.body().message),
        };
        let what = What {
            title,
            message,
            typed,
            link,
        };
        let mut response = page(status, &ErrorPage { what: what.clone() });
        response.extensions_mut().insert(what);
        if let ApiError::RateLimited(seconds) = failure {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
