//! The updates of one bundle as checks read them: those that are offered, and those that apps may still run.

use launchway_domain::id::UpdateId;
use launchway_domain::ota::{Caller, Running};

use crate::entry::{Entries, Entry};
use crate::extension::Extension;
use crate::shard::Stored;
use crate::texts::Texts;

/// The updates of one bundle, in the memory of the index.
#[derive(Clone, Copy)]
pub struct Updates<'s> {
    record: Stored<'s>,
    extension: Option<&'s Extension>,
}

impl<'s> Updates<'s> {
    /// The updates in this record.
    pub fn new(record: Stored<'s>, extension: Option<&'s Extension>) -> Updates<'s> {
        Updates { record, extension }
    }

    /// The offered updates, newest first, read one by one.
    pub fn iter(&self) -> Entries<'s, Texts<'s>> {
        self.record.entries(self.extension)
    }

    /// The known update that a caller states to run. `None` if it is unknown, or has another version or platform than
    /// the caller states: then the id says nothing about the installed build.
    pub fn running(&self, caller: &Caller<'_>, current_update: &str) -> Option<Running> {
        let id: UpdateId = current_update.parse().ok()?;
        let (platform, version, build) = self.record.known(id)?;
        let fits = version == caller.version && caller.platform.is_none_or(|named| named == platform);
        fits.then_some(Running { platform, build })
    }
}

impl<'s> IntoIterator for &Updates<'s> {
    type Item = Entry<'s>;
    type IntoIter = Entries<'s, Texts<'s>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
