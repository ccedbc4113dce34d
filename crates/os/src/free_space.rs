//! The floor of free disk space. Below it the server refuses uploads, artifacts and logs, which leaves room for the
//! database, reads and deletes.

use std::path::Path;

/// The default floor in bytes, capped at a twentieth of the disk.
const DEFAULT: u64 = 1 << 30;
const SHARE: u64 = 20;

/// The free space that uploads must leave on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// In bytes; `None` is the default.
    bytes: Option<u64>,
}

impl Floor {
    /// No floor: the disk may be filled completely.
    pub const NONE: Floor = Floor { bytes: Some(0) };

    /// A floor in bytes, or the default for the size of the disk.
    pub const fn new(bytes: Option<u64>) -> Floor {
        Floor { bytes }
    }

    /// Whether `more` bytes fit above the floor on the disk of a folder. If the disk cannot be queried, the write itself will
    /// report why.
    pub fn leaves_room(self, folder: &Path, more: u64) -> bool {
        if self == Floor::NONE {
            return true;
        }
        let Ok(disk) = rustix::fs::statvfs(folder) else {
            return true;
        };
        let least = self
            .bytes
            .unwrap_or_else(|| default_of(disk.f_blocks.saturating_mul(disk.f_frsize)));
        disk.f_bavail.saturating_mul(disk.f_frsize) >= least.saturating_add(more)
    }
}

fn default_of(disk: u64) -> u64 {
    DEFAULT.min(disk / SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_touch_the_floor_does_not_fit() {
        let folder = tempfile::tempdir().expect("a folder");
        let fits = |floor: Floor, more| floor.leaves_room(folder.path(), more);
        assert!(fits(Floor::NONE, u64::MAX), "there is no floor");
        assert!(fits(Floor::new(Some(1)), 1));
        assert!(!fits(Floor::new(Some(u64::MAX)), 0));
        assert!(!fits(Floor::new(Some(1)), u64::MAX), "no overflow");
        assert!(!fits(Floor::new(None), u64::MAX));
        assert!(
            Floor::new(Some(u64::MAX)).leaves_room(&folder.path().join("gone"), 1),
            "it cannot be asked"
        );
    }

    #[test]
    fn the_default_leaves_most_of_a_small_disk() {
        assert_eq!(default_of(100 << 30), 1 << 30);
        assert_eq!(default_of(1 << 30), (1 << 30) / 20);
        assert_eq!(default_of(0), 0);
    }
}
