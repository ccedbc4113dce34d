//! Rotates the master key while servers run: only the keys of organizations are sealed again, values stay as they are.

use launchway_domain::id::OrgId;
use launchway_vault::key_files::{finish_rotation, waiting, write_waiting};
use launchway_vault::{MASTER_KEY_CHECK, MasterKey};
use serde_json::json;

use super::audit::audit_installation;
use crate::api_error::ApiError;
use crate::app::App;

const REASON: &str = "a rotation serves every tenant";

/// Seals every key with a new master key, which replaces the old one. Returns how many keys were sealed.
///
/// # Errors
/// [`ApiError::BadRequest`] if the key file does not match the database or cannot be written.
pub async fn rotate(app: &App) -> Result<u64, ApiError> {
    let file = &app.config.master_key_file;
    let mut tx = app.db.write().await?;
    let check = tx.system(REASON).lock_meta(MASTER_KEY_CHECK).await?.unwrap_or_default();
    let old = finish_rotation(file, &check)
        .ok_or_else(|| ApiError::bad(format!("{}: is not the master key of this database", file.display())))?;
    let new = MasterKey::make(&*app.random);
    let cannot_write = |error| ApiError::bad(format!("{}: {error}", file.display()));
    write_waiting(file, &new).map_err(cannot_write)?;
    let keys: Vec<(Option<OrgId>, String)> = tx.system(REASON).data_keys().await?;
    for (owner, sealed) in &keys {
        let key = old.open_data_key(sealed, *owner).ok_or_else(|| {
            let owner = owner.map_or("the installation".to_owned(), |org| org.to_string());
            ApiError::Internal(format!("the key of {owner} does not open"))
        })?;
        let sealed = new.seal_data_key(&key, *owner, &*app.random);
        tx.system(REASON).reseal_data_key(*owner, &sealed).await?;
    }
    tx.system(REASON).set_meta(MASTER_KEY_CHECK, &new.check_value()).await?;
    let count = keys.len() as u64;
    audit_installation(app, &mut tx, "master_key.rotate", &json!({"keys": count})).await?;
    tx.commit().await?;
    finish_rotation(file, &new.check_value())
        .map(|_| count)
        .ok_or_else(|| ApiError::Internal(format!("cannot write {}", waiting(file).display())))
}
