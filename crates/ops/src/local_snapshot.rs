//! The local snapshot of the index, from which a node starts while its database does not answer
//! (`docs/reference/operation.md#local-snapshot`).

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use launchway_config::{Config, ConfigError};
use launchway_domain::time::{EpochMs, HOUR, SECOND};
use launchway_os::clock::Clock;
use launchway_os::random::Random;
use launchway_ota::Index;
use launchway_ota::snapshot::{Folder, Found, Keeper, SaveError, Seal, SnapshotError};
use launchway_store::{Db, StoreError};
use launchway_vault::{MasterKey, MasterKeyError, Vault, VaultError, snapshot_key};

/// The local snapshot of a node's index.
pub struct LocalSnapshot {
    /// Keeps its files.
    pub keeper: Arc<Keeper>,
    /// The database: host, port and name.
    database: String,
    /// The highest age at a start.
    age: EpochMs,
    master_key_file: PathBuf,
}

/// How old the snapshot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotAge {
    /// Seconds since the last moment of which it knows the database.
    pub seconds: i64,
    /// Whether checks are answered from it: the database has not answered since the start.
    pub is_in_use: bool,
}

/// Why a start does not use the snapshot.
#[derive(Debug, thiserror::Error)]
pub enum RefusedError {
    /// It may not be used.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The master key cannot be loaded.
    #[error("cannot be verified: {0}")]
    MasterKey(#[from] MasterKeyError),
    /// The key in it cannot be opened.
    #[error("cannot be opened: {0}")]
    Vault(#[from] VaultError),
}

/// Why the directory of the snapshot cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another process uses it.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The operating system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why the snapshot cannot be kept up to date.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The database does not answer. What is on disk stays.
    #[error(transparent)]
    Away(StoreError),
    /// This node has an old master key, or the keys cannot be read.
    #[error(transparent)]
    Vault(VaultError),
    /// No snapshot can be written.
    #[error(transparent)]
    Save(SaveError),
}

impl From<SaveError> for KeepError {
    fn from(error: SaveError) -> KeepError {
        match error {
            SaveError::Store(error @ StoreError::Unavailable(_)) => KeepError::Away(error),
            other => KeepError::Save(other),
        }
    }
}

impl From<VaultError> for KeepError {
    fn from(error: VaultError) -> KeepError {
        match error {
            VaultError::Store(error @ StoreError::Unavailable(_)) => KeepError::Away(error),
            other => KeepError::Vault(other),
        }
    }
}

impl LocalSnapshot {
    /// Opens the directory that the settings name; `None` if they name none, or this process answers no checks.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn open(config: &Config, clock: Arc<dyn Clock>) -> Result<Option<LocalSnapshot>, FolderError> {
        let Some(settings) = config.snapshot.as_ref().filter(|_| config.roles.check) else {
            return Ok(None);
        };
        let Some(folder) = Folder::open(&settings.dir)? else {
            let problem = format!("{} is in use by another launchway-server", settings.dir.display());
            return Err(ConfigError::new("--snapshot-dir", problem).into());
        };
        Ok(Some(LocalSnapshot {
            keeper: Arc::new(Keeper::new(Box::new(folder), clock)?),
            database: config.database_url.place(),
            age: i64::from(settings.hours) * HOUR,
            master_key_file: config.master_key_file.clone(),
        }))
    }

    /// Looks for a snapshot that a start may use, and the master key under which it was written.
    ///
    /// # Errors
    /// [`RefusedError`]: there is one that may not be used.
    pub fn find(&self, random: &dyn Random) -> Result<Option<(MasterKey, Found)>, RefusedError> {
        let master = MasterKey::load(&self.master_key_file, false, random)?;
        let found = self.keeper.find(&snapshot_key(&master), &self.database, self.age)?;
        Ok(found.map(|found| (master, found)))
    }

    /// Whether a start may use the snapshot.
    pub fn has_one(&self, random: &dyn Random) -> bool {
        matches!(self.find(random), Ok(Some(_)))
    }

    /// Opens the vault with the key in a snapshot.
    ///
    /// # Errors
    /// [`RefusedError`].
    pub fn open_vault(
        &self,
        master: MasterKey,
        found: &Found,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Vault, RefusedError> {
        let file = self.master_key_file.clone();
        Ok(Vault::of_sealed(master, file, &found.installation_key, clock, random)?)
    }

    /// Notes that the index knows the database until `now`, and writes a new snapshot if one is due.
    ///
    /// # Errors
    /// [`KeepError`].
    pub async fn keep(&self, index: &Index, db: &Db, vault: &Vault, now: EpochMs) -> Result<(), KeepError> {
        index.catch_up(db).await.map_err(SaveError::from)?;
        index.beat(now).await;
        let seal = self.seal(db, vault).await?;
        if self.keeper.is_due(&seal.installation_key) {
            index.save(db, &seal).await?;
        }
        Ok(())
    }

    /// What a new snapshot is written under now.
    async fn seal(&self, db: &Db, vault: &Vault) -> Result<Seal, VaultError> {
        let (key, installation_key) = vault.snapshot_keys(&mut db.read().await?).await?;
        Ok(Seal {
            key,
            database: self.database.clone(),
            installation_key,
        })
    }

    /// How old the snapshot is; `None` while there is none.
    pub fn age(&self, index: &Index, now: EpochMs) -> Option<SnapshotAge> {
        let in_use = index.snapshot_time();
        let time = in_use.or_else(|| self.keeper.saved_until())?;
        Some(SnapshotAge {
            seconds: (now - time).max(0) / SECOND,
            is_in_use: in_use.is_some(),
        })
    }
}
