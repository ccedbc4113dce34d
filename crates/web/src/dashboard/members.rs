//! `/o/{org}/members`: the members, the invitations, and the organization's name.

pub mod actions;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use launchway_api::keys::KeyView;
use launchway_api::orgs::{CreateInvitation, InvitationView, MemberView};
use launchway_domain::org::Org;
use launchway_domain::tenancy::Role;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::write::Write;
use launchway_ops::{departures, members, orgs};
use launchway_store::Paging;

use super::form_data::{Difference, Form, FormData};
use super::frame::{Frame, Notice, page, redirect_with_notice};
use super::page_error::PageError;
use super::revision::{self, Revision};
use super::show::{Pager, ROWS};
use super::visitor::Visitor;
use crate::query::Query;

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
    /// Keys of people who may no longer create keys.
    keys: Vec<KeyView>,
    form: Form,
    revision: String,
    /// The link of an invitation that was just created, shown once.
    made: Option<NewInvitation>,
}

struct NewInvitation {
    email: String,
    link: String,
}

impl Members {
    fn is_owner(&self) -> bool {
        self.frame.role == Role::Owner
    }
}

async fn render_page(
    app: &App,
    visitor: &Visitor,
    offset: i64,
    form: Form,
    made: Option<NewInvitation>,
) -> Result<Response, PageError> {
    let now = app.clock.now();
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let rows = org.members(Paging { limit: ROWS, offset }).await?;
    let (invitations, keys) = match visitor.is_admin() {
        true => (
            org.invitations(LATEST).await?.items,
            departures::keys_to_review(&mut org, now).await?,
        ),
        false => (Vec::new(), Vec::new()),
    };
    let record = org.record().await?.ok_or(ApiError::NoSuch("organization"))?;
    let shown = Members {
        frame: Frame::new(app, visitor, "members", "Members"),
        me: visitor.caller.actor().to_string(),
        pager: Pager::new(offset, rows.items.len(), rows.total, ""),
        members: rows.items.iter().map(MemberView::of).collect(),
        invitations: invitations
            .iter()
            .map(|invitation| InvitationView::of(invitation, now))
            .collect(),
        revision: form.revision(&name_revision(&record)?),
        keys,
        form,
        made,
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    render_page(
        &app,
        &visitor,
        query.paging()?.offset,
        visitor.form_or(Form::default()),
        None,
    )
    .await
}

pub async fn invite(State(app): State<Arc<App>>, visitor: Visitor, form_data: FormData) -> Result<Response, PageError> {
    match make(&app, &visitor, &form_data).await {
        Ok(made) => render_page(&app, &visitor, 0, Form::default().created(), Some(made)).await,
        Err(failure) => render_page(&app, &visitor, 0, Form::refused(form_data, &failure), None).await,
    }
}

async fn make(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<NewInvitation, ApiError> {
    let plan = members::plan_invitation(
        &visitor.caller,
        &CreateInvitation {
            email: form_data.text("email")?.to_owned(),
            role: form_data.word("role")?,
        },
    )?;
    let (invitation, token) = Write::run_once(
        app,
        &visitor.caller,
        form_data.once(visitor, "/invitations")?,
        plan,
        members::invite,
    )
    .await?;
    Ok(NewInvitation {
        email: invitation.email,
        link: format!("{}/invite?token={token}", app.public_url),
    })
}

/// The revision of the organization's name.
fn name_revision(org: &Org) -> Result<Revision, ApiError> {
    Revision::of(&(org.id.to_string(), &org.name))
}

/// Renames the organization, unless somebody else did since the page was shown.
pub async fn rename(State(app): State<Arc<App>>, visitor: Visitor, form_data: FormData) -> Result<Response, PageError> {
    let form = match renamed(&app, &visitor, &form_data).await {
        Ok(()) => return Ok(redirect_with_notice(&visitor, "/members", Notice::RENAMED)),
        Err(ApiError::Changed) => {
            let now = app.db.read().await?.org(visitor.org.id).record().await?;
            let now = now.ok_or(ApiError::NoSuch("organization"))?;
            let differs = vec![Difference::new("Name", &form_data.text("name")?, &now.name)];
            Form::outdated(form_data, differs)
        }
        Err(failure) => Form::refused_if_bad(form_data, failure)?,
    };
    render_page(&app, &visitor, 0, form, None).await
}

async fn renamed(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<(), ApiError> {
    let name = orgs::name(form_data.text("name")?)?;
    Write::run(app, &visitor.caller, name, async |write, name| {
        revision::check(form_data, &name_revision(&orgs::record(write).await?)?)?;
        orgs::change(write, Some(name)).await.map(drop)
    })
    .await
}
