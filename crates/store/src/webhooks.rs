//! Webhooks: the record, and the sealed secrets that sign deliveries.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::id::{OrgId, WebhookId};
use launchway_domain::webhook::{EventFilter, EventKind, Webhook, shown_url};
use serde_json::{Value, json};

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System};

/// The kinds that a node of 0.1.0 cannot read. They are in the column `all_events` only.
const LATER: [EventKind; 3] = [
    EventKind::UpdateAwaitingSignature,
    EventKind::TrustChanged,
    EventKind::TrustExpiring,
];

/// The column `url` of a webhook whose URL is sealed. A node of an older release finds no such host, and leaves the delivery
/// to the next try.
const SEALED: &str = "https://sealed.invalid/";

/// The URL of a webhook as the database holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredUrl {
    /// As it is: of an older release, or while nodes of one may run.
    Plain(String),
    /// Sealed.
    Sealed(String),
}

impl StoredUrl {
    pub(crate) fn read(url: String, sealed: Option<String>) -> StoredUrl {
        match sealed {
            Some(sealed) if url == SEALED => StoredUrl::Sealed(sealed),
            _ => StoredUrl::Plain(url),
        }
    }

    /// The columns `url`, `sealed_url` and `shown_url`.
    fn columns<'c>(&'c self, shown: &'c str) -> (&'c str, Option<&'c str>, Option<&'c str>) {
        match self {
            StoredUrl::Plain(url) => (url, None, None),
            StoredUrl::Sealed(sealed) => (SEALED, Some(sealed), Some(shown)),
        }
    }
}

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
        shown_url: Option<String>,
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
            url: match self.shown_url {
                Some(shown) if self.url == SEALED => shown,
                _ => shown_url(&self.url),
            },
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
    /// Stores a new webhook, its URL and its sealed secret.
    pub async fn create_webhook(&mut self, webhook: &Webhook, url: &StoredUrl, sealed: &str) -> Result<(), StoreError> {
        let (url, sealed_url, shown_url) = url.columns(&webhook.url);
        execute!(
            self.tx,
            "INSERT INTO webhooks \
             (id, org_id, status, disabled_reason, name, url, type, events, bundle_ids, sealed, created_by, created_at, \
             all_events, sealed_url, shown_url) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            webhook.id.to_string(),
            &self.id,
            webhook.status.as_str(),
            webhook.disabled_reason.as_deref(),
            &webhook.name,
            url,
            webhook.kind.as_str(),
            names_json(&known_events(&webhook.events)),
            bundle_ids_json(webhook),
            sealed,
            &webhook.created_by,
            webhook.created_at,
            all_events(&webhook.events),
            sealed_url,
            shown_url
        )?;
        Ok(())
    }

    /// One webhook.
    pub async fn webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            WebhookRow,
            "SELECT id, org_id, status, disabled_reason, name, url, shown_url, type AS kind, events, all_events, bundle_ids, \
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
             RETURNING id, org_id, status, disabled_reason, name, url, shown_url, type AS kind, events, all_events, bundle_ids, \
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
            "SELECT id, org_id, status, disabled_reason, name, url, shown_url, type AS kind, events, all_events, bundle_ids, \
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

    /// The active webhooks, none of which can be deleted or disabled until this transaction ends: deliveries are created
    /// for them, and what disables a webhook cancels its deliveries.
    pub async fn active_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError> {
        let rows = fetch_all_locked!(
            self.tx,
            WebhookRow,
            "SELECT id, org_id, status, disabled_reason, name, url, shown_url, type AS kind, events, all_events, bundle_ids, \
             failing_since, created_by, created_at FROM webhooks WHERE org_id = $1 AND status = 'active' ORDER BY id",
            " FOR SHARE",
            "",
            &self.id
        )?;
        rows.into_iter().map(WebhookRow::read).collect()
    }

    /// The URL of a webhook.
    pub async fn webhook_url(&mut self, id: WebhookId) -> Result<Option<StoredUrl>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String, Option<String>),
            "SELECT url, sealed_url FROM webhooks WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(row.map(|(url, sealed)| StoredUrl::read(url, sealed)))
    }

    /// Replaces the URL of a webhook; `shown` is what lists show of it.
    pub async fn set_webhook_url(&mut self, id: WebhookId, url: &StoredUrl, shown: &str) -> Result<(), StoreError> {
        let (url, sealed_url, shown_url) = url.columns(shown);
        execute!(
            self.tx,
            "UPDATE webhooks SET url = $3, sealed_url = $4, shown_url = $5 WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string(),
            url,
            sealed_url,
            shown_url
        )?;
        Ok(())
    }

    /// Stores the changed record of a webhook. Its URL, secrets and creator stay.
    pub async fn change_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE webhooks SET status = $3, disabled_reason = $4, name = $5, type = $6, events = $7, bundle_ids = $8, \
             failing_since = $9, all_events = $10 WHERE org_id = $1 AND id = $2",
            &self.id,
            webhook.id.to_string(),
            webhook.status.as_str(),
            webhook.disabled_reason.as_deref(),
            &webhook.name,
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

impl System<'_> {
    /// Webhooks whose URL is not sealed, at most `limit`.
    pub async fn plain_webhook_urls(&mut self, limit: i64) -> Result<Vec<(OrgId, WebhookId)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT org_id, id FROM webhooks WHERE url <> $1 ORDER BY id LIMIT $2",
            SEALED,
            limit
        )?;
        let read = |(org, id): (String, String)| Ok((typed("webhooks.org_id", &org)?, typed("webhooks.id", &id)?));
        rows.into_iter().map(read).collect()
    }
}
