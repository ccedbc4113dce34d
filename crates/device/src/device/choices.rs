//! Which packages are installed, which of them the app chooses for the next start, and what failed last.

use std::io;

use crate::boot::Soundness;
use crate::device::{Device, SyncError};
use crate::state::{FailedUpdate, Found, SlotRecord, State};
use crate::trust::Trust;

impl Device<'_> {
    /// Makes an installed update what the next start tries. Answers the record of its package; `None` if no package of
    /// this update is whole, or if it is revoked or in quarantine.
    ///
    /// # Errors
    /// This process does not decide, there is no valid state, or the storage fails.
    pub fn next(&self, update_id: &str) -> Result<Option<SlotRecord>, SyncError> {
        let mut state = self.load()?;
        let trust = Trust::open(self.settings, state.trust.as_ref());
        for slot in state.slots.clone() {
            let may_run = slot.update_id == update_id && !trust.is_revoked(slot.id) && self.is_whole(&slot)?;
            if may_run && state.boot.stage(slot.id) {
                state.save(self.ports.storage)?;
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// The installed packages, in the order of their installation.
    ///
    /// # Errors
    /// The storage fails.
    pub fn list(&self) -> io::Result<Vec<SlotRecord>> {
        let mut whole = Vec::new();
        if let Found::Whole(state) = State::load(self.ports.storage)? {
            for slot in state.slots {
                if self.is_whole(&slot)? {
                    whole.push(slot);
                }
            }
        }
        Ok(whole)
    }

    /// The last update that was rolled back or could not be installed on this binary.
    ///
    /// # Errors
    /// The storage fails.
    pub fn failed(&self) -> io::Result<Option<FailedUpdate>> {
        Ok(match State::load(self.ports.storage)? {
            Found::Whole(state) => state.failed,
            Found::Nothing | Found::Corrupt => None,
        })
    }

    /// Hashes are computed by the start that tries the package.
    fn is_whole(&self, slot: &SlotRecord) -> io::Result<bool> {
        Ok(self.soundness(slot.id, false)? == Soundness::Sound)
    }
}
