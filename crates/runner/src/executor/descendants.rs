//! Finds the processes of a step: the descendants of its supervisor, and those with the mark of the build.

use rustix::process::{Pid, Signal};

use super::MARK;

/// Sends a signal to the step's process group and to every other descendant of this process.
pub(super) fn signal_descendants(step: Pid, signal: Signal) {
    // Exits are collected elsewhere; a process that has already ended is not an error.
    let _ = rustix::process::kill_process_group(step, signal);
    #[cfg(target_os = "linux")]
    for pid in linux::descendants_of(rustix::process::getpid()) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Kills every process that has the mark of a build, or runs as `user` if no other build uses that user. Returns
/// whether none is left. A runner calls it after a crash; it does nothing on systems without `/proc`.
pub fn end_marked(mark: &str, user: Option<u32>) -> bool {
    #[cfg(target_os = "linux")]
    {
        let wanted = format!("{MARK}={mark}");
        let found = linux::with_mark_or_user(wanted.as_bytes(), user);
        for pid in &found {
            let _ = rustix::process::kill_process(*pid, Signal::KILL);
        }
        found.is_empty()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (mark, user, MARK);
        true
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::fs;

    use rustix::process::Pid;

    /// The ids of all running processes, from `/proc`.
    fn processes() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
    }

    pub(super) fn descendants_of(root: Pid) -> Vec<Pid> {
        let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
        for pid in processes() {
            let stat = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
            if let Some((parent, _)) = parent_and_state(&stat) {
                children.entry(parent).or_default().push(pid);
            }
        }
        let mut found = children.remove(&root).unwrap_or_default();
        let mut at = 0;
        while let Some(pid) = found.get(at) {
            found.extend(children.remove(pid).unwrap_or_default());
            at += 1;
        }
        found
    }

    pub(super) fn with_mark_or_user(mark: &[u8], user: Option<u32>) -> Vec<Pid> {
        let own = rustix::process::getpid();
        let carries = |pid: &Pid| {
            let marked = fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|variable| variable == mark));
            marked || user.is_some_and(|user| belongs_to(*pid, user))
        };
        let alive = |pid: &Pid| {
            let stat = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
            parent_and_state(&stat).is_some_and(|(_, state)| !matches!(state, b'Z' | b'X'))
        };
        processes()
            .filter(|pid| *pid != own)
            .filter(carries)
            .filter(alive)
            .collect()
    }

    fn belongs_to(pid: Pid, user: u32) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let real = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        real.and_then(|ids| ids.split_whitespace().next()?.parse().ok()) == Some(user)
    }

    /// Parses `/proc/PID/stat`: `1 (name) S 0 …`, where the name may contain any bytes.
    fn parent_and_state(stat: &[u8]) -> Option<(Pid, u8)> {
        let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&stat[end_of_name + 1..]).ok()?;
        let mut words = rest.split_whitespace();
        let state = *words.next()?.as_bytes().first()?;
        Some((Pid::from_raw(words.next()?.parse().ok()?)?, state))
    }

    #[test]
    fn a_name_cannot_lie_about_the_parent() {
        let pid = |number| Pid::from_raw(number).unwrap();
        assert_eq!(parent_and_state(b"7 (sh) S 5 7 7 0"), Some((pid(5), b'S')));
        assert_eq!(parent_and_state(b"7 (a) R 1 (b)) Z 5 7 7 0"), Some((pid(5), b'Z')));
        assert_eq!(parent_and_state(b"7 (kthread) S 0 0"), None);
        assert_eq!(parent_and_state(b""), None);
    }
}
