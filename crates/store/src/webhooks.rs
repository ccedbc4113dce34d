//! Webhooks: the record, and the sealed secrets that sign deliveries.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::WebhookId;
use launchway_domain::webhook::{EventFilter, EventKind, Webhook};
use serde_json::{Value, json};

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError};

/// The kinds that a node of 0.1.0 cannot read. They are in the column `all_events` only.
const LATER: [EventKind; 3] = [
    EventKind::UpdateAwaitingSignature,
    EventKind::TrustChanged,
    EventKind::TrustExpiring,
];

/// A rotated secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldSecret {
    /// The secret, sealed.
    pub sealed: String,
    /// When it stops signing.
    pub until: i64,
}

/// The secrets of a webhook, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSecrets {
    /// The current one.
    pub sealed: String,
    /// The rotated ones, newest first.
    pub old: Vec<OldSecret>,
}

row! {
    struct WebhookRow {
        id: String,
        org_id: String,
        status: String,
        disabled_reason: Option<String>,
        name: String,
        url: String,
        kind: String,
        events: String,
        all_events: Option<String>,
        bundle_ids: String,
        failing_since: Option<i64>,
        created_by: String,
        created_at: i64,
    }
}

impl WebhookRow {
    fn read(self) -> Result<Webhook, StoreError> {
        let bundle_ids = texts("webhooks.bundle_ids", &self.bundle_ids)?;
        Ok(Webhook {
            id: typed("webhooks.id", &self.id)?,
            org_id: typed("webhooks.org_id", &self.org_id)?,
            status: typed("webhooks.status", &self.status)?,
            disabled_reason: self.disabled_reason,
            name: self.name,
            url: self.url,
            kind: typed("webhooks.type", &self.kind)?,
            events: events(&self.events, self.all_events.as_deref())?,
            bundle_ids: bundle_ids
                .iter()
                .map(|id| typed("webhooks.bundle_ids", id))
                .collect::<Result<_, _>>()?,
            failing_since: self.failing_since,
            created_by: self.created_by,
            created_at: self.created_at,
        })
    }
}

/// Parses a JSON list of texts.
fn texts(column: &'static str, json: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(json).map_err(|_| StoreError::Corrupt(column))
}

fn names_json(filter: &EventFilter) -> String {
    json!(filter.names()).to_string()
}

/// The column `events`: the kinds that a node of 0.1.0 reads. If there are none, the test, which every webhook gets.
fn known_events(filter: &EventFilter) -> EventFilter {
    let EventFilter::Only(kinds) = filter else {
        return EventFilter::All;
    };
    let mut known = kinds.clone();
    known.retain(|kind| !LATER.contains(kind));
    if known.is_empty() {
        known.push(EventKind::WebhookTest);
    }
    EventFilter::Only(known)
}

/// The column `all_events`: all of them, if `events` does not hold all.
fn all_events(filter: &EventFilter) -> Option<String> {
    (known_events(filter) != *filter).then(|| names_json(filter))
}

/// Reads both columns. Where they do not belong together, a node of 0.1.0 has changed `events` later.
fn events(known: &str, all: Option<&str>) -> Result<EventFilter, StoreError> {
    let read = |column, json: &str| EventFilter::parse(&texts(column, json)?).map_err(|_| StoreError::Corrupt(column));
    if let Some(all) = all {
        let all = read("webhooks.all_events", all)?;
        if names_json(&known_events(&all)) == known {
            return Ok(all);
        }
    }
    read("webhooks.events", known)
}

fn bundle_ids_json(webhook: &Webhook) -> String {
    let ids: Vec<&str> = webhook.bundle_ids.iter().map(BundleId::as_str).collect();
    json!(ids).to_string()
}

/// Parses the columns `sealed` and `old_secrets`.
pub(crate) fn read_secrets(sealed: String, old: Option<&str>) -> Result<WebhookSecrets, StoreError> {
    let corrupt = || StoreError::Corrupt("webhooks.old_secrets");
    let read = |secret: &Value| {
        Some(OldSecret {
            sealed: secret["sealed"].as_str()?.to_owned(),
            until: secret["until"].as_i64()?,
        })
    };
    let old: Vec<Value> = serde_json::from_str(old.unwrap_or("[]")).map_err(|_| corrupt())?;
    let old = old.iter().map(read).collect::<Option<_>>().ok_or_else(corrupt)?;
    Ok(WebhookSecrets { sealed, old })
}

