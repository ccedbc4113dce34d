//! The local snapshot of the index: started from, kept up to date before a change is served, and written anew.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use launchway_domain::time::EpochMs;
use launchway_store::Db;
use tokio::task::{JoinError, spawn_blocking};

use super::fill::Fill;
use super::{Index, rows};
use crate::foreign::ForeignRows;
use crate::snapshot::{BundleRows, Entry, Found, Keeper, SaveError, Seal, SnapshotError};

impl Index {
    /// An index whose changes are recorded here before they are served.
    #[must_use]
    pub fn kept_by(self, keeper: Option<Arc<Keeper>>) -> Self {
        Self { keeper, ..self }
    }

    /// Until when the snapshot knows the database that checks are answered from; `None` if they are answered from the
    /// database.
    pub fn snapshot_time(&self) -> Option<EpochMs> {
        Some(self.snapshot_time.load(Ordering::Relaxed)).filter(|time| *time > 0)
    }

    /// Fills an index that nobody reads yet from a snapshot. Waits for the disk.
    ///
    /// # Errors
    /// [`SnapshotError`]; the index must not be used then.
    pub async fn start_from(&self, keeper: &Keeper, found: &Found) -> Result<(), SnapshotError> {
        let mut fill = Fill::new(self);
        keeper.read(found, |row| fill.take(row))?;
        let filled = fill.finish();
        let mut foreign: HashMap<String, ForeignRows> = filled.foreign.into_iter().collect();
        let mut changed: HashMap<String, BundleRows> = HashMap::new();
        keeper.read_changes(found, |key, rows| {
            changed.insert(key.to_owned(), rows);
        })?;
        self.replace_all(filled.loaded);
        for (key, rows) in changed {
            self.put(&key, self.load_bundle(&rows));
            let mut theirs = ForeignRows::default();
            for row in rows {
                theirs.take(row);
            }
            foreign.insert(key, theirs);
        }
        let mut all = Vec::with_capacity(foreign.len());
        for (key, rows) in foreign {
            let unreadable = |_| SnapshotError::Damaged("a text of a release is not readable");
            let bundle = self.foreign.prepare_rows(rows).await.map_err(unreadable)?;
            all.extend(bundle.map(|bundle| (key, bundle)));
        }
        self.foreign.replace_all(all);
        self.snapshot_time.store(found.time.max(1), Ordering::Relaxed);
        Ok(())
    }

    /// Records that everything that had changed at `time` is recorded, after [`Index::catch_up`].
    pub async fn beat(&self, time: EpochMs) {
        self.keep(move |keeper| keeper.beat(time)).await;
    }

    /// Writes a new snapshot, unless this node keeps none.
    ///
    /// # Errors
    /// [`SaveError`]; an earlier snapshot stays, unless it was given up.
    pub async fn save(&self, db: &Db, seal: &Seal) -> Result<(), SaveError> {
        let Some(keeper) = self.keeper.clone() else {
            return Ok(());
        };
        let sealed = seal.clone();
        let save = spawn_blocking(move || keeper.begin_save(&sealed))
            .await
            .map_err(ended)??;
        let mut tx = db.read().await?;
        let mut system = tx.system("the snapshot serves the checks of every tenant");
        let mut writer = save.writer(system.revision().await?)?;
        rows::for_each(&mut system, |row| writer.take(&row)).await?;
        let take = |_, _, rows: BundleRows| rows.iter().for_each(|row| writer.take(row));
        self.foreign.read_all(&mut system, true, take).await?;
        drop(tx);
        spawn_blocking(move || save.finish(writer)).await.map_err(ended)?
    }

    /// Whether changes have to be recorded.
    pub(super) fn is_recording(&self) -> bool {
        self.keeper.as_ref().is_some_and(|keeper| keeper.is_recording())
    }

    /// Records changed bundles, as a transaction saw them whose newest revision was `view`.
    pub(super) async fn record(&self, entries: Vec<Entry>, view: i64) {
        self.keep(move |keeper| keeper.record(&entries, view)).await;
    }

    /// Records that bundles changed at these revisions, and that no more is known.
    pub(super) async fn record_unread(&self, changed: Vec<(String, i64)>) {
        if self.is_recording() && !changed.is_empty() {
            self.keep(move |keeper| keeper.record_unread(&changed)).await;
        }
    }

    /// Deletes the snapshot, because what is served next is not recorded.
    pub(super) async fn forget_snapshot(&self) {
        self.keep(Keeper::give_up).await;
    }

    /// Does this on a thread that may wait for the disk. If that fails, there is no snapshot.
    async fn keep(&self, work: impl FnOnce(&Keeper) + Send + 'static) {
        let Some(keeper) = &self.keeper else { return };
        let worker = keeper.clone();
        if spawn_blocking(move || work(&worker)).await.is_err() {
            keeper.give_up();
        }
    }
}

/// A thread was ended with the process, or panicked.
fn ended(error: JoinError) -> std::io::Error {
    std::io::Error::other(error)
}
