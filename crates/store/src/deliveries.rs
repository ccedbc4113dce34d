//! Deliveries of events to webhooks: created by the fan-out, claimed by the nodes that attempt them, stored with their
//! attempts.

use std::collections::HashMap;

use launchway_domain::id::{DeliveryId, EventId, OrgId, WebhookId};
use launchway_domain::webhook::{Delivery, DeliveryAttempt, DeliveryStatus, WebhookType};
use launchway_domain::webhook_retry::NextStep;

use crate::lists::{Column, Filter, List};
use crate::sql::typed;
use crate::webhooks::read_secrets;
use crate::{Org, Paging, Rows, StoreError, StoredUrl, System, WebhookSecrets};

/// A webhook with due deliveries, and what is needed to attempt them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueWebhook {
    /// Its id.
    pub id: WebhookId,
    /// The organization it belongs to.
    pub org_id: OrgId,
    /// The form of its deliveries.
    pub kind: WebhookType,
    /// The receiver's URL.
    pub url: StoredUrl,
    /// The secrets that sign.
    pub secrets: WebhookSecrets,
}

/// A delivery claimed by this node. No other node attempts it until the claim expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// The event.
    pub event_id: EventId,
    /// The body in its generic form.
    pub body: String,
    /// The number of previous attempts.
    pub tries: i64,
    /// The claim number.
    pub claim: i64,
}

/// The result of a claimed delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptReport {
    /// The delivery.
    pub id: DeliveryId,
    /// The claim number.
    pub claim: i64,
    /// The attempt.
    pub tried: DeliveryAttempt,
    /// What follows it.
    pub next: NextStep,
}

row! {
    struct DeliveryRow {
        id: String,
        org_id: String,
        webhook_id: String,
        event_id: String,
        kind: String,
        body: String,
        status: String,
        reason: Option<String>,
        tries: i64,
        due_at: i64,
        created_at: i64,
    }
}

impl DeliveryRow {
    fn read(self) -> Result<Delivery, StoreError> {
        Ok(Delivery {
            id: typed("deliveries.id", &self.id)?,
            org_id: typed("deliveries.org_id", &self.org_id)?,
            webhook_id: typed("deliveries.webhook_id", &self.webhook_id)?,
            event_id: typed("deliveries.event_id", &self.event_id)?,
            kind: self.kind,
            body: self.body,
            status: typed("deliveries.status", &self.status)?,
            reason: self.reason,
            tries: self.tries,
            due_at: self.due_at,
            created_at: self.created_at,
        })
    }
}

/// The deliveries of an organization.
const DELIVERIES: List = List {
    name: "deliveries",
    select: "SELECT id, org_id, webhook_id, event_id, type AS kind, body, status, reason, tries, due_at, created_at FROM deliveries \
             WHERE org_id = $1",
    order: "ORDER BY id DESC",
};

const WEBHOOK: Column = Column {
    of_rows: "webhook_id",
    of_totals: "name",
};

