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
    /// The display name, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100, example = "Chat")]
    pub name: String,
    /// The receiver: an https URL of a public host, at most 2048 bytes.
    #[schema(max_length = 2048, example = "https://hooks.example.com/launchway")]
    pub url: String,
    /// The events to deliver: one or more kinds, or `*` for all.
    #[schema(min_items = 1, example = json!(["update.published", "update.withdrawn"]))]
    pub events: Vec<open::EventName>,
    /// `generic` (the default), `slack` or `teams`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(example = "generic")]
    pub kind: Option<open::WebhookType>,
    /// Delivers only events of these apps, in any letter case, and events that belong to no app. Absent or empty means all apps.
    #[schema(max_items = 100, example = json!(["com.example.app"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle_ids: Option<Vec<String>>,
}

/// `PUT /webhooks`: replaces the record. Absent fields get the defaults of a creation, except `status`, which does not change.
/// The secret does not change. A record may be sent as it was read: fields that cannot change are ignored.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplaceWebhook {
    /// The webhook. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `active` enables a disabled webhook, `disabled` disables it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<open::WebhookStatus>,
    /// The display name, 1 to 100 characters.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// The receiver: an https URL of a public host, at most 2048 bytes; or the shortened form of the present one, which keeps it.
    #[schema(max_length = 2048, example = "https://hooks.example.com/launchway")]
    pub url: String,
    /// The events to deliver: one or more kinds, or `*` for all.
    #[schema(min_items = 1, example = json!(["*"]))]
    pub events: Vec<open::EventName>,
    /// `generic` (the default), `slack` or `teams`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<open::WebhookType>,
    /// Delivers only events of these apps, and events that belong to no app. Absent or empty means all apps.
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

/// A webhook. Its secret is returned only when it is created or rotated.
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
    /// The display name.
    pub name: String,
    /// The receiver's URL, shortened to its scheme, host and last characters, because it is a credential.
    pub url: String,
    /// `generic`, `slack` or `teams`.
    #[serde(rename = "type")]
    pub kind: open::WebhookType,
    /// The events to deliver; `*` alone means all.
    pub events: Vec<open::EventName>,
    /// The apps whose events are delivered; empty means all.
    pub bundle_ids: Vec<String>,
    /// When it was created.
    pub created_at: String,
    /// The newest delivery; null if there is none.
    pub last_delivery: Option<DeliveryView>,
}

/// The response to `POST /webhooks` and `POST /webhooks/rotate-secret`, the only ones that carry the secret.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WebhookWithSecret {
    /// The record.
    #[serde(flatten)]
    pub record: WebhookView,
    /// `whsec_…`: the secret that signs deliveries. Absent when an idempotent request is repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// The delivery of one event to one webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub struct DeliveryView {
    /// `delivery_…`.
    pub id: String,
    /// `pending`, `succeeded`, `failed`, or `canceled` if the webhook was disabled first.
    pub status: open::DeliveryStatus,
    /// The webhook.
    pub webhook_id: String,
    /// The event: the `webhook-id` header of every attempt, including redeliveries.
    pub event_id: String,
    /// The kind of the event.
    #[serde(rename = "type")]
    pub kind: open::EventKind,
    /// When the delivery was created.
    pub created_at: String,
    /// When the next attempt is due; null if there will be none.
    pub next_attempt_at: Option<String>,
    /// Why there will be no more attempts, if the attempts do not say so.
    pub reason: Option<String>,
    /// The attempts, oldest first.
    pub attempts: Vec<AttemptView>,
}

/// An attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeliveryAttempt)]
pub struct AttemptView {
    /// When it started.
    pub at: String,
    /// The duration in seconds.
    pub duration: f64,
    /// The status of the receiver's response; null without a response.
    pub response_status: Option<u16>,
    /// Why it failed; null if it succeeded.
    pub error: Option<String>,
}

impl WebhookView {
    /// The view of a webhook with its newest delivery.
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
    /// The view of a delivery with its attempts, oldest first.
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