impl Org<'_> {
    /// Stores a new webhook and its sealed secret.
    pub async fn create_webhook(&mut self, webhook: &Webhook, sealed: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO webhooks \
             (id, org_id, status, disabled_reason, name, url, type, events, bundle_ids, sealed, created_by, created_at, \
             all_events) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            webhook.id.to_string(),
            &self.id,
            webhook.status.as_str(),
            webhook.disabled_reason.as_deref(),
            &webhook.name,
            &webhook.url,
            webhook.kind.as_str(),
            names_json(&known_events(&webhook.events)),
            bundle_ids_json(webhook),
            sealed,
            &webhook.created_by,
            webhook.created_at,
            all_events(&webhook.events)
        )?;
        Ok(())
    }

    /// One webhook.
    pub async fn webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            WebhookRow,
            "SELECT id, org_id, status, disabled_reason, name, url, type AS kind, events, all_events, bundle_ids, \
             failing_since, created_by, created_at FROM webhooks WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        row.map(WebhookRow::read).transpose()
    }

    /// One webhook, locked until this transaction ends. Always lock it before its deliveries, to avoid deadlocks.
    pub async fn lock_webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            WebhookRow,
            "UPDATE webhooks SET name = name WHERE org_id = $1 AND id = $2 \
             RETURNING id, org_id, status, disabled_reason, name, url, type AS kind, events, all_events, bundle_ids, \
             failing_since, created_by, created_at",
            &self.id,
            id.to_string()
        )?;
        row.map(WebhookRow::read).transpose()
    }

    /// The webhooks, newest first.
    pub async fn webhooks(&mut self, paging: Paging) -> Result<Rows<Webhook>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            WebhookRow,
            "SELECT id, org_id, status, disabled_reason, name, url, type AS kind, events, all_events, bundle_ids, \
             failing_since, created_by, created_at FROM webhooks WHERE org_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3",
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM webhooks WHERE org_id = $1",
            &self.id
        )?;
        Rows::read(rows, total, WebhookRow::read)
    }

    /// The active webhooks, none of which can be deleted until this transaction ends: deliveries are created for them.
    pub async fn active_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError> {
        let rows = fetch_all_locked!(
            self.tx,
            WebhookRow,
            "SELECT id, org_id, status, disabled_reason, name, url, type AS kind, events, all_events, bundle_ids, \
             failing_since, created_by, created_at FROM webhooks WHERE org_id = $1 AND status = 'active' ORDER BY id",
            " FOR KEY SHARE",
            "",
            &self.id
        )?;
        rows.into_iter().map(WebhookRow::read).collect()
    }

    /// Stores the changed record of a webhook. Its secrets and creator stay.
    pub async fn change_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE webhooks SET status = $3, disabled_reason = $4, name = $5, url = $6, type = $7, events = $8, \
             bundle_ids = $9, failing_since = $10, all_events = $11 WHERE org_id = $1 AND id = $2",
            &self.id,
            webhook.id.to_string(),
            webhook.status.as_str(),
            webhook.disabled_reason.as_deref(),
            &webhook.name,
            &webhook.url,
            webhook.kind.as_str(),
            names_json(&known_events(&webhook.events)),
            bundle_ids_json(webhook),
            webhook.failing_since,
            all_events(&webhook.events)
        )?;
        Ok(())
    }

    /// Deletes a webhook with its deliveries; returns false if there is none.
    pub async fn delete_webhook(&mut self, id: WebhookId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM webhooks WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(deleted == 1)
    }

    /// The sealed secrets of a webhook.
    pub async fn webhook_secrets(&mut self, id: WebhookId) -> Result<Option<WebhookSecrets>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String, Option<String>),
            "SELECT sealed, old_secrets FROM webhooks WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        row.map(|(sealed, old)| read_secrets(sealed, old.as_deref()))
            .transpose()
    }

    /// Replaces the sealed secrets of a webhook.
    pub async fn set_webhook_secrets(&mut self, id: WebhookId, secrets: &WebhookSecrets) -> Result<(), StoreError> {
        let old: Vec<Value> = secrets
            .old
            .iter()
            .map(|secret| json!({"sealed": secret.sealed, "until": secret.until}))
            .collect();
        execute!(
            self.tx,
            "UPDATE webhooks SET sealed = $3, old_secrets = $4 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            &secrets.sealed,
            json!(old).to_string()
        )?;
        Ok(())
    }
}
