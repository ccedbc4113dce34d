//! Counts of the current minute, shared by the nodes of one database.

use crate::{StoreError, System};

impl System<'_> {
    /// Increments a subject's count of this minute and returns it. Clocks of nodes differ slightly: a call of the previous
    /// minute counts in the minute that another node has begun, so that nodes do not reset each other's count.
    pub async fn count_call(&mut self, subject: &str, minute: i64) -> Result<i64, StoreError> {
        let (count,) = fetch_one!(
            self.tx,
            (i64,),
            "INSERT INTO rate_counts (subject, minute, count) VALUES ($1, $2, 1) ON CONFLICT (subject) DO UPDATE SET \
             count = CASE WHEN rate_counts.minute IN (excluded.minute, excluded.minute + 1) THEN rate_counts.count + 1 ELSE 1 END, \
             minute = CASE WHEN rate_counts.minute = excluded.minute + 1 THEN rate_counts.minute ELSE excluded.minute END \
             RETURNING count",
            subject,
            minute
        )?;
        Ok(count)
    }

    /// Decrements a subject's count of this minute.
    pub async fn uncount_call(&mut self, subject: &str, minute: i64) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE rate_counts SET count = count - 1 WHERE subject = $1 AND minute = $2 AND count > 0",
            subject,
            minute
        )?;
        Ok(())
    }

    /// Deletes counts of minutes before `minute`.
    pub async fn forget_counts_before(&mut self, minute: i64) -> Result<u64, StoreError> {
        forget!(self.tx, "rate_counts", "subject", "minute < $1", minute)
    }
}
