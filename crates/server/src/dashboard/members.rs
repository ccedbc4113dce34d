//! `/o/{org}/members`: who belongs to the organization, who is invited, and the organization's name.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use launchway_api::orgs::{CreateInvitation, InvitationView, MemberView};
use launchway_domain::id::{InvitationId, UserId};
use launchway_domain::tenancy::Role;
use launchway_store::Paging;

use super::frame::{Frame, Notice, done, page};
use super::posted::{Form, Posted};
use super::show::{Pager, ROWS};
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::app::App;
use crate::failure::Failure;
use crate::http::extract::Query;
use crate::ops::write::Write;
use crate::ops::{members, orgs};

/// Invitations that are shown.
const LATEST: Paging = Paging { limit: 50, offset: 0 };

#[derive(Template)]
#[template(path = "dashboard/members.html")]
struct Members {
    frame: Frame,
    me: String,
    members: Vec<MemberView>,
    pager: Pager,
    invitations: Vec<InvitationView>,
    form: Form,
    /// The link of an invitation that was just made, shown this once.
    made: Option<Made>,
}

struct Made {
    email: String,
    link: String,
}

impl Members {
    fn is_owner(&self) -> bool {
        self.frame.role == Role::Owner
    }
}

async fn shown(app: &App, visitor: &Visitor, offset: i64, form: Form, made: Option<Made>) -> Result<Members, Failure> {
    let now = app.clock.now();
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let rows = org.members(Paging { limit: ROWS, offset }).await?;
    let invitations = match visitor.is_admin() {
        true => org.invitations(LATEST).await?.items,
        false => Vec::new(),
    };
    Ok(Members {
        frame: Frame::new(app, visitor, "members", "Members"),
        me: visitor.caller.actor().to_string(),
        pager: Pager::new(offset, rows.items.len(), rows.total, ""),
        members: rows.items.iter().map(MemberView::of).collect(),
        invitations: invitations
            .iter()
            .map(|invitation| InvitationView::of(invitation, now))
            .collect(),
        form,
        made,
    })
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, Trouble> {
    let offset = query.paging()?.offset;
    Ok(page(
        StatusCode::OK,
        &shown(&app, &visitor, offset, Form::default(), None).await?,
    ))
}

pub async fn invite(State(app): State<Arc<App>>, visitor: Visitor, posted: Posted) -> Result<Response, Trouble> {
    let (status, form, made) = match make(&app, &visitor, &posted).await {
        Ok(made) => (StatusCode::CREATED, Form::default(), Some(made)),
        Err(failure) => (failure.status().0, Form::refused(posted, &failure), None),
    };
    Ok(page(status, &shown(&app, &visitor, 0, form, made).await?))
}

async fn make(app: &App, visitor: &Visitor, posted: &Posted) -> Result<Made, Failure> {
    let plan = members::plan_invitation(
        &visitor.caller,
        &CreateInvitation {
            email: posted.text("email")?.to_owned(),
            role: posted.optional("role")?,
        },
    )?;
    let mut write = Write::begin(app, &visitor.caller).await?;
    let (invitation, token) = members::invite(&mut write, plan).await?;
    write.commit().await?;
    Ok(Made {
        email: invitation.email,
        link: format!("{}/invite?token={token}", app.public_url),
    })
}

pub async fn uninvite(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    let id: InvitationId = id.parse().map_err(|_| Failure::NoSuch("invitation"))?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    members::uninvite(&mut write, id).await?;
    write.commit().await?;
    Ok(done(&visitor, "/members", Notice::UNINVITED))
}

pub async fn change(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let id: UserId = id.parse().map_err(|_| Failure::NoSuch("member"))?;
    let role = members::role(posted.text("role")?)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    members::change(&mut write, &visitor.caller, id, role).await?;
    write.commit().await?;
    Ok(done(&visitor, "/members", Notice::MEMBER_CHANGED))
}

/// Removes a member; who removes itself leaves the organization.
pub async fn remove(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, Trouble> {
    members::may_remove(&visitor.caller, &Query::parse(&format!("id={id}")))?;
    let leaves = visitor.caller.actor().to_string() == id;
    let id: UserId = id.parse().map_err(|_| Failure::NoSuch("member"))?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    members::remove(&mut write, &visitor.caller, id).await?;
    write.commit().await?;
    if leaves {
        return Ok(Redirect::to("/").into_response());
    }
    Ok(done(&visitor, "/members", Notice::MEMBER_REMOVED))
}

/// Renames the organization.
pub async fn rename(State(app): State<Arc<App>>, visitor: Visitor, posted: Posted) -> Result<Response, Trouble> {
    let name = orgs::name(posted.text("name")?)?;
    let mut write = Write::begin(&app, &visitor.caller).await?;
    orgs::change(&mut write, Some(name)).await?;
    write.commit().await?;
    Ok(done(&visitor, "/members", Notice::RENAMED))
}
