//! What updates are to the clients of other services: their place in the order of releases, and the ids by which those clients
//! name them (`docs/reference/foreign-clients.md`).

use std::collections::HashMap;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::id::UpdateId;
use launchway_domain::platform::Platform;
use launchway_domain::release::{ForeignId, Protocol, Sequence};

use crate::sql::typed;
use crate::updates::sequence;
use crate::{Org, StoreError, System, Tx};

/// The maximum number of updates that are numbered before the highest places are read again.
const NUMBERED_AT_ONCE: i64 = 1000;

/// How clients of a protocol name an update.
#[derive(Clone, Copy, Debug)]
pub struct NewForeignId<'f> {
    /// The protocol.
    pub protocol: Protocol,
    /// The app.
    pub bundle: &'f BundleId,
    /// The platform.
    pub platform: Platform,
    /// The id. One of CodePush is [within its configuration](ForeignId::within).
    pub id: &'f ForeignId,
    /// The update.
    pub update_id: UpdateId,
    /// How its clients verify the package, if not by its SHA-256.
    pub file_hash: Option<&'f str>,
}

/// Gives at most [`NUMBERED_AT_ONCE`] updates of a bundle a place, in the order of their creation; returns their number. An empty
/// `org` matches every organization.
async fn number(tx: &mut Tx, org: &str, bundle_key: &str) -> Result<u64, StoreError> {
    let rows = fetch_all!(
        tx,
        (String, String, String),
        "SELECT id, platform, configuration FROM updates WHERE bundle_key = $1 AND sequence IS NULL \
         AND ($2 = '' OR org_id = $2) ORDER BY created_at, id LIMIT $3",
        bundle_key,
        org,
        NUMBERED_AT_ONCE
    )?;
    if rows.is_empty() {
        return Ok(0);
    }
    let highest = fetch_all!(
        tx,
        (String, String, i64),
        "SELECT platform, configuration, MAX(sequence) FROM updates WHERE bundle_key = $1 AND sequence IS NOT NULL \
         GROUP BY platform, configuration",
        bundle_key
    )?;
    let place = |(platform, configuration, place)| ((platform, configuration), place);
    let mut highest: HashMap<(String, String), i64> = highest.into_iter().map(place).collect();
    let count = rows.len() as u64;
    for (id, platform, configuration) in rows {
        let shares_callers = |other: &str| other.is_empty() || configuration.is_empty() || other == configuration;
        let known = highest
            .iter()
            .filter(|((of, other), _)| *of == platform && shares_callers(other));
        let next = known.map(|(_, place)| *place).max().unwrap_or(0) + 1;
        execute!(
            tx,
            "UPDATE updates SET sequence = $2 WHERE id = $1 AND sequence IS NULL",
            id,
            next
        )?;
        highest.insert((platform, configuration), next);
    }
    Ok(count)
}

/// Stores the id of an update; the last text says what becomes of an id that names another one. Returns the number of rows.
macro_rules! add_foreign_id {
    ($org:expr, $new:expr, $conflict:literal) => {
        execute!(
            $org.tx,
            concat!(
                "INSERT INTO foreign_ids (bundle_key, platform, protocol, foreign_id, org_id, update_id, file_hash) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (bundle_key, platform, protocol, foreign_id) ",
                $conflict
            ),
            $new.bundle.key(),
            $new.platform.as_str(),
            $new.protocol.as_str(),
            $new.id.as_str(),
            &$org.id,
            $new.update_id.to_string(),
            $new.file_hash
        )
    };
}

impl Org<'_> {
    /// The place of the next update: above all earlier ones, also deleted ones, that a caller of it could receive. Updates of an
    /// older release are numbered first. Call it under the lock of the bundle's updates.
    pub async fn next_sequence(
        &mut self,
        bundle: &BundleId,
        platform: Platform,
        configuration: Option<&Configuration>,
    ) -> Result<Sequence, StoreError> {
        while number(self.tx, &self.id, &bundle.key()).await? > 0 {}
        let (next,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COALESCE(MAX(sequence), 0) + 1 FROM updates WHERE org_id = $1 AND bundle_key = $2 AND platform = $3 \
             AND ($4 = '' OR configuration = '' OR configuration = $4)",
            &self.id,
            bundle.key(),
            platform.as_str(),
            configuration.map_or("", |label| label.as_str())
        )?;
        sequence(next)
    }

    /// Names an update; returns false if the id names another one.
    pub async fn add_foreign_id(&mut self, new: &NewForeignId<'_>) -> Result<bool, StoreError> {
        let added = add_foreign_id!(self, new, "DO NOTHING")?;
        Ok(added == 1)
    }

    /// Names an update by an id that may name an earlier one, which loses it: the hash of content that is released twice.
    pub async fn move_foreign_id(&mut self, new: &NewForeignId<'_>) -> Result<(), StoreError> {
        add_foreign_id!(
            self,
            new,
            "DO UPDATE SET update_id = excluded.update_id WHERE foreign_ids.org_id = excluded.org_id"
        )?;
        Ok(())
    }

    /// The ids of an update, sorted.
    pub async fn foreign_ids(&mut self, update: UpdateId) -> Result<Vec<(Protocol, String)>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT protocol, foreign_id FROM foreign_ids WHERE org_id = $1 AND update_id = $2 \
             ORDER BY protocol, foreign_id",
            &self.id,
            update.to_string()
        )?;
        let read = |(protocol, id): (String, String)| Ok((typed("foreign_ids.protocol", &protocol)?, id));
        rows.into_iter().map(read).collect()
    }

    /// The highest id of a protocol, bundle and platform in the order of texts.
    pub async fn highest_foreign_id(
        &mut self,
        protocol: Protocol,
        bundle: &BundleId,
        platform: Platform,
    ) -> Result<Option<String>, StoreError> {
        let (id,) = fetch_one!(
            self.tx,
            (Option<String>,),
            "SELECT MAX(foreign_id) FROM foreign_ids WHERE org_id = $1 AND bundle_key = $2 AND platform = $3 \
             AND protocol = $4",
            &self.id,
            bundle.key(),
            platform.as_str(),
            protocol.as_str()
        )?;
        Ok(id)
    }
}

impl System<'_> {
    /// Bundles with updates that have no place yet, at most `limit`.
    pub async fn unnumbered_bundles(&mut self, limit: i64) -> Result<Vec<String>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            "SELECT DISTINCT bundle_key FROM updates WHERE sequence IS NULL ORDER BY bundle_key LIMIT $1",
            limit
        )?;
        Ok(rows.into_iter().map(|(key,)| key).collect())
    }

    /// Gives updates of a bundle a place, in the order of their creation; returns their number, 0 if all have one. Holds the lock
    /// that orders changes of updates until the transaction ends, so that a concurrent publish takes another place.
    pub async fn number_updates(&mut self, bundle_key: &str) -> Result<u64, StoreError> {
        execute!(self.tx, "UPDATE revision SET value = value WHERE one = 1")?;
        number(self.tx, "", bundle_key).await
    }
}
