//! Adds and deletes credentials, and warns of their expiry (`docs/reference/submissions.md#credentials`). All secrets
//! of a credential are sealed together.

use launchway_api::credentials::{CreateCredential, CredentialExpiring, CredentialView, StoreEvents};
use launchway_api::secret::SecretText;
use launchway_credentials::{CredentialError, CredentialInput, Kind, MAX_SIZE};
use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::credential::{Credential, MAX_CREDENTIALS, NOTICES};
use launchway_domain::id::CredentialId;
use launchway_domain::org::normalize_name;
use launchway_domain::time::DAY;
use launchway_inspection::CredentialFacts;
use launchway_inspection::credential_form::{OpenedCredential, decode, sealable};
use launchway_store::Paging;
use launchway_vault::Place;
use zeroize::Zeroizing;

use crate::api_error::ApiError;
use crate::app::App;
use crate::apps;
use crate::caller::Caller;
use crate::write::{NOTHING, Write};

const NOBODY: Paging = Paging { limit: 0, offset: 0 };
const BATCH: i64 = 100;

/// A parsed and validated credential that is not stored yet.
pub struct CredentialPlan {
    name: String,
    kind: Kind,
    bundle_id: Option<BundleId>,
    facts: CredentialFacts,
    secret: Zeroizing<Vec<u8>>,
}

/// Parses and validates a credential: its form, password, expiry and app. This is CPU-bound: it derives keys, and
/// compares private keys with their certificates.
pub async fn plan(app: &App, caller: &Caller, request: CreateCredential) -> Result<CredentialPlan, ApiError> {
    let kind: Kind = request
        .kind
        .checked()
        .map_err(|unknown| ApiError::bad(format!("kind {unknown}")))?;
    let named = request.name.as_deref().filter(|name| !name.is_empty());
    let name = named
        .map(|name| normalize_name(name).ok_or_else(|| ApiError::bad("name must have 1 to 100 visible characters")))
        .transpose()?;
    // An empty one is a mistake, such as an unset variable of a script: it must not become a credential of every app.
    let bundle_id = request.bundle_id.as_deref().map(apps::bundle_id).transpose()?;
    let content = decode(&request.content).map_err(|error| ApiError::bad(error.to_string()))?;
    if content.len() > MAX_SIZE {
        return Err(ApiError::bad(CredentialError::TooLarge.to_string()));
    }
    if let Some(bundle) = &bundle_id {
        only_own(app, caller, bundle).await?;
    }
    let given = CredentialInput {
        content: &content,
        password: request.password.as_ref().map(SecretText::reveal),
        alias: request.alias.as_deref(),
        key_password: request.key_password.as_ref().map(SecretText::reveal),
        key_id: request.key_id.as_deref(),
        issuer_id: request.issuer_id.as_deref(),
        bundle_id: request.bundle_id.as_deref(),
    };
    let secret = sealable(&given);
    let _place = app.inspections.take(caller.org_id()?).await?;
    let read = app
        .inspector
        .credential(kind, request.bundle_id.clone(), app.clock.now(), secret.clone())
        .await?;
    let facts = read.map_err(|refused| ApiError::bad(refused.0))?;
    if kind == Kind::GoogleServiceAccount && !may_fetch_tokens(app, &facts) {
        return Err(ApiError::bad(
            "content: the token_uri of the service account must be an https URL of a public host; Google's is \
             https://oauth2.googleapis.com/token",
        ));
    }
    Ok(CredentialPlan {
        name: name.unwrap_or_else(|| facts.name.clone()),
        kind,
        bundle_id,
        facts,
        secret,
    })
}

/// Whether this service may call the URL from which a service account gets its tokens.
fn may_fetch_tokens(app: &App, facts: &CredentialFacts) -> bool {
    let url = facts.facts["tokenUri"].as_str();
    url.is_some_and(|url| app.app_stores.may_call(url))
}

/// Rejects a credential for an app of another organization.
async fn only_own(app: &App, caller: &Caller, bundle: &BundleId) -> Result<(), ApiError> {
    let mut tx = app.db.read().await?;
    let owner = tx
        .system("an app belongs to one tenant of all")
        .bundle_owner(&bundle.key())
        .await?;
    if owner.is_some_and(|owner| Some(owner) != caller.org.as_ref().map(|org| org.id)) {
        return Err(ApiError::bad(format!(
            "bundleId: {bundle} belongs to another organization; the operator of this server can transfer it"
        )));
    }
    Ok(())
}

/// The place under which a credential's secrets are sealed.
fn place(id: CredentialId) -> Place<'static> {
    Place::new(id, "credential")
}

