//! The address of a build, a submission or an update without its organization, as command lines print it: it leads to the
//! page in the organization of the visitor that has it.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use launchway_domain::id::{BuildId, SubmissionId, UpdateId};
use launchway_domain::org::Org;
use launchway_domain::percent::encode;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Origin, Who};

use super::home::page_caller;
use crate::dashboard::{PageError, home_of};
use crate::page_headers::protect;

/// What an address leads to.
enum Target {
    Build(BuildId),
    Submission(SubmissionId),
    Update(UpdateId),
}

impl Target {
    fn parse(id: &str) -> Option<Self> {
        let build = id.parse().map(Target::Build);
        let submission = || id.parse().map(Target::Submission);
        let update = || id.parse().map(Target::Update);
        build.or_else(|_| submission()).or_else(|_| update()).ok()
    }

    /// The page in an organization; `None` if the organization does not have it.
    async fn page(&self, app: &App, org: &Org) -> Result<Option<String>, ApiError> {
        let mut tx = app.db.read().await?;
        let mut rows = tx.org(org.id);
        let found = match self {
            Target::Build(id) => rows.build(*id).await?.map(|_| format!("builds/{id}")),
            Target::Submission(id) => rows.submission(*id).await?.map(|_| format!("submissions/{id}")),
            Target::Update(id) => rows.update(*id).await?.map(|_| format!("updates/{id}")),
        };
        Ok(found.map(|path| format!("{}/{path}", home_of(org))))
    }
}

pub async fn show(
    State(app): State<Arc<App>>,
    origin: Extension<Origin>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let Some(caller) = page_caller(&app, &headers, &origin).await? else {
        return Ok(redirect(&format!("/?next={}", encode(&format!("/go/{id}")))));
    };
    let Who::Session { memberships, .. } = &caller.who else {
        return Err(ApiError::NoAuthentication.into());
    };
    if let Some(target) = Target::parse(&id) {
        for (org, _) in memberships {
            if let Some(page) = target.page(&app, org).await? {
                return Ok(redirect(&page));
            }
        }
    }
    Err(ApiError::NoSuch("page").into())
}

fn redirect(page: &str) -> Response {
    let mut response = Redirect::to(page).into_response();
    protect(&mut response);
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
