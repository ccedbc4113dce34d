//! The URLs of webhooks, which are credentials: sealed, and opened only to send (`docs/reference/webhooks.md#sealed-urls`).

use launchway_domain::actor::Actor;
use launchway_domain::id::{OrgId, WebhookId};
use launchway_domain::webhook::shown_url;
use launchway_store::StoredUrl;
use launchway_vault::Place;
use zeroize::Zeroizing;

use crate::api_error::ApiError;
use crate::app::App;
use crate::sealing_start::has_begun;
use crate::write::Write;

/// Webhooks that one round of the job reads.
const BATCH: i64 = 100;
const REASON: &str = "URLs of webhooks of every tenant are sealed";

fn place(id: WebhookId) -> Place<'static> {
    Place::new(id, "url")
}

/// The form in which a URL is stored now.
pub async fn stored(write: &mut Write<'_>, id: WebhookId, url: &str) -> Result<StoredUrl, ApiError> {
    let now = write.now();
    match has_begun(write.system(REASON), now).await? {
        true => Ok(StoredUrl::Sealed(write.seal(&place(id), url.as_bytes()).await?)),
        false => Ok(StoredUrl::Plain(url.to_owned())),
    }
}

/// Opens a URL, with a line in the audit log if it was sealed.
pub async fn open(
    write: &mut Write<'_>,
    id: WebhookId,
    url: &StoredUrl,
    what_for: &str,
) -> Result<Zeroizing<String>, ApiError> {
    match url {
        StoredUrl::Plain(url) => Ok(Zeroizing::new(url.clone())),
        StoredUrl::Sealed(sealed) => {
            let bytes = write.open_secret(&place(id), sealed, what_for).await?;
            let text = std::str::from_utf8(&bytes);
            let text = text.map_err(|_| ApiError::Internal(format!("the URL of {id} is not text")))?;
            Ok(Zeroizing::new(text.to_owned()))
        }
    }
}

/// Seals the URLs that older releases wrote, when it is time. Returns how many.
pub async fn seal_plain(app: &App) -> Result<u64, ApiError> {
    let mut sealed = 0;
    loop {
        let mut tx = app.db.read().await?;
        if !has_begun(tx.system(REASON), app.clock.now()).await? {
            return Ok(sealed);
        }
        let plain = tx.system(REASON).plain_webhook_urls(BATCH).await?;
        drop(tx);
        for (org, id) in &plain {
            seal(app, *org, *id).await?;
            sealed += 1;
        }
        if plain.len() < BATCH as usize {
            return Ok(sealed);
        }
    }
}

async fn seal(app: &App, org: OrgId, id: WebhookId) -> Result<(), ApiError> {
    let mut write = Write::open(app, org, Actor::Service, None).await?;
    // Locked, so that nobody replaces the URL meanwhile.
    if write.org().lock_webhook(id).await?.is_none() {
        return Ok(());
    }
    if let Some(StoredUrl::Plain(url)) = write.org().webhook_url(id).await? {
        let url_now = stored(&mut write, id, &url).await?;
        write.org().set_webhook_url(id, &url_now, &shown_url(&url)).await?;
    }
    write.commit().await
}
