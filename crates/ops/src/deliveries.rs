//! Deliveries: created from events or by hand, and the results of their tries.

use std::collections::BTreeMap;

use launchway_api::webhooks::WebhookView;
use launchway_domain::actor::Actor;
use launchway_domain::id::{DeliveryId, EventId, OrgId, WebhookId};
use launchway_domain::time::EpochMs;
use launchway_domain::webhook::{Delivery, DeliveryAttempt, DeliveryStatus, EventKind, Webhook, WebhookStatus};
use launchway_domain::webhook_message::generic;
use launchway_domain::webhook_retry::{after_attempt, disabled_by, is_success};
use launchway_outbound::address_guard::origin_of;
use launchway_store::{AttemptReport, AuditRow, EventRow, Tx};
use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::app::App;
use crate::audit;
use crate::counters::WebhookStage;
use crate::webhooks::lock;
use crate::write::{NOTHING, Signal, Write};

const REASON: &str = "the outbox serves every tenant";
const DISABLED: &str = "This webhook is disabled. Set its status to active first.";

/// A delivery that is due now.
fn new_delivery(app: &App, webhook: &Webhook, event: (EventId, &str), body: String, now: EpochMs) -> Delivery {
    Delivery {
        id: app.random.id(now),
        org_id: webhook.org_id,
        webhook_id: webhook.id,
        event_id: event.0,
        kind: event.1.to_owned(),
        body,
        status: DeliveryStatus::Pending,
        reason: None,
        tries: 0,
        due_at: now,
        created_at: now,
    }
}

/// Creates deliveries for at most `limit` of the oldest events that have none yet; returns how many events it handled.
/// Events without a subscriber are only marked.
pub async fn fan_out(app: &App, limit: i64) -> Result<usize, ApiError> {
    if !app.db.read().await?.system(REASON).has_events_to_fan_out().await? {
        return Ok(0);
    }
    let now = app.clock.now();
    let mut tx = app.db.write().await?;
    let events = tx.system(REASON).take_events(limit, now).await?;
    let taken = events.len();
    let lags: Vec<_> = events.iter().map(|(_, event)| now - event.at).collect();
    // Organizations in a fixed order, so that two nodes never deadlock.
    let mut of_orgs: BTreeMap<OrgId, Vec<EventRow>> = BTreeMap::new();
    for (org, event) in events {
        of_orgs.entry(org).or_default().push(event);
    }
    for (org, events) in of_orgs {
        let webhooks = tx.org(org).active_webhooks().await?;
        for event in events.iter().filter(|_| !webhooks.is_empty()) {
            tell(app, &mut tx, &webhooks, event, now).await?;
        }
    }
    tx.commit().await?;
    for lag in lags {
        app.counters.webhook(WebhookStage::FanOut, lag);
    }
    Ok(taken)
}

async fn tell(app: &App, tx: &mut Tx, webhooks: &[Webhook], event: &EventRow, now: EpochMs) -> Result<(), ApiError> {
    let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
    let bundle_id = data["bundleId"].as_str();
    let body = generic(&event.kind, event.at, &event.data);
    for webhook in webhooks
        .iter()
        .filter(|webhook| webhook.is_subscribed_to(&event.kind, bundle_id))
    {
        let delivery = new_delivery(app, webhook, (event.id, &event.kind), body.clone(), now);
        tx.org(webhook.org_id).add_delivery(&delivery).await?;
    }
    Ok(())
}

/// Sends a test message to a webhook, whatever events it subscribes to.
pub async fn test(write: &mut Write<'_>, id: WebhookId) -> Result<Delivery, ApiError> {
    let webhook = active(write, id).await?;
    let (app, now) = (write.app(), write.now());
    let kind = EventKind::WebhookTest.as_str();
    let data = json!({"id": webhook.id, "name": webhook.name}).to_string();
    let event = (app.random.id(now), kind);
    let delivery = new_delivery(app, &webhook, event, generic(kind, now, &data), now);
    add(write, &delivery).await?;
    let details = json!({"deliveryId": delivery.id});
    write.audit("webhook.test", id, NOTHING, Some(&details)).await?;
    Ok(delivery)
}

/// Sends the event of a delivery once more, with the same id and the same body.
pub async fn redeliver(write: &mut Write<'_>, id: DeliveryId) -> Result<Delivery, ApiError> {
    let none = || ApiError::NoSuch("delivery");
    let before = write.org().delivery(id).await?.ok_or_else(none)?;
    let webhook = active(write, before.webhook_id)
        .await
        .map_err(|failure| match failure {
            // The webhook was deleted meanwhile, and the delivery with it.
            ApiError::NoSuch(_) => none(),
            other => other,
        })?;
    let event = (before.event_id, before.kind.as_str());
    let delivery = new_delivery(write.app(), &webhook, event, before.body.clone(), write.now());
    add(write, &delivery).await?;
    let details = json!({"deliveryId": delivery.id, "eventId": delivery.event_id, "of": id});
    write
        .audit("webhook.redeliver", webhook.id, NOTHING, Some(&details))
        .await?;
    Ok(delivery)
}

