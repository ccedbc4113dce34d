//! The server's keys for snapshot and timestamp of each app, sealed. A retired one stays for the roots that name it.

use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::EpochMs;
use launchway_domain::trust::OnlineKeyState;

use crate::sql::typed;
use crate::{Org, StoreError, System};

/// A key of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlineKeyRow {
    /// Its id in the metadata: a SHA-256 in hexadecimal digits.
    pub id: String,
    /// The public key, PEM.
    pub public_key: String,
    /// The private key, sealed.
    pub sealed: String,
    /// Whether a root names it.
    pub state: OnlineKeyState,
    /// When it was made.
    pub created_at: EpochMs,
}

/// A new key of the server.
#[derive(Clone, Copy, Debug)]
pub struct NewOnlineKey<'k> {
    /// The app.
    pub bundle: &'k BundleId,
    /// The key.
    pub key: &'k OnlineKeyRow,
}

row! {
    struct KeyRow {
        id: String,
        public_key: String,
        sealed: String,
        state: String,
        created_at: i64,
    }
}

impl KeyRow {
    fn read(self) -> Result<OnlineKeyRow, StoreError> {
        Ok(OnlineKeyRow {
            id: self.id,
            public_key: self.public_key,
            sealed: self.sealed,
            state: typed("trust_online_keys.state", &self.state)?,
            created_at: self.created_at,
        })
    }
}

impl Org<'_> {
    /// The newest key of an app in a state.
    pub async fn trust_online_key(
        &mut self,
        bundle: &BundleId,
        state: OnlineKeyState,
    ) -> Result<Option<OnlineKeyRow>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            KeyRow,
            "SELECT id, public_key, sealed, state, created_at FROM trust_online_keys \
             WHERE org_id = $1 AND bundle_key = $2 AND state = $3 ORDER BY created_at DESC, id LIMIT 1",
            &self.id,
            bundle.key(),
            state.as_str()
        )?;
        row.map(KeyRow::read).transpose()
    }

    /// Stores a new key. An error unless this organization has claimed the app: the caller has checked that it has.
    pub async fn add_trust_online_key(&mut self, new: &NewOnlineKey<'_>) -> Result<(), StoreError> {
        fetch_one!(
            self.tx,
            (String,),
            "INSERT INTO trust_online_keys (id, org_id, bundle_key, public_key, sealed, state, created_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7 \
             WHERE EXISTS (SELECT 1 FROM apps WHERE bundle_key = $3 AND org_id = $2) RETURNING id",
            &new.key.id,
            &self.id,
            new.bundle.key(),
            &new.key.public_key,
            &new.key.sealed,
            new.key.state.as_str(),
            new.key.created_at
        )?;
        Ok(())
    }

    /// Changes the state of a key; returns false if the organization has no such key.
    pub async fn set_trust_online_key_state(&mut self, id: &str, state: OnlineKeyState) -> Result<bool, StoreError> {
        let changed = execute!(
            self.tx,
            "UPDATE trust_online_keys SET state = $3 WHERE org_id = $1 AND id = $2",
            &self.id,
            id,
            state.as_str()
        )?;
        Ok(changed == 1)
    }

    /// Deletes the keys of an app that no root names yet.
    pub async fn delete_pending_trust_online_keys(&mut self, bundle: &BundleId) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "DELETE FROM trust_online_keys WHERE org_id = $1 AND bundle_key = $2 AND state = 'pending'",
            &self.id,
            bundle.key()
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// The ids of all keys of an app and their sealed private keys.
    pub async fn sealed_trust_online_keys(&mut self, bundle: &BundleId) -> Result<Vec<(String, String)>, StoreError> {
        fetch_all!(
            self.tx,
            (String, String),
            "SELECT id, sealed FROM trust_online_keys WHERE bundle_key = $1 ORDER BY id",
            bundle.key()
        )
    }

    /// Replaces a sealed private key with the same key, sealed for another organization.
    pub async fn reseal_trust_online_key(&mut self, id: &str, sealed: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE trust_online_keys SET sealed = $2 WHERE id = $1",
            id,
            sealed
        )?;
        Ok(())
    }
}
