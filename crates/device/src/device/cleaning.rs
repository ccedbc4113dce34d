//! What leaves the disk: packages that nobody needs, and partial files that lead nowhere.

use std::io;

use crate::boot::{Content, SlotId};
use crate::device::{Device, SyncError};
use crate::slot::remove_slot;
use crate::state::State;

impl Device<'_> {
    /// Removes partial files of other packages: there is room for one.
    pub(super) fn drop_other_parts(&self, package: SlotId) -> io::Result<()> {
        let storage = self.ports.storage;
        for name in storage.list("tmp")? {
            if !name.starts_with(&package.to_string()) {
                storage.remove_file(&format!("tmp/{name}"))?;
            }
        }
        Ok(())
    }

    /// Removes packages that are no longer needed, and partial files of those that are installed.
    pub(super) fn clean_up(&self, state: &mut State, running: Content) -> Result<(), SyncError> {
        let storage = self.ports.storage;
        let newest = || state.slots.iter().rev().map(|slot| slot.id);
        let needed = |id: &SlotId| state.boot.needs(*id) || running == Content::Slot(*id);
        let mut keep: Vec<SlotId> = newest().filter(needed).collect();
        let spare = self.settings.keep_slots.saturating_sub(keep.len());
        let useful = |id: &SlotId| !needed(id) && !state.boot.quarantine.contains(id);
        // The newest package may wait until the app chooses it, however many are needed.
        let waits = newest().take(1).filter(useful).count();
        keep.extend(newest().filter(useful).take(spare.max(waits)));
        if keep.len() < state.slots.len() {
            state.slots.retain(|slot| keep.contains(&slot.id));
            state.save(storage)?;
        }
        for name in storage.list("slots")? {
            let kept = name
                .parse()
                .is_ok_and(|id: SlotId| keep.contains(&id) || running == Content::Slot(id));
            if !kept {
                remove_slot(storage, &format!("slots/{name}"))?;
            }
        }
        for name in storage.list("tmp")? {
            if keep.iter().any(|id| name.starts_with(&id.to_string())) {
                storage.remove_file(&format!("tmp/{name}"))?;
            }
        }
        Ok(())
    }
}
