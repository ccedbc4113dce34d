//! Counts of wrong passwords and codes per day. Unlike the per-minute counts they survive a restart.

use crate::{StoreError, System};

impl System<'_> {
    /// Increments a subject's failed attempts of this day and returns the count. A node whose clock is still on the
    /// previous day counts in the day that another node has begun.
    pub async fn count_failed_try(&mut self, subject: &str, day: i64) -> Result<i64, StoreError> {
        let (count,) = fetch_one!(
            self.tx,
            (i64,),
            "INSERT INTO failed_tries (subject, day, count) VALUES ($1, $2, 1) ON CONFLICT (subject) DO UPDATE SET \
             count = CASE WHEN failed_tries.day IN (excluded.day, excluded.day + 1) THEN failed_tries.count + 1 ELSE 1 END, \
             day = CASE WHEN failed_tries.day = excluded.day + 1 THEN failed_tries.day ELSE excluded.day END \
             RETURNING count",
            subject,
            day
        )?;
        Ok(count)
    }

    /// Decrements a subject's failed attempts of this day.
    pub async fn uncount_failed_try(&mut self, subject: &str, day: i64) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "UPDATE failed_tries SET count = count - 1 WHERE subject = $1 AND day IN ($2, $2 + 1) AND count > 0",
            subject,
            day
        )?;
        Ok(())
    }

    /// All counts, by subject.
    pub async fn failed_tries(&mut self) -> Result<Vec<(String, i64)>, StoreError> {
        fetch_all!(
            self.tx,
            (String, i64),
            "SELECT subject, count FROM failed_tries ORDER BY subject"
        )
    }

    /// Deletes the counts of a subject.
    pub async fn forget_failed_tries(&mut self, subject: &str) -> Result<(), StoreError> {
        execute!(self.tx, "DELETE FROM failed_tries WHERE subject = $1", subject)?;
        Ok(())
    }

    /// Deletes the counts of days before `day`.
    pub async fn forget_failed_tries_before(&mut self, day: i64) -> Result<u64, StoreError> {
        forget!(self.tx, "failed_tries", "subject", "day < $1", day)
    }
}
