//! Rotates the master key while servers run: only the keys of organizations are sealed again, values stay as they are.
//! The new key waits in a file beside the old one until the database is sealed with it, so that a crash at any moment
//! leaves a matching key.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use launchway_domain::id::OrgId;
use launchway_os::folders::{folder_of, sync_folder};
use serde_json::json;

use crate::api_error::ApiError;
use crate::app::App;
use crate::master_key::MasterKey;
use crate::ops::audit::audit_installation;

/// The key of the metadata row that identifies the master key of a database.
pub const MASTER_KEY_CHECK: &str = "master_key_check";
const REASON: &str = "a rotation serves every tenant";

/// Seals every key with a new master key, which replaces the old one. Returns how many keys were sealed.
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
        .ok_or_else(|| ApiError::Internal(format!("{} could not be put in place", waiting(file).display())))
}

/// The master key that matches the database: the one in its file, or one that a rotation left beside it, which then
/// replaces it.
pub fn finish_rotation(file: &Path, check: &str) -> Option<MasterKey> {
    let present = MasterKey::read_file(file).ok();
    if let Some(key) = present.filter(|key| key.fits(check)) {
        return Some(key);
    }
    let key = MasterKey::read_file(&waiting(file))
        .ok()
        .filter(|key| key.fits(check))?;
    if let Err(error) = put_in_place(file) {
        tracing::warn!(%error, file = %file.display(), "the new master key could not be put in place of the old one");
    }
    Some(key)
}

fn waiting(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    file.with_file_name(name)
}

fn write_waiting(file: &Path, key: &MasterKey) -> std::io::Result<()> {
    let path = waiting(file);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut out = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    out.write_all(key.to_text().as_bytes())?;
    out.sync_all()?;
    sync_folder(folder_of(&path))
}

fn put_in_place(file: &Path) -> std::io::Result<()> {
    std::fs::rename(waiting(file), file)?;
    sync_folder(folder_of(file))
}
