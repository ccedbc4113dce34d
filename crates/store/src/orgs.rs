//! Organizations, and the facts of the installation.

use launchway_domain::id::OrgId;
use launchway_domain::org::Org as OrgRecord;
use launchway_domain::tenancy::Tier;

use crate::sql::typed;
use crate::{Org, StoreError, System};

row! {
    pub(crate) struct OrgRow {
        pub(crate) id: String,
        pub(crate) name: String,
        pub(crate) tier: String,
        pub(crate) created_at: i64,
    }
}

impl OrgRow {
    pub(crate) fn read(self) -> Result<OrgRecord, StoreError> {
        Ok(OrgRecord {
            id: typed("orgs.id", &self.id)?,
            name: self.name,
            tier: typed("orgs.tier", &self.tier)?,
            created_at: self.created_at,
        })
    }
}

impl Org<'_> {
    /// The organization itself; `None` if it does not exist.
    pub async fn record(&mut self) -> Result<Option<OrgRecord>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            OrgRow,
            "SELECT id, name, tier, created_at FROM orgs WHERE id = $1",
            &self.id
        )?;
        row.map(OrgRow::read).transpose()
    }

    /// Changes the name.
    pub async fn rename(&mut self, name: &str) -> Result<(), StoreError> {
        execute!(self.tx, "UPDATE orgs SET name = $2 WHERE id = $1", &self.id, name)?;
        Ok(())
    }

    /// Changes the tier; only the operator does this.
    pub async fn set_tier(&mut self, tier: Tier) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE orgs SET tier = $2 WHERE id = $1",
            &self.id,
            tier.as_str()
        )?;
        Ok(())
    }

    /// Serializes changes of this organization's members until commit.
    pub async fn lock(&mut self) -> Result<(), StoreError> {
        execute!(self.tx, "UPDATE orgs SET name = name WHERE id = $1", &self.id)?;
        Ok(())
    }
}

impl System<'_> {
    /// Stores a new organization.
    pub async fn create_org(&mut self, org: &OrgRecord) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO orgs (id, name, tier, created_at) VALUES ($1, $2, $3, $4)",
            org.id.to_string(),
            &org.name,
            org.tier.as_str(),
            org.created_at
        )?;
        Ok(())
    }

    /// The oldest organization.
    pub async fn first_org(&mut self) -> Result<Option<OrgId>, StoreError> {
        let row = fetch_optional!(self.tx, (String,), "SELECT id FROM orgs ORDER BY id LIMIT 1")?;
        row.map(|(id,)| typed("orgs.id", &id)).transpose()
    }

    /// Whether there is any organization; without one, the first run is not complete.
    pub async fn has_orgs(&mut self) -> Result<bool, StoreError> {
        Ok(fetch_optional!(self.tx, (String,), "SELECT id FROM orgs LIMIT 1")?.is_some())
    }

    /// A fact of the installation, such as the check value of the master key.
    pub async fn meta(&mut self, name: &str) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(self.tx, (String,), "SELECT value FROM meta WHERE name = $1", name)?;
        Ok(row.map(|(value,)| value))
    }

    /// A fact, locked until this transaction ends.
    pub async fn lock_meta(&mut self, name: &str) -> Result<Option<String>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "UPDATE meta SET value = value WHERE name = $1 RETURNING value",
            name
        )?;
        Ok(row.map(|(value,)| value))
    }

    /// Stores a fact unless it already exists; returns the stored value.
    pub async fn keep_meta(&mut self, name: &str, value: &str) -> Result<String, StoreError> {
        execute!(
            self.tx,
            "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            name,
            value
        )?;
        Ok(fetch_one!(self.tx, (String,), "SELECT value FROM meta WHERE name = $1", name)?.0)
    }

    /// Replaces a fact.
    pub async fn set_meta(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name,
            value
        )?;
        Ok(())
    }

    /// Removes a fact.
    pub async fn drop_meta(&mut self, name: &str) -> Result<(), StoreError> {
        execute!(self.tx, "DELETE FROM meta WHERE name = $1", name)?;
        Ok(())
    }
}
