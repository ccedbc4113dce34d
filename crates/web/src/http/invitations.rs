//! `/orgs/invitations` (`docs/reference/callers.md#invitations`).

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use launchway_api::lists::{Deleted, OneOrPage};
use launchway_api::orgs::{CreateInvitation, InvitationView};
use launchway_api::words::DoneStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::caller::Caller;
use launchway_ops::members;
use launchway_ops::write::{Creation, Write};

use crate::extract::Create;
use crate::http::answers::{created, found, id_and_status, page, replay};
use crate::query::Query;

/// Lists invitations, or reads the one that `id` names.
#[utoipa::path(
    get,
    path = "/orgs/invitations",
    tag = "Organizations",
    params(
        ("id" = Option<String>, Query, description = "Read this invitation instead of listing"),
        ("limit" = Option<i64>, Query, description = "The maximum number of invitations, 1 to 100", minimum = 1),
        ("offset" = Option<i64>, Query, description = "The number of invitations to skip", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page of invitations; with `id`, the invitation", body = OneOrPage<InvitationView>),
        (status = 404, description = "No invitation has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn read(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.optional_id("invitation")?;
    let paging = query.paging()?;
    let now = app.clock.now();
    let mut tx = app.db.read().await?;
    let mut org = tx.org(caller.org_id()?);
    match id {
        Some(id) => {
            let invitation = org.invitation(id.get()?).await?.ok_or(ApiError::NoSuch("invitation"))?;
            Ok(found(&InvitationView::of(&invitation, now)))
        }
        None => Ok(page(org.invitations(paging).await?, paging, |invitation| {
            InvitationView::of(invitation, now)
        })),
    }
}

/// Creates a link with which one email address can join, once, within 7 days. The server sends no mail: pass the link
/// on yourself.
#[utoipa::path(
    post,
    path = "/orgs/invitations",
    tag = "Organizations",
    request_body = CreateInvitation,
    responses((status = 201, description = "The invitation with its link", body = InvitationView))
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    new: Create<CreateInvitation>,
) -> Result<Response, ApiError> {
    let plan = members::plan_invitation(&caller, &new.body)?;
    let mut write = match Write::begin_create(&app, &caller, new.request).await? {
        Creation::Replay(kept) => return Ok(replay(kept)),
        Creation::New(write) => write,
    };
    let (invitation, token) = members::invite(&mut write, plan).await?;
    let shown_again = InvitationView::of(&invitation, write.now());
    write.commit_created(&shown_again).await?;
    let link = format!("{}/invite?token={token}", app.public_url);
    Ok(created(&InvitationView {
        link: Some(link),
        ..shown_again
    }))
}

/// Withdraws an invitation. Its link stops working.
#[utoipa::path(
    delete,
    path = "/orgs/invitations",
    tag = "Organizations",
    params(("id" = String, Query, description = "The invitation")),
    responses(
        (status = 200, description = "`deleted`", body = Deleted),
        (status = 404, description = "No invitation has this id", body = launchway_api::error::ErrorBody),
    )
)]
pub async fn delete(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Result<Response, ApiError> {
    let id = query.id("invitation")?.get()?;
    Write::run(&app, &caller, id, members::uninvite).await?;
    Ok(id_and_status(id, DoneStatus::Deleted))
}
