//! Leases of jobs that must run on one node only.

use crate::{StoreError, System};

impl System<'_> {
    /// Takes or renews the lease of a job until `until`, unless another holder has it at `now`; returns whether the caller
    /// holds it.
    pub async fn take_job_lease(&mut self, job: &str, holder: &str, now: i64, until: i64) -> Result<bool, StoreError> {
        let touched = execute!(
            self.tx,
            "INSERT INTO job_leases (job, holder, until) VALUES ($1, $2, $3) ON CONFLICT (job) DO UPDATE \
             SET holder = excluded.holder, until = excluded.until \
             WHERE job_leases.holder = excluded.holder OR job_leases.until <= $4",
            job,
            holder,
            until,
            now
        )?;
        Ok(touched == 1)
    }

    /// Releases a lease early.
    pub async fn drop_job_lease(&mut self, job: &str, holder: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "DELETE FROM job_leases WHERE job = $1 AND holder = $2",
            job,
            holder
        )?;
        Ok(())
    }
}
