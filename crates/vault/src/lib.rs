//! Secrets at rest: values are sealed under a key of their organization, which the master key seals
//! (`docs/reference/environment.md#sealing`). Only this crate opens secrets; its callers add a line to the audit log for
//! each opening.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]
#![deny(missing_docs)]

mod cipher;
pub mod key_files;
mod master_key;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use launchway_domain::id::{OrgId, UserId};
use launchway_domain::mac::MacKey;
use launchway_os::clock::Clock;
use launchway_os::random::Random;
use launchway_store::{StoreError, Tx};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

pub use cipher::{DataKey, Place};
use key_files::finish_rotation;
pub use master_key::{MasterKey, MasterKeyError, Purpose};

/// The key of the metadata row that identifies the master key of a database.
pub const MASTER_KEY_CHECK: &str = "master_key_check";
const REASON: &str = "keys of tenants are kept beside their rows";

/// Why a value cannot be sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The database fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This node still has the key file from before a rotation.
    #[error(
        "This server cannot open secrets: the master key was changed, and this server has the old key file. The \
         operator has to replace it."
    )]
    OldMasterKey,
    /// The value was not sealed for this place, or is damaged.
    #[error("cannot open a sealed value in its context")]
    Damaged,
}

/// Seals and opens values.
pub struct Vault {
    master: Mutex<MasterKey>,
    master_key_file: PathBuf,
    installation: Arc<DataKey>,
    keys: Mutex<HashMap<OrgId, Arc<DataKey>>>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl Vault {
    /// Opens the vault of an installation. `tx` must be writable: the first start creates the installation's own key.
    pub async fn open(
        master: MasterKey,
        master_key_file: PathBuf,
        tx: &mut Tx,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Vault, VaultError> {
        let fresh = master.seal_data_key(&DataKey::make(&*random), None, &*random);
        let kept = tx.system(REASON).keep_data_key(None, &fresh, clock.now()).await?;
        Self::of_sealed(master, master_key_file, &kept, clock, random)
    }

    /// The vault of the installation with this sealed key, before its database answers.
    pub fn of_sealed(
        master: MasterKey,
        master_key_file: PathBuf,
        installation_key: &str,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Vault, VaultError> {
        let installation = master
            .open_data_key(installation_key, None)
            .ok_or(VaultError::Damaged)?;
        Ok(Vault {
            master: Mutex::new(master),
            master_key_file,
            installation: Arc::new(installation),
            keys: Mutex::default(),
            clock,
            random,
        })
    }

    /// Whether both are vaults of one installation.
    pub fn is_of_installation(&self, other: &Vault) -> bool {
        let key = |vault: &Vault| MacKey::new(&vault.derive(Purpose::Check)).of(&[b"installation"]);
        bool::from(key(self).ct_eq(&key(other)))
    }

    /// What a local snapshot of the index is written under: the key of its MACs, and the sealed key of the installation.
    pub async fn snapshot_keys(&self, tx: &mut Tx) -> Result<(MacKey, String), VaultError> {
        let mut system = tx.system(REASON);
        let check = system.meta(MASTER_KEY_CHECK).await?;
        let sealed = system.data_key(None).await?.ok_or(VaultError::Damaged)?;
        Ok((snapshot_key(&self.master_for(check.as_deref())?), sealed))
    }

    /// A key of the installation for one purpose. A rotation of the master key does not change it.
    pub fn derive(&self, purpose: Purpose) -> Zeroizing<[u8; 32]> {
        self.installation.derive(purpose)
    }

    /// The key with which an organization's values are sealed; created if it has none. Call it once in a transaction: a
    /// new key is not shared until it is durable.
    pub async fn sealing_key(&self, tx: &mut Tx, org: OrgId) -> Result<Arc<DataKey>, VaultError> {
        self.data_key(tx, org, true).await
    }

    /// Opens a value. The caller audits it, unless everybody who may list the value may read it.
    pub async fn unseal(
        &self,
        tx: &mut Tx,
        org: OrgId,
        place: &Place<'_>,
        sealed: &str,
    ) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let key = self.data_key(tx, org, false).await?;
        key.open(org, place, sealed).ok_or(VaultError::Damaged)
    }

    /// Seals the secret that a user shares with an authenticator app. Users belong to no organization.
    pub fn seal_two_factor(&self, user: UserId, secret: &[u8]) -> String {
        let key = self.derive(Purpose::TwoFactor);
        cipher::seal_own(&key, &Place::new(user, "two factor"), secret, &*self.random)
    }

    /// Opens the secret that a user shares with an authenticator app, to check a code. The sign-in has its own line in
    /// the audit log.
    pub fn open_two_factor(&self, user: UserId, sealed: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let key = self.derive(Purpose::TwoFactor);
        cipher::open_own(&key, &Place::new(user, "two factor"), sealed).ok_or(VaultError::Damaged)
    }

    /// Seals the contents of a user's form for a while.
    pub fn seal_kept_form(&self, user: UserId, place: &Place<'_>, typed: &[u8]) -> String {
        let key = self.derive(Purpose::KeptForms);
        cipher::seal_own(&key, &of_user(user, place), typed, &*self.random)
    }

    /// Opens the contents of a user's form, for that user alone.
    pub fn open_kept_form(
        &self,
        user: UserId,
        place: &Place<'_>,
        sealed: &str,
    ) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let key = self.derive(Purpose::KeptForms);
        cipher::open_own(&key, &of_user(user, place), sealed).ok_or(VaultError::Damaged)
    }

    /// The key of an organization; created if it has none and `may_make`.
    async fn data_key(&self, tx: &mut Tx, org: OrgId, may_make: bool) -> Result<Arc<DataKey>, VaultError> {
        let known = self.known_keys().get(&org).cloned();
        if let Some(key) = known {
            return Ok(key);
        }
        if let Some(sealed) = tx.system(REASON).data_key(Some(org)).await? {
            let key = Arc::new(self.open_data_key(tx, &sealed, org).await?);
            self.known_keys().insert(org, key.clone());
            return Ok(key);
        }
        if !may_make {
            return Err(VaultError::Damaged);
        }
        // Not cached: if the transaction rolls back, values that were sealed with this key later could never be opened.
        let check = tx.system(REASON).lock_meta(MASTER_KEY_CHECK).await?;
        let master = self.master_for(check.as_deref())?;
        let fresh = master.seal_data_key(&DataKey::make(&*self.random), Some(org), &*self.random);
        let now = self.clock.now();
        let kept = tx.system(REASON).keep_data_key(Some(org), &fresh, now).await?;
        master
            .open_data_key(&kept, Some(org))
            .map(Arc::new)
            .ok_or(VaultError::Damaged)
    }

    async fn open_data_key(&self, tx: &mut Tx, sealed: &str, org: OrgId) -> Result<DataKey, VaultError> {
        let check = tx.system(REASON).meta(MASTER_KEY_CHECK).await?;
        let master = self.master_for(check.as_deref())?;
        master.open_data_key(sealed, Some(org)).ok_or(VaultError::Damaged)
    }

    /// The master key with which the database is sealed now. After a rotation, it is read from its file again.
    fn master_for(&self, check: Option<&str>) -> Result<MasterKey, VaultError> {
        let check = check.ok_or(VaultError::OldMasterKey)?;
        let mut master = self.master.lock().unwrap_or_else(PoisonError::into_inner);
        if !master.fits(check) {
            *master = finish_rotation(&self.master_key_file, check).ok_or_else(|| {
                let error = VaultError::OldMasterKey;
                tracing::error!(file = %self.master_key_file.display(), "{error}");
                error
            })?;
        }
        Ok(master.clone())
    }

    fn known_keys(&self) -> std::sync::MutexGuard<'_, HashMap<OrgId, Arc<DataKey>>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of the MACs of a local snapshot of the index.
pub fn snapshot_key(master: &MasterKey) -> MacKey {
    MacKey::new(&master.derive(Purpose::LocalIndex))
}

fn of_user<'p>(user: UserId, place: &Place<'p>) -> Place<'p> {
    Place::new(format!("{user} {}", place.record), place.field)
}
