//! From when on the URLs of webhooks are sealed. A node of an older release reads no sealed URL: where there was one, URLs
//! stay as they are for a day after the upgrade, so that such nodes beside still deliver.

use launchway_domain::time::{DAY, EpochMs};
use launchway_store::{StoreError, System, Tx};

/// The key of the metadata row with the time from which URLs are sealed.
const SEALED_FROM: &str = "webhook_urls_sealed_from";
/// How long nodes of an older release may run beside.
const UPGRADE: EpochMs = DAY;
const REASON: &str = "the installation's own facts";

/// Determines, at the first start, from when on URLs are sealed: at once in a new database, in a day in one that an older
/// release has opened before.
pub async fn begin(tx: &mut Tx, is_new: bool, now: EpochMs) -> Result<(), StoreError> {
    let mut system = tx.system(REASON);
    if system.meta(SEALED_FROM).await?.is_none() {
        let from = if is_new { now } else { now + UPGRADE };
        system.keep_meta(SEALED_FROM, &from.to_string()).await?;
    }
    Ok(())
}

/// Whether URLs are sealed by now.
pub async fn has_begun(mut system: System<'_>, now: EpochMs) -> Result<bool, StoreError> {
    let from = system.meta(SEALED_FROM).await?;
    // Without the row, or with a damaged one, no older node is known.
    Ok(from
        .and_then(|from| from.parse::<EpochMs>().ok())
        .is_none_or(|from| now >= from))
}
