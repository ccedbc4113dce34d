//! Folds the rows of a list's totals into their sums, a bounded number of rows at a time.

use std::collections::BTreeMap;

use launchway_domain::id::OrgId;

use crate::sql::typed;
use crate::{StoreError, System};

/// The number of rows from which the rows of a list are folded.
const MANY: i64 = 1000;

/// The sums that one statement inserts: a database bounds the values of a statement.
const INSERTED_AT_ONCE: usize = 1000;

/// What rows that are summed have in common: name, bundle, platform, configuration, status.
type Key = [String; 5];

/// A list of an organization with many totals that are not folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfoldedList {
    /// The organization.
    pub org: OrgId,
    /// The list.
    pub list: String,
}

/// How far a list has been folded: up to the rows of a key, of which more may follow. The default is its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoldCursor(Key);

impl System<'_> {
    /// Lists with many totals that are not folded, at most `limit`. A list with more sums than that waits until it has as many
    /// again, so that folding costs each row once or twice.
    pub async fn unfolded_lists(&mut self, limit: i64) -> Result<Vec<UnfoldedList>, StoreError> {
        // At least half of all rows: to count the others, each would be read beside the index.
        let rows = fetch_all!(
            self.tx,
            (String, String),
            "SELECT t.org_id, t.list FROM list_totals t WHERE t.folded = 0 GROUP BY t.org_id, t.list \
             HAVING COUNT(*) >= $1 AND COUNT(*) * 2 >= (SELECT COUNT(*) FROM list_totals s \
             WHERE s.org_id = t.org_id AND s.list = t.list) ORDER BY t.org_id, t.list LIMIT $2",
            MANY,
            limit
        )?;
        rows.into_iter()
            .map(|(org, list)| {
                let org = typed("list_totals.org_id", &org)?;
                Ok(UnfoldedList { org, list })
            })
            .collect()
    }

    /// Replaces at most `limit` totals of a list, two or more, by their sums, in the order of their keys; earlier sums are among them.
    /// Returns how far it came, to go on from there in another transaction, or nothing at the end of the list. The last key is continued,
    /// so that its sum becomes one; each step that does not come further leaves fewer rows.
    ///
    /// Only rows that this transaction deletes are summed: those that others add meanwhile stay, and of two that fold at once the
    /// second waits for the first and then does not find its rows. Both lock rows in the order of the index.
    pub async fn fold_list(
        &mut self,
        unfolded: &UnfoldedList,
        from: &FoldCursor,
        limit: i64,
    ) -> Result<Option<FoldCursor>, StoreError> {
        let [name, bundle_key, platform, configuration, status] = &from.0;
        let org = unfolded.org.to_string();
        let rows = fetch_all_locked!(
            self.tx,
            (String, String, String, String, String, i64),
            "WITH slice AS MATERIALIZED (SELECT id FROM list_totals WHERE org_id = $1 AND list = $2 \
             AND (name, bundle_key, platform, configuration, status) >= ($3, $4, $5, $6, $7) \
             ORDER BY name, bundle_key, platform, configuration, status, n LIMIT $8",
            " FOR UPDATE",
            ") DELETE FROM list_totals WHERE id IN (SELECT id FROM slice) \
             RETURNING name, bundle_key, platform, configuration, status, n",
            &org,
            &unfolded.list,
            name,
            bundle_key,
            platform,
            configuration,
            status,
            limit
        )?;
        let is_full = rows.len() as i64 >= limit;
        let mut sums: BTreeMap<Key, i64> = BTreeMap::new();
        for (name, bundle_key, platform, configuration, status, n) in rows {
            *sums
                .entry([name, bundle_key, platform, configuration, status])
                .or_default() += n;
        }
        let last = sums.keys().next_back().cloned();
        sums.retain(|_, sum| *sum != 0);
        self.add_sums(&org, &unfolded.list, sums).await?;
        Ok(last.filter(|_| is_full).map(FoldCursor))
    }

    async fn add_sums(&mut self, org: &str, list: &str, sums: BTreeMap<Key, i64>) -> Result<(), StoreError> {
        let mut sums = sums.into_iter().peekable();
        while sums.peek().is_some() {
            let chunk = sums.by_ref().take(INSERTED_AT_ONCE);
            insert_all!(
                self.tx,
                "INSERT INTO list_totals (list, org_id, name, bundle_key, platform, configuration, status, folded, n) ",
                chunk,
                |([name, bundle_key, platform, configuration, status], sum)| [
                    list,
                    org,
                    name,
                    bundle_key,
                    platform,
                    configuration,
                    status,
                    1_i64,
                    sum
                ]
            )?;
        }
        Ok(())
    }
}
