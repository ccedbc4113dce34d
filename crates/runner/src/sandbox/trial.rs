//! The trial of a machine's sandbox: the script of a step that tries to get out, and what it reached.

use std::collections::BTreeSet;
use std::path::Path;

use launchway_project::shell::quote;

/// The last line of a trial that was made to its end.
const TRIED: &str = "tried";
/// Sockets through which whoever may write to them starts programs as root.
const CONTAINERS: [&str; 8] = [
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/crio/crio.sock",
    "/run/libvirt/libvirt-sock",
    "/run/incus/unix.socket",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
];

/// What a step of the trial reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// A file that the runner alone may read.
    Files,
    /// The runner, by a signal.
    Signals,
    /// What listens for the runner's user in `/run/user`, such as its service manager, which starts programs.
    Session,
    /// A service that starts containers or virtual machines.
    Containers,
    /// The command line of the runner.
    CommandLines,
    /// The machine's own `/run`.
    Run,
}

impl Reach {
    /// Each of them.
    pub(super) const ALL: [Reach; 6] = [
        Reach::Files,
        Reach::Signals,
        Reach::Session,
        Reach::Containers,
        Reach::CommandLines,
        Reach::Run,
    ];

    fn word(self) -> &'static str {
        match self {
            Reach::Files => "files",
            Reach::Signals => "signals",
            Reach::Session => "session",
            Reach::Containers => "containers",
            Reach::CommandLines => "command-lines",
            Reach::Run => "run",
        }
    }
}

/// What the trial tries to reach.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'t> {
    /// A file that nobody but the runner's user may read.
    pub secret: &'t Path,
    /// The process of the runner.
    pub process: u32,
    /// The runner's user.
    pub user: u32,
    /// Device and inode of the machine's `/run`, where it has one.
    pub run: Option<(u64, u64)>,
}

/// The script of the trial; it fails only where no step can run.
pub fn script(targets: &Targets<'_>) -> String {
    let Targets {
        secret,
        process,
        user,
        run,
    } = targets;
    let secret = quote(&secret.to_string_lossy());
    let run = run.map_or_else(
        || "false".to_owned(),
        // What cannot be told apart is the same.
        |(device, inode)| {
            format!("case \"$(stat -c %d:%i /run 2>/dev/null)\" in {device}:{inode}|'') true ;; *) false ;; esac")
        },
    );
    format!(
        "touch \"$TMPDIR/file\"
        reached() {{ echo \"reached $1\"; }}
        if {{ true < {secret}; }} 2>/dev/null; then reached files; fi
        if kill -0 {process} 2>/dev/null; then reached signals; fi
        if [ -x /run/user/{user} ]; then reached session; fi
        for socket in {containers}; do if [ -w \"$socket\" ]; then reached containers; fi; done
        line=; {{ read -r line < /proc/{process}/cmdline; }} 2>/dev/null || true
        if [ -n \"$line\" ]; then reached command-lines; fi
        if {run}; then reached run; fi
        echo {TRIED}",
        containers = CONTAINERS.join(" "),
    )
}

/// What the trial reached, by what it printed.
///
/// # Errors
/// It was not made to its end.
pub fn reached(printed: &str) -> Result<BTreeSet<Reach>, String> {
    if printed.lines().last() != Some(TRIED) {
        return Err(format!("the trial broke off: {}", printed.trim()));
    }
    let is_reached = |reach: &Reach| {
        let line = format!("reached {}", reach.word());
        printed.lines().any(|printed| printed == line)
    };
    Ok(Reach::ALL.into_iter().filter(is_reached).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_breaks_off_tells_nothing() {
        assert_eq!(reached("tried\n"), Ok(BTreeSet::new()));
        let both = reached("reached files\nreached run\ntried\n").unwrap();
        assert_eq!(both, BTreeSet::from([Reach::Files, Reach::Run]));
        for printed in ["", "reached files\n", "tried\nmore\n"] {
            assert!(reached(printed).is_err(), "{printed}");
        }
    }
}