impl Org<'_> {
    /// Adds a delivery to one of the organization's webhooks; returns false if there is no such webhook.
    pub async fn add_delivery(&mut self, delivery: &Delivery) -> Result<bool, StoreError> {
        let added = execute!(
            self.tx,
            "INSERT INTO deliveries \
             (id, org_id, webhook_id, event_id, type, body, status, reason, tries, claim, due_at, created_at) \
             SELECT $1, org_id, id, $4, $5, $6, $7, $8, $9, 0, $10, $11 FROM webhooks WHERE org_id = $2 AND id = $3",
            delivery.id.to_string(),
            &self.id,
            delivery.webhook_id.to_string(),
            delivery.event_id.to_string(),
            &delivery.kind,
            &delivery.body,
            delivery.status.as_str(),
            delivery.reason.as_deref(),
            delivery.tries,
            delivery.due_at,
            delivery.created_at
        )?;
        Ok(added == 1)
    }

    /// One delivery.
    pub async fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            DeliveryRow,
            "SELECT id, org_id, webhook_id, event_id, type AS kind, body, status, reason, tries, due_at, created_at FROM deliveries \
             WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        row.map(DeliveryRow::read).transpose()
    }

    /// The deliveries to a webhook, newest first.
    pub async fn deliveries(&mut self, webhook: WebhookId, paging: Paging) -> Result<Rows<Delivery>, StoreError> {
        let webhook = webhook.to_string();
        let conditions = Filter::default().equal(WEBHOOK, Some(&webhook));
        let (rows, total) = fetch_page!(self.tx, DeliveryRow, &self.id, &DELIVERIES, &conditions, paging);
        Rows::read(rows, total, DeliveryRow::read)
    }

    /// The newest delivery to each of these webhooks, of a page.
    pub async fn last_deliveries(
        &mut self,
        webhooks: &[WebhookId],
    ) -> Result<HashMap<WebhookId, Delivery>, StoreError> {
        let rows = fetch_all_of!(
            self.tx,
            DeliveryRow,
            "SELECT d.id, d.org_id, d.webhook_id, d.event_id, d.type AS kind, d.body, d.status, d.reason, d.tries, d.due_at, \
             d.created_at FROM webhooks w JOIN deliveries d ON d.id = \
             (SELECT id FROM deliveries WHERE webhook_id = w.id ORDER BY id DESC LIMIT 1) \
             WHERE w.org_id = $1 AND w.id IN",
            webhooks,
            "",
            &self.id
        )?;
        let read = |row: DeliveryRow| row.read().map(|delivery| (delivery.webhook_id, delivery));
        rows.into_iter().map(read).collect()
    }

    /// The attempts of a page of deliveries, by delivery, oldest first.
    pub async fn delivery_attempts(
        &mut self,
        deliveries: &[DeliveryId],
    ) -> Result<HashMap<DeliveryId, Vec<DeliveryAttempt>>, StoreError> {
        let rows = fetch_all_of!(
            self.tx,
            (String, i64, i64, Option<i64>, Option<String>),
            "SELECT t.delivery_id, t.at, t.took_ms, t.response_status, t.error FROM delivery_tries t \
             JOIN deliveries d ON d.id = t.delivery_id WHERE d.org_id = $1 AND t.delivery_id IN",
            deliveries,
            "ORDER BY t.delivery_id, t.number",
            &self.id
        )?;
        let status =
            |number: i64| u16::try_from(number).map_err(|_| StoreError::Corrupt("delivery_tries.response_status"));
        let mut attempts: HashMap<DeliveryId, Vec<_>> = HashMap::new();
        for (delivery, at, took_ms, response_status, error) in rows {
            let delivery = typed("delivery_tries.delivery_id", &delivery)?;
            attempts.entry(delivery).or_default().push(DeliveryAttempt {
                at,
                took_ms,
                response_status: response_status.map(status).transpose()?,
                error,
            });
        }
        Ok(attempts)
    }

    /// Stores the result of a claimed delivery. Returns false, and stores nothing, if the claim is outdated or the delivery
    /// has ended meanwhile. The webhook must be locked (see [`Org::lock_webhook`]).
    pub async fn report_attempt(&mut self, report: &AttemptReport) -> Result<bool, StoreError> {
        let (status, due_at) = match report.next {
            NextStep::Done => (DeliveryStatus::Succeeded, None),
            NextStep::GivenUp => (DeliveryStatus::Failed, None),
            NextStep::RetryAt(at) => (DeliveryStatus::Pending, Some(at)),
        };
        let tries = fetch_optional!(
            self.tx,
            (i64,),
            "UPDATE deliveries SET status = $4, due_at = COALESCE($5, due_at), tries = tries + 1 \
             WHERE org_id = $1 AND id = $2 AND claim = $3 AND status = 'pending' RETURNING tries",
            &self.id,
            report.id.to_string(),
            report.claim,
            status.as_str(),
            due_at
        )?;
        let Some((number,)) = tries else { return Ok(false) };
        execute!(
            self.tx,
            "INSERT INTO delivery_tries (delivery_id, number, at, took_ms, response_status, error) \
             VALUES ($1, $2, $3, $4, $5, $6)",
            report.id.to_string(),
            number,
            report.tried.at,
            report.tried.took_ms,
            report.tried.response_status.map(i64::from),
            report.tried.error.as_deref()
        )?;
        Ok(true)
    }

    /// Ends the pending deliveries of a webhook, which must be locked, with a reason; returns their number.
    pub async fn cancel_deliveries(&mut self, webhook: WebhookId, reason: &str) -> Result<u64, StoreError> {
        execute!(
            self.tx,
            "UPDATE deliveries SET status = 'canceled', reason = $3 \
             WHERE org_id = $1 AND webhook_id = $2 AND status = 'pending'",
            &self.id,
            webhook.to_string(),
            reason
        )
    }
}

