//! Delivery of events to webhooks: claims what is due, sends it, records the result, and schedules the next try.
//!
//! A claim is durable before anything is sent, and expires by itself: after `kill -9` another claim retries what was in
//! flight. So each delivery arrives at least once, and twice only if its report was lost.

mod secrets;
mod shares;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use launchway_domain::id::{OrgId, WebhookId};
use launchway_domain::standard_webhooks::signatures;
use launchway_domain::time::{EpochMs, SECOND};
use launchway_domain::webhook::DeliveryAttempt;
use launchway_domain::webhook_message::render;
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::counters::WebhookStage;
use launchway_ops::deliveries::{TryResult, report};
use launchway_outbound::address_guard::origin_of;
use launchway_outbound::webhook_sender::Message;
use launchway_store::{ClaimedDelivery, DueWebhook};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use secrets::{Opened, OpenedSecrets};
use shares::{Load, share};

/// How often to look for due deliveries, apart from those that this process itself makes due.
const EVERY: Duration = Duration::from_secs(1);
/// Concurrent tries of all webhooks.
const IN_ALL: usize = 64;
/// Webhooks considered in one round.
const LOOK: i64 = 500;
/// How long after its claim an unreported delivery is due again: twice the maximum duration of a try.
pub const LAPSE: EpochMs = 30 * SECOND;
const REASON: &str = "deliveries of every tenant go through one queue";

/// Delivers. One of them runs in each process with the role `worker`.
pub struct Deliverer {
    app: Arc<App>,
    secrets: OpenedSecrets,
    running: JoinSet<TryResult>,
    /// The organization and webhook of each running try.
    places: HashMap<Id, (OrgId, WebhookId)>,
    /// Tries that ended but are not recorded yet.
    ended: Vec<TryResult>,
}

impl Deliverer {
    /// A deliverer without running tries.
    pub fn new(app: Arc<App>) -> Deliverer {
        Deliverer {
            app,
            secrets: OpenedSecrets::default(),
            running: JoinSet::new(),
            places: HashMap::new(),
            ended: Vec::new(),
        }
    }

    /// Delivers until `stop`, and then lets running tries finish.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            if let Err(failure) = self.round().await {
                tracing::warn!(error = %failure, "cannot deliver webhooks; retrying later");
            }
            tokio::select! {
                () = stop.cancelled() => break,
                Some(ended) = self.running.join_next_with_id() => self.gather(ended),
                () = self.app.webhooks.deliveries.notified() => {}
                () = tokio::time::sleep(EVERY) => {}
            }
        }
        self.finish().await;
    }

    /// Delivers what is due now, until nothing is, and returns the number of tries. For tests, which control the time.
    pub async fn deliver_due(&mut self) -> Result<usize, ApiError> {
        let mut tries = 0;
        loop {
            let claimed = self.round().await?;
            tries += claimed;
            match self.running.join_next_with_id().await {
                Some(ended) => self.gather(ended),
                None if claimed == 0 => return Ok(tries),
                None => {}
            }
        }
    }

    /// Records finished tries, and starts the due ones that have room; returns how many it started.
    async fn round(&mut self) -> Result<usize, ApiError> {
        while let Some(ended) = self.running.try_join_next_with_id() {
            self.gather(ended);
        }
        self.report().await?;
        self.claim().await
    }

    async fn finish(mut self) {
        while let Some(ended) = self.running.join_next_with_id().await {
            self.gather(ended);
        }
        if let Err(failure) = self.report().await {
            tracing::warn!(error = %failure, "cannot save the results of deliveries; some webhooks get the same \
                                              message again");
        }
    }

    fn gather(&mut self, ended: Result<(Id, TryResult), JoinError>) {
        match ended {
            Ok((id, tried)) => {
                self.places.remove(&id);
                self.ended.push(tried);
            }
            // The claim expires, and the delivery is retried.
            Err(error) => {
                self.places.remove(&error.id());
                tracing::error!(%error, "an attempt of a webhook delivery failed unexpectedly");
            }
        }
    }

    async fn report(&mut self) -> Result<(), ApiError> {
        if !self.ended.is_empty() {
            // They stay in memory until they are recorded.
            report(&self.app, self.ended.clone()).await?;
            self.ended.clear();
        }
        Ok(())
    }

    async fn claim(&mut self) -> Result<usize, ApiError> {
        let free = IN_ALL - self.running.len();
        if free == 0 {
            return Ok(0);
        }
        let now = self.app.clock.now();
        let due = self.app.db.read().await?.system(REASON).due_webhooks(now, LOOK).await?;
        let shares = share(&due, &Load::of(self.places.values()), free);
        if shares.is_empty() {
            return Ok(0);
        }
        let mut tx = self.app.db.write().await?;
        let mut claimed = Vec::new();
        for (webhook, room) in shares {
            let mine = tx
                .system(REASON)
                .claim_deliveries(webhook.id, now, now + LAPSE, room)
                .await?;
            claimed.push((webhook, mine));
        }
        tx.commit().await?;
        let mut started = 0;
        for (webhook, claimed) in claimed.into_iter().filter(|(_, claimed)| !claimed.is_empty()) {
            match self.secrets.of(&self.app, webhook).await {
                Ok(opened) => {
                    started += claimed.len();
                    self.start(webhook, &opened, claimed);
                }
                // Not the receiver's fault: the claims expire and are retried.
                Err(failure) => {
                    tracing::error!(webhook = %webhook.id, error = %failure, "cannot open the URL or the secret of a webhook");
                }
            }
        }
        Ok(started)
    }

    fn start(&mut self, webhook: &DueWebhook, opened: &Opened, claimed: Vec<ClaimedDelivery>) {
        for delivery in claimed {
            let work = try_once(self.app.clone(), webhook.clone(), opened.clone(), delivery);
            let place = self.running.spawn(work);
            self.places.insert(place.id(), (webhook.org_id, webhook.id));
        }
    }
}

/// Sends a claimed delivery once.
async fn try_once(app: Arc<App>, webhook: DueWebhook, opened: Opened, delivery: ClaimedDelivery) -> TryResult {
    let (at, started) = (app.clock.now(), Instant::now());
    if delivery.tries == 0 {
        let lag = at - delivery.id.created_at();
        app.counters.webhook(WebhookStage::FirstAttempt, lag);
    }
    let body = render(webhook.kind, &delivery.body, &app.public_url).into_owned();
    let (id, timestamp) = (delivery.event_id.to_string(), at / SECOND);
    let message = Message {
        signatures: signatures(&opened.secrets, &id, timestamp, body.as_bytes()),
        url: opened.url.to_string(),
        id,
        timestamp,
        body,
    };
    let reply = app.webhooks.sender.send(&message).await;
    let took_ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
    tracing::debug!(
        webhook = %webhook.id, delivery = %delivery.id, event = %message.id, host = %origin_of(&message.url),
        status = reply.response_status, error = reply.error.as_deref(), took_ms, "delivered to a webhook"
    );
    TryResult {
        org_id: webhook.org_id,
        webhook_id: webhook.id,
        delivery_id: delivery.id,
        claim: delivery.claim,
        tries: delivery.tries + 1,
        tried: DeliveryAttempt {
            at,
            took_ms,
            response_status: reply.response_status,
            error: reply.error,
        },
        ended_at: app.clock.now(),
    }
}
