//! Creates, changes and deletes webhooks, and their secrets.

use launchway_api::open;
use launchway_api::webhooks::{CreateWebhook, ReplaceWebhook, WebhookView};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::WebhookId;
use launchway_domain::org::normalize_name;
use launchway_domain::standard_webhooks::{SECRET_BYTES, Secret};
use launchway_domain::webhook::{
    EventFilter, HIDDEN, MAX_BUNDLE_IDS, MAX_OLD_SECRETS, MAX_WEBHOOKS, OLD_SECRET_LIFE, Webhook, WebhookStatus,
    WebhookType, shown_url,
};
use launchway_outbound::address_guard::{check_url, origin_of};
use launchway_store::{OldSecret, Paging, WebhookSecrets};
use launchway_vault::Place;
use zeroize::Zeroizing;

use crate::api_error::ApiError;
use crate::app::App;
use crate::write::{NOTHING, Write};
use crate::{apps, webhook_urls};

/// Why pending deliveries end when their webhook is disabled.
const TURNED_OFF: &str = "The webhook was disabled";
/// The `disabledReason` of a webhook that a person disabled.
const BY_HAND: &str = "An admin disabled it";

/// A validated request to create or replace a webhook.
#[derive(Clone, Debug)]
pub struct WebhookPlan {
    name: String,
    /// The whole URL, or, in a replacement, the one that is shown: then it stays.
    url: String,
    kind: WebhookType,
    events: EventFilter,
    bundle_ids: Vec<BundleId>,
    /// `None` keeps the status.
    status: Option<WebhookStatus>,
}

/// Why a URL is refused that a list shows.
const NOT_WHOLE: &str = "url is shortened, as lists show it. Send the whole URL.";

/// The place under which a webhook's secrets are sealed.
pub fn place_of_secret(id: WebhookId) -> Place<'static> {
    Place::new(id, "secret")
}

/// Validates a request for a webhook.
pub fn plan(app: &App, request: &CreateWebhook) -> Result<WebhookPlan, ApiError> {
    check_url(&request.url, app.webhooks.sender.allows_private())
        .map_err(|refused| ApiError::bad(format!("url {refused}")))?;
    let kind = request.kind.as_ref().map(open::WebhookType::checked).transpose();
    Ok(WebhookPlan {
        name: normalize_name(&request.name)
            .ok_or_else(|| ApiError::bad("name must have 1 to 100 visible characters"))?,
        url: request.url.clone(),
        kind: kind
            .map_err(|unknown| ApiError::bad(format!("type {unknown}")))?
            .unwrap_or(WebhookType::Generic),
        events: EventFilter::parse(&request.events).map_err(|invalid| ApiError::bad(format!("events {invalid}")))?,
        bundle_ids: bundle_ids(request.bundle_ids.as_deref().unwrap_or_default())?,
        status: None,
    })
}

/// Validates the replacement of a webhook.
pub fn replacement(app: &App, request: &ReplaceWebhook) -> Result<WebhookPlan, ApiError> {
    let record = CreateWebhook {
        name: request.name.clone(),
        url: request.url.clone(),
        events: request.events.clone(),
        kind: request.kind.clone(),
        bundle_ids: request.bundle_ids.clone(),
    };
    let status = request.status.as_ref().map(open::WebhookStatus::checked).transpose();
    Ok(WebhookPlan {
        status: status.map_err(|unknown| ApiError::bad(format!("status {unknown}")))?,
        ..plan(app, &record)?
    })
}

/// Bundle ids in their original spelling, without duplicates that differ only by letter case.
fn bundle_ids(texts: &[String]) -> Result<Vec<BundleId>, ApiError> {
    if texts.len() > MAX_BUNDLE_IDS {
        return Err(ApiError::bad(format!(
            "bundleIds must have at most {MAX_BUNDLE_IDS} items"
        )));
    }
    let mut kept: Vec<BundleId> = Vec::with_capacity(texts.len());
    for text in texts {
        let id = apps::bundle_id(text)
            .map_err(|_| ApiError::bad("bundleIds must be bundle identifiers such as com.example.app"))?;
        if !kept.contains(&id) {
            kept.push(id);
        }
    }
    Ok(kept)
}

/// A webhook as the audit log shows it: without the parts of its URL that may be secret.
fn audit_view(webhook: &Webhook) -> WebhookView {
    WebhookView {
        url: origin_of(&webhook.url),
        ..WebhookView::of(webhook, None)
    }
}

/// Creates a webhook; returns it with its secret.
pub async fn create(write: &mut Write<'_>, plan: WebhookPlan) -> Result<(Webhook, Secret), ApiError> {
    if plan.url.contains(HIDDEN) {
        return Err(ApiError::bad(NOT_WHOLE));
    }
    // Serialized, so that two at once do not both take the last place.
    write.org().lock().await?;
    let one = Paging { limit: 1, offset: 0 };
    if write.org().webhooks(one).await?.total >= MAX_WEBHOOKS {
        return Err(ApiError::bad(format!(
            "This organization has the maximum of {MAX_WEBHOOKS} webhooks. Delete one first."
        )));
    }
    let webhook = Webhook {
        id: write.app().random.id(write.now()),
        org_id: write.org_id(),
        status: WebhookStatus::Active,
        disabled_reason: None,
        name: plan.name,
        url: shown_url(&plan.url),
        kind: plan.kind,
        events: plan.events,
        bundle_ids: plan.bundle_ids,
        failing_since: None,
        created_by: write.actor_text(),
        created_at: write.now(),
    };
    let (secret, sealed) = new_secret(write, webhook.id).await?;
    let url = webhook_urls::stored(write, webhook.id, &plan.url).await?;
    write.org().create_webhook(&webhook, &url, &sealed).await?;
    write
        .audit("webhook.create", webhook.id, NOTHING, Some(&audit_view(&webhook)))
        .await?;
    Ok((webhook, secret))
}

