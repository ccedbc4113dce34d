//! The users that the slots of a runner run builds as. The users of a range are locked, so no other runner of this
//! machine uses them. Everything that runs as one of them belongs to the build in that slot.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::{BuildUser, SandboxSettings};

/// The directory of the locks; only root can write there.
const LOCKS: &str = if cfg!(target_os = "linux") {
    "/run/launchway-users"
} else {
    "/var/run/launchway-users"
};
/// How many ids of the range are tried.
pub const MAX_IDS: u32 = 1000;

/// The users of a runner's slots.
#[derive(Debug)]
pub struct Users {
    each: Vec<Option<(u32, u32)>>,
    /// Held for the life of the runner; empty if the users may be shared.
    locks: Vec<File>,
}

impl Users {
    /// Claims a user for each of `slots`.
    ///
    /// # Errors
    /// The locks cannot be created, or too few ids of the range are free.
    pub fn claim(settings: &SandboxSettings, slots: u32) -> io::Result<Users> {
        let root = settings.available().user;
        let all = |user| Users {
            each: vec![user; slots as usize],
            locks: Vec::new(),
        };
        match settings.user {
            BuildUser::Fixed { uid, gid } if root => Ok(all(Some((uid, gid)))),
            BuildUser::Range { first } if root => Users::claim_range(first, slots, Path::new(LOCKS)),
            _ => Ok(all(None)),
        }
    }

    fn claim_range(first: u32, slots: u32, place: &Path) -> io::Result<Users> {
        let taken = known_ids(&fs::read_to_string("/etc/passwd").unwrap_or_default());
        DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        let (mut each, mut locks) = (Vec::new(), Vec::new());
        for id in (first..).take(MAX_IDS as usize).filter(|id| !taken.contains(id)) {
            if each.len() == slots as usize {
                break;
            }
            let mut options = OpenOptions::new();
            let file = options
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(place.join(id.to_string()))?;
            if file.try_lock().is_ok() {
                each.push(Some((id, id)));
                locks.push(file);
            }
        }
        if each.len() < slots as usize {
            let problem = format!("other runners use the {MAX_IDS} user ids from {first} on: choose another range");
            return Err(io::Error::new(io::ErrorKind::AddrInUse, problem));
        }
        Ok(Users { each, locks })
    }

    /// The user and group id of a slot, counted from 0; `None` is the runner's own.
    pub fn of(&self, slot: u32) -> Option<(u32, u32)> {
        self.each.get(slot as usize).copied().flatten()
    }

    /// The user id of a slot, if only its build runs as that user.
    pub fn exclusive(&self, slot: u32) -> Option<u32> {
        self.locks.get(slot as usize)?;
        Some(self.of(slot)?.0)
    }
}

/// The ids that belong to existing users, from the lines of `/etc/passwd`.
fn known_ids(passwd: &str) -> HashSet<u32> {
    passwd
        .lines()
        .filter_map(|line| line.split(':').nth(2)?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_that_are_somebody_are_known() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\n\nbroken\nada:x:70001:70001::/home/ada:/bin/sh\n";
        assert_eq!(known_ids(passwd), HashSet::from([0, 70_001]));
    }

    #[test]
    fn no_two_runners_have_one_user() {
        let directory = tempfile::tempdir().unwrap();
        let claim = |slots| Users::claim_range(70_000, slots, directory.path());
        let one = claim(2).unwrap();
        let two = claim(1).unwrap();
        assert_eq!(
            (one.of(0), one.of(1), one.of(2)),
            (Some((70_000, 70_000)), Some((70_001, 70_001)), None)
        );
        assert_eq!(two.exclusive(0), Some(70_002));
        drop(one);
        assert_eq!(claim(3).unwrap().each.len(), 3);
        assert!(claim(MAX_IDS).unwrap_err().to_string().contains("choose another range"));
    }
}