impl System<'_> {
    /// Active webhooks with deliveries that are due at `now`, longest waiting first, at most `limit`.
    pub async fn due_webhooks(&mut self, now: i64, limit: i64) -> Result<Vec<DueWebhook>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (
                String,
                String,
                String,
                String,
                Option<String>,
                String,
                Option<String>,
                i64
            ),
            "SELECT w.id, w.org_id, w.type, w.url, w.sealed_url, w.sealed, w.old_secrets, \
             (SELECT MIN(d.due_at) FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending') AS due \
             FROM webhooks w WHERE w.status = 'active' AND EXISTS \
             (SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending' AND d.due_at <= $1) \
             ORDER BY due, w.id LIMIT $2",
            now,
            limit
        )?;
        rows.into_iter()
            .map(|(id, org, kind, url, sealed_url, sealed, old, _)| {
                Ok(DueWebhook {
                    id: typed("webhooks.id", &id)?,
                    org_id: typed("webhooks.org_id", &org)?,
                    kind: typed("webhooks.type", &kind)?,
                    url: StoredUrl::read(url, sealed_url),
                    secrets: read_secrets(sealed, old.as_deref())?,
                })
            })
            .collect()
    }

    /// Claims deliveries of a webhook that are due at `now`, at most `limit`, until `claimed_until`; after that, any node may claim
    /// them again. Skips those that another node is claiming.
    pub async fn claim_deliveries(
        &mut self,
        webhook: WebhookId,
        now: i64,
        claimed_until: i64,
        limit: i64,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let mut rows = fetch_all_locked!(
            self.tx,
            (String, String, String, i64, i64),
            "WITH due AS MATERIALIZED (SELECT id FROM deliveries \
             WHERE webhook_id = $1 AND status = 'pending' AND due_at <= $2 ORDER BY due_at, id LIMIT $4",
            " FOR UPDATE SKIP LOCKED",
            ") UPDATE deliveries SET claim = claim + 1, due_at = $3 WHERE id IN (SELECT id FROM due) \
             RETURNING id, event_id, body, tries, claim",
            webhook.to_string(),
            now,
            claimed_until,
            limit
        )?;
        rows.sort();
        rows.into_iter()
            .map(|(id, event_id, body, tries, claim)| {
                Ok(ClaimedDelivery {
                    id: typed("deliveries.id", &id)?,
                    event_id: typed("deliveries.event_id", &event_id)?,
                    body,
                    tries,
                    claim,
                })
            })
            .collect()
    }

    /// Deletes finished deliveries that were created before `time`, at most `limit`, with their attempts; returns their
    /// number.
    pub async fn forget_deliveries_before(&mut self, time: i64, limit: i64) -> Result<u64, StoreError> {
        let rows = fetch_all_locked!(
            self.tx,
            (String,),
            "WITH old AS MATERIALIZED (SELECT id FROM deliveries \
             WHERE created_at < $1 AND status <> 'pending' ORDER BY created_at LIMIT $2",
            " FOR UPDATE SKIP LOCKED",
            ") DELETE FROM deliveries WHERE id IN (SELECT id FROM old) RETURNING id",
            time,
            limit
        )?;
        Ok(rows.len() as u64)
    }
}
