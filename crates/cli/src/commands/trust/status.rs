//! `trust status`: what the server says about the roles of an app, their keys and their expiry.

use launchway_api::trust::{TrustDraftView, TrustKeyView, TrustRoleView, TrustView};
use launchway_client::{Paging, UpdateFilter};
use launchway_domain::update::UpdateStatus;
use launchway_trust::UpdateRole;

use super::Subject;
use super::keys::REACHES_EVERYTHING;
use crate::args::trust::AppArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::printer::fields::{fields, format_minute};
use crate::printer::table::Table;
use crate::trust::keys::short_id;

pub async fn run(app: &AppArgs, context: &Context) -> Result<(), Failure> {
    let subject = Subject::of(app, context)?;
    let waiting = count_waiting(&subject).await?;
    let answer = subject.service.trust(subject.project.bundle_id.as_str()).await?;
    let trust = &answer.value;
    context.printer.result(&answer.body, || prose(trust, context))?;
    if waiting > 0 {
        context.printer.note(&format!(
            "Updates that wait for a signature: {waiting}; `launchway update list --status awaiting_signature` shows them"
        ));
    }
    if trust.roles.iter().any(|role| role.role == UpdateRole::Any.to_string()) {
        context.printer.warn(REACHES_EVERYTHING);
    }
    let here = subject.project.content.as_ref().map(|file| file.repository.to_string());
    match (&trust.repository, here) {
        (None, None) => context
            .printer
            .note("Set up signed updates with `launchway trust init`"),
        (Some(there), Some(here)) if *there == here => {}
        (Some(_), None) => {
            context
                .printer
                .note("The project has no launchway.trust.json: get it from the source repository of the app");
        }
        (there, Some(here)) => context.printer.warn(&format!(
            "launchway.trust.json is for the repository {here}, and the server has {}: do not sign",
            there.as_deref().unwrap_or("none")
        )),
    }
    Ok(())
}

/// How many updates of the app wait for a signature, with or without a draft.
async fn count_waiting(subject: &Subject) -> Result<i64, Failure> {
    let filter = UpdateFilter {
        bundle_id: Some(subject.project.bundle_id.to_string()),
        status: Some(UpdateStatus::AwaitingSignature.as_str().to_owned()),
        ..UpdateFilter::default()
    };
    let paging = Paging { limit: 1, offset: 0 };
    Ok(subject.service.updates(&filter, paging).await?.value.total)
}

fn prose(trust: &TrustView, context: &Context) -> String {
    let Some(repository) = &trust.repository else {
        return format!("{} has no signed updates\n", trust.bundle_id);
    };
    let key = |key: &Option<launchway_api::trust::OnlineKeyView>| {
        key.as_ref()
            .map(|key| short_id(&key.key_id).to_owned())
            .unwrap_or_default()
    };
    let other_formats = if trust.other_formats_allowed { "allowed" } else { "" };
    let mut text = fields(&[
        ("App", trust.bundle_id.clone()),
        ("Repository", repository.clone()),
        ("Server's key", key(&trust.online_key)),
        ("Next server's key", key(&trust.pending_online_key)),
        ("Unsigned formats", other_formats.to_owned()),
    ]);
    text.push('\n');
    text.push_str(&context.printer.table(&roles(&trust.roles)));
    if !trust.drafts.is_empty() {
        text.push_str("\nWaiting for signatures\n");
        text.push_str(&context.printer.table(&drafts(&trust.drafts)));
    }
    text
}

fn roles(roles: &[TrustRoleView]) -> Table {
    let mut table = Table::new(&["Role", "Version", "Expires", "Needs", "Updates", "Revoked", "Keys"]);
    for role in roles {
        let expires = role.expires_at.as_deref().map(format_minute).unwrap_or_default();
        table.row(vec![
            role.role.clone(),
            role.version.map_or("none".to_owned(), |version| version.to_string()),
            if role.expired {
                format!("{expires} (expired)")
            } else {
                expires
            },
            format!("{} of {}", role.threshold, role.keys.len()),
            role.targets.to_string(),
            role.revoked.to_string(),
            keys(&role.keys),
        ]);
    }
    table
}

fn drafts(drafts: &[TrustDraftView]) -> Table {
    let mut table = Table::new(&["Role", "Version", "Needs", "Updates", "Made", "Keys"]);
    for draft in drafts {
        table.row(vec![
            draft.role.clone(),
            draft.version.to_string(),
            format!("{} of {}", draft.threshold, draft.keys.len()),
            draft.update_ids.join(", "),
            format_minute(&draft.created_at),
            keys(&draft.keys),
        ]);
    }
    table
}

/// The keys, each with its name and whether it signed.
fn keys(keys: &[TrustKeyView]) -> String {
    let shown = keys.iter().map(|key| {
        let name = key.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let signed = if key.signed { " signed" } else { "" };
        format!("{}{name}{signed}", short_id(&key.key_id))
    });
    shown.collect::<Vec<_>>().join(", ")
}
