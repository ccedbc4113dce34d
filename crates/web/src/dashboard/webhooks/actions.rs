//! Confirmed changes of a webhook: disabled or enabled, a new secret, and its deletion.

use crate::dashboard::confirm::{Action, Done, Facts, Requester};
use crate::dashboard::form_data::FormData;
use crate::dashboard::frame::Notice;
use crate::dashboard::revision::Revision;
use crate::dashboard::show::time;

use launchway_domain::id::WebhookId;
use launchway_domain::time::iso;
use launchway_domain::webhook::{Webhook, WebhookStatus};
use launchway_domain::words::UnknownWordError;
use launchway_ops::api_error::ApiError;
use launchway_ops::webhooks;
use launchway_ops::write::Write;
use launchway_outbound::address_guard::origin_of;
use launchway_store::Org;

/// Disables or enables a webhook.
pub struct SetStatus(WebhookStatus);
/// Gives a webhook a new secret.
pub struct Rotate;
/// Deletes a webhook.
pub struct Delete;

pub fn path(id: WebhookId) -> String {
    format!("/webhooks/{id}")
}

/// The revision of a webhook's settings, without the state of its deliveries.
pub fn revision(webhook: &Webhook) -> Result<Revision, ApiError> {
    let bundles: Vec<_> = webhook.bundle_ids.iter().map(|bundle| bundle.as_str()).collect();
    Revision::of(&(
        webhook.id.to_string(),
        webhook.status.as_str(),
        &webhook.name,
        &webhook.url,
        webhook.kind.as_str(),
        webhook.events.names(),
        bundles,
    ))
}

async fn question(
    org: &mut Org<'_>,
    id: WebhookId,
    question: &str,
    button: &'static str,
) -> Result<(Webhook, Facts), ApiError> {
    let webhook = org.webhook(id).await?.ok_or(ApiError::NoSuch("webhook"))?;
    let facts = Facts::new(format!("{question} {}?", webhook.name), button, revision(&webhook)?)
        .on("webhooks", path(id), "The webhook")
        .known("URL", origin_of(&webhook.url))
        .known("Events", webhook.events.names().join(", "))
        .known(
            "Deliveries",
            match webhook.failing_since {
                Some(since) => format!("failing since {}", time(&iso(since))),
                None => "the last attempt succeeded, or there was none".to_owned(),
            },
        );
    Ok((webhook, facts))
}

async fn lock(write: &mut Write<'_>, id: WebhookId) -> Result<(), ApiError> {
    webhooks::lock(write, id).await.map(drop)
}

impl Action for SetStatus {
    type Id = WebhookId;

    fn read(form_data: &FormData) -> Result<Self, ApiError> {
        let status = form_data.text("status")?.parse();
        Ok(SetStatus(status.map_err(|unknown: UnknownWordError| {
            ApiError::bad(format!("status {unknown}"))
        })?))
    }

    async fn lock(&self, write: &mut Write<'_>, id: WebhookId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: WebhookId) -> Result<Facts, ApiError> {
        let (asked, button, follows) = match self.0 {
            WebhookStatus::Disabled => (
                "Disable",
                "Disable webhook",
                "Nothing more is sent, not even pending deliveries",
            ),
            WebhookStatus::Active => ("Enable", "Enable webhook", "Events from now on are delivered to it"),
        };
        let (webhook, facts) = question(org, id, asked, button).await?;
        let mut facts = facts
            .says(follows)
            .change("Status", webhook.status.as_str(), self.0.as_str())
            .field("status", self.0.as_str());
        facts.danger = self.0 == WebhookStatus::Disabled;
        Ok(facts)
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: WebhookId) -> Result<Done, ApiError> {
        webhooks::set_status(write, id, self.0).await?;
        Ok(Done::new(path(id), Notice::WEBHOOK_CHANGED))
    }
}

impl Action for Rotate {
    type Id = WebhookId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Rotate)
    }

    async fn lock(&self, write: &mut Write<'_>, id: WebhookId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: WebhookId) -> Result<Facts, ApiError> {
        let (_, facts) = question(org, id, "Create a new secret for", "Create a new secret").await?;
        Ok(facts.says("Messages are signed with both secrets for 24 hours, then only with the new one"))
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: WebhookId) -> Result<Done, ApiError> {
        let (_, secret) = webhooks::rotate_secret(write, id).await?;
        Ok(Done::new(path(id), Notice::WEBHOOK_ROTATED).with_secret(secret.reveal()))
    }
}

impl Action for Delete {
    type Id = WebhookId;

    fn read(_: &FormData) -> Result<Self, ApiError> {
        Ok(Delete)
    }

    async fn lock(&self, write: &mut Write<'_>, id: WebhookId) -> Result<(), ApiError> {
        lock(write, id).await
    }

    async fn facts(&self, org: &mut Org<'_>, _: &Requester<'_>, id: WebhookId) -> Result<Facts, ApiError> {
        let (webhook, facts) = question(org, id, "Delete", "Delete webhook").await?;
        Ok(facts
            .says("Nothing more is sent, not even pending deliveries")
            .known("Status", webhook.status.as_str())
            .danger())
    }

    async fn make(self, write: &mut Write<'_>, _: &Requester<'_>, id: WebhookId) -> Result<Done, ApiError> {
        webhooks::delete(write, id).await?;
        Ok(Done::new("/webhooks", Notice::WEBHOOK_DELETED))
    }
}
