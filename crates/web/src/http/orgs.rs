//! `/orgs` (`docs/reference/callers.md#organizations`).

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::Response;
use launchway_api::lists::OneOrPage;
use launchway_api::orgs::{ChangeOrg, CreateOrg, OrgView};
use launchway_domain::id::{OrgId, UserId};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::{Caller, Who};
use launchway_ops::orgs;
use launchway_ops::write::{Creation, Write};
use launchway_store::{Paging, Rows};

use crate::extract::{Body, Create};
use crate::http::answers::{created, found, page, replay};
use crate::query::Query;

/// Lists the organizations of the caller, or reads the one that `id` names. A key sees its own.
#[utoipa::path(
    get,
    path = "/orgs",
    tag = "Organizations",
    params(
        ("id" = Option<String>, Query, description = "Read this organization instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of organizations, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of organizations to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of organizations; with `id`, the organization", body = OneOrPage<OrgView>),
        (status = 404, description = "The caller is not in an organization with this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("organization")?;
    let paging = query.paging()?;
    let mut views = of_caller(&caller);
    match id {
        Some(id) => {
            let id: OrgId = id.get()?;
            let view = views.into_iter().find(|view| view.id == id.to_string());
            Ok(found(&view.ok_or(ApiError::NoSuch("organization"))?))
        }
        None => {
            views.sort_by(|one, other| other.id.cmp(&one.id));
            Ok(page(cut(views, paging), paging, OrgView::clone))
        }
    }
}

/// Every organization that the caller may name.
pub fn of_caller(caller: &Caller) -> Vec<OrgView> {
    match &caller.who {
        Who::Key { org, role, .. } => vec![OrgView::of(org, *role)],
        Who::Session { memberships, .. } => memberships
            .iter()
            .map(|(org, role)| OrgView::of(org, Some(*role)))
            .collect(),
    }
}

fn cut<T>(items: Vec<T>, paging: Paging) -> Rows<T> {
    let total = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let (offset, limit) = (paging.offset as usize, paging.limit as usize);
    Rows {
        items: items.into_iter().skip(offset).take(limit).collect(),
        total,
    }
}

/// A caller who may create organizations: checked before the form of the request
/// (`docs/reference/conventions.md#order-of-checks`).
pub struct Founder(UserId, Caller);

impl FromRequestParts<Arc<App>> for Founder {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, app).await?;
        Ok(Founder(orgs::may_create(app, &caller)?, caller))
    }
}

/// Creates an organization with the caller as its owner, if the operator allows it.
#[utoipa::path(
    post,
    path = "/orgs",
    tag = "Organizations",
    request_body = CreateOrg,
    responses((status = 201, description = "The organization", body = OrgView))
)]
pub async fn create(
    State(app): State<Arc<App>>,
    Founder(user, caller): Founder,
    new: Create<CreateOrg>,
) -> Result<Response, ApiError> {
    let name = orgs::name(&new.body.name)?;
    let org = orgs::plan(&app, name);
    let write = Write::open(&app, org.id, caller.actor(), Some(&caller.origin)).await?;
    // The new organization does not exist yet, and the caller may be in none: the user's own id is used instead.
    let mut write = match write.claim(OrgId::from_uuid(user.uuid()), new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let view = orgs::create(&mut write, &org, user).await?;
    write.commit_created(&view).await?;
    Ok(created(&view))
}

/// Changes an organization.
#[utoipa::path(
    patch,
    path = "/orgs",
    tag = "Organizations",
    params(("id" = String, Query, description = "The organization; a call acts in one, so name it in `orgId` too unless it is the default")),
    request_body = ChangeOrg,
    responses(
        (status = 200, description = "The organization", body = OrgView),
        (status = 404, description = "The call does not act in an organization with this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    body: Body<ChangeOrg>,
) -> Result<Response, ApiError> {
    let id = query.id("organization")?;
    let name = body.0.name.as_deref().map(orgs::name).transpose()?;
    let id: OrgId = id.get()?;
    if id != caller.org_id()? {
        return Err(ApiError::NoSuch("organization"));
    }
    let mut write = Write::begin(&app, &caller).await?;
    let org = orgs::change(&mut write, name).await?;
    write.commit().await?;
    Ok(found(&OrgView::of(&org, caller.role)))
}
