//! Crashes that devices report, equal ones together (`docs/reference/updates.md#crashes`). Groups of an update and devices of
//! a group are bounded, so invented stacks and device ids cannot fill the disk.

use launchway_domain::crash::{MAX_GROUP_DEVICES, MAX_GROUPS, Stack};
use launchway_domain::id::UpdateId;
use launchway_domain::time::EpochMs;

use crate::{Org, StoreError, System};

/// A crash on a device.
#[derive(Clone, Debug)]
pub struct CrashReport {
    /// The update that ran.
    pub update_id: UpdateId,
    /// 64 bits of a keyed hash of the device.
    pub device: i64,
    /// When it was reported.
    pub at: EpochMs,
    /// Where it crashed.
    pub stack: Stack,
}

/// Crashes with the same stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashGroup {
    /// The number of devices, at most [`MAX_GROUP_DEVICES`].
    pub devices: i64,
    /// When the first of them was reported.
    pub first_seen: EpochMs,
    /// When the last of them was reported.
    pub last_seen: EpochMs,
    /// The stack of the first of them.
    pub stack: String,
}

impl System<'_> {
    /// Counts crashes; returns for each whether its device is new in its group. The token of each named its update, which
    /// belongs to the tenant. Updates are locked in the order of their ids, so that nodes do not deadlock.
    pub async fn count_crashes(&mut self, crashes: &[&CrashReport]) -> Result<Vec<bool>, StoreError> {
        let mut order: Vec<usize> = (0..crashes.len()).collect();
        order.sort_by_key(|at| crashes[*at].update_id);
        let mut counted = vec![false; crashes.len()];
        let mut locked = None;
        for at in order {
            let crash = crashes[at];
            if locked != Some(crash.update_id) {
                self.lock_crashes(&crash.update_id.to_string()).await?;
                locked = Some(crash.update_id);
            }
            counted[at] = self.count_crash(crash).await?;
        }
        Ok(counted)
    }

    /// Locks the groups of an update until the transaction ends.
    async fn lock_crashes(&mut self, update: &str) -> Result<(), StoreError> {
        execute!(
            self.tx,
            "INSERT INTO crash_updates (update_id) VALUES ($1) \
             ON CONFLICT (update_id) DO UPDATE SET update_id = excluded.update_id",
            update
        )?;
        Ok(())
    }

    async fn count_crash(&mut self, crash: &CrashReport) -> Result<bool, StoreError> {
        let (update, key) = (crash.update_id.to_string(), crash.stack.group_key());
        let known = fetch_optional!(
            self.tx,
            (i64,),
            "SELECT devices FROM crash_groups WHERE update_id = $1 AND group_key = $2",
            &update,
            &key
        )?;
        if known.is_none() {
            self.drop_groups_beyond(&update, MAX_GROUPS - 1).await?;
            execute!(
                self.tx,
                "INSERT INTO crash_groups (update_id, group_key, devices, first_seen, last_seen, stack) \
                 VALUES ($1, $2, 0, $3, $3, $4)",
                &update,
                &key,
                crash.at,
                crash.stack.text()
            )?;
        }
        let devices = known.map_or(0, |(devices,)| devices);
        let new = match devices < MAX_GROUP_DEVICES {
            true => execute!(
                self.tx,
                "INSERT INTO crash_devices (update_id, group_key, device) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                &update,
                &key,
                crash.device
            )?,
            false => 0,
        };
        execute!(
            self.tx,
            "UPDATE crash_groups SET devices = devices + $3, last_seen = $4 WHERE update_id = $1 AND group_key = $2",
            &update,
            &key,
            i64::from(new == 1),
            crash.at
        )?;
        Ok(new == 1)
    }

    /// Deletes all groups of an update but the `kept` ones with the most devices, and of these the last seen: a group that
    /// only one caller knows gives way to another, and those of many devices stay.
    async fn drop_groups_beyond(&mut self, update: &str, kept: i64) -> Result<(), StoreError> {
        let surplus = fetch_all!(
            self.tx,
            (String,),
            "SELECT group_key FROM crash_groups WHERE update_id = $1 \
             ORDER BY devices DESC, last_seen DESC, group_key LIMIT 1000 OFFSET $2",
            update,
            kept
        )?;
        for (key,) in surplus {
            execute!(
                self.tx,
                "DELETE FROM crash_devices WHERE update_id = $1 AND group_key = $2",
                update,
                &key
            )?;
            execute!(
                self.tx,
                "DELETE FROM crash_groups WHERE update_id = $1 AND group_key = $2",
                update,
                &key
            )?;
        }
        Ok(())
    }

    /// Deletes the groups that were last seen before a time, of at most `limit` updates. Returns the number of updates.
    pub async fn forget_crashes_before(&mut self, time: EpochMs, limit: i64) -> Result<u64, StoreError> {
        let updates = fetch_all!(
            self.tx,
            (String,),
            "SELECT DISTINCT update_id FROM crash_groups WHERE last_seen < $1 ORDER BY update_id LIMIT $2",
            time,
            limit
        )?;
        for (update,) in &updates {
            self.lock_crashes(update).await?;
            execute!(
                self.tx,
                "DELETE FROM crash_devices WHERE update_id = $1 AND group_key IN \
                 (SELECT group_key FROM crash_groups WHERE update_id = $1 AND last_seen < $2)",
                update,
                time
            )?;
            execute!(
                self.tx,
                "DELETE FROM crash_groups WHERE update_id = $1 AND last_seen < $2",
                update,
                time
            )?;
            execute!(
                self.tx,
                "DELETE FROM crash_updates WHERE update_id = $1 AND NOT EXISTS \
                 (SELECT 1 FROM crash_groups WHERE update_id = $1)",
                update
            )?;
        }
        Ok(updates.len() as u64)
    }
}

impl Org<'_> {
    /// The crashes with an update of this organization: those of the most devices first, then the last seen.
    pub async fn crash_groups(&mut self, update: UpdateId) -> Result<Vec<CrashGroup>, StoreError> {
        let rows = fetch_all!(
            self.tx,
            (i64, i64, i64, String),
            "SELECT c.devices, c.first_seen, c.last_seen, c.stack FROM crash_groups c JOIN updates u ON u.id = c.update_id \
             WHERE u.org_id = $1 AND c.update_id = $2 ORDER BY c.devices DESC, c.last_seen DESC, c.group_key LIMIT $3",
            &self.id,
            update.to_string(),
            MAX_GROUPS
        )?;
        let group = |(devices, first_seen, last_seen, stack)| CrashGroup {
            devices,
            first_seen,
            last_seen,
            stack,
        };
        Ok(rows.into_iter().map(group).collect())
    }
}
