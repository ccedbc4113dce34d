//! `/o/{org}/credentials`: credentials for signing builds and for the app stores. Their contents are never shown again.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_api::credentials::{CreateCredential, CredentialView};
use launchway_api::open;
use launchway_api::secret::SecretText;
use launchway_domain::credential::CredentialKind;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::credentials;
use launchway_ops::write::Write;
use launchway_store::Paging;

use super::form_data::{Form, FormData};
use super::frame::{Frame, Notice, page, redirect_with_notice};
use super::page_error::PageError;
use super::show::{Pager, ROWS};
use super::visitor::Visitor;
use crate::query::Query;

/// The kinds of credentials, with their labels.
pub const KINDS: [(CredentialKind, &str); 5] = [
    (CredentialKind::AndroidKeystore, "Android keystore"),
    (
        CredentialKind::AppleCertificate,
        "Apple certificate with its key (.p12)",
    ),
    (CredentialKind::ProvisioningProfile, "Provisioning profile"),
    (CredentialKind::AppStoreConnectKey, "App Store Connect key (.p8)"),
    (CredentialKind::GoogleServiceAccount, "Google service account (JSON)"),
];

#[derive(Template)]
#[template(path = "dashboard/credentials.html")]
struct Credentials {
    frame: Frame,
    credentials: Vec<CredentialView>,
    pager: Pager,
    form: Form,
}

/// The label of a kind.
pub fn label(kind: &open::CredentialKind) -> &str {
    let known = KINDS.iter().find(|(known, _)| kind == known);
    known.map_or(kind.as_str(), |(_, label)| label)
}

async fn render_page(app: &App, visitor: &Visitor, offset: i64, form: Form) -> Result<Response, PageError> {
    let now = app.clock.now();
    let paging = Paging { limit: ROWS, offset };
    let rows = app.db.read().await?.org(visitor.org.id).credentials(paging).await?;
    let view = |credential| CredentialView::of(credential, now);
    let shown = Credentials {
        frame: Frame::new(app, visitor, "credentials", "Credentials"),
        pager: Pager::new(offset, rows.items.len(), rows.total, ""),
        credentials: rows.items.iter().map(view).collect(),
        form,
    };
    Ok(page(shown.form.status(), &shown))
}

pub async fn list(State(app): State<Arc<App>>, visitor: Visitor, query: Query) -> Result<Response, PageError> {
    render_page(&app, &visitor, query.paging()?.offset, visitor.form_or(Form::default())).await
}

pub async fn create(State(app): State<Arc<App>>, visitor: Visitor, form_data: FormData) -> Result<Response, PageError> {
    match keep(&app, &visitor, &form_data).await {
        Ok(()) => Ok(redirect_with_notice(
            &visitor,
            "/credentials",
            Notice::CREDENTIAL_CREATED,
        )),
        Err(failure) => render_page(&app, &visitor, 0, Form::refused(form_data, &failure)).await,
    }
}

async fn keep(app: &App, visitor: &Visitor, form_data: &FormData) -> Result<(), ApiError> {
    let file = form_data.bytes("content").filter(|file| !file.is_empty());
    let file = file.ok_or_else(|| ApiError::bad("content is missing: choose a file"))?;
    let secret = |name: &str| Ok::<_, ApiError>(form_data.optional(name)?.map(SecretText::new));
    let request = CreateCredential {
        kind: open::CredentialKind::of(form_data.text("kind")?),
        name: form_data.optional("name")?,
        content: SecretText::new(BASE64_STANDARD.encode(file)),
        password: secret("password")?,
        alias: form_data.optional("alias")?,
        key_password: secret("keyPassword")?,
        key_id: form_data.optional("keyId")?,
        issuer_id: form_data.optional("issuerId")?,
        bundle_id: form_data.optional("bundleId")?,
    };
    let plan = credentials::plan(app, &visitor.caller, request).await?;
    Write::run(app, &visitor.caller, plan, credentials::create)
        .await
        .map(drop)
}