async fn active(write: &mut Write<'_>, id: WebhookId) -> Result<Webhook, ApiError> {
    let webhook = lock(write, id).await?;
    match webhook.status {
        WebhookStatus::Active => Ok(webhook),
        WebhookStatus::Disabled => Err(ApiError::bad(DISABLED)),
    }
}

async fn add(write: &mut Write<'_>, delivery: &Delivery) -> Result<(), ApiError> {
    write.org().add_delivery(delivery).await?;
    write.signal(Signal::Webhooks);
    Ok(())
}

/// A finished try of a claimed delivery.
#[derive(Clone, Debug)]
pub struct TryResult {
    /// The organization.
    pub org_id: OrgId,
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// The number of the claim under which it ran.
    pub claim: i64,
    /// How many tries there were, this one included.
    pub tries: i64,
    /// The try.
    pub tried: DeliveryAttempt,
    /// When it ended.
    pub ended_at: EpochMs,
}

/// Records the results of tries in one transaction. It also disables webhooks whose receiver answers 410, or that have
/// failed for five days, with a line in the audit log.
pub async fn report(app: &App, mut all: Vec<TryResult>) -> Result<(), ApiError> {
    // Webhooks in the order in which the fan-out locks them, so that two nodes never deadlock.
    all.sort_by_key(|one| (one.org_id, one.webhook_id, one.ended_at));
    let mut tx = app.db.write().await?;
    let mut lines: BTreeMap<OrgId, Vec<AuditRow>> = BTreeMap::new();
    for of_webhook in all.chunk_by(|one, other| one.webhook_id == other.webhook_id) {
        if let Some((org, line)) = report_of_webhook(app, &mut tx, of_webhook).await? {
            lines.entry(org).or_default().push(line);
        }
    }
    for (org, lines) in lines {
        tx.org(org).add_audit(&lines, audit::link(app, Some(org))).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Records tries of one webhook; returns the audit line if they disabled it.
async fn report_of_webhook(app: &App, tx: &mut Tx, all: &[TryResult]) -> Result<Option<(OrgId, AuditRow)>, ApiError> {
    let Some(TryResult { org_id, webhook_id, .. }) = all.first() else {
        return Ok(None);
    };
    let mut org = tx.org(*org_id);
    // The webhook was deleted together with its deliveries.
    let Some(before) = org.lock_webhook(*webhook_id).await? else {
        return Ok(None);
    };
    let mut after = before.clone();
    let mut disabled = None;
    for one in all {
        let status = one.tried.response_status;
        let report = AttemptReport {
            id: one.delivery_id,
            claim: one.claim,
            tried: one.tried.clone(),
            next: after_attempt(status, one.tries, one.ended_at),
        };
        if !org.report_attempt(&report).await? {
            continue;
        }
        after.failing_since = match is_success(status) {
            true => None,
            false => after.failing_since.or(Some(one.tried.at)),
        };
        disabled = disabled.or(disabled_by(status, after.failing_since, one.ended_at));
    }
    let reason = disabled.filter(|_| before.status == WebhookStatus::Active);
    if let Some(reason) = reason {
        after.status = WebhookStatus::Disabled;
        after.disabled_reason = Some(reason.to_string());
        let canceled = format!("The webhook was disabled: {reason}");
        org.cancel_deliveries(*webhook_id, &canceled).await?;
        tracing::warn!(webhook = %webhook_id, org = %org_id, host = %origin_of(&before.url), %reason, "a webhook was disabled");
    }
    if after != before {
        org.change_webhook(&after).await?;
    }
    Ok(reason.map(|_| (*org_id, disabled_line(app, &before, &after))))
}

fn disabled_line(app: &App, before: &Webhook, after: &Webhook) -> AuditRow {
    let view = |webhook: &Webhook| WebhookView {
        url: origin_of(&webhook.url),
        ..WebhookView::of(webhook, None)
    };
    let text = |webhook: &Webhook| serde_json::to_string(&view(webhook)).ok();
    AuditRow {
        at: app.clock.now(),
        actor: Actor::Service.to_string(),
        action: "webhook.disable".to_owned(),
        resource: before.id.to_string(),
        before: text(before),
        after: text(after),
        address: String::new(),
        request_id: String::new(),
    }
}
