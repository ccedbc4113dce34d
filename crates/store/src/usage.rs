//! What organizations used in each month: one row per counter.

use launchway_domain::id::OrgId;
use launchway_domain::usage::{Counter, Month, Usage};

use crate::sql::typed;
use crate::{Org, Paging, Rows, StoreError, System, Tx};

async fn add(tx: &mut Tx, org: &str, month: Month, counter: Counter, amount: i64) -> Result<i64, StoreError> {
    let (value,) = fetch_one!(
        tx,
        (i64,),
        "INSERT INTO usage (org_id, month, counter, value) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (org_id, month, counter) DO UPDATE SET value = usage.value + excluded.value RETURNING value",
        org,
        month.to_string(),
        counter.as_str(),
        amount
    )?;
    Ok(value)
}

/// Groups rows, sorted by month, into months.
fn gather(rows: Vec<(String, String, i64)>) -> Result<Vec<Usage>, StoreError> {
    let mut months: Vec<Usage> = Vec::new();
    for (month, counter, value) in rows {
        let month = typed("usage.month", &month)?;
        if months.last().is_none_or(|last| last.month != month) {
            months.push(Usage::none(month));
        }
        if let Some(last) = months.last_mut() {
            last.set(typed("usage.counter", &counter)?, value);
        }
    }
    Ok(months)
}

impl Org<'_> {
    /// Adds to a counter of a month and returns the new value. Concurrent additions to the same counter wait for this
    /// transaction.
    pub async fn count_usage(&mut self, counter: Counter, month: Month, amount: i64) -> Result<i64, StoreError> {
        add(self.tx, &self.id, month, counter, amount).await
    }

    /// The usage of each month that has any, newest first.
    pub async fn usage(&mut self, paging: Paging) -> Result<Rows<Usage>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String, i64),
            "SELECT month, counter, value FROM usage WHERE org_id = $1 AND month IN \
             (SELECT DISTINCT month FROM usage WHERE org_id = $1 ORDER BY month DESC LIMIT $2 OFFSET $3) \
             ORDER BY month DESC",
            &self.id,
            paging.limit,
            paging.offset
        )?;
        let (total,) = fetch_one!(
            self.tx,
            (i64,),
            "SELECT COUNT(DISTINCT month) FROM usage WHERE org_id = $1",
            &self.id
        )?;
        Ok(Rows {
            items: gather(rows)?,
            total,
        })
    }

    /// The usage of one month; `None` if there was none.
    pub async fn usage_of(&mut self, month: Month) -> Result<Option<Usage>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (String, String, i64),
            "SELECT month, counter, value FROM usage WHERE org_id = $1 AND month = $2",
            &self.id,
            month.to_string()
        )?;
        Ok(gather(rows)?.pop())
    }
}

impl System<'_> {
    /// Adds public checks. Rows are locked in a fixed order, so that nodes do not deadlock.
    pub async fn add_checks(&mut self, checks: &[(OrgId, Month, i64)]) -> Result<(), StoreError> {
        let mut checks = checks.to_vec();
        checks.sort_unstable();
        for (org, month, amount) in checks {
            add(self.tx, &org.to_string(), month, Counter::Checks, amount).await?;
        }
        Ok(())
    }

    /// The organization that a bundle belongs to, by the bundle's key; `None` if nobody has claimed it.
    pub async fn bundle_owner(&mut self, bundle_key: &str) -> Result<Option<OrgId>, StoreError> {
        let row = fetch_optional!(
            self.tx,
            (String,),
            "SELECT org_id FROM apps WHERE bundle_key = $1",
            bundle_key
        )?;
        row.map(|(org,)| typed("apps.org_id", &org)).transpose()
    }
}
