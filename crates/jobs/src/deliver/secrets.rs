//! Opened secrets of webhooks. Each opening adds a line to the audit log, so an opened secret is cached for a while.

use std::collections::HashMap;

use launchway_domain::actor::Actor;
use launchway_domain::id::WebhookId;
use launchway_domain::standard_webhooks::Secret;
use launchway_domain::time::{EpochMs, HOUR};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::webhooks::place_of_secret;
use launchway_ops::write::Write;
use launchway_store::DueWebhook;

/// How long an opened secret is cached.
const LIFE: EpochMs = HOUR;
/// The maximum number of cached secrets.
const MOST: usize = 1000;

/// Opened secrets, by webhook and sealed form.
#[derive(Default)]
pub struct OpenedSecrets(HashMap<(WebhookId, String), (Secret, EpochMs)>);

impl OpenedSecrets {
    /// The secrets that sign for a webhook now, the current one first.
    pub async fn of(&mut self, app: &App, webhook: &DueWebhook) -> Result<Vec<Secret>, ApiError> {
        let now = app.clock.now();
        self.0.retain(|_, (_, opened_at)| now - *opened_at < LIFE);
        let old = webhook.secrets.old.iter().filter(|old| old.until > now);
        let wanted: Vec<&String> = std::iter::once(&webhook.secrets.sealed)
            .chain(old.map(|old| &old.sealed))
            .collect();
        let known = |sealed: &&String| self.0.contains_key(&(webhook.id, (*sealed).clone()));
        if !wanted.iter().all(known) {
            self.open(app, webhook, &wanted, now).await?;
        }
        let opened = |sealed: &String| {
            self.0
                .get(&(webhook.id, sealed.clone()))
                .map(|(secret, _)| secret.clone())
        };
        Ok(wanted.into_iter().filter_map(opened).collect())
    }

    async fn open(
        &mut self,
        app: &App,
        webhook: &DueWebhook,
        wanted: &[&String],
        now: EpochMs,
    ) -> Result<(), ApiError> {
        if self.0.len() + wanted.len() > MOST {
            self.0.clear();
        }
        let mut write = Write::open(app, webhook.org_id, Actor::Service, None).await?;
        for sealed in wanted {
            let place = place_of_secret(webhook.id);
            let bytes = write.open_secret(&place, sealed, "signing deliveries").await?;
            let secret = Secret::from_bytes(&bytes)
                .ok_or_else(|| ApiError::Internal("a webhook's secret has another length".to_owned()))?;
            self.0.insert((webhook.id, (*sealed).clone()), (secret, now));
        }
        write.commit().await
    }
}
