//! Opened secrets of webhooks. Each opening adds a line to the audit log, so an opened secret is cached for a while.

use std::collections::HashMap;

use launchway_domain::actor::Actor;
use launchway_domain::id::WebhookId;
use launchway_domain::standard_webhooks::Secret;
use launchway_domain::time::{EpochMs, HOUR};
use launchway_ops::api_error::ApiError;
use launchway_ops::app::App;
use launchway_ops::webhook_urls;
use launchway_ops::webhooks::place_of_secret;
use launchway_ops::write::Write;
use launchway_store::{DueWebhook, StoredUrl};
use zeroize::Zeroizing;

/// How long an opened secret is cached.
const LIFE: EpochMs = HOUR;
/// The maximum number of cached secrets.
const MOST: usize = 1000;

/// What is needed to send to a webhook.
#[derive(Clone)]
pub struct Opened {
    /// The whole URL.
    pub url: Zeroizing<String>,
    /// The secrets that sign, the current one first.
    pub secrets: Vec<Secret>,
}

/// Opened secrets and URLs, by webhook and sealed form.
#[derive(Default)]
pub struct OpenedSecrets {
    secrets: HashMap<(WebhookId, String), (Secret, EpochMs)>,
    urls: HashMap<(WebhookId, String), (Zeroizing<String>, EpochMs)>,
}

impl OpenedSecrets {
    /// What is needed to send to a webhook now.
    pub async fn of(&mut self, app: &App, webhook: &DueWebhook) -> Result<Opened, ApiError> {
        let now = app.clock.now();
        self.secrets.retain(|_, (_, opened_at)| now - *opened_at < LIFE);
        self.urls.retain(|_, (_, opened_at)| now - *opened_at < LIFE);
        Ok(Opened {
            url: self.url(app, webhook, now).await?,
            secrets: self.secrets(app, webhook, now).await?,
        })
    }

    async fn url(&mut self, app: &App, webhook: &DueWebhook, now: EpochMs) -> Result<Zeroizing<String>, ApiError> {
        let sealed = match &webhook.url {
            StoredUrl::Plain(url) => return Ok(Zeroizing::new(url.clone())),
            StoredUrl::Sealed(sealed) => (webhook.id, sealed.clone()),
        };
        if let Some((url, _)) = self.urls.get(&sealed) {
            return Ok(url.clone());
        }
        if self.urls.len() >= MOST {
            self.urls.clear();
        }
        let mut write = Write::open(app, webhook.org_id, Actor::Service, None).await?;
        let url = webhook_urls::open(&mut write, webhook.id, &webhook.url, "sending deliveries").await?;
        write.commit().await?;
        self.urls.insert(sealed, (url.clone(), now));
        Ok(url)
    }

    async fn secrets(&mut self, app: &App, webhook: &DueWebhook, now: EpochMs) -> Result<Vec<Secret>, ApiError> {
        let old = webhook.secrets.old.iter().filter(|old| old.until > now);
        let wanted: Vec<&String> = std::iter::once(&webhook.secrets.sealed)
            .chain(old.map(|old| &old.sealed))
            .collect();
        let known = |sealed: &&String| self.secrets.contains_key(&(webhook.id, (*sealed).clone()));
        if !wanted.iter().all(known) {
            self.open(app, webhook, &wanted, now).await?;
        }
        let opened = |sealed: &String| {
            self.secrets
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
        if self.secrets.len() + wanted.len() > MOST {
            self.secrets.clear();
        }
        let mut write = Write::open(app, webhook.org_id, Actor::Service, None).await?;
        for sealed in wanted {
            let place = place_of_secret(webhook.id);
            let bytes = write.open_secret(&place, sealed, "signing deliveries").await?;
            let secret = Secret::from_bytes(&bytes)
                .ok_or_else(|| ApiError::Internal("a webhook's secret has another length".to_owned()))?;
            self.secrets.insert((webhook.id, (*sealed).clone()), (secret, now));
        }
        write.commit().await
    }
}
