//! The disk guard: a build must not fill the disk of its machine.

use std::path::Path;

use crate::machine::Machine;

/// A message if fewer than `least` bytes are free, otherwise `None`. A disk that cannot be queried counts as not full.
pub fn shortage(machine: &dyn Machine, path: &Path, least: u64) -> Option<String> {
    let free = machine.free_bytes(path).ok().filter(|free| *free < least)?;
    let (free, least) = (free >> 20, least >> 20);
    Some(format!(
        "The runner's disk is nearly full: {free} MiB are free, and {least} MiB are required. Free up space, or \
         lower the limit."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::SystemMachine;

    #[test]
    fn a_full_disk_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let shortage = |path: &Path, least| shortage(&SystemMachine, path, least);
        assert_eq!(shortage(directory.path(), 0), None);
        assert!(
            shortage(directory.path(), u64::MAX)
                .unwrap()
                .contains("MiB are required")
        );
        assert_eq!(shortage(&directory.path().join("gone"), u64::MAX), None);
    }
}
