//! `/orgs/members` (contract part 2).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::orgs::{ChangeMember, MemberView};

use crate::app::App;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::http::answers::{found, gone, page};
use crate::http::extract::{Body, Query};
use crate::ops::members;
use crate::ops::write::Write;

/// Lists the members, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/orgs/members",
    tag = "Organizations",
    params(
        ("id" = Option<String>, Query, description = "Read this member instead of listing"),
        ("limit" = Option<i64>, Query, description = "Members at most, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "Members to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of members; with `id` the member", body = OneOrPage<MemberView>),
        (status = 404, description = "No member has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, Failure> {
    let id = query.optional_id("member")?;
    let paging = query.paging()?;
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.home()?);
    match id {
        Some(id) => Ok(found(&MemberView::of(
            &org.member(id.get()?).await?.ok_or(Failure::NoSuch("member"))?,
        ))),
        None => Ok(page(org.members(paging).await?, paging, MemberView::of)),
    }
}

/// Changes the role of a member. Only an owner makes or unmakes owners; the last owner stays one.
#[utoipa::path(
    patch,
    path = "/orgs/members",
    tag = "Organizations",
    params(("id" = String, Query, description = "The member")),
    request_body = ChangeMember,
    responses(
        (status = 200, description = "The member", body = MemberView),
        (status = 404, description = "No member has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: Query,
    body: Body<ChangeMember>,
) -> Result<Response, Failure> {
    let id = query.id("member")?;
    let role = members::role(&body.0.role)?;
    let mut write = Write::begin(&app, &caller).await?;
    let member = members::change(&mut write, &caller, id.get()?, role).await?;
    write.commit().await?;
    Ok(found(&MemberView::of(&member)))
}

/// Removes a member; every member may leave by itself. The last owner stays.
#[utoipa::path(
    delete,
    path = "/orgs/members",
    tag = "Organizations",
    params(("id" = String, Query, description = "The member")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No member has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn remove(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, Failure> {
    members::may_remove(&caller, &query)?;
    let id = query.id("member")?;
    let mut write = Write::begin(&app, &caller).await?;
    let id = id.get()?;
    members::remove(&mut write, &caller, id).await?;
    write.commit().await?;
    Ok(gone(id, "deleted"))
}
