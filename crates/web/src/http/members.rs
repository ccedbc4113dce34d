//! `/orgs/members` (`docs/reference/callers.md#roles`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::lists::OneOrPage;
use launchway_api::orgs::{ChangeMember, ChangedMember, MemberView, RemovedMember};
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::members;
use launchway_ops::write::{Target, Write};

use crate::extract::Body;
use crate::http::answers::{found, page};
use crate::query::Query;

/// Lists the members, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/orgs/members",
    tag = "Organizations",
    params(
        ("id" = Option<String>, Query, description = "Read this member instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of members, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of members to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of members; with `id`, the member", body = OneOrPage<MemberView>),
        (status = 404, description = "No member has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("member")?;
    let paging = query.paging()?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match id {
        Some(id) => Ok(found(&MemberView::of(
            &org.member(id.get()?).await?.ok_or(ApiError::NoSuch("member"))?,
        ))),
        None => Ok(page(org.members(paging).await?, paging, MemberView::of)),
    }
}

/// Changes the role of a member. Only an owner may grant or revoke the role of an owner, and the last owner keeps it.
/// With a lower role the member's pending invitations, runner tokens, approved sign-ins and browser keys end; other
/// keys are listed for review.
#[utoipa::path(
    patch,
    path = "/orgs/members",
    tag = "Organizations",
    params(("id" = String, Query, description = "The member")),
    request_body = ChangeMember,
    responses(
        (status = 200, description = "The member; with a lower role, also the access that ended", body = ChangedMember),
        (status = 404, description = "No member has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    body: Body<ChangeMember>,
) -> Result<Response, ApiError> {
    let id = query.id("member")?;
    let role = members::role(&body.0.role)?;
    let id = id.get()?;
    let mut write = Write::begin_against(&app, &caller, Target::Member(id)).await?;
    let (member, departure) = members::change(&mut write, &caller, id, role).await?;
    write.commit().await?;
    Ok(found(&ChangedMember::of(MemberView::of(&member), departure)))
}

/// Removes a member. Every member may leave; the last owner must stay. The member's pending invitations, runner tokens,
/// approved sign-ins and browser keys end; other keys are listed for review.
#[utoipa::path(
    delete,
    path = "/orgs/members",
    tag = "Organizations",
    params(("id" = String, Query, description = "The member")),
    responses(
        (status = 200, description = "`deleted`, and the access that ended", body = RemovedMember),
        (status = 404, description = "No member has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn remove(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    members::may_remove(&caller, query.get("id").ok().flatten())?;
    let id = query.id("member")?;
    let id = id.get()?;
    let mut write = Write::begin_against(&app, &caller, Target::Member(id)).await?;
    let departure = members::remove(&mut write, &caller, id).await?;
    write.commit().await?;
    Ok(found(&RemovedMember {
        id: id.to_string(),
        status: DoneStatus::Deleted.into(),
        departure,
    }))
}
