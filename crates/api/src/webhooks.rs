//! Webhooks and their deliveries (`docs/reference/webhooks.md#webhook-record`).

use launchway_domain::time::iso;
use launchway_domain::webhook::{Delivery, DeliveryAttempt, DeliveryStatus, Webhook};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::open;

/// `POST /webhooks`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateWebhook {
    /// What people call the webhook, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100, example = "Chat")]
    pub name: String,
    /// Where it is told: an https URL of a public host, at most 2048 bytes.
    #[schema(max_length = 2048, example = "https://hooks.example.com/launchway")]
    pub url: String,
    /// What it is told of: one or more kinds of events, or `*` for all.
    #[schema(min_items = 1, example = json!(["update.published", "update.withdrawn"]))]
    pub events: Vec<open::EventName>,
    /// `generic` (when absent), `slack` or `teams`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(example = "generic")]
    pub kind: Option<open::WebhookType>,
    /// Tells only of these apps, whatever the letter case, and of what belongs to no app; absent or empty: of all.
    #[schema(max_items = 100, example = json!(["com.example.app"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle_ids: Option<Vec<String>>,
}

/// `PUT /webhooks`: the whole record. What is absent is as at the creation, but `status`, which stays. The secret stays. A
/// record may be sent as it was read: what cannot be changed is ignored.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplaceWebhook {
    /// The webhook. Without it the call is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `active` turns a disabled webhook on again, `disabled` turns it off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<open::WebhookStatus>,
    /// What people call the webhook, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// Where it is told: an https URL of a public host, at most 2048 bytes.
    #[schema(max_length = 2048, example = "https://hooks.example.com/launchway")]
    pub url: String,
    /// What it is told of: one or more kinds of events, or `*` for all.
    #[schema(min_items = 1, example = json!(["*"]))]
    pub events: Vec<open::EventName>,
    /// `generic` (when absent), `slack` or `teams`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<open::WebhookType>,
    /// Tells only of these apps, and of what belongs to no app; absent or empty: of all.
    #[schema(max_items = 100)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle_ids: Option<Vec<String>>,
    /// Ignored.
    #[schema(value_type = Object)]
    #[serde(skip_serializing)]
    pub disabled_reason: Option<serde_json::Value>,
    /// Ignored.
    #[schema(value_type = Object)]
    #[serde(skip_serializing)]
    pub created_at: Option<serde_json::Value>,
    /// Ignored.
    #[schema(value_type = Object)]
    #[serde(skip_serializing)]
    pub last_delivery: Option<serde_json::Value>,
}

/// A webhook. Its secret is never shown again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub struct WebhookView {
    /// `webhook_…`.
    pub id: String,
    /// `active` or `disabled`.
    pub status: open::WebhookStatus,
    /// Why it is disabled; null while it is active.
    pub disabled_reason: Option<String>,
    /// What people call the webhook.
    pub name: String,
    /// Where it is told.
    pub url: String,
    /// `generic`, `slack` or `teams`.
    #[serde(rename = "type")]
    pub kind: open::WebhookType,
    /// What it is told of; `*` alone is everything.
    pub events: Vec<open::EventName>,
    /// Of which apps; empty: of all.
    pub bundle_ids: Vec<String>,
    /// When it was made.
    pub created_at: String,
    /// The newest delivery; null when there is none.
    pub last_delivery: Option<DeliveryView>,
}

/// The answer to `POST /webhooks` and `POST /webhooks/rotate-secret`, the only ones that carry the secret.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WebhookWithSecret {
    /// The record.
    #[serde(flatten)]
    pub record: WebhookView,
    /// `whsec_…`: what deliveries are signed with, shown this once. Absent when an idempotent request is answered again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// One event on its way to one webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub struct DeliveryView {
    /// `delivery_…`.
    pub id: String,
    /// `pending`, `succeeded`, `failed`, or `canceled` when the webhook was disabled before.
    pub status: open::DeliveryStatus,
    /// The webhook.
    pub webhook_id: String,
    /// The event: the `webhook-id` header of every try, also of redeliveries.
    pub event_id: String,
    /// The kind of the event.
    #[serde(rename = "type")]
    pub kind: open::EventKind,
    /// When the delivery was made.
    pub created_at: String,
    /// When it is tried next; null when it is not tried any more.
    pub next_attempt_at: Option<String>,
    /// Why it is not tried any more, where its attempts do not say so.
    pub reason: Option<String>,
    /// The tries, oldest first.
    pub attempts: Vec<AttemptView>,
}

/// One try of a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeliveryAttempt)]
pub struct AttemptView {
    /// When it began.
    pub at: String,
    /// Seconds that it took.
    pub duration: f64,
    /// The status that the receiver answered; null when it did not answer.
    pub response_status: Option<u16>,
    /// Why it failed; null when it succeeded.
    pub error: Option<String>,
}

impl WebhookView {
    /// A webhook with its newest delivery.
    pub fn of(webhook: &Webhook, last_delivery: Option<DeliveryView>) -> Self {
        Self {
            id: webhook.id.to_string(),
            status: webhook.status.into(),
            disabled_reason: webhook.disabled_reason.clone(),
            name: webhook.name.clone(),
            url: webhook.url.clone(),
            kind: webhook.kind.into(),
            events: webhook.events.names().into_iter().map(open::EventName::of).collect(),
            bundle_ids: webhook.bundle_ids.iter().map(ToString::to_string).collect(),
            created_at: iso(webhook.created_at),
            last_delivery,
        }
    }
}

impl DeliveryView {
    /// A delivery with its attempts, oldest first.
    pub fn of(delivery: &Delivery, tries: &[DeliveryAttempt]) -> Self {
        let pending = delivery.status == DeliveryStatus::Pending;
        Self {
            id: delivery.id.to_string(),
            status: delivery.status.into(),
            webhook_id: delivery.webhook_id.to_string(),
            event_id: delivery.event_id.to_string(),
            kind: open::EventKind::of(&delivery.kind),
            created_at: iso(delivery.created_at),
            next_attempt_at: pending.then(|| iso(delivery.due_at)),
            reason: delivery.reason.clone(),
            attempts: tries.iter().map(AttemptView::of).collect(),
        }
    }
}

impl AttemptView {
    fn of(tried: &DeliveryAttempt) -> Self {
        Self {
            at: iso(tried.at),
            duration: tried.took_ms as f64 / 1000.0,
            response_status: tried.response_status,
            error: tried.error.clone(),
        }
    }
}
