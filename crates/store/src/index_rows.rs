//! Reads the data of the index: published and paused updates and fingerprint documents of all organizations.

mod offered;

use launchway_domain::build_number::BuildNumber;
use launchway_domain::id::UpdateId;
use launchway_domain::platform::Platform;
use launchway_domain::version::Version;

use crate::sql::typed;
use crate::{StoreError, System};

pub use offered::OfferedUpdate;

/// An update that is no longer offered. Apps that run it still name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetiredUpdate {
    /// Its id.
    pub id: UpdateId,
    /// The target platform.
    pub platform: Platform,
    /// Its version.
    pub version: Version,
    /// The value of its build number.
    pub build: u64,
}

type RetiredRow = (String, String, String, String);

/// Withdrawn and deleted updates, which have an index of their own. None of them awaits its signature: no app runs those.
macro_rules! from_retired {
    () => {
        " FROM updates WHERE (deleted_at IS NOT NULL OR status = 'withdrawn') AND awaiting_since IS NULL \
         AND release_status IS NULL"
    };
}

fn read_retired((id, platform, version, build): RetiredRow) -> Result<RetiredUpdate, StoreError> {
    let read = || -> Result<RetiredUpdate, StoreError> {
        let build: BuildNumber = typed("updates.build_number", &build)?;
        Ok(RetiredUpdate {
            id: typed("updates.id", &id)?,
            platform: typed("updates.platform", &platform)?,
            version: typed("updates.version", &version)?,
            build: build.value(),
        })
    };
    read().map_err(|error| error.of_update(&id))
}

impl System<'_> {
    /// The withdrawn and deleted updates of a bundle, newest first, at most `limit`.
    pub async fn retired_updates(&mut self, bundle_key: &str, limit: i64) -> Result<Vec<RetiredUpdate>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            RetiredRow,
            concat!(
                "SELECT id, platform, version, build_number",
                from_retired!(),
                " AND bundle_key = $1 ORDER BY id DESC LIMIT $2"
            ),
            bundle_key,
            limit
        )?;
        rows.into_iter().map(read_retired).collect()
    }

    /// Passes the key of every bundle with its withdrawn and deleted updates to `take`, the newest of each, at most
    /// `limit`.
    pub async fn for_each_retired_update(
        &mut self,
        limit: i64,
        mut take: impl FnMut(String, RetiredUpdate),
    ) -> Result<(), StoreError> {
        for_each!(
            self.tx,
            (String, String, String, String, String),
            concat!(
                "SELECT bundle_key, id, platform, version, build_number FROM (SELECT bundle_key, id, platform, version, \
                 build_number, ROW_NUMBER() OVER (PARTITION BY bundle_key ORDER BY id DESC) AS place",
                from_retired!(),
                ") AS placed WHERE place <= $1"
            ),
            |(key, id, platform, version, build)| take(key, read_retired((id, platform, version, build))?),
            limit
        )
    }

    /// Passes the key of every bundle with its fingerprint documents to `take`, as key, hash and document: those of one
    /// bundle newest first, at most `limit` of each.
    pub async fn for_each_fingerprint(
        &mut self,
        limit: i64,
        mut take: impl FnMut(String, String, String),
    ) -> Result<(), StoreError> {
        for_each!(
            self.tx,
            (String, String, String),
            "SELECT bundle_key, hash, document FROM (SELECT bundle_key, hash, document, ROW_NUMBER() OVER \
             (PARTITION BY bundle_key ORDER BY created_at DESC, hash) AS place FROM fingerprints) AS placed \
             WHERE place <= $1 ORDER BY bundle_key, place",
            |(key, hash, document)| take(key, hash, document),
            limit
        )
    }

    /// The fingerprint documents of a bundle, newest first, at most `limit`.
    pub async fn fingerprints(&mut self, bundle_key: &str, limit: i64) -> Result<Vec<(String, String)>, StoreError> {
        fetch_all!(
            self.tx,
            (String, String),
            "SELECT hash, document FROM fingerprints WHERE bundle_key = $1 ORDER BY created_at DESC, hash LIMIT $2",
            bundle_key,
            limit
        )
    }

    /// Passes the key of every bundle with its pairs of a hash and its `lwfp-2` hash to `take`: those of one bundle newest
    /// first, at most `limit` of each.
    pub async fn for_each_fingerprint_pair(
        &mut self,
        limit: i64,
        mut take: impl FnMut(String, String, String),
    ) -> Result<(), StoreError> {
        for_each!(
            self.tx,
            (String, String, String),
            "SELECT bundle_key, hash, lwfp2 FROM (SELECT bundle_key, hash, lwfp2, ROW_NUMBER() OVER \
             (PARTITION BY bundle_key ORDER BY created_at DESC, hash) AS place FROM fingerprints \
             WHERE lwfp2 IS NOT NULL) AS placed WHERE place <= $1 ORDER BY bundle_key, place",
            |(key, hash, lwfp2)| take(key, hash, lwfp2),
            limit
        )
    }

    /// The pairs of a hash and its `lwfp-2` hash of a bundle, newest first, at most `limit`.
    pub async fn fingerprint_pairs(
        &mut self,
        bundle_key: &str,
        limit: i64,
    ) -> Result<Vec<(String, String)>, StoreError> {
        fetch_all!(
            self.tx,
            (String, String),
            "SELECT hash, lwfp2 FROM fingerprints WHERE bundle_key = $1 AND lwfp2 IS NOT NULL \
             ORDER BY created_at DESC, hash LIMIT $2",
            bundle_key,
            limit
        )
    }
}
