//! The trial of a machine's sandbox: the script of a step that tries to escape, and what it reached.

use std::collections::BTreeSet;
use std::path::Path;

use launchway_domain::words;
use launchway_project::shell::quote;

/// The last line of a complete trial.
const TRIED: &str = "tried";
/// Sockets whose writers can start programs as root.
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

words! {
    /// Something that a step of the trial reached.
    Exposure:
    /// A file that only the runner may read.
    Files = "files",
    /// The runner, by a signal.
    Signals = "signals",
    /// A listener in `/run/user` of the runner's user, such as its service manager, which starts programs.
    Session = "session",
    /// A service that starts containers or virtual machines.
    Containers = "containers",
    /// The command line of the runner.
    CommandLines = "command-lines",
    /// The machine's own `/run`.
    Run = "run",
}

/// What the trial tries to reach.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'t> {
    /// A file that only the runner's user may read.
    pub secret: &'t Path,
    /// The process id of the runner.
    pub process: u32,
    /// The user id of the runner.
    pub user: u32,
    /// Device and inode of the machine's `/run`, if it exists.
    pub run: Option<(u64, u64)>,
}

/// The script of the trial; it fails only if no step can run.
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
        // If they cannot be distinguished, they count as the same.
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

/// What the trial reached, according to its output.
///
/// # Errors
/// The trial is incomplete.
pub fn parse_output(printed: &str) -> Result<BTreeSet<Exposure>, String> {
    if printed.lines().last() != Some(TRIED) {
        return Err(format!("the test did not finish: {}", printed.trim()));
    }
    let is_reached = |reach: &Exposure| {
        let line = format!("reached {}", reach);
        printed.lines().any(|printed| printed == line)
    };
    Ok(Exposure::ALL.into_iter().filter(is_reached).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_breaks_off_tells_nothing() {
        assert_eq!(parse_output("tried\n"), Ok(BTreeSet::new()));
        let both = parse_output("reached files\nreached run\ntried\n").unwrap();
        assert_eq!(both, BTreeSet::from([Exposure::Files, Exposure::Run]));
        for printed in ["", "reached files\n", "tried\nmore\n"] {
            assert!(parse_output(printed).is_err(), "{printed}");
        }
    }
}
