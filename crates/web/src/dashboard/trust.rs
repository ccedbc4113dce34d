//! `/o/{org}/trust`: the signed updates of an app: its roles, keys and drafts, and the updates that await a signature.
//! Nothing is signed in a browser: the page shows the commands for it.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use launchway_api::trust::{TrustDraftView, TrustKeyView, TrustRoleView, TrustView};
use launchway_api::updates::UpdateView;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::{DAY, EpochMs, from_rfc3339};
use launchway_domain::update::UpdateStatus;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::trust::view;
use launchway_store::{Paging, UpdateFilter};

use super::frame::{Frame, page};
use super::page_error::PageError;
use super::show::ROWS;
use super::states::{Look, badge};
use super::visitor::Visitor;
use crate::query::Query;

/// How long before its expiry a role of the developers needs attention.
const SOON: EpochMs = 30 * DAY;

#[derive(Template)]
#[template(path = "dashboard/trust.html")]
struct Page {
    frame: Frame,
    trust: TrustView,
    /// The state of the whole, as HTML.
    state: String,
    warnings: Vec<Warning>,
    roles: Vec<Role>,
    drafts: Vec<Draft>,
    /// The newest updates that await a signature.
    waiting: Vec<WaitingUpdate>,
}

/// A role with an expiry that needs attention.
struct Warning {
    role: String,
    is_expired: bool,
    expires_at: String,
    /// Whether this server renews the role.
    is_online: bool,
}

struct Role {
    view: TrustRoleView,
    purpose: String,
    /// Its state, as HTML.
    state: String,
    signatures: usize,
}

struct WaitingUpdate {
    view: UpdateView,
    /// Whether it is in the draft of its role.
    is_in_draft: bool,
    /// Whether the draft of its role has signatures already. It joins the next one.
    is_behind_draft: bool,
}

struct Draft {
    view: TrustDraftView,
    signatures: usize,
    /// What signs it; `None` if it has its signatures, and others that belong to it do not.
    command: Option<String>,
}

pub async fn show(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    let bundle: Option<BundleId> = query.parsed("bundleId", "a bundle identifier")?;
    let bundle = bundle.ok_or_else(|| ApiError::bad("bundleId is required"))?;
    let now = app.clock.now();
    let mut tx = app.db.read().await?;
    let mut org = tx.org(visitor.org.id);
    let trust = view::read(&mut org, &bundle, now).await?;
    if trust.repository.is_none() && org.app_by_bundle(&bundle).await?.is_none() {
        return Err(ApiError::NoSuch("app").into());
    }
    let filter = UpdateFilter {
        bundle: Some(bundle.clone()),
        status: Some(UpdateStatus::AwaitingSignature),
        ..UpdateFilter::default()
    };
    let newest = Paging { limit: ROWS, offset: 0 };
    let waiting = org.updates(&filter, newest).await?.items;
    let warnings: Vec<_> = trust.roles.iter().filter_map(|role| warning(role, now)).collect();
    let shown = Page {
        frame: Frame::new(&app, &visitor, "apps", format!("Signed updates of {}", trust.bundle_id)),
        state: badge(state(&trust, &warnings)),
        roles: trust.roles.iter().map(|view| role(view, now)).collect(),
        drafts: trust.drafts.iter().map(draft).collect(),
        waiting: waiting
            .iter()
            .map(|update| waiting_update(UpdateView::of(update), &trust))
            .collect(),
        warnings,
        trust,
    };
    Ok(page(StatusCode::OK, &shown))
}

fn state(trust: &TrustView, warnings: &[Warning]) -> Look {
    if trust.repository.is_none() {
        ("calm", "dash", "Not signed")
    } else if warnings.iter().any(|warning| warning.is_expired) {
        ("bad", "cross", "Expired")
    } else if !warnings.is_empty() {
        ("warn", "warning", "Expires soon")
    } else {
        ("good", "check", "Signed")
    }
}

/// Whether this server holds the key of a role.
fn is_online(role: &str) -> bool {
    matches!(role, "timestamp" | "snapshot")
}

fn warning(view: &TrustRoleView, now: EpochMs) -> Option<Warning> {
    let expires_at = view.expires_at.clone()?;
    let is_online = is_online(&view.role);
    let is_soon = !is_online && from_rfc3339(&expires_at).is_some_and(|at| at < now + SOON);
    (view.expired || is_soon).then(|| Warning {
        role: view.role.clone(),
        is_expired: view.expired,
        expires_at,
        is_online,
    })
}

fn role(view: &TrustRoleView, now: EpochMs) -> Role {
    let look = match warning(view, now) {
        _ if view.version.is_none() => ("calm", "waiting", "Not signed yet"),
        Some(warning) if warning.is_expired => ("bad", "cross", "Expired"),
        Some(_) => ("warn", "warning", "Expires soon"),
        None => ("good", "check", "Valid"),
    };
    Role {
        purpose: purpose(&view.role),
        state: badge(look),
        signatures: signatures(&view.keys),
        view: view.clone(),
    }
}

fn purpose(role: &str) -> String {
    match role {
        "root" => "names the keys of the top-level roles".to_owned(),
        "targets" => "names the roles that sign updates".to_owned(),
        "timestamp" | "snapshot" => "signed and renewed by this server".to_owned(),
        "any" => "updates of every configuration, so its keys reach production".to_owned(),
        role => format!("updates of {}", role.strip_prefix("c-").unwrap_or(role)),
    }
}

fn signatures(keys: &[TrustKeyView]) -> usize {
    keys.iter().filter(|key| key.signed).count()
}

/// An update joins the draft of its role only before the draft has a signature.
fn waiting_update(view: UpdateView, trust: &TrustView) -> WaitingUpdate {
    let draft = trust
        .drafts
        .iter()
        .find(|draft| view.trust_role.as_ref() == Some(&draft.role));
    let is_in_draft = draft.is_some_and(|draft| draft.update_ids.contains(&view.id));
    WaitingUpdate {
        is_in_draft,
        is_behind_draft: !is_in_draft && draft.is_some_and(|draft| signatures(&draft.keys) > 0),
        view,
    }
}

/// A draft with the command that signs it.
fn draft(view: &TrustDraftView) -> Draft {
    let signatures = signatures(&view.keys);
    let command = match view.update_ids.first() {
        Some(update) => format!("launchway update sign {update}"),
        None => format!("launchway trust sign {} --bundle-id {}", view.role, view.bundle_id),
    };
    // A root also needs the signatures that the root before asks for, so their number alone does not tell.
    let is_complete = view.role != "root" && signatures as u64 >= view.threshold;
    Draft {
        signatures,
        command: (!is_complete).then_some(command),
        view: view.clone(),
    }
}
