//! The names of configurations in use.

use crate::{Org, StoreError};

/// How many of the latest builds and of the latest updates are looked at.
const LATEST: i64 = 500;

impl Org<'_> {
    /// The configurations of the latest builds and updates, sorted. Those of older ones alone are left out, so that the
    /// answer costs the same however many there are.
    pub async fn configurations(&mut self) -> Result<Vec<String>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String,),
            "SELECT u.configuration FROM (SELECT configuration FROM updates WHERE org_id = $1 AND deleted_at IS NULL \
             ORDER BY id DESC LIMIT $2) u WHERE u.configuration <> '' \
             UNION SELECT b.configuration FROM (SELECT configuration FROM builds WHERE org_id = $1 \
             ORDER BY id DESC LIMIT $2) b WHERE b.configuration <> ''",
            &self.id,
            LATEST
        )?;
        let mut names: Vec<_> = rows.into_iter().map(|(name,)| name).collect();
        names.sort_unstable();
        Ok(names)
    }
}
