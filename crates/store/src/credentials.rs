//! Credentials: their metadata in clear, and the secret part sealed.

use std::collections::HashMap;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::credential::Credential;
use launchway_domain::id::{CredentialId, OrgId};
use launchway_domain::time::EpochMs;

use crate::sql::{names, typed};
use crate::{Org, Paging, Rows, StoreError, System};

/// Whose events a store sends for a credential, and the secret that signs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreEventsRow {
    /// The organization of the credential.
    pub org: OrgId,
    /// How often the secret was replaced.
    pub rotations: i64,
    /// When it was replaced last; 0 if never.
    pub rotated_at: EpochMs,
}

row! {
    struct CredentialRow {
        id: String,
        org_id: String,
        kind: String,
        name: String,
        bundle_id: Option<String>,
        fingerprint: String,
        facts: String,
        expires_at: Option<i64>,
        told_days: Option<i64>,
        created_by: String,
        created_at: i64,
    }
}

impl CredentialRow {
    fn read(self) -> Result<Credential, StoreError> {
        let bundle_id = self.bundle_id.map(|text| typed("credentials.bundle_id", &text));
        Ok(Credential {
            id: typed("credentials.id", &self.id)?,
            org_id: typed("credentials.org_id", &self.org_id)?,
            kind: self.kind,
            name: self.name,
            bundle_id: bundle_id.transpose()?,
            fingerprint: self.fingerprint,
            facts: serde_json::from_str(&self.facts).map_err(|_| StoreError::Corrupt("credentials.facts"))?,
            expires_at: self.expires_at,
            told_days: self.told_days,
            created_by: self.created_by,
            created_at: self.created_at,
        })
    }
}

impl Org<'_> {
    /// Stores a new credential; `sealed` is its secret part.
    pub async fn create_credential(&mut self, credential: &Credential, sealed: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO credentials (id, org_id, kind, name, bundle_id, fingerprint, facts, sealed, expires_at, \
             created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            credential.id.to_string(),
            &self.id,
            &credential.kind,
            &credential.name,
            credential.bundle_id.as_ref().map(BundleId::as_str),
            &credential.fingerprint,
            credential.facts.to_string(),
            sealed,
            credential.expires_at,
            &credential.created_by,
            credential.created_at
        )?;
        Ok(())
    }

    /// One credential.
    pub async fn credential(&mut self, id: CredentialId) -> Result<Option<Credential>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            CredentialRow,
            "SELECT id, org_id, kind, name, bundle_id, fingerprint, facts, expires_at, told_days, created_by, created_at \
             FROM credentials WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        row.map(CredentialRow::read).transpose()
    }

    /// The names of these credentials.
    pub async fn credential_names(
        &mut self,
        credentials: &[CredentialId],
    ) -> Result<HashMap<CredentialId, String>, StoreError> {
        let rows = fetch_all_of!(
            self.tx,
            (String, String),
            "SELECT id, name FROM credentials WHERE org_id = $1 AND id IN",
            credentials,
            "",
            &self.id
        )?;
        names("credentials.id", rows)
    }

    /// The credentials, newest first.
    pub async fn credentials(&mut self, paging: Paging) -> Result<Rows<Credential>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            CredentialRow,
            "SELECT id, org_id, kind, name, bundle_id, fingerprint, facts, expires_at, told_days, created_by, created_at \
             FROM credentials WHERE org_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3",
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(*) FROM credentials WHERE org_id = $1",
            &self.id
        )?;
        Rows::read(rows, total, CredentialRow::read)
    }

    /// The secret part of a credential, sealed.
    pub async fn sealed_credential(&mut self, id: CredentialId) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT sealed FROM credentials WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(row.map(|(sealed,)| sealed))
    }

    /// Replaces the secret for the events of a credential's store at `now`. Returns how often it was replaced; `None` if there
    /// is no such credential.
    pub async fn rotate_store_events(&mut self, id: CredentialId, now: EpochMs) -> Result<Option<i64>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (i64,),
            "UPDATE credentials SET events_rotations = COALESCE(events_rotations, 0) + 1, events_rotated_at = $3 \
             WHERE org_id = $1 AND id = $2 RETURNING events_rotations",
            &self.id,
            id.to_string(),
            now
        )?;
        Ok(row.map(|(rotations,)| rotations))
    }

    /// Deletes a credential; returns false if there is none.
    pub async fn delete_credential(&mut self, id: CredentialId) -> Result<bool, StoreError> {
        let deleted = execute!(
            self.tx,
            "DELETE FROM credentials WHERE org_id = $1 AND id = $2",
            &self.id,
            id.to_string()
        )?;
        Ok(deleted == 1)
    }

    /// Records that an expiry notice of a credential was sent; returns false if that notice or a later one was sent before.
    pub async fn record_expiry_notice(&mut self, id: CredentialId, days: i64) -> Result<bool, StoreError> {
        let noted = execute!(
            self.tx,
            "UPDATE credentials SET told_days = $3 \
             WHERE org_id = $1 AND id = $2 AND (told_days IS NULL OR told_days > $3)",
            &self.id,
            id.to_string(),
            days
        )?;
        Ok(noted == 1)
    }
}

impl System<'_> {
    /// Whose credential it is, and the secret for its store's events. `None` if there is no such credential.
    pub async fn store_events_of(&mut self, id: CredentialId) -> Result<Option<StoreEventsRow>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String, i64, i64),
            "SELECT org_id, COALESCE(events_rotations, 0), COALESCE(events_rotated_at, 0) FROM credentials WHERE id = $1",
            id.to_string()
        )?;
        row.map(|(org, rotations, rotated_at)| {
            Ok(StoreEventsRow {
                org: typed("credentials.org_id", &org)?,
                rotations,
                rotated_at,
            })
        })
        .transpose()
    }

    /// Credentials that expire between two times, after the id `after`, in the order of ids.
    pub async fn expiring_credentials(
        &mut self,
        from: i64,
        until: i64,
        after: &str,
        limit: i64,
    ) -> Result<Vec<(OrgId, Credential)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            CredentialRow,
            "SELECT id, org_id, kind, name, bundle_id, fingerprint, facts, expires_at, told_days, created_by, created_at \
             FROM credentials WHERE expires_at > $1 AND expires_at <= $2 AND id > $3 ORDER BY id LIMIT $4",
            from,
            until,
            after,
            limit
        )?;
        let read = |row: CredentialRow| row.read().map(|credential| (credential.org_id, credential));
        rows.into_iter().map(read).collect()
    }
}
