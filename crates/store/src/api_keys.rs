//! API keys: only their hash and first characters are stored.

use std::collections::HashMap;

use launchway_domain::id::KeyId;
use launchway_domain::key::Key;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;

use crate::sql::{names, typed};
use crate::{Org, Paging, Rows, StoreError, System};

/// A key to store.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Its record.
    pub key: Key,
    /// The hash for lookup.
    pub hash: String,
}

row! {
    pub(crate) struct KeyRow {
        id: String,
        org_id: String,
        name: String,
        prefix: String,
        scopes: String,
        created_by: String,
        created_at: i64,
        expires_at: Option<i64>,
        revoked_at: Option<i64>,
        last_used_at: Option<i64>,
        device_login: Option<String>,
        admin_scope: Option<i64>,
    }
}

impl KeyRow {
    pub(crate) fn read(self) -> Result<Key, StoreError> {
        let mut scopes = Scope::list_from(&self.scopes);
        if self.admin_scope.is_some() {
            scopes.push(Scope::Admin);
        }
        Ok(Key {
            id: typed("api_keys.id", &self.id)?,
            org_id: typed("api_keys.org_id", &self.org_id)?,
            name: self.name,
            prefix: self.prefix,
            scopes,
            created_by: self.created_by,
            created_at: self.created_at,
            expires_at: self.expires_at,
            revoked_at: self.revoked_at,
            last_used_at: self.last_used_at,
            device_login: self
                .device_login
                .map(|id| typed("api_keys.device_login", &id))
                .transpose()?,
        })
    }
}

/// The columns of [`KeyRow`].
macro_rules! key_columns {
    () => {
        "id, org_id, name, prefix, scopes, created_by, created_at, expires_at, revoked_at, last_used_at, device_login, \
         admin_scope"
    };
}
pub(crate) use key_columns;

/// Condition: a key can be used: `$1` is its organization, `$3` the time. A key created by a browser sign-in can be used
/// only while its user may still approve such a sign-in.
macro_rules! active_key {
    () => {
        "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3) \
         AND (device_login IS NULL OR EXISTS (SELECT 1 FROM members m WHERE m.org_id = $1 \
         AND m.user_id = api_keys.created_by AND m.role IN ('admin', 'owner')))"
    };
}

impl Org<'_> {
    /// Stores a new key. The scope `admin` of a browser sign-in has a column of its own, which a node of an older release
    /// does not read: to it, the scope would mean all rights, not those of a role.
    pub async fn create_key(&mut self, new: &NewKey) -> Result<(), StoreError> {
        let (scopes, has_admin) = match new.key.device_login {
            Some(_) => Scope::without_admin(&new.key.scopes),
            None => (new.key.scopes.clone(), false),
        };
        execute!(
            self.tx,
            "INSERT INTO api_keys (id, org_id, name, prefix, hash, scopes, created_by, created_at, expires_at, \
             device_login, admin_scope) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            new.key.id.to_string(),
            &self.id,
            &new.key.name,
            &new.key.prefix,
            &new.hash,
            Scope::list_to_text(&scopes),
            &new.key.created_by,
            new.key.created_at,
            new.key.expires_at,
            new.key.device_login.map(|id| id.to_string()),
            has_admin.then_some(1_i64)
        )?;
        Ok(())
    }

    /// One key.
    pub async fn key(&mut self, id: KeyId) -> Result<Option<Key>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            KeyRow,
            concat!(
                "SELECT ",
                key_columns!(),
                " FROM api_keys WHERE org_id = $1 AND id = $2"
            ),
            &self.id,
            id.to_string()
        )?;
        row.map(KeyRow::read).transpose()
    }

    /// The names of these keys, of a page, revoked ones included.
    pub async fn key_names(&mut self, keys: &[KeyId]) -> Result<HashMap<KeyId, String>, StoreError> {
        let rows = fetch_all_of!(
            self.tx,
            (String, String),
            "SELECT id, name FROM api_keys WHERE org_id = $1 AND id IN",
            keys,
            "",
            &self.id
        )?;
        names("api_keys.id", rows)
    }

    /// The keys, revoked ones included, newest first.
    pub async fn keys(&mut self, paging: Paging) -> Result<Rows<Key>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            KeyRow,
            concat!(
                "SELECT ",
                key_columns!(),
                " FROM api_keys WHERE org_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3"
            ),
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM api_keys WHERE org_id = $1",
            &self.id
        )?;
        Rows::read(rows, total, KeyRow::read)
    }

    /// Revokes a key; returns false if it was revoked before.
    pub async fn revoke_key(&mut self, id: KeyId, now: i64) -> Result<bool, StoreError> {
        let revoked = execute!(
            self.tx,
            "UPDATE api_keys SET revoked_at = $3 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL",
            &self.id,
            id.to_string(),
            now
        )?;
        Ok(revoked == 1)
    }

    /// Whether a key can be used at this time.
    pub async fn is_active_key(&mut self, id: KeyId, now: i64) -> Result<bool, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            concat!(
                "SELECT id FROM api_keys WHERE org_id = $1 AND id = $2 AND ",
                active_key!()
            ),
            &self.id,
            id.to_string(),
            now
        )?;
        Ok(row.is_some())
    }

    /// The role of the user in whose name a browser sign-in created this key; `None` if the key cannot be used.
    pub async fn browser_key_role(&mut self, id: KeyId, now: i64) -> Result<Option<Role>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            concat!(
                "SELECT a.role FROM api_keys JOIN members a ON a.org_id = api_keys.org_id \
                 AND a.user_id = api_keys.created_by WHERE api_keys.org_id = $1 AND api_keys.id = $2 \
                 AND device_login IS NOT NULL AND ",
                active_key!()
            ),
            &self.id,
            id.to_string(),
            now
        )?;
        row.map(|(role,)| typed("members.role", &role)).transpose()
    }

    /// Whether a key can be used; if so, it cannot be revoked until this transaction ends. The lock is shared.
    pub async fn hold_key(&mut self, id: KeyId, now: i64) -> Result<bool, StoreError> {
        let rows = fetch_all_locked!(
            self.tx,
            (String,),
            concat!(
                "SELECT id FROM api_keys WHERE org_id = $1 AND id = $2 AND ",
                active_key!()
            ),
            " FOR SHARE",
            "",
            &self.id,
            id.to_string(),
            now
        )?;
        Ok(!rows.is_empty())
    }

    /// Waits for all holders of a key, and prevents new ones until this transaction ends.
    pub async fn lock_key(&mut self, id: KeyId) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE api_keys SET name = name WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(())
    }
}

impl System<'_> {
    /// The key with a hash, whatever its state.
    pub async fn key_by_hash(&mut self, hash: &str) -> Result<Option<Key>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            KeyRow,
            concat!("SELECT ", key_columns!(), " FROM api_keys WHERE hash = $1"),
            hash
        )?;
        row.map(KeyRow::read).transpose()
    }

    /// Records when keys were last used.
    pub async fn note_keys_used(&mut self, used: &[(KeyId, i64)]) -> Result<(), StoreError> {
        for (id, at) in used {
            execute!(
                self.tx,
                "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)",
                id.to_string(),
                *at
            )?;
        }
        Ok(())
    }
}
