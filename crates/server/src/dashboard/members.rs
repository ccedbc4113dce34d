//! `/o/{org}/members`: who belongs to the organization, who is invited, and the organization's name.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use launchway_api::orgs::{CreateInvitation, InvitationView, MemberView};
use launchway_domain::actor::Actor;
use launchway_domain::id::{InvitationId, UserId};
use launchway_domain::tenancy::Role;
use launchway_store::Paging;

use super::frame::{Frame, Notice, done, page};
use super::posted::{Form, Posted};
use super::show::{Pager, ROWS};
use super::trouble::Trouble;
use super::visit::Visit;
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

async fn shown(app: &App, visitor: &Visitor, offset: i64, form: Form, made: Option<Made>) -> Result<Response, Trouble> {
    let now = app.clock.now();
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let rows = org.members(Paging { limit: ROWS, offset }).await?;
    let invitations = match visitor.is_admin() {
        true => org.invitations(LATEST).await?.items,
        false => Vec::new(),
    };
    let shown = Members {
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
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, Trouble> {
    shown(&app, &visitor, query.paging()?.offset, Form::default(), None).await
}

pub async fn invite(State(app): State<Arc<App>>, visitor: Visitor, posted: Posted) -> Result<Response, Trouble> {
    match make(&app, &visitor, &posted).await {
        Ok(made) => shown(&app, &visitor, 0, Form::default().created(), Some(made)).await,
        Err(failure) => shown(&app, &visitor, 0, Form::refused(posted, &failure), None).await,
    }
}

async fn make(app: &App, visitor: &Visitor, posted: &Posted) -> Result<Made, Failure> {
    let plan = members::plan_invitation(
        &visitor.caller,
        &CreateInvitation {
            email: posted.text("email")?.to_owned(),
            role: posted.optional("role")?,
        },
    )?;
    let (invitation, token) = Write::run(app, &visitor.caller, plan, members::invite).await?;
    Ok(Made {
        email: invitation.email,
        link: format!("{}/invite?token={token}", app.public_url),
    })
}

pub async fn uninvite(visit: Visit<InvitationId>) -> Result<Response, Trouble> {
    visit.change(members::uninvite).await?;
    Ok(visit.done("/members", Notice::UNINVITED))
}

pub async fn change(visit: Visit<UserId>, posted: Posted) -> Result<Response, Trouble> {
    let role = members::role(posted.text("role")?)?;
    let by = &visit.visitor.caller;
    visit
        .change(async |write, id| members::change(write, by, id, role).await)
        .await?;
    Ok(visit.done("/members", Notice::MEMBER_CHANGED))
}

/// Removes a member; who removes itself leaves the organization.
pub async fn remove(visit: Visit<UserId>) -> Result<Response, Trouble> {
    let by = &visit.visitor.caller;
    members::may_remove(by, &Query::parse(&format!("id={}", visit.id)))?;
    visit
        .change(async |write, id| members::remove(write, by, id).await)
        .await?;
    if by.actor() == Actor::User(visit.id) {
        return Ok(Redirect::to("/").into_response());
    }
    Ok(visit.done("/members", Notice::MEMBER_REMOVED))
}

/// Renames the organization.
pub async fn rename(State(app): State<Arc<App>>, visitor: Visitor, posted: Posted) -> Result<Response, Trouble> {
    let name = orgs::name(posted.text("name")?)?;
    Write::run(&app, &visitor.caller, Some(name), orgs::change).await?;
    Ok(done(&visitor, "/members", Notice::RENAMED))
}