/// Opens a credential and audits the opening. `None` if it was deleted.
pub async fn open(
    write: &mut Write<'_>,
    id: CredentialId,
    what_for: &str,
) -> Result<Option<OpenedCredential>, ApiError> {
    let Some(sealed) = write.org().sealed_credential(id).await? else {
        return Ok(None);
    };
    let whole = write.open_secret(&place(id), &sealed, what_for).await?;
    let opened = serde_json::from_slice(&whole);
    // Without serde's own message, which could quote a secret.
    opened
        .map(Some)
        .map_err(|_| ApiError::Internal("an opened credential is not valid".to_owned()))
}

/// Stores a credential. Also returns where its app store may send events, if the app store has events.
pub async fn create(
    write: &mut Write<'_>,
    plan: CredentialPlan,
) -> Result<(CredentialView, Option<StoreEvents>), ApiError> {
    write.org().lock().await?;
    if write.org().credentials(NOBODY).await?.total >= MAX_CREDENTIALS {
        return Err(ApiError::bad(format!(
            "This organization has the maximum of {MAX_CREDENTIALS} credentials. Delete one first."
        )));
    }
    let now = write.now();
    let credential = Credential {
        id: write.app().random.id(now),
        org_id: write.org_id(),
        kind: plan.kind.as_str().to_owned(),
        name: plan.name,
        bundle_id: plan.bundle_id,
        fingerprint: plan.facts.fingerprint.clone(),
        facts: plan.facts.facts,
        expires_at: plan.facts.expires_at,
        told_days: None,
        created_by: write.actor_text(),
        created_at: now,
    };
    let sealed = write.seal(&place(credential.id), &plan.secret).await?;
    write.org().create_credential(&credential, &sealed).await?;
    let view = CredentialView::of(&credential, now);
    write
        .audit("credential.create", credential.id, NOTHING, Some(&view))
        .await?;
    // A credential that expires soon is reported at once.
    notify(write, &credential).await?;
    let app = write.app();
    let has_events = plan.kind == Kind::AppStoreConnectKey;
    let store_events = has_events.then(|| {
        app.app_store_event_secrets
            .event_settings(&app.public_url, credential.id, 0)
    });
    Ok((view, store_events))
}

/// Gives the events of a credential's store a new secret. The previous one stays valid for a day.
pub async fn rotate_events_secret(
    write: &mut Write<'_>,
    id: CredentialId,
) -> Result<(CredentialView, StoreEvents), ApiError> {
    let (now, none) = (write.now(), || ApiError::NoSuch("credential"));
    let credential = write.org().credential(id).await?.ok_or_else(none)?;
    if credential.kind != Kind::AppStoreConnectKey.as_str() {
        return Err(ApiError::bad(format!(
            "Only a credential of the kind app_store_connect_key has events of its store, but this one is {}",
            credential.kind
        )));
    }
    let rotations = write.org().rotate_store_events(id, now).await?.ok_or_else(none)?;
    write
        .audit("credential.rotate_events_secret", id, NOTHING, NOTHING)
        .await?;
    let app = write.app();
    let events = app
        .app_store_event_secrets
        .event_settings(&app.public_url, id, rotations);
    Ok((CredentialView::of(&credential, now), events))
}

/// Deletes a credential.
pub async fn delete(write: &mut Write<'_>, id: CredentialId) -> Result<(), ApiError> {
    let now = write.now();
    let none = || ApiError::NoSuch("credential");
    let old = write.org().credential(id).await?.ok_or_else(none)?;
    if !write.org().delete_credential(id).await? {
        return Err(none());
    }
    let view = CredentialView::of(&old, now);
    write.audit("credential.delete", id, Some(&view), NOTHING).await
}

/// Reports every credential that expires within 30 days, and again within 7, each once; returns the number of notices.
pub async fn notify_expiring(app: &App) -> Result<u64, ApiError> {
    let now = app.clock.now();
    let horizon = now + NOTICES.iter().max().copied().unwrap_or_default() * DAY;
    let (mut notices, mut after) = (0, String::new());
    loop {
        let mut tx = app.db.read().await?;
        let page = tx
            .system("credentials of every tenant end")
            .expiring_credentials(now, horizon, &after, BATCH)
            .await?;
        drop(tx);
        let Some((_, last)) = page.last() else {
            return Ok(notices);
        };
        after = last.id.to_string();
        for (org, credential) in &page {
            if credential.due_notice(now).is_some() {
                let mut write = Write::open(app, *org, Actor::Service, None).await?;
                if notify(&mut write, credential).await? {
                    write.commit().await?;
                    notices += 1;
                }
            }
        }
    }
}

/// Reports a credential's expiry if a notice is due; returns whether it was.
async fn notify(write: &mut Write<'_>, credential: &Credential) -> Result<bool, ApiError> {
    let now = write.now();
    let Some(days) = credential.due_notice(now) else {
        return Ok(false);
    };
    if !write.org().record_expiry_notice(credential.id, days).await? {
        return Ok(false);
    }
    let notice = CredentialExpiring {
        record: CredentialView::of(credential, now),
        days_left: days,
    };
    write.event("credential.expiring", &notice).await?;
    Ok(true)
}