async fn new_secret(write: &mut Write<'_>, id: WebhookId) -> Result<(Secret, String), ApiError> {
    let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
    write.app().random.fill(&mut *bytes);
    let secret = Secret::new(bytes);
    let sealed = write.seal(&place_of_secret(id), secret.bytes()).await?;
    Ok((secret, sealed))
}

/// Replaces the whole record of a webhook. Enabling it resets its failures; disabling it ends its deliveries.
pub async fn replace(write: &mut Write<'_>, id: WebhookId, plan: WebhookPlan) -> Result<Webhook, ApiError> {
    let before = lock(write, id).await?;
    let has_new_url = has_new_url(write, &before, &plan.url).await?;
    if has_new_url {
        let url = webhook_urls::stored(write, id, &plan.url).await?;
        write.org().set_webhook_url(id, &url, &shown_url(&plan.url)).await?;
    }
    let after = Webhook {
        failing_since: before
            .failing_since
            .filter(|_| plan.status != Some(WebhookStatus::Active)),
        name: plan.name,
        url: shown_url(&plan.url),
        kind: plan.kind,
        events: plan.events,
        bundle_ids: plan.bundle_ids,
        ..with_status(&before, plan.status.unwrap_or(before.status))
    };
    keep(write, before, after, has_new_url).await
}

/// Whether a replacement names another URL. The shown form of the present one keeps it.
async fn has_new_url(write: &mut Write<'_>, before: &Webhook, url: &str) -> Result<bool, ApiError> {
    if url == before.url {
        return Ok(false);
    }
    if url.contains(HIDDEN) {
        return Err(ApiError::bad(NOT_WHOLE));
    }
    if shown_url(url) != before.url {
        return Ok(true);
    }
    let stored = write.org().webhook_url(before.id).await?.ok_or_else(none)?;
    let present = webhook_urls::open(write, before.id, &stored, "comparing it with a new one").await?;
    Ok(*present != url)
}

/// Enables or disables a webhook, and changes nothing else.
pub async fn set_status(write: &mut Write<'_>, id: WebhookId, status: WebhookStatus) -> Result<Webhook, ApiError> {
    let before = lock(write, id).await?;
    let after = Webhook {
        failing_since: before.failing_since.filter(|_| status != WebhookStatus::Active),
        ..with_status(&before, status)
    };
    keep(write, before, after, false).await
}

fn with_status(before: &Webhook, status: WebhookStatus) -> Webhook {
    Webhook {
        status,
        disabled_reason: match status {
            WebhookStatus::Active => None,
            WebhookStatus::Disabled if status == before.status => before.disabled_reason.clone(),
            WebhookStatus::Disabled => Some(BY_HAND.to_owned()),
        },
        ..before.clone()
    }
}

async fn keep(write: &mut Write<'_>, before: Webhook, after: Webhook, has_new_url: bool) -> Result<Webhook, ApiError> {
    if after == before && !has_new_url {
        return Ok(after);
    }
    write.org().change_webhook(&after).await?;
    if after.status == WebhookStatus::Disabled && after.status != before.status {
        write.org().cancel_deliveries(after.id, TURNED_OFF).await?;
    }
    let (old, new) = (audit_view(&before), audit_view(&after));
    // If only a hidden part of the URL changed, the line says only that something did.
    if old != new || has_new_url {
        write.audit("webhook.change", after.id, Some(&old), Some(&new)).await?;
    }
    Ok(after)
}

/// Deletes a webhook with its deliveries.
pub async fn delete(write: &mut Write<'_>, id: WebhookId) -> Result<(), ApiError> {
    let webhook = lock(write, id).await?;
    write.org().delete_webhook(id).await?;
    write
        .audit("webhook.delete", id, Some(&audit_view(&webhook)), NOTHING)
        .await
}

/// Gives a webhook a new secret. The previous one continues to sign for a day, beside the new one.
pub async fn rotate_secret(write: &mut Write<'_>, id: WebhookId) -> Result<(Webhook, Secret), ApiError> {
    let webhook = lock(write, id).await?;
    let now = write.now();
    let secrets = write.org().webhook_secrets(id).await?.ok_or_else(none)?;
    let (secret, sealed) = new_secret(write, id).await?;
    let replaced = OldSecret {
        sealed: secrets.sealed,
        until: now + OLD_SECRET_LIFE,
    };
    let mut old = vec![replaced];
    old.extend(secrets.old.into_iter().filter(|before| before.until > now));
    old.truncate(MAX_OLD_SECRETS);
    write
        .org()
        .set_webhook_secrets(id, &WebhookSecrets { sealed, old })
        .await?;
    write.audit("webhook.rotate_secret", id, NOTHING, NOTHING).await?;
    Ok((webhook, secret))
}

/// A webhook, locked until this change ends.
pub async fn lock(write: &mut Write<'_>, id: WebhookId) -> Result<Webhook, ApiError> {
    write.org().lock_webhook(id).await?.ok_or_else(none)
}

fn none() -> ApiError {
    ApiError::NoSuch("webhook")
}
